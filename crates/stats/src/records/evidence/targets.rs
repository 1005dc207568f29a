//! Files and devices of the jobs: where they are, their sizes, and their extents.
//!
//! Must not know: how that is found out. Start reading at [`JobTargets`].

use super::Reading;
use crate::Failure;
use ferrio_sys::extents::ExtentBytes;
use serde::{Deserialize, Serialize};

/// The files and devices of one job, with those of its clones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobTargets {
    pub job_index: u32,
    /// Its targets, grouped by file system or device.
    pub places: Vec<TargetPlace>,
    /// Number of targets that were not looked at, because there are too many; they are in no place. A target that several clones
    /// share counts for each of them.
    pub n_left_out: u64,
    /// Targets that an earlier job of the run has under another name.
    #[serde(default)]
    pub aliases: Vec<TargetAlias>,
    /// The part of the file behind a loop device that the job uses; `None`: it uses all of it, or another target, or the part is not
    /// known.
    #[serde(default)]
    pub part: Option<BackingPart>,
}

/// One target with two names: a link, another node of a device, a loop device and its file, two loop devices on one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetAlias {
    pub path: String,
    /// Position of the earlier job in the run.
    pub other_index: u32,
    pub other_path: String,
}

/// A part of the file behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BackingPart {
    pub size_bytes: u64,
    /// The extents in it before the run.
    pub extents: ExtentBytes,
}

/// Targets of one job on one file system, or one device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TargetPlace {
    pub kind: TargetKind,
    /// The first of them.
    pub path: String,
    pub n_files: u64,
    /// Kind of their file system, such as `ext4`; `None` for a device.
    pub file_system: Option<String>,
    /// Mount options of that, with commas between.
    pub mount_options: Option<String>,
    /// The disk under them, as in `/sys/block`.
    pub device: Option<String>,
    /// The partition of that disk that they are, or that their file system is on.
    #[serde(default)]
    pub partition: Option<PartitionPlace>,
    /// The use that others make of a block device, such as `mounted on /srv`, as far as it can be seen.
    #[serde(default)]
    pub used: Option<String>,
    /// The layer of storage that they are on, as in [`StorageLayer::name`](super::StorageLayer::name).
    pub layer: Option<String>,
    /// Before the jobs began, after files were laid out.
    pub before: TargetSize,
    pub now: TargetSize,
}

/// Blocks of what a job has read, looked at after the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadSample {
    pub job_index: u32,
    /// The target that was looked at.
    pub path: String,
    /// Blocks of 4 KiB, spread over the part that the job reads.
    pub n_blocks: u64,
    /// Those of them that hold zeroes alone.
    pub n_zero: u64,
}

/// Why a job cannot start: the failure with which its run would end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartObstacle {
    pub job_index: u32,
    pub failure: Failure,
}

/// A file that held data and was shorter than a job needs that only reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaidOver {
    pub job_index: u32,
    pub path: String,
    pub held_bytes: u64,
    /// The size that the job needs, bytes; `None`: it is filled until its device is full.
    pub wanted_bytes: Option<u64>,
    /// True: it was deleted and made anew. False: what was missing at its end was added.
    pub is_replaced: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionPlace {
    /// Its name, such as `sda1`.
    pub name: String,
    /// Its first byte on the disk.
    pub start_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    #[default]
    File,
    Block,
    Character,
    /// It did not exist before the jobs.
    Missing,
    /// A pipe, a socket or a directory.
    Other,
}

/// Sums of the sizes of targets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TargetSize {
    /// Bytes from their beginnings to their ends.
    pub size_bytes: u64,
    /// Bytes that the file system has allocated for them.
    pub allocated_bytes: u64,
    /// Their extents; only of regular files, and only where files may be opened for that.
    pub extents: Reading<ExtentBytes>,
    /// Alignment of memory that direct I/O of the first file needs (`STATX_DIOALIGN`), bytes. 0: its file system does no direct
    /// I/O there; `None`: it does not tell, or was not asked.
    pub direct_align_bytes: Option<u32>,
    /// The first file is never copied when it is written (`chattr +C`), so that btrfs has no checksums of it; `None`: its file system
    /// does not tell, or was not asked.
    #[serde(default)]
    pub is_no_cow: Option<bool>,
}
