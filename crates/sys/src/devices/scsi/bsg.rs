//! Commands to SCSI devices by `/dev/bsg/H:C:T:L`, one at a time by an ioctl (`SG_IO` with `struct sg_io_v4`).
//!
//! Facts: `linux/bsg.h`. Must not know: rings. Start reading at [`run`].
#![expect(unsafe_code, reason = "an ioctl of a structure that names memory of the caller")]

use super::cdb::Cdb;
use super::queue::ScsiData;
use crate::Errno;
use rustix::fd::{AsRawFd, BorrowedFd};

const SG_IO: libc::Ioctl = 0x2285;

/// The structure is the fourth version.
const GUARD: i32 = 'Q' as i32;

/// A device has this time for a command.
pub(crate) const TIMEOUT_MS: u32 = 30_000;

/// Bytes of sense data that are kept.
pub(crate) const SENSE_BYTES: usize = 96;

#[repr(C)]
#[derive(Debug, Default)]
struct SgIoV4 {
    guard: i32,
    /// Both 0: commands of SCSI.
    protocol: [u32; 2],
    request_bytes: u32,
    request: u64,
    /// Tag and attributes of a task.
    task: [u32; 5],
    most_response_bytes: u32,
    response: u64,
    /// For data to the device, then for data from there: number of parts (0: one piece of memory), and bytes.
    data_bytes: [[u32; 2]; 2],
    out: u64,
    r#in: u64,
    timeout_ms: u32,
    flags_and_user: [u32; 4],
    /// What the kernel writes: statuses of driver, transport and device, then six more numbers.
    answer: [u32; 9],
    generated_tag: u64,
    more_spare: [u32; 2],
}

/// Does a command and waits for its end.
///
/// # Errors
/// The kernel does not take the command; `EIO`: the device has not done it.
///
/// # Safety
/// Nobody else uses the data during the call.
pub unsafe fn run(device: BorrowedFd<'_>, cdb: Cdb, data: ScsiData) -> Result<(), Errno> {
    let mut sense = [0_u8; SENSE_BYTES];
    let mut asked = SgIoV4 {
        guard: GUARD,
        request_bytes: cdb.bytes().len() as u32,
        request: cdb.bytes().as_ptr() as u64,
        most_response_bytes: SENSE_BYTES as u32,
        response: sense.as_mut_ptr() as u64,
        timeout_ms: TIMEOUT_MS,
        ..SgIoV4::default()
    };
    match data {
        ScsiData::Nothing => {}
        ScsiData::FromDevice(region) => {
            asked.r#in = region.as_ptr() as u64;
            asked.data_bytes[1][1] = region.len() as u32;
        }
        ScsiData::ToDevice(region) => {
            asked.out = region.as_ptr() as u64;
            asked.data_bytes[0][1] = region.len() as u32;
        }
    }
    // SAFETY: the structure is that of the kernel, and what it names lives during the call; the data is the caller's promise.
    let returned = unsafe { libc::ioctl(device.as_raw_fd(), SG_IO, &raw mut asked) };
    if returned < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    let has_failed = asked.answer[..3].iter().any(|status| *status != 0);
    if has_failed { Err(Errno::IO) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_that_of_the_kernel() {
        assert_eq!(size_of::<SgIoV4>(), 160);
        assert_eq!(std::mem::offset_of!(SgIoV4, answer), 108);
        assert_eq!(std::mem::offset_of!(SgIoV4, generated_tag), 144);
    }

    #[test]
    fn a_file_takes_no_commands() {
        let file = std::fs::File::open("/dev/null").unwrap();
        // SAFETY: there is no data.
        let refused = unsafe { run(std::os::fd::AsFd::as_fd(&file), Cdb::synchronize_cache(), ScsiData::Nothing) };
        assert!(refused.is_err());
    }
}
