//! Why the stream of I/Os of a job cannot be made.
//!
//! Must not know: words. Start reading at [`StreamFault`].

use ferrio_units::BuildError;
use serde::{Deserialize, Serialize};

/// Why the stream of I/Os of a job cannot be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StreamFault {
    /// No memory for the map of visited blocks.
    RandomMap { file_index: usize, n_blocks: u64 },
    /// The parameters of the distribution are invalid.
    Distribution { file_index: usize, why: BuildError },
    /// The parameters of the distribution over the files are invalid.
    FileService { why: BuildError },
    /// A zone of `zoned_abs` ends past the file.
    Zones { file_index: usize, n_blocks: u64 },
    /// A block of a sequence lies past the file.
    Sequence { file_index: usize, block: u64, n_blocks: u64 },
    /// The file is too small for the write cache that `sprandom` has to avoid.
    SpRandom {
        file_index: usize,
        /// `spr_cs`.
        cache_bytes: u64,
        n_blocks: u64,
    },
    /// The LFSR cannot be set up.
    Lfsr { file_index: usize, why: BuildError },
}
