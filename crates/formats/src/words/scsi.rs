//! What a SCSI device, its driver and the host adapter say of a command, in fio's words.
//!
//! Facts: reference engines.md, section 10; fio 3.41 on `scsi_debug`. Must not know: commands. Start reading at [`line()`].

use ferrio_stats::note::ScsiStatus;
use std::fmt::Write;

/// Names of the statuses of host adapters (`DID_*` of the kernel), from 0.
const HOST: [&str; 12] = [
    "SG_ERR_DID_OK",
    "SG_ERR_DID_NO_CONNECT",
    "SG_ERR_DID_BUS_BUSY",
    "SG_ERR_DID_TIME_OUT",
    "SG_ERR_DID_BAD_TARGET",
    "SG_ERR_DID_ABORT",
    "SG_ERR_DID_PARITY",
    "SG_ERR_DID_ERROR",
    "SG_ERR_DID_RESET",
    "SG_ERR_DID_BAD_INTR",
    "SG_ERR_DID_PASSTHROUGH",
    "SG_ERR_DID_SOFT_ERROR",
];

/// Names of the statuses of drivers, from 0: the lower four bits.
const DRIVER: [&str; 9] = [
    "SG_ERR_DRIVER_OK",
    "SG_ERR_DRIVER_BUSY",
    "SG_ERR_DRIVER_SOFT",
    "SG_ERR_DRIVER_MEDIA",
    "SG_ERR_DRIVER_ERROR",
    "SG_ERR_DRIVER_INVALID",
    "SG_ERR_DRIVER_TIMEOUT",
    "SG_ERR_DRIVER_HARD",
    "SG_ERR_DRIVER_SENSE",
];

/// Suggestions of drivers, from 0: the four bits above.
const SUGGESTIONS: [&str; 6] = [
    "",
    "SG_ERR_SUGGEST_RETRY",
    "SG_ERR_SUGGEST_ABORT",
    "SG_ERR_SUGGEST_REMAP",
    "SG_ERR_SUGGEST_DIE",
    "SG_ERR_SUGGEST_SENSE",
];

/// The parts that say something.
pub(super) fn line(status: &ScsiStatus) -> String {
    let ScsiStatus { status, host_status, driver_status, sense, n_left, n_bytes, cdb, by_ring: _ } = status;
    let name = |names: &[&'static str], number: u16| names.get(usize::from(number)).copied().unwrap_or("Unknown");
    let mut text = String::new();
    // Writing to a text cannot fail.
    if *host_status != 0 {
        let _ = write!(text, "SG Host Status: 0x{host_status:02x}; {}. ", name(&HOST, *host_status));
    }
    if *driver_status != 0 {
        let driver = name(&DRIVER, driver_status & 0xF);
        let suggestion = name(&SUGGESTIONS, driver_status >> 4);
        let _ = write!(text, "SG Driver Status: 0x{driver_status:02x}; {driver}; {suggestion}. ");
    }
    if *status != 0 {
        let device = match status {
            0x02 => "CHECK_CONDITION",
            0x04 => "CONDITION_MET",
            0x08 => "BUSY",
            0x18 => "RESERVATION_CONFLICT",
            0x28 => "TASK_SET_FULL",
            0x30 => "ACA_ACTIVE",
            0x40 => "TASK_ABORTED",
            _ => "Unknown",
        };
        let _ = write!(text, "SG SCSI Status: 0x{status:02x}; {device}. ");
    }
    if !sense.is_empty() {
        let _ = write!(text, "Sense Data ({} bytes):{}. ", sense.len(), bytes(sense, sense.len()));
    }
    if *n_left != 0 {
        let _ = write!(text, "SG Driver: {n_left} bytes out of {n_bytes} not transferred. ");
    }
    if text.is_empty() {
        text.push_str("SG Driver did not report a Host, Driver or Device check. ");
    }
    // As in fio, a short command is filled up.
    let _ = write!(text, "cdb:{}. ", bytes(cdb, 16));
    text
}

/// The parts that say something about a command that went by a ring, and what the device says of its fault.
pub(super) fn ring_line(file: &str, status: &ScsiStatus) -> String {
    let ScsiStatus { status, host_status, sense, .. } = status;
    let mut text = format!("io_uring_cmd: {file}: ");
    // Writing to a text cannot fail.
    if *status != 0 {
        let _ = write!(text, "BSG SCSI Status: 0x{status:02x}; ");
    }
    if *host_status != 0 {
        let _ = write!(text, "BSG Host Status: 0x{host_status:02x}; ");
    }
    if !sense.is_empty() {
        let _ = write!(text, "Sense Data ({} bytes):{}. ", sense.len(), bytes(sense, sense.len()));
    }
    text
}

/// Bytes as numbers, filled up with zeroes to a length.
fn bytes(bytes: &[u8], length: usize) -> String {
    let filled = bytes.iter().copied().chain(std::iter::repeat(0)).take(length);
    filled.fold(String::new(), |mut text, byte| {
        let _ = write!(text, " {byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As fio 3.41 says it of a medium error of `scsi_debug`.
    #[test]
    fn a_medium_error_has_the_words_of_the_peer() {
        let status = ScsiStatus {
            status: 2,
            by_ring: false,
            host_status: 0,
            driver_status: 8,
            sense: vec![0xF0, 0, 3, 0, 0, 0x12, 0x34, 0x0A, 0, 0, 0, 0, 0x11, 0, 0, 0, 0, 0],
            n_left: 4096,
            n_bytes: 4096,
            cdb: vec![0x28, 0, 0, 0, 0x12, 0x30, 0, 0, 8, 0],
        };
        let expected = "SG Driver Status: 0x08; SG_ERR_DRIVER_SENSE; . SG SCSI Status: 0x02; CHECK_CONDITION. Sense Data (18 bytes): \
                        f0 00 03 00 00 12 34 0a 00 00 00 00 11 00 00 00 00 00. SG Driver: 4096 bytes out of 4096 not transferred. \
                        cdb: 28 00 00 00 12 30 00 00 08 00 00 00 00 00 00 00. ";
        assert_eq!(line(&status), expected);
        let by_ring = ScsiStatus { host_status: 3, by_ring: true, ..status.clone() };
        assert!(
            ring_line("/dev/bsg/1:0:0:0", &by_ring).starts_with(
                "io_uring_cmd: /dev/bsg/1:0:0:0: BSG SCSI Status: 0x02; BSG Host Status: 0x03; Sense Data ("
            )
        );
        let nothing = ScsiStatus { cdb: vec![0x35], ..ScsiStatus::default() };
        assert!(line(&nothing).starts_with("SG Driver did not report a Host, Driver or Device check. cdb: 35 00 "));
        let host = ScsiStatus { host_status: 3, ..ScsiStatus::default() };
        assert!(line(&host).starts_with("SG Host Status: 0x03; SG_ERR_DID_TIME_OUT. cdb:"), "{}", line(&host));
    }
}
