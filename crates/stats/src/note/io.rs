//! What went wrong with an I/O.
//!
//! Must not know: words. Start reading at [`IoNote`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What went wrong with an I/O, or after the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoNote {
    /// An I/O failed.
    Failed {
        /// Name of the file.
        file: String,
        /// The answer.
        errno: i32,
        /// `read`, `write`, `trim`, `sync`.
        action: Cow<'static, str>,
        /// Where.
        offset: u64,
        /// Bytes.
        length: u64,
        /// What its engine advises.
        hint: Option<Cow<'static, str>>,
    },
    /// The sync at the end of a file failed.
    EndSyncFailed {
        /// Name of the file.
        file: String,
        /// The answer.
        errno: i32,
        /// Where the last I/O was.
        offset: u64,
        /// Its bytes.
        length: u64,
    },
    /// The sync of a file system at the end failed.
    EndSyncfsFailed {
        /// Name of a file on it.
        file: String,
        /// The answer.
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
        /// What it took.
        latency_ns: u64,
        /// What it may take.
        limit_ns: u64,
        /// Name of the file.
        file: String,
        /// `read`, `write`, `trim`.
        action: Cow<'static, str>,
        /// Where.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// A job was slower than `rate_min` or `rate_iops_min`.
    TooSlow {
        /// Name of the job.
        job: String,
        /// Each rate that was not kept; one at least.
        misses: Vec<RateMiss>,
    },
    /// A zone could not be reset.
    ZoneReset {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// The answer.
        errno: i32,
    },
    /// A zone could not be finished.
    ZoneFinish {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// The answer.
        errno: i32,
    },
    /// The device takes no more zones that are written in part.
    TooManyActiveZones {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// How many it takes.
        limit: u64,
    },
    /// The device takes no more open zones.
    TooManyOpenZones {
        /// Name of the file.
        file: String,
        /// Number of the zone.
        zone: u64,
        /// How many it takes.
        limit: u64,
    },
}

/// A least rate that was not kept, over the last window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RateMiss {
    /// `rate_min`.
    Bytes {
        /// Bytes a second that were wanted.
        least: u64,
        /// Bytes a second that there were.
        found: u64,
    },
    /// `rate_iops_min`.
    Ios {
        /// I/Os a second that were wanted.
        least: u64,
        /// I/Os a second that there were.
        found: u64,
    },
}
