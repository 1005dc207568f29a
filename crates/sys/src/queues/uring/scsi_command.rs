//! Commands to SCSI devices by a ring: `/dev/bsg/H:C:T:L` (`IORING_OP_URING_CMD` with requests of 128 bytes). Linux 7.
//!
//! Facts: `linux/bsg.h`. Must not know: what commands mean. Start reading at [`RingScsiCommand`].
#![expect(unsafe_code, reason = "the command is read as bytes, and points to memory")]

use super::request::with_fd;
use super::{CommandRing, RingFd};
use crate::devices::scsi::bsg::{SENSE_BYTES, TIMEOUT_MS};
use crate::devices::scsi::cdb::Cdb;
use crate::devices::scsi::queue::{ScsiData, ScsiStatus};
use io_uring::opcode;
use io_uring::squeue::Flags;
use io_uring::types::{Fd, Fixed};
use std::cell::UnsafeCell;

const COMMAND_BYTES: usize = 80;

#[derive(Debug, Clone, Copy)]
pub struct RingScsiCommand {
    /// The `/dev/bsg/H:C:T:L`.
    pub fd: RingFd,
    pub cdb: Cdb,
    pub data: ScsiData,
    /// Lets a kernel worker thread do it at once (`IOSQE_ASYNC`).
    pub is_forced_async: bool,
}

/// What the kernel reads and writes beside the data, by slot, while a command is in flight.
#[derive(Debug, Default)]
pub struct ScsiSlots {
    slots: Box<[UnsafeCell<ScsiSlot>]>,
}

#[derive(Debug, Clone)]
struct ScsiSlot {
    cdb: Cdb,
    sense: [u8; SENSE_BYTES],
    n_bytes: u32,
    /// What the completion has said; 0: all is well.
    status: u64,
}

impl ScsiSlots {
    /// Slots for commands. Nothing is allocated later, but for faults.
    pub fn new(n_slots: u32) -> Self {
        let slot = ScsiSlot { cdb: Cdb::synchronize_cache(), sense: [0; SENSE_BYTES], n_bytes: 0, status: 0 };
        Self { slots: (0..n_slots).map(|_| UnsafeCell::new(slot.clone())).collect() }
    }

    /// What is said against the last command in a slot, which is done, once.
    pub fn take_fault(&mut self, slot: u32) -> Option<ScsiStatus> {
        let ScsiSlot { cdb, sense, n_bytes, status } = self.slots.get_mut(slot as usize)?.get_mut();
        let status = std::mem::take(status);
        (!is_well(status)).then(|| ScsiStatus {
            status: status as u8,
            driver_status: u16::from((status >> 8) as u8),
            host_status: u16::from((status >> 16) as u8),
            sense: sense[..usize::from((status >> 24) as u8).min(SENSE_BYTES)].to_vec(),
            n_left: (status >> 32) as u32,
            n_bytes: *n_bytes,
            cdb: cdb.bytes().to_vec(),
            by_ring: true,
        })
    }
}

/// Device, driver and host adapter have nothing to say against a command.
fn is_well(status: u64) -> bool {
    matches!(status & STATUSES, 0 | CONDITION_MET)
}

/// Statuses of device, driver and host in what a completion says beside its result.
const STATUSES: u64 = 0xFF_FFFF;

/// CONDITION MET: the blocks of a PRE-FETCH fit the cache.
const CONDITION_MET: u64 = 0x04;

/// A finished command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScsiCompletion {
    pub slot: u32,
    /// 0, or a negative errno.
    pub result: i32,
    /// Device, driver and host adapter have nothing to say against it.
    pub is_well: bool,
}

impl CommandRing {
    /// Pushes a command for a slot. False, and nothing is pushed, if the submission queue is full.
    ///
    /// # Safety
    /// Until the completion of the slot was popped or the ring is dropped: `slots` and the memory of the data must live, the data must
    /// not be used otherwise (that of a write may be read), the descriptor must stay open, and the slot must not be used again.
    ///
    /// # Panics
    /// If the slot is not one of `slots`.
    pub unsafe fn push_scsi(&mut self, slot: u32, request: &RingScsiCommand, slots: &mut ScsiSlots) -> bool {
        let place = slots.slots[slot as usize].get_mut();
        (place.cdb, place.status) = (request.cdb, 0);
        let (out, r#in) = match request.data {
            ScsiData::Nothing => (None, None),
            ScsiData::FromDevice(region) => (None, Some(region)),
            ScsiData::ToDevice(region) => (Some(region), None),
        };
        let address = |region: Option<crate::memory::arena::Region>| region.map_or(0, |region| region.as_ptr() as u64);
        let length = |region: Option<crate::memory::arena::Region>| region.map_or(0, |region| region.len() as u32);
        place.n_bytes = length(out).max(length(r#in));
        let mut command = Fields::default();
        command.long(place.cdb.bytes().as_ptr() as u64);
        // Length of the command; protocol and subprotocol are those of SCSI commands.
        command.short(&[place.cdb.bytes().len() as u32, 0, 0, SENSE_BYTES as u32]);
        command.long(place.sense.as_mut_ptr() as u64);
        command.long(address(out));
        command.short(&[length(out), 0]);
        command.long(address(r#in));
        command.short(&[length(r#in), 0, TIMEOUT_MS]);
        let entry =
            with_fd!(request.fd, |fd| opcode::UringCmd80::new(fd, 0).cmd(command.bytes).build()).user_data(slot.into());
        let entry = if request.is_forced_async { entry.flags(Flags::ASYNC) } else { entry };
        // SAFETY: the promise of the caller.
        unsafe { self.push(&entry) }
    }

    /// Hands up to `max` completions of commands that are there to `each`, oldest first.
    pub fn pop_scsi(&mut self, max: u32, slots: &mut ScsiSlots, mut each: impl FnMut(ScsiCompletion)) {
        let mut n_popped = 0;
        for completion in self.inner.completion().take(max as usize) {
            let (slot, status) = (completion.user_data() as u32, completion.big_cqe()[0]);
            if let Some(place) = slots.slots.get_mut(slot as usize) {
                place.get_mut().status = status;
            }
            each(ScsiCompletion { slot, result: completion.result(), is_well: is_well(status) });
            n_popped += 1;
        }
        self.n_outstanding = self.n_outstanding.saturating_sub(n_popped);
    }
}

/// The bytes of `struct bsg_uring_cmd`, as they are written one after the other.
struct Fields {
    bytes: [u8; COMMAND_BYTES],
    length: usize,
}

impl Default for Fields {
    fn default() -> Self {
        Self { bytes: [0; COMMAND_BYTES], length: 0 }
    }
}

impl Fields {
    fn long(&mut self, value: u64) {
        self.put(&value.to_ne_bytes());
    }

    fn short(&mut self, values: &[u32]) {
        for value in values {
            self.put(&value.to_ne_bytes());
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
}
