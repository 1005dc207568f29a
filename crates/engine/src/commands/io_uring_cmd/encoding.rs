//! Commands as the device reads them.
//!
//! Facts: the NVM command set specification: CDW10 and 11 are the first block, CDW12 has the number of blocks less one and flags.
//! Must not know: rings, files. Start reading at [`read`] and [`write()`].

use super::geometry::{Blocks, Geometry};
use super::options::CommandOptions;
use super::placement::Directive;
use super::write_mode::WriteMode;
use crate::commands::protection::Protection;
use ferrio_sys::Errno;
use ferrio_sys::nvme::{NvmeCommand, opcode};

/// Length of a range of a trim, bytes.
pub(super) const RANGE_BYTES: usize = 16;

/// Past the cache of the device, in CDW12.
const FUA: u32 = 1 << 30;

/// Zeroes may be written by deallocating, in CDW12.
const DEALLOCATES: u32 = 1 << 25;

/// Of protection information, in CDW12: the device makes and takes it; the fields that it checks.
const BY_DEVICE: u32 = 1 << 29;
const CHECK_GUARD: u32 = 1 << 28;
const CHECK_APPLICATION: u32 = 1 << 27;
const CHECK_REFERENCE: u32 = 1 << 26;

/// Most blocks of a transfer: the number has 16 bits, less one.
const MAX_BLOCKS: u64 = 1 << 16;

/// In CDW11 of dataset management: the ranges are deallocated.
const DEALLOCATE: u32 = 1 << 2;

/// A read. EINVAL: more blocks than a command has.
#[inline]
pub(super) fn read(geometry: &Geometry, blocks: Blocks, options: &CommandOptions) -> Result<NvmeCommand, Errno> {
    let mut command = of_blocks(opcode::READ, geometry, blocks)?;
    if options.reads_past_cache {
        command.words_10[2] |= FUA;
    }
    Ok(command)
}

/// A comparison of data with those of the device. EINVAL: more blocks than a command has.
pub(super) fn compare(geometry: &Geometry, blocks: Blocks) -> Result<NvmeCommand, Errno> {
    of_blocks(opcode::COMPARE, geometry, blocks)
}

/// A write, by one of the commands for writes. EINVAL: more blocks than a command has.
#[inline]
pub(super) fn write(
    mode: WriteMode,
    geometry: &Geometry,
    blocks: Blocks,
    options: &CommandOptions,
) -> Result<NvmeCommand, Errno> {
    let opcode = match mode {
        WriteMode::Write => opcode::WRITE,
        WriteMode::Zeroes => opcode::WRITE_ZEROES,
        WriteMode::Verify => opcode::VERIFY,
        WriteMode::ZoneAppend => opcode::ZONE_APPEND,
    };
    let mut command = of_blocks(opcode, geometry, blocks)?;
    if mode == WriteMode::ZoneAppend {
        // The device chooses the place in the zone that is named by its start.
        let start = blocks.first - blocks.first % geometry.zone_blocks.max(1);
        (command.words_10[0], command.words_10[1]) = (start as u32, (start >> 32) as u32);
    }
    // In a mix, only the plain writes go past the cache, as in fio.
    if options.writes_past_cache && (mode == WriteMode::Write || options.write_modes.only().is_some()) {
        command.words_10[2] |= FUA;
    }
    if options.deallocates_zeroes && mode == WriteMode::Zeroes {
        command.words_10[2] |= DEALLOCATES;
    }
    Ok(command)
}

/// A command to some blocks, with the flags of their protection information.
#[inline]
fn of_blocks(opcode: u8, geometry: &Geometry, blocks: Blocks) -> Result<NvmeCommand, Errno> {
    if blocks.n > MAX_BLOCKS {
        return Err(Errno::INVAL);
    }
    let mut command = NvmeCommand::new(opcode, geometry.namespace.id);
    let [first, rest, number, ..] = &mut command.words_10;
    (*first, *rest, *number) = (blocks.first as u32, (blocks.first >> 32) as u32, (blocks.n - 1) as u32);
    if let Some(protection) = &geometry.protection {
        protect(&mut command, protection, blocks);
    }
    Ok(command)
}

