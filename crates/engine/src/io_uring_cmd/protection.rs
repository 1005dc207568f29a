//! Protection information: the flags and tags of commands, and tuples that the host makes and checks by itself (`pi_act=0`).
//!
//! Facts: the NVM command set specification, "End-to-end data protection". Numbers of a tuple are big endian: a guard of 2 or 8
//! bytes, an application tag of 2, a reference tag of 4 or 6. Must not know: rings. Start reading at [`Protection`].

use super::geometry::Blocks;
use super::options::CommandOptions;
use crate::contract::{GuardedField, TagMismatch};
use ferrio_sys::nvme::NvmeCommand;
use ferrio_sys::nvme::namespace::{Namespace, ProtectionFormat};
use ferrio_units::checksum::{crc16_t10dif, crc64_nvme};

/// In CDW12: the device makes and takes the information; the fields that it checks.
const BY_DEVICE: u32 = 1 << 29;
const CHECK_GUARD: u32 = 1 << 28;
const CHECK_APPLICATION: u32 = 1 << 27;
const CHECK_REFERENCE: u32 = 1 << 26;

/// A block with this application tag is not checked.
const UNCHECKED: u16 = 0xFFFF;

/// Options about protection information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProtectionOptions {
    /// `pi_act`: the device makes and takes the information.
    pub(super) by_device: bool,
    /// `pi_chk`.
    pub(super) checks_guard: bool,
    pub(super) checks_application: bool,
    pub(super) checks_reference: bool,
    /// `apptag` and `apptag_mask`.
    pub(super) application_tag: u16,
    pub(super) application_mask: u16,
}

/// The protection information of a namespace, as a job uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Protection {
    format: ProtectionFormat,
    options: ProtectionOptions,
    data_bytes: usize,
    metadata_bytes: usize,
    is_extended: bool,
}

impl Protection {
    /// `None`: the namespace has none.
    pub(super) fn new(namespace: &Namespace, options: &CommandOptions) -> Option<Self> {
        Some(Self {
            format: namespace.protection?,
            options: options.protection,
            data_bytes: namespace.data_bytes as usize,
            metadata_bytes: namespace.metadata_bytes as usize,
            is_extended: namespace.is_extended,
        })
    }

    /// The host makes tuples and checks them.
    pub(super) fn is_by_host(&self) -> bool {
        let options = &self.options;
        let has_fields = options.checks_guard || options.checks_application || options.checks_reference;
        !options.by_device && has_fields
    }

    /// True for a reference tag that counts with the blocks.
    fn has_reference(&self) -> bool {
        matches!(self.format.kind, 1 | 2)
    }

    /// Puts flags and tags into a command. Where the device makes the information, it begins with this reference tag.
    #[inline]
    pub(super) fn put_into(&self, command: &mut NvmeCommand, blocks: Blocks) {
        let options = &self.options;
        let when = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        command.words_10[2] |= when(options.by_device, BY_DEVICE)
            | when(options.checks_guard, CHECK_GUARD)
            | when(options.checks_application, CHECK_APPLICATION)
            | when(options.checks_reference, CHECK_REFERENCE);
        if self.has_reference() && (options.checks_reference || options.by_device) {
            command.words_10[4] = blocks.first as u32;
            if self.format.guard_bits == 64 {
                command.words_2[1] = (blocks.first >> 32) as u32 & 0xFFFF;
            }
        }
        if options.checks_application {
            command.words_10[5] = u32::from(options.application_mask) << 16 | u32::from(options.application_tag);
        }
    }

    /// Makes the tuples of a write; `metadata` is empty where they are within the buffer.
    pub(super) fn fill(&self, buffer: &mut [u8], metadata: &mut [u8], first: u64) {
        let mut block = first;
        self.each_mut(buffer, metadata, |protection, data, metadata| {
            protection.fill_block(data, metadata, block);
            block += 1;
        });
    }

    /// Checks the tuples of a read.
    pub(super) fn check(&self, buffer: &mut [u8], metadata: &mut [u8], first: u64) -> Option<TagMismatch> {
        let (mut block, mut found) = (first, None);
        self.each_mut(buffer, metadata, |protection, data, metadata| {
            if found.is_none() {
                found =
                    protection.check_block(data, metadata, block).map(|fault| TagMismatch { block: first, ..fault });
            }
            block += 1;
        });
        found
    }

