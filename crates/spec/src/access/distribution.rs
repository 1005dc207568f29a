//! Distribution of random offsets over a file (`random_distribution`, `sprandom`).
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

/// `sprandom`, and its assumptions about the device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpRandomSpec {
    /// `spr_num_regions`: parts of a pass with a share of overwrites each, at least 1.
    pub n_regions: u32,
    /// `spr_op`: physical space beyond the written size, as a share of that size; above 0, at most 100.
    pub over_provisioning: f64,
    /// `spr_cs`: write cache of the device, bytes.
    pub cache_bytes: u64,
}

impl SpRandomSpec {
    pub fn n_overwrites(&self, n_blocks: u64) -> u64 {
        // The cast saturates.
        (n_blocks as f64 * self.over_provisioning).round() as u64
    }

    /// Bytes that a pass over a range of so many bytes writes.
    pub fn pass_bytes(&self, range_bytes: u64, block_bytes: u64) -> u64 {
        let n_blocks = range_bytes / block_bytes.max(1);
        n_blocks.saturating_add(self.n_overwrites(n_blocks)).saturating_mul(block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_as_long_as_the_physical_space() {
        let spec = |over_provisioning| SpRandomSpec { n_regions: 100, over_provisioning, cache_bytes: 0 };
        assert_eq!(spec(0.15).pass_bytes(1000 * 4096 + 4095, 4096), 1150 * 4096);
        assert_eq!(spec(0.25).pass_bytes(10 * 512, 512), 13 * 512, "2.5 blocks are rounded up");
        assert_eq!(spec(100.0).pass_bytes(512, 512), 101 * 512);
        assert_eq!((spec(0.15).pass_bytes(511, 512), spec(0.15).pass_bytes(511, 0)), (0, 0));
        assert_eq!(spec(100.0).pass_bytes(u64::MAX, 1), u64::MAX);
    }
}
