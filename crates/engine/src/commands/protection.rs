//! Protection information: its options, and the tuples that the host makes and checks by itself (`pi_act=0`), for engines that send
//! metadata along with the data.
//!
//! Facts: the NVM command set specification, "End-to-end data protection". Numbers of a tuple are big endian: a guard of 2 or 8
//! bytes, an application tag of 2, a reference tag of 4 or 6. Must not know: rings, commands. Start reading at [`Protection`].

use crate::contract::EngineError;
use crate::contract::options::EngineOptions;
use crate::contract::parts::TagMismatch;
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::io_uring_cmd as of_metadata;
use ferrio_stats::note::ProtectionField;
use ferrio_sys::nvme::namespace::ProtectionFormat;
use ferrio_units::checksum::{crc16_t10dif, crc64_nvme};

/// A block with this application tag is not checked.
const UNCHECKED: u16 = 0xFFFF;

/// Options about protection information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProtectionOptions {
    /// `pi_act`: the device makes and takes the information.
    pub(crate) by_device: bool,
    /// `pi_chk`.
    pub(crate) checks_guard: bool,
    pub(crate) checks_application: bool,
    pub(crate) checks_reference: bool,
    /// `apptag` and `apptag_mask`.
    pub(crate) application_tag: u16,
    pub(crate) application_mask: u16,
}

impl ProtectionOptions {
    /// Reads the options of an engine.
    ///
    /// # Errors
    /// A tag that does not fit its field.
    pub(crate) fn parse(engine: &'static str, options: &EngineOptions) -> Result<Self, EngineError> {
        // As in fio, the text may have anything between these words.
        let checks = options.get(&of_metadata::PI_CHK).unwrap_or_default();
        Ok(Self {
            by_device: options.get(&of_metadata::PI_ACT),
            checks_guard: checks.contains("GUARD"),
            checks_application: checks.contains("APPTAG"),
            checks_reference: checks.contains("REFTAG"),
            application_tag: number(engine, options, &of_metadata::APPTAG)?,
            application_mask: number(engine, options, &of_metadata::APPTAG_MASK)?,
        })
    }

    /// The host makes tuples and checks them.
    fn are_by_host(self) -> bool {
        !self.by_device && (self.checks_guard || self.checks_application || self.checks_reference)
    }
}

/// `md_per_io_size`: room for the metadata of an I/O, bytes.
///
/// # Errors
/// It has more than 32 bits, or is below 0.
pub(crate) fn metadata_bytes(engine: &'static str, options: &EngineOptions) -> Result<u32, EngineError> {
    number(engine, options, &of_metadata::MD_PER_IO_SIZE)
}

/// A number of 16 or 32 bits.
fn number<N: TryFrom<i64>>(
    engine: &'static str,
    options: &EngineOptions,
    option: &EngineOption<i64>,
) -> Result<N, EngineError> {
    let value = options.get(option);
    N::try_from(value)
        .map_err(|_| EngineError::bad_option(engine, option.name(), &value, "the number does not fit its field"))
}

/// How the blocks of a device hold protection information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProtectedBlocks {
    pub(crate) format: ProtectionFormat,
    pub(crate) data_bytes: usize,
    pub(crate) metadata_bytes: usize,
    /// The metadata of a block are behind its data, in the same buffer.
    pub(crate) is_extended: bool,
}

/// The protection information of a device, as a job uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protection {
    pub(crate) blocks: ProtectedBlocks,
    pub(crate) options: ProtectionOptions,
}

impl Protection {
    /// The host makes tuples and checks them.
    #[inline]
    pub(crate) fn is_by_host(&self) -> bool {
        self.options.are_by_host()
    }

    /// True for a reference tag that counts with the blocks.
    #[inline]
    pub(crate) fn has_reference(&self) -> bool {
        matches!(self.blocks.format.kind, 1 | 2)
    }