/// Adds the flags and tags of protection information. Where the device makes it, it begins with this reference tag.
#[inline]
fn protect(command: &mut NvmeCommand, protection: &Protection, blocks: Blocks) {
    let options = &protection.options;
    let when = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
    command.words_10[2] |= when(options.by_device, BY_DEVICE)
        | when(options.checks_guard, CHECK_GUARD)
        | when(options.checks_application, CHECK_APPLICATION)
        | when(options.checks_reference, CHECK_REFERENCE);
    if protection.has_reference() && (options.checks_reference || options.by_device) {
        command.words_10[4] = blocks.first as u32;
        if protection.blocks.format.guard_bits == 64 {
            command.words_2[1] = (blocks.first >> 32) as u32 & 0xFFFF;
        }
    }
    if options.checks_application {
        command.words_10[5] = u32::from(options.application_mask) << 16 | u32::from(options.application_tag);
    }
}

/// Adds the place where the device is to put the data: the type of the directive in CDW12, its value in CDW13.
#[inline]
pub(super) fn direct(command: &mut NvmeCommand, directive: Directive) {
    command.words_10[2] |= u32::from(directive.kind) << 20;
    command.words_10[3] |= u32::from(directive.value) << 16;
}

/// A flush of the whole namespace.
pub(super) fn flush(namespace: u32) -> NvmeCommand {
    NvmeCommand::new(opcode::FLUSH, namespace)
}

/// A trim of so many ranges, which are its data.
pub(super) fn deallocate(namespace: u32, n_ranges: u32) -> NvmeCommand {
    let mut command = NvmeCommand::new(opcode::DATASET_MANAGEMENT, namespace);
    (command.words_10[0], command.words_10[1]) = (n_ranges - 1, DEALLOCATE);
    command
}