    fn each_mut(&self, buffer: &mut [u8], metadata: &mut [u8], mut each: impl FnMut(&Self, &[u8], &mut [u8])) {
        if self.is_extended {
            for unit in buffer.chunks_exact_mut(self.data_bytes + self.metadata_bytes) {
                let (data, metadata) = unit.split_at_mut(self.data_bytes);
                each(self, data, metadata);
            }
            return;
        }
        let blocks = buffer.chunks_exact(self.data_bytes).zip(metadata.chunks_exact_mut(self.metadata_bytes));
        blocks.for_each(|(data, metadata)| each(self, data, metadata));
    }

    /// First byte of the tuple in the metadata of a block.
    fn place(&self) -> usize {
        if self.format.is_first { 0 } else { self.metadata_bytes - self.format.bytes() as usize }
    }

    /// The guard, in the high bytes: over the data, and the metadata before the tuple.
    fn guard(&self, data: &[u8], metadata: &[u8]) -> u64 {
        let before = &metadata[..self.place()];
        match self.format.guard_bits {
            16 => u64::from(crc16_t10dif(&[data, before])),
            _ => crc64_nvme(&[data, before]),
        }
    }

    /// Bytes of guard and reference tag.
    fn lengths(&self) -> (usize, usize) {
        if self.format.guard_bits == 16 { (2, 4) } else { (8, 6) }
    }

    /// The reference tag of a block.
    fn reference(&self, block: u64) -> u64 {
        let bits = self.lengths().1 as u32 * 8;
        block & (u64::MAX >> (64 - bits))
    }

    fn fill_block(&self, data: &[u8], metadata: &mut [u8], block: u64) {
        let guard = self.guard(data, metadata);
        let (guard_bytes, reference_bytes) = self.lengths();
        let tuple = &mut metadata[self.place()..];
        if self.options.checks_guard {
            tuple[..guard_bytes].copy_from_slice(&guard.to_be_bytes()[8 - guard_bytes..]);
        }
        if self.options.checks_application {
            tuple[guard_bytes..guard_bytes + 2].copy_from_slice(&self.options.application_tag.to_be_bytes());
        }
        if self.options.checks_reference && self.has_reference() {
            let reference = self.reference(block).to_be_bytes();
            tuple[guard_bytes + 2..guard_bytes + 2 + reference_bytes]
                .copy_from_slice(&reference[8 - reference_bytes..]);
        }
    }

