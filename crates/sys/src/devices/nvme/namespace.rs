//! Size and format of a namespace, as it identifies itself.
//!
//! Must not know: commands for I/O. Start reading at [`Namespace::of`].

use super::{CommandPayload, CommandQueue, NvmeCommand, u32_at, u64_at};
use crate::error::{Error, Result};
use rustix::fd::AsFd;

/// Opcode of Identify, a command of the admin queue.
const IDENTIFY: u8 = 0x06;

/// Length of what a device tells of itself.
const ANSWER_BYTES: usize = 4096;

/// Things that can be identified (CNS).
const CNS_NAMESPACE: u32 = 0;
const CNS_CONTROLLER: u32 = 1;
const CNS_NAMESPACE_OF_SET: u32 = 5;
const CNS_CONTROLLER_OF_SET: u32 = 6;

/// Command sets (CSI).
const NVM_SET: u32 = 0;
pub(super) const ZONED_SET: u32 = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Its number, of which commands need to know.
    pub id: u32,
    pub n_blocks: u64,
    /// Bytes of data of a block: a power of two.
    pub data_bytes: u32,
    pub metadata_bytes: u32,
    /// The metadata follow the data of each block, in one buffer; else they have a buffer of their own.
    pub is_extended: bool,
    /// Protection information within the metadata.
    pub protection: Option<ProtectionFormat>,
    /// Index of the block's format in the list of the namespace.
    pub format_index: usize,
}

/// Protection information of a block: a guard (checksum), an application tag and a reference tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProtectionFormat {
    /// 1, 2 or 3.
    pub kind: u8,
    /// Bits of the guard: 16, 32 or 64.
    pub guard_bits: u8,
    /// Bits of the storage tag, which shares the place of the reference tag.
    pub storage_tag_bits: u8,
    /// It is at the start of the metadata; else at their end.
    pub is_first: bool,
}

impl ProtectionFormat {
    pub const fn bytes(self) -> u32 {
        if self.guard_bits == 16 { 8 } else { 16 }
    }
}

/// The step of the identification that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifyStep {
    Id,
    Controller,
    Namespace,
    /// What belongs to the command set.
    NvmNamespace,
}

impl Namespace {
    /// Identifies the namespace behind an open character device.
    ///
    /// # Errors
    /// The step that failed, and its error.
    pub fn of(device: impl AsFd) -> std::result::Result<Self, (IdentifyStep, Error)> {
        let device = device.as_fd();
        let at = |step| move |error| (step, error);
        let id = super::namespace_id(device).map_err(at(IdentifyStep::Id))?;
        let controller = identify(device, 0, CNS_CONTROLLER, NVM_SET).map_err(at(IdentifyStep::Controller))?;
        let answer = identify(device, id, CNS_NAMESPACE, NVM_SET).map_err(at(IdentifyStep::Namespace))?;
        let mut namespace = decode(id, &answer).map_err(at(IdentifyStep::Namespace))?;
        if let Some(protection) = &mut namespace.protection
            && has_extended_formats(&controller)
        {
            let answer = identify(device, id, CNS_NAMESPACE_OF_SET, NVM_SET).map_err(at(IdentifyStep::NvmNamespace))?;
            extend(protection, &answer, namespace.format_index);
        }
        Ok(namespace)
    }

    /// Bytes of a block with its metadata, where these are in the same buffer.
    pub const fn unit_bytes(&self) -> u32 {
        if self.is_extended { self.data_bytes + self.metadata_bytes } else { self.data_bytes }
    }
}

/// Asks for one structure.
pub(super) fn identify(device: impl AsFd, namespace: u32, what: u32, set: u32) -> Result<Box<[u8; ANSWER_BYTES]>> {
    let mut answer = Box::new([0; ANSWER_BYTES]);
    let mut command = NvmeCommand::new(IDENTIFY, namespace);
    command.words_10 = [what, set << 24, 0, 0, 0, 0];
    super::wait_for(device, CommandQueue::Admin, command, CommandPayload::Receive(&mut answer[..]))?;
    Ok(answer)
}

/// Identifies the zoned command set of controller and namespace.
pub(super) fn identify_zoned(device: impl AsFd, namespace: u32) -> Result<Box<[u8; ANSWER_BYTES]>> {
    let device = device.as_fd();
    identify(device, 0, CNS_CONTROLLER_OF_SET, ZONED_SET)?;
    identify(device, namespace, CNS_NAMESPACE_OF_SET, ZONED_SET)
}

/// True if the controller has formats with longer guards (`ELBAS` of `CTRATT`).
fn has_extended_formats(controller: &[u8; ANSWER_BYTES]) -> bool {
    u32_at(controller, 96) & (1 << 15) != 0
}