    /// Makes the tuples of a write; `metadata` is empty where they are within the buffer.
    pub(crate) fn fill(&self, buffer: &mut [u8], metadata: &mut [u8], first: u64) {
        let mut block = first;
        self.each_mut(buffer, metadata, |protection, data, metadata| {
            protection.fill_block(data, metadata, block);
            block += 1;
        });
    }

    /// Checks the tuples of a read.
    pub(crate) fn check(&self, buffer: &mut [u8], metadata: &mut [u8], first: u64) -> Option<TagMismatch> {
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
        if self.blocks.is_extended {
            for unit in buffer.chunks_exact_mut(self.blocks.data_bytes + self.blocks.metadata_bytes) {
                let (data, metadata) = unit.split_at_mut(self.blocks.data_bytes);
                each(self, data, metadata);
            }
            return;
        }
        let blocks =
            buffer.chunks_exact(self.blocks.data_bytes).zip(metadata.chunks_exact_mut(self.blocks.metadata_bytes));
        blocks.for_each(|(data, metadata)| each(self, data, metadata));
    }

    /// First byte of the tuple in the metadata of a block.
    fn place(&self) -> usize {
        if self.blocks.format.is_first { 0 } else { self.blocks.metadata_bytes - self.blocks.format.bytes() as usize }
    }

    /// The guard, in the high bytes: over the data, and the metadata before the tuple.
    fn guard(&self, data: &[u8], metadata: &[u8]) -> u64 {
        let before = &metadata[..self.place()];
        match self.blocks.format.guard_bits {
            16 => u64::from(crc16_t10dif(&[data, before])),
            _ => crc64_nvme(&[data, before]),
        }
    }

    /// Bytes of guard and reference tag.
    fn lengths(&self) -> (usize, usize) {
        if self.blocks.format.guard_bits == 16 { (2, 4) } else { (8, 6) }
    }

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
        let is_unchecked = application == UNCHECKED
            && (self.blocks.format.kind != 3 || reference == u64::MAX >> (64 - reference_bytes * 8));
        if is_unchecked {
            return None;
        }
        let options = &self.options;
        let mismatch =
            |field, expected, actual| (expected != actual).then_some(TagMismatch { field, block, expected, actual });
        let of_guard = options
            .checks_guard
            .then(|| mismatch(ProtectionField::Guard, self.guard(data, metadata), number(0, guard_bytes)));
        let of_application = options.checks_application.then(|| {
            let masked = |tag: u16| u64::from(tag & options.application_mask);
            mismatch(ProtectionField::ApplicationTag, masked(options.application_tag), masked(application))
        });
        let of_reference = (options.checks_reference && self.has_reference())
            .then(|| mismatch(ProtectionField::ReferenceTag, self.reference(block), reference));
        of_guard.flatten().or(of_application.flatten()).or(of_reference.flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection(guard_bits: u8, metadata_bytes: usize, is_extended: bool, is_first: bool) -> Protection {
        Protection {
            blocks: ProtectedBlocks {
                format: ProtectionFormat { kind: 1, guard_bits, storage_tag_bits: 0, is_first },
                data_bytes: 512,
                metadata_bytes,
                is_extended,
            },
            options: ProtectionOptions {
                by_device: false,
                checks_guard: true,
                checks_application: true,
                checks_reference: true,
                application_tag: 0x1234,
                application_mask: 0xFFFF,
            },
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
                assert_eq!((moved.field, moved.expected, moved.actual), (ProtectionField::ReferenceTag, 101, 100));
                data[512 + within] ^= 1;
                let damaged = protection.check(&mut data, &mut metadata, 100).unwrap();
                assert_eq!((damaged.field, damaged.block), (ProtectionField::Guard, 100));
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
        assert_eq!((fault.field, fault.expected, fault.actual), (ProtectionField::ApplicationTag, 0x1299, 0x1234));
        protection.options.application_mask = 0xFF00;
        assert_eq!(protection.check(&mut data, &mut metadata, 1), None);
        // This tag stops all checks.
        metadata[2..4].fill(0xFF);
        assert_eq!(protection.check(&mut data, &mut metadata, 77), None);
    }
}
