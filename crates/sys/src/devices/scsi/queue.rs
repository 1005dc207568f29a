//! Commands to SCSI devices by the kernel's `sg_io_hdr`: one at a time by an ioctl (block devices and `/dev/sgN`), or several at once
//! by write and read (`/dev/sgN`).
//!
//! Must not know: what commands do. Start reading at [`ScsiQueue`].
#![expect(unsafe_code, reason = "ioctl, write and read of a structure that names memory of the caller")]

use super::cdb::Cdb;
use crate::Errno;
use crate::memory::arena::Region;
use rustix::fd::{AsRawFd, BorrowedFd};
use serde::{Deserialize, Serialize};
use std::io;

/// Bytes of sense data that are kept.
const SENSE_BYTES: usize = 64;

const SG_IO: libc::c_ulong = 0x2285;

/// Time limit of a command, ms: that of fio.
const TIMEOUT_MS: u32 = 30_000;

const FLAG_POLLED: u32 = 0x800;

/// Mask of `info`: the device, its driver or the host adapter has reported something.
const INFO_CHECK: u32 = 1;

/// Directions of data (`SG_DXFER_*`).
const NO_DATA: i32 = -1;
const TO_DEVICE: i32 = -2;
const FROM_DEVICE: i32 = -3;

#[derive(Debug, Clone, Copy)]
pub enum ScsiData {
    /// None.
    Nothing,
    FromDevice(Region),
    ToDevice(Region),
}

/// `struct sg_io_hdr`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct SgHeader {
    asked: SgAsked,
    answer: SgAnswer,
}

/// The part of the header that the program writes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct SgAsked {
    interface: i32,
    direction: i32,
    cdb_bytes: u8,
    sense_bytes: u8,
    n_parts: u16,
    data_bytes: u32,
    data: usize,
    cdb: usize,
    sense: usize,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: usize,
}

/// The part of the header that the kernel writes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct SgAnswer {
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    n_left: i32,
    duration_ms: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<SgAsked>() == 64 && size_of::<SgHeader>() == 88);

impl SgHeader {
    const EMPTY: Self = Self {
        asked: SgAsked {
            interface: b'S' as i32,
            direction: NO_DATA,
            cdb_bytes: 0,
            sense_bytes: 0,
            n_parts: 0,
            data_bytes: 0,
            data: 0,
            cdb: 0,
            sense: 0,
            timeout_ms: TIMEOUT_MS,
            flags: 0,
            pack_id: 0,
            user: 0,
        },
        answer: SgAnswer {
            status: 0,
            masked_status: 0,
            message_status: 0,
            sense_written: 0,
            host_status: 0,
            driver_status: 0,
            n_left: 0,
            duration_ms: 0,
            info: 0,
        },
    };
}

/// A command with its status, in one place until it is done.
#[derive(Debug, Clone)]
struct Request {
    header: SgHeader,
    cdb: Cdb,
    sense: [u8; SENSE_BYTES],
}

/// What a device, its driver and the host adapter say of a command that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScsiStatus {
    /// Status of the device (2: check condition).
    pub status: u8,
    pub host_status: u16,
    pub driver_status: u16,
    pub sense: Vec<u8>,
    /// Bytes that were not moved.
    pub n_left: u32,
    pub n_bytes: u32,
    pub cdb: Vec<u8>,
    /// The command went by a ring (`cmd_type=bsg`).
    #[serde(default)]
    pub by_ring: bool,
}

/// Commands, each in a slot.
#[derive(Debug)]
pub struct ScsiQueue {
    requests: Box<[Request]>,
}

impl ScsiQueue {
    /// Slots for commands. Nothing is allocated later, but for faults.
    pub fn new(n_slots: u32) -> Self {
        let request = Request { header: SgHeader::EMPTY, cdb: Cdb::synchronize_cache(), sense: [0; SENSE_BYTES] };
        Self { requests: vec![request; n_slots as usize].into_boxed_slice() }
    }

