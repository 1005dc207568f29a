//! Remarks and refusals about the files of a job.
//!
//! Must not know: words. Start reading at [`FileNote`].

use super::SystemError;
use serde::{Deserialize, Serialize};

/// A remark or a refusal about the files of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileNote {
    /// Files that were found below a tree (`opendir`).
    TreeHas {
        /// How many.
        n_files: usize,
    },
    /// No regular file is below the trees of a job.
    TreesAreEmpty {
        /// Name of the job.
        job: String,
    },
    /// A file of a job is `-`.
    StandardStream {
        /// Name of the job.
        job: String,
    },
    /// A file has no size, and nothing takes the place of one: a pipe, a socket.
    NoSize {
        /// Name of the job.
        job: String,
        /// Its path.
        file: String,
    },
    /// A job has files without bytes, and no size.
    SizeIsMissing {
        /// Name of the job.
        job: String,
    },
    /// The range of a job begins where its file has ended.
    NoValidOffset {
        /// Name of the job.
        job: String,
    },
    /// A device that would be overwritten is in use.
    InUse {
        /// Its path.
        path: String,
        /// By whom.
        usage: DeviceUsage,
    },
    /// A directory is no file.
    IsDirectory {
        /// Its path.
        path: String,
    },
    /// `file_append` with an engine that has no file to append to.
    CannotAppend {
        /// Name of the engine.
        engine: String,
    },
    /// `size` is below a block.
    SizeTooSmall {
        /// The size.
        size_bytes: u64,
        /// The smallest block.
        block_bytes: u64,
    },
    /// The range is below a block.
    RangeTooSmall,
    /// A file would have to be made longer, with `--readonly`.
    Readonly,
    /// A job that only verifies finds nothing.
    NoEarlierRun {
        /// Name of the file.
        file: String,
        /// What it should have.
        wanted_bytes: u64,
    },
    /// A file would have to be made, with `allow_file_create=0`.
    CreationDisallowed,
    /// The device is full before the file is laid out.
    NoSpace,
    /// The file system takes no direct I/O.
    NoDirectIo,
    /// A file has more blocks than the random generator has numbers.
    BeyondGenerator {
        /// Name of the file.
        file: String,
        /// The generator is the default one, and another is taken.
        takes_another: bool,
    },
    /// A pass of `sprandom` over several files.
    SprandomFiles {
        /// Name of the job.
        job: String,
        /// How many.
        n_files: usize,
    },
    /// `spr_cs` does not fit into a region.
    SprandomCache {
        /// The cache.
        cache_bytes: u64,
        /// A region.
        region_bytes: u64,
        /// So many regions would be large enough.
        n_allowed: u64,
    },
}

/// Who has a device that would be overwritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceUsage {
    /// It, or a partition of it, is mounted.
    Mounted,
    /// It, or a partition of it, is swap space.
    Swap {
        /// Path of the swap space.
        path: String,
    },
    /// A device (dm, md, loop) is made of it.
    HeldBy {
        /// Name of that device.
        name: String,
    },
    /// Somebody has claimed it who cannot be seen from here.
    Claimed,
    /// That cannot be known.
    Unknown(SystemError),
}
