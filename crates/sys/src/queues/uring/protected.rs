//! Reads and writes with protection information beside the data (`IORING_RW_ATTR_FLAG_PI`). Linux 6.14.
//!
//! Facts: `linux/io_uring.h`, `linux/fs.h`. Must not know: tuples. Start reading at [`IoRing::push_protected`].
#![expect(unsafe_code, reason = "the request points to its attributes")]

use super::{IoRing, RingIo};
use crate::memory::arena::Region;
use io_uring::squeue::Entry;
use std::cell::UnsafeCell;

/// Place of the address of the attributes and of the mask of their kinds in a request.
const ATTRIBUTES_AT: usize = 48;
const KINDS_AT: usize = 56;

/// The attribute is protection information.
const PROTECTION: u64 = 1;

/// `IO_INTEGRITY_CHK_*`.
const CHECK_GUARD: u16 = 1;
const CHECK_REFERENCE: u16 = 1 << 1;
const CHECK_APPLICATION: u16 = 1 << 2;

/// Protection information of a read or write.
#[derive(Debug, Clone, Copy)]
pub struct RingProtection {
    pub metadata: Region,
    /// The fields that the device checks.
    pub checks_guard: bool,
    /// The same for the reference tag.
    pub checks_reference: bool,
    /// The same for the application tag.
    pub checks_application: bool,
    pub application_tag: u16,
    /// Reference tag of the first block in the metadata; the kernel turns it into that of the device.
    pub first_reference: u64,
}

/// `struct io_uring_attr_pi`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attribute {
    flags: u16,
    application_tag: u16,
    length: u32,
    address: u64,
    seed: u64,
    reserved: u64,
}

impl From<&RingProtection> for Attribute {
    fn from(protection: &RingProtection) -> Self {
        let when = |is_set: bool, bit: u16| if is_set { bit } else { 0 };
        Self {
            flags: when(protection.checks_guard, CHECK_GUARD)
                | when(protection.checks_reference, CHECK_REFERENCE)
                | when(protection.checks_application, CHECK_APPLICATION),
            application_tag: protection.application_tag,
            // Fits: a request has 32 bits for the length of its data, of which there is more.
            length: protection.metadata.len() as u32,
            address: protection.metadata.as_ptr() as u64,
            seed: protection.first_reference,
            reserved: 0,
        }
    }
}

/// The attributes of requests by slot, which the kernel reads when it takes a request.
#[derive(Debug)]
pub struct ProtectionSlots(Box<[UnsafeCell<Attribute>]>);

impl ProtectionSlots {
    /// Slots for requests. Nothing is allocated later.
    pub fn new(n_slots: u32) -> Self {
        Self((0..n_slots).map(|_| UnsafeCell::new(Attribute::default())).collect())
    }
}

impl IoRing {
    /// Pushes a read or write with protection information for a slot. False, and nothing is pushed, if the submission queue is full.
    ///
    /// # Safety
    /// As [`IoRing::push_io`]; the memory of the metadata too must live and not be used otherwise, and `slots` must live as long.
    ///
    /// # Panics
    /// If the slot is not one of `slots`, or not below the depth.
    pub unsafe fn push_protected(
        &mut self,
        slot: u32,
        io: &RingIo,
        protection: &RingProtection,
        slots: &mut ProtectionSlots,
    ) -> bool {
        let attribute = slots.0[slot as usize].get_mut();
        *attribute = Attribute::from(protection);
        let address = &raw const *attribute as u64;
        // SAFETY: by the caller's promise the slot is in no request, so nothing reads its vector.
        let vector = unsafe { self.vector_of(slot, io) };
        let mut entry = io.entry(vector).user_data(u64::from(slot));
        put(&mut entry, ATTRIBUTES_AT, address);
        put(&mut entry, KINDS_AT, PROTECTION);
        // SAFETY: the vector lives as long as the ring, the rest is the caller's promise.
        unsafe { self.push(&entry) }
    }
}

/// Puts a number at a place of a request.
fn put(entry: &mut Entry, at: usize, number: u64) {
    const { assert!(size_of::<Entry>() == 64) };
    // SAFETY: both places are within the 64 bytes of a request, which are plain numbers.
    unsafe { (&raw mut *entry).cast::<u8>().add(at).cast::<u64>().write_unaligned(number) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
    use io_uring::opcode;
    use io_uring::types::Fd;

    fn bytes(entry: &Entry) -> [u8; 64] {
        // SAFETY: a request is 64 plain bytes.
        unsafe { (&raw const *entry).cast::<[u8; 64]>().read() }
    }

    #[test]
    fn the_attribute_has_the_layout_of_the_kernel() {
        let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes: 64, offset_bytes: 0, hugepage_bytes: 0 };
        let arena = Arena::new(&request).unwrap();
        let attribute = Attribute::from(&RingProtection {
            metadata: arena.region(0, 24),
            checks_guard: true,
            checks_reference: false,
            checks_application: true,
            application_tag: 0xBEEF,
            first_reference: 0x0102_0304,
        });
        assert_eq!(size_of::<Attribute>(), 32);
        assert_eq!((attribute.flags, attribute.application_tag, attribute.length), (5, 0xBEEF, 24));
        assert_eq!((attribute.address, attribute.seed, attribute.reserved), (arena.as_ptr() as u64, 0x0102_0304, 0));
    }

    #[test]
    fn the_last_16_bytes_of_a_request_name_its_attribute() {
        let mut entry = opcode::Read::new(Fd(3), std::ptr::null_mut(), 512).offset(7).build();
        let before = bytes(&entry);
        put(&mut entry, ATTRIBUTES_AT, 0x1122_3344_5566_7788);
        put(&mut entry, KINDS_AT, PROTECTION);
        let after = bytes(&entry);
        assert_eq!(before[..48], after[..48]);
        assert_eq!(after[48..56], 0x1122_3344_5566_7788_u64.to_ne_bytes());
        assert_eq!(after[56..], 1_u64.to_ne_bytes());
    }
}
