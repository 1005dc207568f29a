//! Commands to disks, as bytes.
//!
//! Must not know: devices. Start reading at [`Cdb`].

/// A command, in the form in which a device takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cdb {
    bytes: [u8; Self::LONGEST_BYTES],
    length: u8,
}

/// What a VERIFY compares with the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteCheck {
    /// Nothing: the device checks that it can read the blocks.
    Nothing,
    /// The data of all blocks.
    All,
    /// The data of one block, with each of the blocks.
    OneBlock,
}

/// Length of a command that works on blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CdbLength {
    /// 10 bytes, or 16 where the block or their number is too large for that.
    Fitting,
    /// 10 bytes.
    Ten,
    /// 16 bytes.
    Sixteen,
    /// 32 bytes.
    ThirtyTwo,
}

/// A command on blocks whose length can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockCommand {
    Read,
    /// PRE-FETCH, which has no form of 32 bytes.
    Prefetch,
    Write,
    Verify(ByteCheck),
}

/// Force unit access: the medium itself, not a cache.
const FUA: u8 = 1 << 3;

/// WRITE SAME without data.
const NO_DATA_OUT: u8 = 1;

impl Cdb {
    /// Bytes of the longest command here.
    pub const LONGEST_BYTES: usize = 32;

    /// A command of a given length. `None`: that length has no such command, or the block or their number is too large for it.
    pub fn of_length(
        command: BlockCommand,
        length: CdbLength,
        with_fua: bool,
        first: u64,
        n_blocks: u32,
    ) -> Option<Self> {
        let (code_10, code_16, action, more) = match command {
            BlockCommand::Read => (0x28, 0x88, Some(0x09), 0),
            BlockCommand::Prefetch => (0x34, 0x90, None, 0),
            BlockCommand::Write => (0x2A, 0x8A, Some(0x0B), 0),
            BlockCommand::Verify(check) => (0x2F, 0x8F, Some(0x0A), check.code() << 1),
        };
        let flags = flags(with_fua) | more;
        let of_10 = || Some(Self::of_10(code_10, flags, u32::try_from(first).ok()?, u16::try_from(n_blocks).ok()?));
        match length {
            CdbLength::Fitting => of_10().or_else(|| Some(Self::of_16(code_16, flags, first, n_blocks))),
            CdbLength::Ten => of_10(),
            CdbLength::Sixteen => Some(Self::of_16(code_16, flags, first, n_blocks)),
            CdbLength::ThirtyTwo => Some(Self::of_32(action?, flags, first, n_blocks)),
        }
    }

    pub fn read(first: u64, n_blocks: u32, with_fua: bool) -> Self {
        Self::on_blocks((0x28, 0x88), flags(with_fua), first, n_blocks)
    }

    pub fn write(first: u64, n_blocks: u32, with_fua: bool) -> Self {
        Self::on_blocks((0x2A, 0x8A), flags(with_fua), first, n_blocks)
    }

    pub fn write_and_verify(first: u64, n_blocks: u32) -> Self {
        Self::on_blocks((0x2E, 0x8E), 0, first, n_blocks)
    }

    /// WRITE SAME: the data of one block goes to each.
    pub fn write_same(first: u64, n_blocks: u32) -> Self {
        Self::on_blocks((0x41, 0x93), 0, first, n_blocks)
    }

    /// WRITE SAME without data: each block is written with zeroes.
    pub fn write_same_without_data(first: u64, n_blocks: u32) -> Self {
        Self::of_16(0x93, NO_DATA_OUT, first, n_blocks)
    }

    pub fn verify(first: u64, n_blocks: u32, check: ByteCheck) -> Self {
        Self::on_blocks((0x2F, 0x8F), check.code() << 1, first, n_blocks)
    }

    /// SYNCHRONIZE CACHE of the whole medium.
    pub fn synchronize_cache() -> Self {
        Self::of_10(0x35, 0, 0, 0)
    }

    /// The same, with 16 bytes.
    pub fn synchronize_cache_16() -> Self {
        Self::of_16(0x91, 0, 0, 0)
    }

