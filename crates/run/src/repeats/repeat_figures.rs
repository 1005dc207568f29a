//! The figures of a scan.
//!
//! Must not know: how they are shown. Start reading at [`RepeatFigures`].

/// What was read, and how much of it repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatFigures {
    pub block_bytes: u64,
    pub size_bytes: u64,
    /// Number of whole blocks of the target. Bytes behind the last one are not looked at.
    pub n_blocks_of_target: u64,
    pub n_blocks: u64,
    /// How many of them hold zeroes alone.
    pub n_zero_blocks: u64,
    /// One of this many hash values was counted: 1, or a power of two if the table became full. Then the next figures are
    /// estimates.
    pub sampled_one_in: u64,
    /// Number of different hash values that were counted.
    pub n_counted: u64,
    /// Number of different blocks.
    pub n_distinct: u64,
    /// Number of different blocks that occur more than once.
    pub n_repeated: u64,
    /// Compressed bytes, if asked for.
    pub packed: Option<PackedSizes>,
    /// The blocks that occur most often, if asked for; among those that were counted.
    pub most_repeated: Vec<RepeatedBlock>,
    /// What could not be read.
    pub unreadable: Option<Unreadable>,
    /// The scan was stopped before its end.
    pub was_stopped: bool,
}

/// Sizes after compression, each block for itself and never larger than the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedSizes {
    /// Of the blocks that were read.
    pub all_bytes: u64,
    /// Of one block of each kind.
    pub distinct_bytes: u64,
}

/// A block that occurs more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedBlock {
    /// How often it occurs.
    pub n_times: u64,
    /// Where it was first found, in order of offsets.
    pub first_offset_bytes: u64,
}

/// Parts of the target that could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable {
    pub n_blocks: u64,
    pub first_offset_bytes: u64,
    /// The system's answer there; `None`: the target ends earlier than it did at the start.
    pub errno: Option<i32>,
}

impl RepeatFigures {
    /// Share of the blocks that repeat an earlier one, 0 to 1. This is `dedupe_percentage` of a job.
    pub fn repeating_share(&self) -> f64 {
        if self.n_blocks == 0 { 0.0 } else { 1.0 - (self.n_distinct as f64 / self.n_blocks as f64).min(1.0) }
    }

    /// Share by which compression makes the different blocks smaller, 0 to 1. This is `buffer_compress_percentage` of a job.
    pub fn compressible_share(&self) -> Option<f64> {
        let whole = self.n_distinct.saturating_mul(self.block_bytes) as f64;
        self.packed.filter(|_| whole > 0.0).map(|packed| 1.0 - (packed.distinct_bytes as f64 / whole).min(1.0))
    }

    /// The blocks stand for the whole target.
    pub fn is_complete(&self) -> bool {
        !self.was_stopped && self.unreadable.is_none()
    }
}
