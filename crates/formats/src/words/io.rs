//! Faults of I/Os, in words.
//!
//! Must not know: when they are shown. Start reading at [`text`].

use super::scsi;
use ferrio_stats::note::{DeviceStatus, IoNote, ProtectionField, RateMiss};
use ferrio_units::errno_text;

// tidy: table
pub(super) fn text(note: &IoNote, mark: &str) -> String {
    match note {
        IoNote::Failed { file, errno, action, offset, length, device, hint } => {
            let hint = hint.as_ref().map_or_else(String::new, |hint| format!("\n{mark}{hint}"));
            let (text, device) = match device {
                None => (errno_text(*errno), String::new()),
                Some(DeviceStatus::Nvme(status)) => {
                    ("Device-specific error".to_owned(), nvme_line(file, *status, mark))
                }
                Some(DeviceStatus::Scsi(status)) if status.by_ring => {
                    ("Device-specific error".to_owned(), format!("\n{mark}{}", scsi::ring_line(file, status)))
                }
                Some(DeviceStatus::Scsi(status)) => (errno_text(*errno), format!("\n{mark}{}", scsi::line(status))),
            };
            format!("{mark}io_u error on file {file}: {text}: {action} offset={offset}, buflen={length}{device}{hint}")
        }
        IoNote::Refused { line, why, unsynced } => {
            let why = why.as_ref().map(|why| format!("{mark}{why}"));
            let unsynced = unsynced.as_ref().map(|file| format!("{mark}end_fsync failed for file {file}"));
            [line.clone(), why, unsynced].into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
        IoNote::Protection { file, field, block, expected, actual } => {
            let field = match field {
                ProtectionField::Guard => "Guard",
                ProtectionField::ApplicationTag => "APPTAG",
                ProtectionField::ReferenceTag => "REFTAG",
            };
            format!("{file}: {field} compare error: LBA: {block} Expected={expected:x}, Actual={actual:x}")
        }
        IoNote::EndSyncFailed { file, errno, offset, length } => format!(
            "{mark}io_u error on file {file}: {}: sync offset={offset}, buflen={length}\n\
             {mark}end_fsync failed for file {file}",
            errno_text(*errno)
        ),
        IoNote::EndSyncfsFailed { file, errno } => {
            format!("{mark}end_syncfs failed for the file system of {file}: {}", errno_text(*errno))
        }
        IoNote::FirstDirectFailed => {
            format!(
                "{mark}first direct IO errored. File system may not support direct IO, or iomem_align= \
                                      is bad, or invalid block size. Try setting direct=0."
            )
        }
        IoNote::FirstFailed { file } => {
            format!("{mark}first I/O failed. If {file} is a zoned block device, consider --zonemode=zbd")
        }
        IoNote::TooLate { latency_ns, limit_ns, file, action, offset, length } => format!(
            "{mark}latency of {latency_ns} nsec exceeds specified max ({limit_ns} nsec): {file} {action} {offset} {length}"
        ),
        IoNote::TooSlow { job, misses } => {
            let lines: Vec<String> = misses.iter().map(|miss| too_slow(job, miss)).collect();
            lines.join("\n")
        }
        IoNote::NotRecovered { file } => format!("{mark}Failed to recover write pointer for {file}"),
        IoNote::ZoneReset { file, zone, errno } => {
            format!("{mark}{file}: resetting zone {zone} failed: {}", errno_text(*errno))
        }
        IoNote::ZoneFinish { file, zone, errno } => {
            format!("{mark}{file}: finishing zone {zone} failed: {}", errno_text(*errno))
        }
        IoNote::TooManyActiveZones { file, zone, limit } => format!(
            "{mark}{file}: zone {zone} cannot be written: the device takes no more than {limit} zones that are written in \
             part, and has them elsewhere. Reset or finish some of them."
        ),
        IoNote::TooManyOpenZones { file, zone, limit } => format!(
            "{mark}{file}: zone {zone} cannot be written: the device takes no more than {limit} open zones, and was asked to \
             keep others open. Close some of them."
        ),
    }
}

/// The line with what a device said.
fn nvme_line(file: &str, status: u16, mark: &str) -> String {
    let (kind, code) = (status >> 8 & 7, status & 0xFF);
    format!("\n{mark}io_uring_cmd: {file}: cq entry status (sct=0x{kind:02x}; sc=0x{code:02x})")
}

fn too_slow(job: &str, miss: &RateMiss) -> String {
    match miss {
        RateMiss::Bytes { least, found } => format!("{job}: rate_min={least}B/s not met, got {found}B/s"),
        RateMiss::Ios { least, found } => format!("{job}: rate_iops_min={least} not met, got {found} IOPS"),
    }
}
