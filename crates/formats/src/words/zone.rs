//! Remarks and refusals about zones that are written in sequence, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`].

use ferrio_stats::note::ZoneNote;

pub(super) fn text(note: &ZoneNote, mark: &str) -> String {
    // tidy: table
    match note {
        ZoneNote::SizeIsMandatory { name } => {
            format!("{name}: Specifying the zone size is mandatory for regular file/block device with --zonemode=zbd\n")
        }
        ZoneNote::DirectIsMandatory => "Using direct I/O is mandatory for writing to ZBD drives".to_owned(),
        ZoneNote::NotTheDisksSize { file, given_bytes, zone_bytes } => {
            format!("{mark}{file} job parameter zonesize {given_bytes} does not match disk zone size {zone_bytes}.")
        }
        ZoneNote::NotTheKnownSize { file, given_bytes, zone_bytes } => {
            format!("{file}: zonesize {given_bytes} does not match the device zone size {zone_bytes}.")
        }
        ZoneNote::SizesDiffer { file } => format!("{file}: zones differ in size"),
        ZoneNote::AboveOpenLimit { file, given, limit } => {
            format!("{file}: max_open_zones {given} is above the limit of the device, {limit}")
        }
        ZoneNote::SizeTooSmall { file, min_bytes } => {
            format!("{file}: zone size must be at least {min_bytes} bytes for --zonemode=zbd")
        }
        ZoneNote::CapacityTooLarge { file, capacity_bytes, zone_bytes } => {
            format!("{file}: job parameter zonecapacity {capacity_bytes} is larger than zone size {zone_bytes}")
        }
        ZoneNote::FileTooSmall { file, file_bytes, zone_bytes } => {
            format!("{file}: file/device size {file_bytes} is smaller than zone size {zone_bytes}")
        }
        ZoneNote::TooMany { file, n_zones, limit } => {
            format!("{file}: {n_zones} zones are more than {limit}: zonesize is too small")
        }
        ZoneNote::TooManyForMemory { file } => format!("{file}: too many zones"),
        ZoneNote::CapacityDiffers { file, given_bytes, capacity_bytes } => {
            format!("{file}: zonecapacity {given_bytes} is not the one of an earlier job, {capacity_bytes}")
        }
        ZoneNote::MaxOpenDiffers => "Different 'max_open_zones' values".to_owned(),
        ZoneNote::JobLimitWithoutWrites => "'job_max_open_zones' is valid only for write jobs".to_owned(),
        ZoneNote::JobLimitAlone => "'job_max_open_zones' cannot be used without a global open zones limit".to_owned(),
        ZoneNote::RangesDiffer => {
            "multi-jobs with different write ranges are not supported with zone_reset_threshold".to_owned()
        }
        ZoneNote::SkipIsNoMultiple { file, skip_bytes, zone_bytes } => {
            format!("{file}: zoneskip {skip_bytes} is not a multiple of the device zone size {zone_bytes}.")
        }
        ZoneNote::CannotRecoverVerified => {
            "recover_zbd_write_error for async IO engines does not support verify".to_owned()
        }
        ZoneNote::TrimIsNoZone { file, trim_bytes, zone_bytes } => {
            format!("{file}: trim block size {trim_bytes} is not the zone size {zone_bytes}")
        }
        ZoneNote::RangeTooSmall { file } => format!("{file}: io_size must be at least one zone"),
        ZoneNote::OffsetIsRounded { file, from_bytes, to_bytes } => {
            format!("{file}: rounded up offset from {from_bytes} to {to_bytes}")
        }
        ZoneNote::SizeIsRounded { file, from_bytes, to_bytes, is_read } => {
            let how = if *is_read { "rounded" } else { "rounded down" };
            format!("{file}: {how} io_size from {from_bytes} to {to_bytes}")
        }
        ZoneNote::NotVerifiedOnDevice { file } => format!(
            "{file}: verify_only cannot be combined with zonemode=zbd on a zoned device: where an earlier run wrote depends \
             on where its zones were written before"
        ),
        ZoneNote::NotVerifiedTwice { file } => format!(
            "{file}: verify_only cannot be combined with zonemode=zbd in several jobs on one file: which of them wrote where \
             is not known"
        ),
        ZoneNote::SizeBeyondBytes { option, n_zones } => {
            format!("{mark}{option}={n_zones}z is more than 2^64 bytes")
        }
        ZoneNote::DevicesDiffer { file, other_bytes, zone_bytes } => format!(
            "{file}: sizes in zones need devices whose zones have one size, and these have {other_bytes} and {zone_bytes} bytes"
        ),
        ZoneNote::DevicesHaveChanged { job } => {
            format!("{job}: the devices of the job have changed since the run began")
        }
        ZoneNote::CapacityBelowBlock { capacity_bytes, min_bytes } => {
            format!("zone capacity {capacity_bytes} smaller than minimum block size {min_bytes}")
        }
    }
}