    /// UNMAP, with a list of ranges as its data ([`unmap_list`]).
    pub fn unmap(list_bytes: u16) -> Self {
        let mut cdb = Self::of_10(0x42, 0, 0, 0);
        cdb.bytes[7..9].copy_from_slice(&list_bytes.to_be_bytes());
        cdb
    }

    /// READ CAPACITY(10), whose answer has 8 bytes.
    pub fn read_capacity_10() -> Self {
        Self::of_10(0x25, 0, 0, 0)
    }

    /// READ CAPACITY(16), whose answer has up to this number of bytes.
    pub fn read_capacity_16(answer_bytes: u32) -> Self {
        // A service action of SERVICE ACTION IN(16).
        let mut cdb = Self::of_16(0x9E, 0x10, 0, 0);
        cdb.bytes[10..14].copy_from_slice(&answer_bytes.to_be_bytes());
        cdb
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The form of 10 bytes, or that of 16 where its fields are too small.
    fn on_blocks((code_10, code_16): (u8, u8), flags: u8, first: u64, n_blocks: u32) -> Self {
        match (u32::try_from(first), u16::try_from(n_blocks)) {
            // As fio, which takes the long form for the last block that the short one could name.
            (Ok(first), Ok(n_blocks)) if first < u32::MAX => Self::of_10(code_10, flags, first, n_blocks),
            _ => Self::of_16(code_16, flags, first, n_blocks),
        }
    }

    fn of_10(code: u8, flags: u8, first: u32, n_blocks: u16) -> Self {
        let mut bytes = [0; Self::LONGEST_BYTES];
        (bytes[0], bytes[1]) = (code, flags);
        bytes[2..6].copy_from_slice(&first.to_be_bytes());
        bytes[7..9].copy_from_slice(&n_blocks.to_be_bytes());
        Self { bytes, length: 10 }
    }

    fn of_16(code: u8, flags: u8, first: u64, n_blocks: u32) -> Self {
        let mut bytes = [0; Self::LONGEST_BYTES];
        (bytes[0], bytes[1]) = (code, flags);
        bytes[2..10].copy_from_slice(&first.to_be_bytes());
        bytes[10..14].copy_from_slice(&n_blocks.to_be_bytes());
        Self { bytes, length: 16 }
    }

    /// A command of variable length, with a service action. References to tags are those of a disk without protection information.
    fn of_32(action: u16, flags: u8, first: u64, n_blocks: u32) -> Self {
        let mut bytes = [0; Self::LONGEST_BYTES];
        (bytes[0], bytes[7], bytes[10]) = (0x7F, 24, flags);
        bytes[8..10].copy_from_slice(&action.to_be_bytes());
        bytes[12..20].copy_from_slice(&first.to_be_bytes());
        bytes[28..32].copy_from_slice(&n_blocks.to_be_bytes());
        Self { bytes, length: 32 }
    }
}

impl ByteCheck {
    /// The field BYTCHK.
    fn code(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::All => 1,
            Self::OneBlock => 3,
        }
    }
}

const fn flags(with_fua: bool) -> u8 {
    if with_fua { FUA } else { 0 }
}

/// Bytes before the ranges of a list for UNMAP.
pub const UNMAP_HEAD_BYTES: usize = 8;

pub const UNMAP_RANGE_BYTES: usize = 16;

