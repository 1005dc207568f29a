//! Remarks and refusals about zones that are written in sequence (`zonemode=zbd`).
//!
//! Must not know: words. Start reading at [`ZoneNote`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A remark or a refusal about the zones of a job, before its first I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneNote {
    /// Neither the device nor the job gives the size of a zone.
    SizeIsMandatory {
        /// Name of the file, or of the job.
        name: String,
    },
    /// A job that writes to a host-managed device must use direct I/O.
    DirectIsMandatory,
    /// `zonesize` differs from the device's.
    NotTheDisksSize {
        file: String,
        /// `zonesize`.
        given_bytes: u64,
        zone_bytes: u64,
    },
    /// `zonesize` differs from that of an earlier job on the file.
    NotTheKnownSize {
        file: String,
        /// `zonesize`.
        given_bytes: u64,
        /// The earlier job's size.
        zone_bytes: u64,
    },
    /// The zones of a device do not all begin at multiples of one size.
    SizesDiffer { file: String },
    /// `max_open_zones` is above the limit of the device.
    AboveOpenLimit {
        file: String,
        /// `max_open_zones`.
        given: u32,
        limit: u32,
    },
    /// An emulated zone would be smaller than a sector.
    SizeTooSmall { file: String, min_bytes: u64 },
    /// `zonecapacity` is larger than a zone.
    CapacityTooLarge {
        file: String,
        /// `zonecapacity`.
        capacity_bytes: u64,
        zone_bytes: u64,
    },
    /// A file is smaller than a zone.
    FileTooSmall { file: String, file_bytes: u64, zone_bytes: u64 },
    /// A file would have too many zones.
    TooMany {
        file: String,
        n_zones: u64,
        /// Largest number.
        limit: u64,
    },
    /// The state of the zones of a file would not fit into memory.
    TooManyForMemory { file: String },
    /// `zonecapacity` differs from that of an earlier job on the file.
    CapacityDiffers {
        file: String,
        /// `zonecapacity`.
        given_bytes: u64,
        /// The earlier job's capacity.
        capacity_bytes: u64,
    },
    /// `max_open_zones` differs from that of an earlier job on the file.
    MaxOpenDiffers,
    /// `job_max_open_zones` without a limit for all jobs.
    JobLimitAlone,
    /// Jobs count written bytes in different ranges of a file (`zone_reset_threshold`).
    RangesDiffer,
    SkipIsNoMultiple {
        file: String,
        /// `zoneskip`.
        skip_bytes: u64,
        zone_bytes: u64,
    },
    /// `recover_zbd_write_error` with verification and several I/Os in flight.
    CannotRecoverVerified,
    /// A trim is not as long as a zone.
    TrimIsNoZone {
        file: String,
        /// Length of the smallest trim.
        trim_bytes: u64,
        zone_bytes: u64,
    },
    /// A range has no whole zone.
    RangeTooSmall { file: String },
    /// The start of a range is moved to the start of the next zone.
    OffsetIsRounded {
        file: String,
        /// Offset before.
        from_bytes: u64,
        /// Offset now.
        to_bytes: u64,
    },
    /// The end of a range is moved to the end of a zone.
    SizeIsRounded {
        file: String,
        /// Length before.
        from_bytes: u64,
        /// Length now.
        to_bytes: u64,
        /// The job only reads, so the range may begin anywhere.
        is_read: bool,
    },
    /// `verify_only` on a device: the places of the earlier run's writes depend on earlier contents.
    NotVerifiedOnDevice { file: String },
    /// `verify_only` of several jobs on one file.
    NotVerifiedTwice { file: String },
    /// A size in zones exceeds the range of bytes.
    SizeBeyondBytes { option: Cow<'static, str>, n_zones: u64 },
    /// A job has sizes in zones, and its devices have zones of different sizes.
    DevicesDiffer {
        /// Name of one of the devices.
        file: String,
        /// Zone size of an earlier device.
        other_bytes: u64,
        zone_bytes: u64,
    },
    /// A job has sizes in zones, and its devices have changed since the start of the run.
    DevicesHaveChanged { job: String },
    /// The capacity of a zone is less than the smallest block.
    CapacityBelowBlock { capacity_bytes: u64, min_bytes: u64 },
    /// `job_max_open_zones` of a job without writes.
    JobLimitWithoutWrites,
}