fn decode(id: u32, answer: &[u8; ANSWER_BYTES]) -> Result<Namespace> {
    let (n_formats, flbas, dps) = (usize::from(answer[25]) + 1, answer[26], answer[29]);
    let high = if n_formats > 16 { usize::from(flbas >> 5 & 3) << 4 } else { 0 };
    let format_index = usize::from(flbas & 0xF) | high;
    let format = u32_at(answer, 128 + 4 * format_index);
    let (metadata_bytes, data_shift) = (format & 0xFFFF, format >> 16 & 0xFF);
    if !(9..=24).contains(&data_shift) {
        return Err(Error::Parse { what: "format of a namespace", text: format!("blocks of 2^{data_shift} bytes") });
    }
    let protection = (dps & 7 != 0 && metadata_bytes > 0).then_some(ProtectionFormat {
        kind: dps & 7,
        guard_bits: 16,
        storage_tag_bits: 0,
        is_first: dps & 8 != 0,
    });
    Ok(Namespace {
        id,
        n_blocks: u64_at(answer, 0),
        data_bytes: 1 << data_shift,
        metadata_bytes,
        is_extended: metadata_bytes > 0 && flbas & 0x10 != 0,
        protection,
        format_index,
    })
}

/// Adds what the NVM command set tells of the format: the lengths of guard and storage tag.
fn extend(protection: &mut ProtectionFormat, answer: &[u8; ANSWER_BYTES], format_index: usize) {
    let format = u32_at(answer, 12 + 4 * format_index);
    protection.storage_tag_bits = (format & 0x7F) as u8;
    protection.guard_bits = match format >> 7 & 3 {
        1 => 32,
        2 => 64,
        _ => 16,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a namespace tells: formats as metadata bytes and the power of the data bytes.
    fn answer(n_blocks: u64, flbas: u8, dps: u8, formats: &[(u16, u8)]) -> Box<[u8; ANSWER_BYTES]> {
        let mut answer = Box::new([0; ANSWER_BYTES]);
        answer[..8].copy_from_slice(&n_blocks.to_le_bytes());
        (answer[25], answer[26], answer[29]) = (formats.len() as u8 - 1, flbas, dps);
        for (index, (metadata_bytes, shift)) in formats.iter().enumerate() {
            answer[128 + 4 * index..130 + 4 * index].copy_from_slice(&metadata_bytes.to_le_bytes());
            answer[130 + 4 * index] = *shift;
        }
        answer
    }

    #[test]
    fn the_format_in_use_is_found() {
        let formats = [(0, 9), (8, 9), (0, 12), (8, 12)];
        let plain = decode(1, &answer(1000, 0, 0, &formats)).unwrap();
        assert_eq!((plain.n_blocks, plain.data_bytes, plain.metadata_bytes), (1000, 512, 0));
        assert_eq!((plain.unit_bytes(), plain.protection), (512, None));
        // The metadata are part of each block, the tags behind 8 bytes of others.
        let extended = decode(1, &answer(10, 0x13, 1, &formats)).unwrap();
        assert!(extended.is_extended && extended.unit_bytes() == 4104);
        let protection = extended.protection.unwrap();
        assert_eq!((protection.kind, protection.bytes(), protection.is_first), (1, 8, false));
        let apart = decode(1, &answer(10, 0x01, 0xB, &formats)).unwrap();
        assert!(!apart.is_extended && apart.unit_bytes() == 512 && apart.protection.unwrap().is_first);
    }

    #[test]
    fn the_index_of_a_format_has_two_parts_where_there_are_many() {
        let mut formats = vec![(0, 9); 20];
        formats[17] = (16, 12);
        // 17 = 1 + 16: the high part is in the bits 5 and 6.
        let many = decode(1, &answer(10, 0x21, 0, &formats)).unwrap();
        assert_eq!((many.data_bytes, many.metadata_bytes, many.format_index), (4096, 16, 17));
        let few = decode(1, &answer(10, 0x21, 0, &formats[..16])).unwrap();
        assert_eq!((few.data_bytes, few.format_index), (512, 1));
    }

    #[test]
    fn a_long_guard_is_found_in_the_answer_of_the_command_set() {
        let mut protection = ProtectionFormat { kind: 1, guard_bits: 16, storage_tag_bits: 0, is_first: false };
        let mut of_set = Box::new([0; ANSWER_BYTES]);
        of_set[12 + 4 * 2..16 + 4 * 2].copy_from_slice(&(2_u32 << 7 | 5).to_le_bytes());
        extend(&mut protection, &of_set, 2);
        assert_eq!((protection.guard_bits, protection.storage_tag_bits, protection.bytes()), (64, 5, 16));
        let mut controller = [0; ANSWER_BYTES];
        assert!(!has_extended_formats(&controller));
        controller[97] = 0x80;
        assert!(has_extended_formats(&controller));
    }

    #[test]
    fn a_block_that_cannot_be_is_refused() {
        assert!(decode(1, &answer(10, 0, 0, &[(0, 0)])).is_err());
        assert!(decode(1, &answer(10, 0, 0, &[(0, 60)])).is_err());
    }
}