/// Writes a list for UNMAP of these ranges (first block, number of blocks) to the beginning of `out`, and returns its length.
///
/// # Panics
/// If `out` is too short, or the list is longer than 65,535 bytes.
pub fn unmap_list(ranges: impl Iterator<Item = (u64, u32)>, out: &mut [u8]) -> u16 {
    let mut end = UNMAP_HEAD_BYTES;
    for (first, n_blocks) in ranges {
        let range = &mut out[end..end + UNMAP_RANGE_BYTES];
        range[..8].copy_from_slice(&first.to_be_bytes());
        range[8..12].copy_from_slice(&n_blocks.to_be_bytes());
        range[12..].fill(0);
        end += UNMAP_RANGE_BYTES;
    }
    let length = u16::try_from(end).unwrap_or_else(|_| panic!("a list for UNMAP of {end} bytes"));
    out[..2].copy_from_slice(&(length - 2).to_be_bytes());
    out[2..4].copy_from_slice(&(length - UNMAP_HEAD_BYTES as u16).to_be_bytes());
    out[4..UNMAP_HEAD_BYTES].fill(0);
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SBC-4: READ(32) has its service action at 8, flags at 10, block at 12, number at 28.
    #[test]
    fn the_length_can_be_chosen() {
        let of = |command, length, first, n| Cdb::of_length(command, length, true, first, n);
        let ten = of(BlockCommand::Read, CdbLength::Fitting, 0x0102_0304, 5).unwrap();
        assert_eq!(ten.bytes(), [0x28, 8, 1, 2, 3, 4, 0, 0, 5, 0]);
        assert_eq!(of(BlockCommand::Write, CdbLength::Fitting, 1 << 32, 1).unwrap().bytes()[0], 0x8A);
        assert_eq!(of(BlockCommand::Write, CdbLength::Fitting, 1, 1 << 16).unwrap().bytes().len(), 16);
        assert_eq!(of(BlockCommand::Write, CdbLength::Ten, 1 << 32, 1), None);
        let long = of(BlockCommand::Verify(ByteCheck::All), CdbLength::ThirtyTwo, 0x0A0B, 7).unwrap();
        let mut wanted = [0; 32];
        (wanted[0], wanted[7], wanted[9], wanted[10]) = (0x7F, 24, 0x0A, 8 | 1 << 1);
        (wanted[18], wanted[19], wanted[31]) = (0x0A, 0x0B, 7);
        assert_eq!(long.bytes(), wanted);
        assert_eq!(of(BlockCommand::Prefetch, CdbLength::ThirtyTwo, 0, 1), None);
        assert_eq!(of(BlockCommand::Prefetch, CdbLength::Sixteen, 0, 1).unwrap().bytes()[0], 0x90);
    }

    #[test]
    fn commands_have_the_bytes_of_the_standard() {
        assert_eq!(Cdb::read(0x0102_0304, 0x0506, false).bytes(), [0x28, 0, 1, 2, 3, 4, 0, 5, 6, 0]);
        assert_eq!(Cdb::write(1, 2, true).bytes(), [0x2A, 8, 0, 0, 0, 1, 0, 0, 2, 0]);
        assert_eq!(
            Cdb::read(0x0102_0304_0506_0708, 0x0A0B_0C0D, true).bytes(),
            [0x88, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0x0B, 0x0C, 0x0D, 0, 0]
        );
        assert_eq!(Cdb::verify(0, 1, ByteCheck::OneBlock).bytes()[..2], [0x2F, 0b110]);
        assert_eq!(Cdb::verify(0, 1, ByteCheck::All).bytes()[..2], [0x2F, 0b010]);
        assert_eq!(Cdb::write_same_without_data(7, 8).bytes(), [0x93, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0]);
        assert_eq!(Cdb::synchronize_cache().bytes(), [0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Cdb::unmap(0x1234).bytes(), [0x42, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0]);
        assert_eq!(Cdb::read_capacity_16(32).bytes(), [0x9E, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0]);
    }

    #[test]
    fn the_long_form_begins_where_the_short_one_ends() {
        let length = |first: u64, n_blocks: u32| Cdb::write(first, n_blocks, false).bytes().len();
        assert_eq!((length(0xFFFF_FFFE, 1), length(0xFFFF_FFFF, 1), length(0x1_0000_0000, 1)), (10, 16, 16));
        assert_eq!((length(0, 65_535), length(0, 65_536)), (10, 16));
    }

    #[test]
    fn a_list_of_ranges_tells_its_lengths() {
        let mut out = [0xFF; 64];
        let length = unmap_list([(1, 2), (0x0102_0304_0506_0708, 9)].into_iter(), &mut out);
        assert_eq!(length, 40);
        assert_eq!(out[..8], [0, 38, 0, 32, 0, 0, 0, 0]);
        assert_eq!(out[8..24], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0]);
        assert_eq!(out[24..40], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 9, 0, 0, 0, 0]);
    }
}