/// A range of a trim: attributes, number of blocks, first block. EINVAL: more blocks than 32 bits count.
pub(super) fn range(blocks: Blocks) -> Result<[u8; RANGE_BYTES], Errno> {
    let n_blocks = u32::try_from(blocks.n).map_err(|_| Errno::INVAL)?;
    let mut range = [0; RANGE_BYTES];
    range[4..8].copy_from_slice(&n_blocks.to_le_bytes());
    range[8..].copy_from_slice(&blocks.first.to_le_bytes());
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::protection::ProtectedBlocks;
    use crate::contract::options::EngineOptions;
    use crate::testing::given;
    use ferrio_sys::nvme::namespace::{Namespace, ProtectionFormat};

    fn options(texts: &[(&str, &str)]) -> CommandOptions {
        CommandOptions::parse(&EngineOptions::new(given("io_uring_cmd", texts))).unwrap()
    }

    fn plain(zone_blocks: u64) -> Geometry {
        let namespace = Namespace { id: 3, n_blocks: 1 << 40, data_bytes: 512, ..Namespace::default() };
        Geometry { namespace, unit_bytes: 512, apart_bytes: 0, protection: None, zone_blocks }
    }

    #[test]
    fn transfers_have_first_block_and_number_less_one() {
        let blocks = Blocks { first: 0x1_2345_6789, n: 8 };
        let written_past = options(&[("writefua", "1")]);
        let found = read(&plain(0), blocks, &written_past).unwrap();
        assert_eq!((found.opcode, found.namespace, found.words_10), (2, 3, [0x2345_6789, 1, 7, 0, 0, 0]));
        let found = write(WriteMode::Write, &plain(0), blocks, &written_past).unwrap();
        assert_eq!((found.opcode, found.words_10[2]), (1, 0x4000_0007));
        assert_eq!(read(&plain(0), blocks, &options(&[("readfua", "1")])).unwrap().words_10[2], 0x4000_0007);
    }

    #[test]
    fn writes_become_other_commands() {
        let blocks = Blocks { first: 0x123, n: 1 };
        let zeroes = write(WriteMode::Zeroes, &plain(0), blocks, &options(&[("deac", "1")])).unwrap();
        assert_eq!((zeroes.opcode, zeroes.words_10[2]), (8, 0x0200_0000));
        assert_eq!(write(WriteMode::Verify, &plain(0), blocks, &options(&[("deac", "1")])).unwrap().words_10[2], 0);
        let append = write(WriteMode::ZoneAppend, &plain(0x100), blocks, &options(&[])).unwrap();
        assert_eq!((append.opcode, append.words_10[0]), (0x7D, 0x100));
        let mix = options(&[("writefua", "1"), ("write_mode", "write/50:zeroes/50")]);
        assert_eq!(write(WriteMode::Zeroes, &plain(0), blocks, &mix).unwrap().words_10[2], 0);
        assert_eq!(write(WriteMode::Write, &plain(0), blocks, &mix).unwrap().words_10[2], 0x4000_0000);
    }

    #[test]
    fn a_transfer_has_at_most_65536_blocks() {
        let read = |n| read(&plain(0), Blocks { first: 0, n }, &options(&[]));
        assert_eq!(read(65536).unwrap().words_10[2], 0xFFFF);
        assert_eq!(read(65537), Err(Errno::INVAL));
    }

    #[test]
    fn a_comparison_has_the_fields_of_a_read() {
        let found = compare(&plain(0), Blocks { first: 0x1_0000_0010, n: 16 }).unwrap();
        assert_eq!((found.opcode, found.words_10), (5, [0x10, 1, 15, 0, 0, 0]));
    }

    #[test]
    fn a_directive_has_its_type_and_value_in_two_words() {
        let mut command = write(WriteMode::Write, &plain(0), Blocks { first: 0, n: 8 }, &options(&[])).unwrap();
        direct(&mut command, Directive { kind: 2, value: 0x0102 });
        assert_eq!((command.words_10[2], command.words_10[3]), (0x0020_0007, 0x0102_0000));
    }

    #[test]
    fn a_trim_has_its_ranges_as_data() {
        let command = deallocate(1, 1);
        assert_eq!((command.opcode, command.words_10[0], command.words_10[1]), (9, 0, 4));
        let range = range(Blocks { first: 0x0102, n: 0x30 }).unwrap();
        assert_eq!(range, [0, 0, 0, 0, 0x30, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(super::range(Blocks { first: 0, n: 1 << 32 }), Err(Errno::INVAL));
        assert_eq!(flush(1).opcode, 0);
    }

    #[test]
    fn flags_and_tags_of_protection_are_in_the_command() {
        let format = ProtectionFormat { kind: 1, guard_bits: 64, storage_tag_bits: 0, is_first: false };
        let blocks = ProtectedBlocks { format, data_bytes: 4096, metadata_bytes: 16, is_extended: false };
        let command = |pi_act: &str, pi_chk: &str| {
            let texts = [("pi_act", pi_act), ("pi_chk", pi_chk)];
            let mut command = NvmeCommand::new(1, 1);
            let protection = Protection { blocks, options: options(&texts).protection };
            protect(&mut command, &protection, Blocks { first: 0x3_0000_0007, n: 1 });
            command
        };
        let by_host = command("0", "GUARD,APPTAG,REFTAG");
        assert_eq!(by_host.words_10[2], 0x1C00_0000);
        assert_eq!((by_host.words_10[4], by_host.words_2[1]), (7, 3));
        assert_eq!(by_host.words_10[5], 0xFFFF_1234);
        let by_device = command("1", "GUARD,REFTAG");
        assert_eq!((by_device.words_10[2], by_device.words_10[5]), (0x3400_0000, 0));
    }
}
