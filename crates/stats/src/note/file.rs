//! Remarks and refusals about the files of a job.
//!
//! Must not know: words. Start reading at [`FileNote`].

use super::SystemError;
use crate::LaidOver;
use serde::{Deserialize, Serialize};

/// A remark or a refusal about the files of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileNote {
    /// Files that were found below a tree (`opendir`).
    TreeHas {
        n_files: usize,
    },
    /// No regular file is below the trees of a job.
    TreesAreEmpty {
        job: String,
    },
    /// There is no memory for the names of so many files.
    TooManyFiles {
        job: String,
        /// Files of the job and its clones.
        n_files: u64,
        /// Memory that they would take at least, bytes.
        needed_bytes: u64,
        /// Memory of the machine, or that the process may take, bytes.
        limit_bytes: u64,
    },
    StandardStream {
        job: String,
    },
    /// A file has no size (a pipe, a socket), and no option gives one.
    NoSize {
        job: String,
        file: String,
    },
    /// A job has empty files, and no size.
    SizeIsMissing {
        job: String,
    },
    /// The range of a job begins behind the end of its file.
    NoValidOffset {
        job: String,
    },
    /// A device that would be overwritten is in use.
    InUse {
        path: String,
        usage: DeviceUsage,
    },
    IsDirectory {
        path: String,
    },
    /// `file_append` with an engine that has no file to append to.
    CannotAppend {
        engine: String,
    },
    /// `size` is less than a block.
    SizeTooSmall {
        size_bytes: u64,
        /// The smallest block.
        block_bytes: u64,
    },
    /// The range is less than a block.
    RangeTooSmall,
    /// A file would have to be made longer, with `--readonly`.
    Readonly,
    /// A job that only verifies finds no data of an earlier run.
    NoEarlierRun {
        file: String,
        /// Expected size of the file.
        wanted_bytes: u64,
    },
    /// A file would have to be made, with `allow_file_create=0`.
    CreationDisallowed,
    /// The device is full before the file is laid out.
    NoSpace,
    /// What a file holds would be lost, as its layout does not fit; it stays as it is.
    NoRoom {
        file: String,
        held_bytes: u64,
        /// The size that the job needs.
        wanted_bytes: u64,
        /// Room for all that the layout writes.
        room_bytes: u64,
    },
    /// A file with data is laid out for a job that only reads.
    LaidOver {
        job: String,
        file: LaidOver,
    },
    /// The file system takes no direct I/O.
    NoDirectIo,
    /// A file has more blocks than the random generator can address.
    BeyondGenerator {
        file: String,
        /// The generator is the default one, and another is used instead.
        takes_another: bool,
    },
    /// A pass of `sprandom` over several files.
    SprandomFiles {
        job: String,
        n_files: usize,
    },
    /// `spr_cs` does not fit into a region.
    SprandomCache {
        cache_bytes: u64,
        region_bytes: u64,
        /// Number of regions that would be large enough.
        n_allowed: u64,
    },
}

/// Use of a device that would be overwritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceUsage {
    Mounted,
    /// It, or a partition of it, is swap space.
    Swap {
        path: String,
    },
    /// A device (dm, md, loop) is made of it.
    HeldBy {
        name: String,
    },
    /// It is claimed by a user that ferrio cannot see.
    Claimed,
    /// Its use cannot be found out.
    Unknown(SystemError),
}