    fn check_block(&self, data: &[u8], metadata: &[u8], block: u64) -> Option<TagMismatch> {
        let (guard_bytes, reference_bytes) = self.lengths();
        let tuple = &metadata[self.place()..];
        let number = |at: usize, n_bytes: usize| {
            tuple[at..at + n_bytes].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let application = number(guard_bytes, 2) as u16;
        let reference = number(guard_bytes + 2, reference_bytes);
        let is_unchecked =
            application == UNCHECKED && (self.format.kind != 3 || reference == u64::MAX >> (64 - reference_bytes * 8));
        if is_unchecked {
            return None;
        }
        let options = &self.options;
        let mismatch =
            |field, expected, actual| (expected != actual).then_some(TagMismatch { field, block, expected, actual });
        let of_guard = options
            .checks_guard
            .then(|| mismatch(GuardedField::Guard, self.guard(data, metadata), number(0, guard_bytes)));
        let of_application = options.checks_application.then(|| {
            let masked = |tag: u16| u64::from(tag & options.application_mask);
            mismatch(GuardedField::ApplicationTag, masked(options.application_tag), masked(application))
        });
        let of_reference = (options.checks_reference && self.has_reference())
            .then(|| mismatch(GuardedField::ReferenceTag, self.reference(block), reference));
        of_guard.flatten().or(of_application.flatten()).or(of_reference.flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection(guard_bits: u8, metadata_bytes: usize, is_extended: bool, is_first: bool) -> Protection {
        Protection {
            format: ProtectionFormat { kind: 1, guard_bits, storage_tag_bits: 0, is_first },
            options: ProtectionOptions {
                by_device: false,
                checks_guard: true,
                checks_application: true,
                checks_reference: true,
                application_tag: 0x1234,
                application_mask: 0xFFFF,
            },
            data_bytes: 512,
            metadata_bytes,
            is_extended,
        }
    }

    #[test]
    fn a_tuple_has_its_numbers_big_endian() {
        let protection = protection(16, 8, false, false);
        let (mut data, mut metadata) = (vec![0; 1024], vec![0; 16]);
        protection.fill(&mut data, &mut metadata, 0x1_0203_0405);
        // The T10-DIF checksum of zeroes is 0. The reference tag has the low 32 bits of the block's number.
        assert_eq!(metadata, [0, 0, 0x12, 0x34, 2, 3, 4, 5, 0, 0, 0x12, 0x34, 2, 3, 4, 6]);
    }

    #[test]
    fn a_long_tuple_is_at_the_end_of_the_metadata() {
        let protection = protection(64, 24, true, false);
        let mut buffer = vec![0xFF; 536];
        buffer[512..].fill(0);
        protection.fill(&mut buffer, &mut [], 0x0102_0304_0506);
        assert_eq!(&buffer[512..520], [0; 8]);
        let guard = crc64_nvme(&[&[0xFF; 512], &[0; 8]]);
        assert_eq!(&buffer[520..528], guard.to_be_bytes());
        assert_eq!(&buffer[528..], [0x12, 0x34, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn what_was_filled_is_found_right_and_damage_is_not() {
        for (guard_bits, metadata_bytes) in [(16, 8), (16, 16), (64, 16)] {
            for (is_extended, is_first) in [(false, false), (false, true), (true, false)] {
                let protection = protection(guard_bits, metadata_bytes, is_extended, is_first);
                let apart = if is_extended { 0 } else { metadata_bytes };
                let within = if is_extended { metadata_bytes } else { 0 };
                let (mut data, mut metadata) = (vec![7; 3 * (512 + within)], vec![0; 3 * apart]);
                protection.fill(&mut data, &mut metadata, 100);
                assert_eq!(protection.check(&mut data, &mut metadata, 100), None);
                let moved = protection.check(&mut data, &mut metadata, 101).unwrap();
                assert_eq!((moved.field, moved.expected, moved.actual), (GuardedField::ReferenceTag, 101, 100));
                data[512 + within] ^= 1;
                let damaged = protection.check(&mut data, &mut metadata, 100).unwrap();
                assert_eq!((damaged.field, damaged.block), (GuardedField::Guard, 100));
            }
        }
    }

    #[test]
    fn an_application_tag_is_compared_under_its_mask() {
        let mut protection = protection(16, 8, false, false);
        let (mut data, mut metadata) = (vec![0; 512], vec![0; 8]);
        protection.fill(&mut data, &mut metadata, 1);
        protection.options.application_tag = 0x1299;
        let fault = protection.check(&mut data, &mut metadata, 1).unwrap();
        assert_eq!((fault.field, fault.expected, fault.actual), (GuardedField::ApplicationTag, 0x1299, 0x1234));
        protection.options.application_mask = 0xFF00;
        assert_eq!(protection.check(&mut data, &mut metadata, 1), None);
        // This tag stops all checks.
        metadata[2..4].fill(0xFF);
        assert_eq!(protection.check(&mut data, &mut metadata, 77), None);
    }

    #[test]
    fn flags_and_tags_are_in_the_command() {
        let mut by_host = protection(64, 16, false, false);
        let command = |protection: &Protection| {
            let mut command = NvmeCommand::new(1, 1);
            protection.put_into(&mut command, Blocks { first: 0x3_0000_0007, n: 1 });
            command
        };
        let command_by_host = command(&by_host);
        assert_eq!(command_by_host.words_10[2], 0x1C00_0000);
        assert_eq!((command_by_host.words_10[4], command_by_host.words_2[1]), (7, 3));
        assert_eq!(command_by_host.words_10[5], 0xFFFF_1234);
        by_host.options.by_device = true;
        by_host.options.checks_application = false;
        assert_eq!((command(&by_host).words_10[2], command(&by_host).words_10[5]), (0x3400_0000, 0));
    }
}
