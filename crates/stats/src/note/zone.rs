//! Remarks and refusals about zones that are written in sequence (`zonemode=zbd`).
//!
//! Must not know: words. Start reading at [`ZoneNote`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A remark or a refusal about the zones of a job, before its first I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneNote {
    /// Neither the device nor the job says how large a zone is.
    SizeIsMandatory {
        /// Name of the file, or of the job.
        name: String,
    },
    /// A job that writes to a host-managed device has to write directly.
    DirectIsMandatory,
    /// `zonesize` is not that of the device.
    NotTheDisksSize {
        /// Name of the file.
        file: String,
        /// `zonesize`.
        given_bytes: u64,
        /// That of the device.
        zone_bytes: u64,
    },
    /// `zonesize` is not that of an earlier job on the file.
    NotTheKnownSize {
        /// Name of the file.
        file: String,
        /// `zonesize`.
        given_bytes: u64,
        /// That of the earlier job.
        zone_bytes: u64,
    },
    /// The zones of a device do not all lie at multiples of one size.
    SizesDiffer {
        /// Name of the file.
        file: String,
    },
    /// `max_open_zones` is above the limit of the device.
    AboveOpenLimit {
        /// Name of the file.
        file: String,
        /// `max_open_zones`.
        given: u32,
        /// The limit.
        limit: u32,
    },
    /// An emulated zone would be below a sector.
    SizeTooSmall {
        /// Name of the file.
        file: String,
        /// The smallest that may be.
        min_bytes: u64,
    },
    /// `zonecapacity` is larger than a zone.
    CapacityTooLarge {
        /// Name of the file.
        file: String,
        /// `zonecapacity`.
        capacity_bytes: u64,
        /// The zone.
        zone_bytes: u64,
    },
    /// A file is smaller than a zone.
    FileTooSmall {
        /// Name of the file.
        file: String,
        /// Its size.
        file_bytes: u64,
        /// The zone.
        zone_bytes: u64,
    },
    /// A file would have more zones than can be kept.
    TooMany {
        /// Name of the file.
        file: String,
        /// How many.
        n_zones: u64,
        /// How many may be.
        limit: u64,
    },
    /// The state of the zones of a file would take more memory than can be addressed.
    TooManyForMemory {
        /// Name of the file.
        file: String,
    },
    /// `zonecapacity` is not that of an earlier job on the file.
    CapacityDiffers {
        /// Name of the file.
        file: String,
        /// `zonecapacity`.
        given_bytes: u64,
        /// That of the earlier job.
        capacity_bytes: u64,
    },
    /// `max_open_zones` is not that of an earlier job on the file.
    MaxOpenDiffers,
    /// `job_max_open_zones` without a limit for all jobs.
    JobLimitAlone,
    /// Jobs count what they write to different ranges of a file (`zone_reset_threshold`).
    RangesDiffer,
    /// `zoneskip` is no number of zones.
    SkipIsNoMultiple {
        /// Name of the file.
        file: String,
        /// `zoneskip`.
        skip_bytes: u64,
        /// The zone.
        zone_bytes: u64,
    },
    /// `recover_zbd_write_error` with verification and several I/Os in flight.
    CannotRecoverVerified,
    /// A trim is not a zone.
    TrimIsNoZone {
        /// Name of the file.
        file: String,
        /// The smallest trim.
        trim_bytes: u64,
        /// The zone.
        zone_bytes: u64,
    },
    /// A range holds no whole zone.
    RangeTooSmall {
        /// Name of the file.
        file: String,
    },
    /// A range begins where the next zone does.
    OffsetIsRounded {
        /// Name of the file.
        file: String,
        /// Where it was to begin.
        from_bytes: u64,
        /// Where it does.
        to_bytes: u64,
    },
    /// A range ends where a zone does.
    SizeIsRounded {
        /// Name of the file.
        file: String,
        /// Its length.
        from_bytes: u64,
        /// Its length now.
        to_bytes: u64,
        /// It is only read, and may begin anywhere.
        is_read: bool,
    },
    /// `verify_only` on a device: where an earlier run wrote depends on what was written before.
    NotVerifiedOnDevice {
        /// Name of the file.
        file: String,
    },
    /// `verify_only` in several jobs on one file.
    NotVerifiedTwice {
        /// Name of the file.
        file: String,
    },
    /// A size in zones is more bytes than can be counted.
    SizeBeyondBytes {
        /// The option.
        option: Cow<'static, str>,
        /// Its zones.
        n_zones: u64,
    },
    /// A job has sizes in zones, and its devices have zones of different sizes.
    DevicesDiffer {
        /// Name of one of the devices.
        file: String,
        /// The zones of those before it.
        other_bytes: u64,
        /// Its zones.
        zone_bytes: u64,
    },
    /// A job has sizes in zones, and its devices are not those of the start of the run.
    DevicesHaveChanged {
        /// Name of the job.
        job: String,
    },
    /// A zone takes less than the smallest block.
    CapacityBelowBlock {
        /// What it takes.
        capacity_bytes: u64,
        /// The smallest block.
        min_bytes: u64,
    },
}
