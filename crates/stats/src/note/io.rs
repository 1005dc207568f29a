//! Faults of I/Os, and of the stream that makes them.
//!
//! Must not know: words. Start reading at [`IoNote`].

use ferrio_sys::scsi::queue::ScsiStatus;
use ferrio_units::BuildError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A fault of an I/O, or after the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoNote {
    Failed {
        file: String,
        errno: i32,
        /// `read`, `write`, `trim`, `sync`.
        action: Cow<'static, str>,
        /// Offset, bytes.
        offset: u64,
        /// Length, bytes.
        length: u64,
        /// What the device said, where the errno is its status.
        #[serde(default)]
        device: Option<DeviceStatus>,
        hint: Option<Cow<'static, str>>,
    },
    /// An I/O failed, and the engine has words of its own for it.
    Refused {
        /// fio's own line, if it has one.
        line: Option<String>,
        why: Option<String>,
        /// Name of the file whose sync at the end this was.
        unsynced: Option<String>,
    },
    /// The protection information of a block that was read is not what it should be.
    Protection {
        file: String,
        field: ProtectionField,
        /// First block of the I/O.
        block: u64,
        expected: u64,
        actual: u64,
    },
    EndSyncFailed {
        file: String,
        errno: i32,
        /// Offset of the last I/O.
        offset: u64,
        /// Length of the last I/O, bytes.
        length: u64,
    },
    EndSyncfsFailed {
        file: String,
        errno: i32,
    },
    /// The first I/O failed, and it was direct.
    FirstDirectFailed,
    /// The first I/O failed, on what may be a zoned device.
    FirstFailed {
        file: String,
    },
    /// An I/O took longer than `max_latency`.
    TooLate {
        latency_ns: u64,
        limit_ns: u64,
        file: String,
        /// `read`, `write`, `trim`.
        action: Cow<'static, str>,
        /// Offset, bytes.
        offset: u64,
        /// Length, bytes.
        length: u64,
    },
    /// A job was slower than `rate_min` or `rate_iops_min`.
    TooSlow {
        job: String,
        /// Each rate that was missed; at least one.
        misses: Vec<RateMiss>,
    },
    /// A zone could not be reset.
    ZoneReset {
        file: String,
        zone: u64,
        errno: i32,
    },
    /// A zone could not be finished.
    ZoneFinish {
        file: String,
        zone: u64,
        errno: i32,
    },
    /// The device allows no more partly written zones.
    TooManyActiveZones {
        file: String,
        zone: u64,
        limit: u64,
    },
    /// The device allows no more open zones.
    TooManyOpenZones {
        file: String,
        zone: u64,
        limit: u64,
    },
    /// After a failed write the missing data of its zone could not be written either (`recover_zbd_write_error`).
    NotRecovered {
        file: String,
    },
}

/// A field of the protection information of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtectionField {
    Guard,
    ApplicationTag,
    /// The tag that counts with the blocks.
    ReferenceTag,
}

/// The status with which a device ended a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceStatus {
    /// Of an NVMe device: its type is in bits 8 to 10, its code in bits 0 to 7.
    Nvme(u16),
    Scsi(Box<ScsiStatus>),
}

/// A minimum rate that was missed in the last window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RateMiss {
    /// `rate_min`.
    Bytes {
        least: u64,
        /// The measured rate, bytes a second.
        found: u64,
    },
    /// `rate_iops_min`.
    Ios {
        least: u64,
        /// The measured rate, I/Os a second.
        found: u64,
    },
}

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
