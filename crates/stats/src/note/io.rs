//! Faults of I/Os.
//!
//! Must not know: words. Start reading at [`IoNote`].

use ferrio_sys::scsi::queue::ScsiStatus;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A fault of an I/O, or after the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoNote {
    /// An I/O failed.
    Failed {
        /// Name of the file.
        file: String,
        /// The errno.
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
        /// A hint of the engine.
        hint: Option<Cow<'static, str>>,
    },
    /// An I/O failed, and the engine has words of its own for it.
    Refused {
        /// fio's own line, if it has one.
        line: Option<String>,
        /// The reason, in one sentence.
        why: Option<String>,
        /// Name of the file whose sync at the end this was.
        unsynced: Option<String>,
    },
    /// The protection information of a block that was read is not what it should be.
    Protection {
        /// Name of the file.
        file: String,
        /// The field.
        field: ProtectionField,
        /// First block of the I/O.
        block: u64,
        /// Expected value.
        expected: u64,
        /// Value in the block.
        actual: u64,
    },
    /// The sync at the end of a file failed.
    EndSyncFailed {
        /// Name of the file.
        file: String,
        /// The errno.
        errno: i32,
        /// Offset of the last I/O.
        offset: u64,
        /// Length of the last I/O, bytes.
        length: u64,
    },
    /// The sync of a file system at the end failed.
    EndSyncfsFailed {
        /// Name of a file on it.
        file: String,
        /// The errno.
        errno: i32,
    },
    /// The first I/O failed, and it was direct.
    FirstDirectFailed,
    /// The first I/O failed, on what may be a zoned device.
    FirstFailed {
        /// Name of the file.
        file: String,
    },
    /// An I/O took longer than `max_latency`.
    TooLate {
        /// Its latency.
        latency_ns: u64,
        /// The limit.
        limit_ns: u64,
        /// Name of the file.
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
        /// Name of the job.
        job: String,
        /// Each rate that was missed; at least one.
        misses: Vec<RateMiss>,
    },
    /// A zone could not be reset.
    ZoneReset {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// The errno.
        errno: i32,
    },
    /// A zone could not be finished.
    ZoneFinish {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// The errno.
        errno: i32,
    },
    /// The device allows no more partly written zones.
    TooManyActiveZones {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// Number that it allows.
        limit: u64,
    },
    /// The device allows no more open zones.
    TooManyOpenZones {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// Number that it allows.
        limit: u64,
    },
    /// After a failed write the missing data of its zone could not be written either (`recover_zbd_write_error`).
    NotRecovered {
        /// Name of the file.
        file: String,
    },
}

/// A field of the protection information of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtectionField {
    /// The checksum.
    Guard,
    /// The tag of the application.
    ApplicationTag,
    /// The tag that counts with the blocks.
    ReferenceTag,
}

/// The status with which a device ended a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeviceStatus {
    /// Of an NVMe device: its type is in bits 8 to 10, its code in bits 0 to 7.
    Nvme(u16),
    /// Of a SCSI device.
    Scsi(Box<ScsiStatus>),
}

/// A minimum rate that was missed in the last window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RateMiss {
    /// `rate_min`.
    Bytes {
        /// The minimum, bytes a second.
        least: u64,
        /// The measured rate, bytes a second.
        found: u64,
    },
    /// `rate_iops_min`.
    Ios {
        /// The minimum, I/Os a second.
        least: u64,
        /// The measured rate, I/Os a second.
        found: u64,
    },
}