    /// Puts a command into a slot.
    fn set(&mut self, slot: u32, cdb: Cdb, data: ScsiData, is_polled: bool) -> &mut Request {
        let request = &mut self.requests[slot as usize];
        request.cdb = cdb;
        let (direction, region) = match data {
            ScsiData::Nothing => (NO_DATA, None),
            ScsiData::ToDevice(region) => (TO_DEVICE, Some(region)),
            ScsiData::FromDevice(region) => (FROM_DEVICE, Some(region)),
        };
        request.header.answer = SgHeader::EMPTY.answer;
        request.header.asked = SgAsked {
            direction,
            cdb_bytes: request.cdb.bytes().len() as u8,
            sense_bytes: SENSE_BYTES as u8,
            data_bytes: region.map_or(0, |region| u32::try_from(region.len()).unwrap_or(u32::MAX)),
            data: region.map_or(0, |region| region.as_ptr() as usize),
            cdb: request.cdb.bytes().as_ptr() as usize,
            sense: request.sense.as_mut_ptr() as usize,
            flags: if is_polled { FLAG_POLLED } else { 0 },
            pack_id: slot as i32,
            user: slot as usize,
            ..SgHeader::EMPTY.asked
        };
        request
    }

    /// Does a command and waits for its end. Whether it succeeded tells [`ScsiQueue::fault`].
    ///
    /// # Errors
    /// The kernel does not take the command.
    ///
    /// # Safety
    /// Nobody else uses the data during the call.
    pub unsafe fn run(
        &mut self,
        slot: u32,
        device: BorrowedFd<'_>,
        cdb: Cdb,
        data: ScsiData,
        is_polled: bool,
    ) -> Result<(), Errno> {
        let request = self.set(slot, cdb, data, is_polled);
        // SAFETY: the kernel reads and writes the header, and the memory that it names: the command and the sense data in the slot,
        // and the data, for which the caller answers.
        let returned = unsafe { libc::ioctl(device.as_raw_fd(), SG_IO, &raw mut request.header) };
        if returned == 0 { Ok(()) } else { Err(last_errno()) }
    }

    /// Starts a command on a `/dev/sgN`.
    ///
    /// # Errors
    /// The kernel does not take the command; `EDOM` (or `EAGAIN`): it takes no more now.
    ///
    /// # Safety
    /// The slot is not in use, and nobody uses the data, until [`ScsiQueue::finish`] has returned the slot.
    pub unsafe fn start(
        &mut self,
        slot: u32,
        device: BorrowedFd<'_>,
        cdb: Cdb,
        data: ScsiData,
        is_polled: bool,
    ) -> Result<(), Errno> {
        let request = self.set(slot, cdb, data, is_polled);
        let header = (&raw const request.header).cast();
        // SAFETY: the kernel reads the header, and the memory that it names; see `run`.
        let returned = unsafe { libc::write(device.as_raw_fd(), header, size_of::<SgHeader>()) };
        if usize::try_from(returned) == Ok(size_of::<SgHeader>()) { Ok(()) } else { Err(last_errno()) }
    }

    /// Takes a command that is done on a `/dev/sgN` that is open without waiting, and returns its slot; `None`: none is done.
    ///
    /// # Errors
    /// The kernel has none to give.
    pub fn finish(&mut self, device: BorrowedFd<'_>) -> Result<Option<u32>, Errno> {
        let mut header = SgHeader::EMPTY;
        // SAFETY: the kernel writes the header. Data of the device goes to the memory that the command named, for which the caller of
        // `start` answers.
        let returned = unsafe { libc::read(device.as_raw_fd(), (&raw mut header).cast(), size_of::<SgHeader>()) };
        if usize::try_from(returned) != Ok(size_of::<SgHeader>()) {
            return match last_errno() {
                Errno::AGAIN => Ok(None),
                errno => Err(errno),
            };
        }
        // A slot of the kernel's making is none of ours.
        let request = self.requests.get_mut(header.asked.user).ok_or(Errno::IO)?;
        request.header = header;
        Ok(Some(header.asked.user as u32))
    }

    /// True if the command in a slot, which is done, has succeeded.
    pub fn is_well(&self, slot: u32) -> bool {
        let answer = &self.requests[slot as usize].header.answer;
        answer.info & INFO_CHECK == 0 && answer.status == 0
    }

    /// What is said of the command in a slot, which is done.
    pub fn fault(&self, slot: u32) -> ScsiStatus {
        let Request { header, cdb, sense } = &self.requests[slot as usize];
        let SgHeader { asked, answer } = header;
        ScsiStatus {
            status: answer.status,
            host_status: answer.host_status,
            driver_status: answer.driver_status,
            sense: sense[..usize::from(answer.sense_written).min(SENSE_BYTES)].to_vec(),
            n_left: u32::try_from(answer.n_left).unwrap_or(0),
            n_bytes: asked.data_bytes,
            cdb: cdb.bytes().to_vec(),
            by_ring: false,
        }
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
