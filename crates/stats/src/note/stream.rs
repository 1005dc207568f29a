//! Why the stream of I/Os of a job cannot be made.
//!
//! Must not know: words. Start reading at [`StreamFault`].

use ferrio_units::BuildError;
use serde::{Deserialize, Serialize};

/// Why the stream of I/Os of a job cannot be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StreamFault {
    /// No memory for the map of visited blocks.
    RandomMap {
        /// File of the job.
        file_index: usize,
        /// Size of the map.
        n_blocks: u64,
    },
    /// The parameters of the distribution are invalid.
    Distribution {
        /// File of the job.
        file_index: usize,
        /// The reason.
        why: BuildError,
    },
    /// The parameters of the distribution over the files are invalid.
    FileService {
        /// The reason.
        why: BuildError,
    },
    /// A zone of `zoned_abs` ends past the file.
    Zones {
        /// File of the job.
        file_index: usize,
        /// Number of blocks of the file.
        n_blocks: u64,
    },
    /// A block of a sequence lies past the file.
    Sequence {
        /// File of the job.
        file_index: usize,
        /// The block.
        block: u64,
        /// Number of blocks of the file.
        n_blocks: u64,
    },
    /// The file is too small for the write cache that `sprandom` has to avoid.
    SpRandom {
        /// File of the job.
        file_index: usize,
        /// `spr_cs`.
        cache_bytes: u64,
        /// Number of blocks of the file.
        n_blocks: u64,
    },
    /// The LFSR cannot be set up.
    Lfsr {
        /// File of the job.
        file_index: usize,
        /// The reason.
        why: BuildError,
    },
}
