//! Files of a job: kinds, locks, and the choice of the next file.
//!
//! Must not know: names, sizes. Start reading at [`FileService`].

use crate::RandomDistribution;
use serde::{Deserialize, Serialize};

/// Kind of target that `filetype` declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileType {
    Regular,
    Block,
    Character,
}

/// I/Os that the jobs of a run may do in a shared file at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileLocking {
    /// Anything.
    None,
    /// A single I/O.
    Exclusive,
    /// Reads, or one other I/O.
    ReadWrite,
}

/// Rule for picking the next file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileService {
    /// The next open file after every I/O (or n).
    RoundRobin,
    /// Finish one file, then the next.
    Sequential,
    Random,
    /// A file by a skewed distribution over them: zipf, pareto or normal. A file that is done starts over.
    Skewed(RandomDistribution),
}
