//! Distribution of random offsets over a file (`random_distribution`).
//!
//! Must not know: how blocks are drawn. Start reading at [`RandomDistribution`].

use crate::{DecimalPercent, PatternSpec, RandomGenerator};
use ferrio_units::PerDirection;
use ferrio_units::random::GeneratorKind;
use serde::{Deserialize, Serialize};

/// `random_distribution`. A `center`, 0 to 1, is the place of the most wanted block in the file; `None`: not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RandomDistribution {
    /// Every block is as likely as any other.
    Uniform,
    Zipf {
        /// Exponent, at least 0 and not 1.
        theta: f64,
        /// Position of the most frequent block.
        center: Option<f64>,
    },
    /// A share `1 - h` of the I/Os on a share `h` of the blocks.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
        /// Position of the most frequent block.
        center: Option<f64>,
    },
    Normal {
        /// Deviation in percent of the blocks, 0 to below 100.
        deviation_percent: f64,
        /// Position of the most frequent block.
        center: Option<f64>,
    },
    /// Zipf's law or pareto's with a one-to-one order of ranks (`random_distribution_permute`): every block is as frequent as the law says.
    Permuted {
        law: RankLaw,
        /// Position of the most frequent block.
        center: Option<f64>,
    },
    /// Parts of the file with shares of the I/Os; uniform within each.
    Zoned(PerDirection<Vec<DistributionZone>>),
    /// A list of blocks, one after the other, again and again.
    Sequence {
        /// The blocks, 1 to 64 of them, in units of the smallest block size.
        blocks: Vec<u64>,
        /// `random_sequence_stride`: each turn of the list is shifted by its length.
        stride: bool,
    },
}

/// How often each rank of blocks is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum RankLaw {
    /// As in [`RandomDistribution::Zipf`].
    Zipf {
        /// Exponent, at least 0.
        theta: f64,
    },
    /// As in [`RandomDistribution::Pareto`].
    Pareto {
        /// Above 0 and below 1.
        h: f64,
    },
}

/// A part of a file, behind the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistributionZone {
    /// Share of the I/Os; the shares of a direction sum up to 100.
    pub access_percent: DecimalPercent,
    pub length: ZoneLength,
}

/// Length of a zone. All zones of a list have the same kind of length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneLength {
    /// `zoned`: percent of the file's blocks; those of a direction are 100 together at most.
    Percent(DecimalPercent),
    /// `zoned_abs`: bytes, at least 1.
    Bytes(u64),
}

impl PatternSpec {
    /// The generator for offsets, block sizes, files and their sizes, unless a file has too many blocks for it.
    pub fn generator_kind(&self) -> GeneratorKind {
        match self.random_generator {
            Some(RandomGenerator::Tausworthe64) => GeneratorKind::Taus258,
            _ => GeneratorKind::Taus88,
        }
    }
}
