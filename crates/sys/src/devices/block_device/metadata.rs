//! Metadata of a block device: whether requests can carry protection information with their data, and in which form.
//!
//! Facts: `linux/fs.h` (`FS_IOC_GETLBMD_CAP`, Linux 6.17). Must not know: tuples. Start reading at [`MetadataForm::of`].
#![expect(unsafe_code, reason = "ioctl with the kernel's own opcode")]

use crate::error::{Context, Result};
use rustix::fd::AsFd;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

const GET_CAPABILITY: Opcode = opcode::read_write::<Capability>(0x15, 2);

/// The device has protection information, and its reference tags count with the blocks.
const HAS_INTEGRITY: u32 = 1;
const HAS_REFERENCE_TAG: u32 = 1 << 1;

/// `struct logical_block_metadata_cap`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Capability {
    flags: u32,
    interval: u16,
    size: u8,
    opaque_size: u8,
    opaque_offset: u8,
    pi_size: u8,
    pi_offset: u8,
    guard_tag_type: u8,
    app_tag_size: u8,
    ref_tag_size: u8,
    storage_tag_size: u8,
    pad: u8,
}

/// The form of the metadata of each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataForm {
    /// The kernel takes protection information with requests.
    pub has_protection: bool,
    /// Reference tags count with the blocks.
    pub has_reference_tag: bool,
    pub data_bytes: u32,
    pub metadata_bytes: u32,
    /// Place and length of the protection information in them, bytes.
    pub protection_at: u32,
    /// Length of the protection information, bytes.
    pub protection_bytes: u32,
    /// Kind of the guard: 0 none, 1 IP checksum, 2 CRC of T10-DIF, 4 CRC of NVMe with 64 bits.
    pub guard_kind: u8,
    pub storage_tag_bytes: u32,
}

impl MetadataForm {
    /// Asks the kernel about an open block device.
    ///
    /// # Errors
    /// `ENOTTY`: the kernel cannot tell, or this is no block device.
    pub fn of(device: impl AsFd) -> Result<Self> {
        let mut found = Capability::default();
        // SAFETY: this opcode writes one structure of this layout, whose length is part of the opcode.
        let asked = unsafe { ioctl(device, Updater::<GET_CAPABILITY, Capability>::new(&mut found)) };
        asked.context("ioctl", "FS_IOC_GETLBMD_CAP").map(|()| Self::from(found))
    }
}

impl From<Capability> for MetadataForm {
    fn from(found: Capability) -> Self {
        Self {
            has_protection: found.flags & HAS_INTEGRITY != 0,
            has_reference_tag: found.flags & HAS_REFERENCE_TAG != 0,
            data_bytes: found.interval.into(),
            metadata_bytes: found.size.into(),
            protection_at: found.pi_offset.into(),
            protection_bytes: found.pi_size.into(),
            guard_kind: found.guard_tag_type,
            storage_tag_bytes: found.storage_tag_size.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opcode_and_the_layout_are_those_of_the_kernel() {
        // _IOWR(0x15, 2, 16 bytes).
        assert_eq!((GET_CAPABILITY, size_of::<Capability>()), (0xC010_1502, 16));
    }

    #[test]
    fn what_is_no_block_device_has_no_metadata() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let error = MetadataForm::of(&null).unwrap_err();
        assert_eq!(error.errno(), Some(libc::ENOTTY));
    }
}
