//! Commands as the device reads them.
//!
//! Facts: the NVM command set specification: CDW10 and 11 are the first block, CDW12 has the number of blocks less one and flags.
//! Must not know: rings, files. Start reading at [`transfer`].

use super::geometry::Blocks;
use super::options::CommandOptions;
use ferrio_sys::Errno;
use ferrio_sys::nvme::namespace::ProtectionFormat;
use ferrio_sys::nvme::{NvmeCommand, opcode};
use ferrio_units::Direction;

/// Length of a range of a trim, bytes.
pub(super) const RANGE_BYTES: usize = 16;

/// Past the cache of the device, in CDW12.
const FUA: u32 = 1 << 30;

/// The device makes and takes protection information (PRACT), in CDW12.
const PROTECTION_BY_DEVICE: u32 = 1 << 29;

/// Most blocks of a transfer: the number has 16 bits, less one.
const MAX_BLOCKS: u64 = 1 << 16;

/// In CDW11 of dataset management: the ranges are deallocated.
const DEALLOCATE: u32 = 1 << 2;

/// A read or write. EINVAL: more blocks than a command has.
#[inline]
pub(super) fn transfer(
    direction: Direction,
    namespace: u32,
    blocks: Blocks,
    options: &CommandOptions,
) -> Result<NvmeCommand, Errno> {
    let (opcode, past_cache) = match direction {
        Direction::Read => (opcode::READ, options.reads_past_cache),
        _ => (opcode::WRITE, options.writes_past_cache),
    };
    let mut command = of_blocks(opcode, namespace, blocks)?;
    if past_cache {
        command.words_10[2] |= FUA;
    }
    Ok(command)
}

/// A command to some blocks.
#[inline]
fn of_blocks(opcode: u8, namespace: u32, blocks: Blocks) -> Result<NvmeCommand, Errno> {
    if blocks.n > MAX_BLOCKS {
        return Err(Errno::INVAL);
    }
    let mut command = NvmeCommand::new(opcode, namespace);
    let [first, rest, number, ..] = &mut command.words_10;
    (*first, *rest, *number) = (blocks.first as u32, (blocks.first >> 32) as u32, (blocks.n - 1) as u32);
    Ok(command)
}

/// Has the device make and check protection information, whose reference tags count with the blocks.
#[inline]
pub(super) fn protect_by_device(command: &mut NvmeCommand, format: ProtectionFormat, blocks: Blocks) {
    command.words_10[2] |= PROTECTION_BY_DEVICE;
    if matches!(format.kind, 1 | 2) {
        command.words_10[4] = blocks.first as u32;
        if format.guard_bits == 64 {
            command.words_2[1] = (blocks.first >> 32) as u32 & 0xFFFF;
        }
    }
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
    use crate::options::EngineOptions;
    use crate::testing::given;

    fn options(texts: &[(&str, &str)]) -> CommandOptions {
        CommandOptions::parse(&EngineOptions::new(given("io_uring_cmd", texts))).unwrap()
    }

    #[test]
    fn transfers_have_first_block_and_number_less_one() {
        let blocks = Blocks { first: 0x1_2345_6789, n: 8 };
        let read = transfer(Direction::Read, 3, blocks, &options(&[("writefua", "1")])).unwrap();
        assert_eq!((read.opcode, read.namespace, read.words_10), (2, 3, [0x2345_6789, 1, 7, 0, 0, 0]));
        let write = transfer(Direction::Write, 3, blocks, &options(&[("writefua", "1")])).unwrap();
        assert_eq!((write.opcode, write.words_10[2]), (1, 0x4000_0007));
        let past_cache = transfer(Direction::Read, 3, blocks, &options(&[("readfua", "1")])).unwrap();
        assert_eq!(past_cache.words_10[2], 0x4000_0007);
    }

    #[test]
    fn a_transfer_has_at_most_65536_blocks() {
        let transfer = |n| transfer(Direction::Write, 1, Blocks { first: 0, n }, &options(&[]));
        assert_eq!(transfer(65536).unwrap().words_10[2], 0xFFFF);
        assert_eq!(transfer(65537), Err(Errno::INVAL));
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
}
