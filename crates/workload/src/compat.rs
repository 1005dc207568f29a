//! What fio does and nobody would build unasked: places that are none, roundings, jumps that land elsewhere.
//!
//! Each is a function of its own here, so that no loop and no other rule carries one as an aside. All of it as seen on fio
//! 3.41; the traces of the peer in the tests end to end hold it.
//! Must not know: streams, plans. Start reading anywhere.

use crate::cursor::FileCursor;
use crate::plan::FileRange;

/// Bits of a word of a random map.
const MAP_WORD_BITS: u64 = 64;

/// Blocks behind the last one of a map that can still be marked: a map ends with a whole word.
pub(crate) fn n_blocks_behind_map(n_blocks: u64) -> u64 {
    n_blocks.next_multiple_of(MAP_WORD_BITS) - n_blocks
}

/// Number of aligned places among which is drawn. Where places are at least as far apart as a block is long, what is left
/// behind the last whole part is no place, even if a block fits there. Else a block that is longer than all of it by more than a
/// part has places without end: the first few are those of the LFSR, and draws of other kinds lie past any file.
pub(crate) fn n_places(length_bytes: u64, align_bytes: u64, min_block_bytes: u64) -> u64 {
    if align_bytes >= min_block_bytes {
        return length_bytes / align_bytes;
    }
    length_bytes.saturating_add(align_bytes).wrapping_sub(min_block_bytes) / align_bytes
}

/// Number of aligned places that begin within a range: the map and the LFSR, which count in the smallest block of all
/// directions, may give the last of them though it is among no draws.
pub(crate) fn n_starts(length_bytes: u64, align_bytes: u64) -> u64 {
    length_bytes.div_ceil(align_bytes)
}

/// The last output of the generator that takes an entry of `bssplit`, of which the shares up to it are so many percent: it is
/// taken if `trunc(r / percent) <= trunc(max_output / 100)`. `None`: nothing is drawn for a share of 0, which stands before all
/// others.
pub(crate) fn last_output_of_split(percent: u128, max_output: u64) -> Option<u64> {
    let end = u128::from(max_output / 100 + 1) * percent;
    Some(u64::try_from(end.checked_sub(1)?).unwrap_or(u64::MAX))
}

/// A size of `bssplit` is rounded down to the unit, as with a range, before it has to fit.
pub(crate) fn split_bytes(bytes: u64, unit_bytes: u64) -> u64 {
    bytes - bytes % unit_bytes.max(1)
}

/// The first block of a range that jumps go through backwards: it begins in its place at the start of its file, or as far from
/// it as the range is long, and else a jump before it. `None`: nowhere.
pub(crate) fn first_of_backwards(file: &FileCursor, skip_bytes: i64, position: u64) -> Option<u64> {
    let FileRange { start_bytes, length_bytes, .. } = file.range;
    if start_bytes == 0 || start_bytes == length_bytes {
        return Some(position);
    }
    let first = length_bytes.checked_add_signed(skip_bytes)?;
    Some(if first < start_bytes { first.saturating_add(start_bytes) } else { first })
}

/// The position after a skip: one before the start goes to the end, unless it jumps over all of the file. One that is further
/// from the start of the range, or of the window, than the file is long goes to the start, or as far behind it as it is from
/// that of the file; any other past the end of the range ends the file.
#[inline]
pub(crate) fn after_skip(file: &FileCursor, skip_bytes: i64, position: u64) -> u64 {
    let start_bytes = file.range.start_bytes;
    match position.checked_add_signed(skip_bytes) {
        Some(next) if next.saturating_sub(file.base_bytes) >= file.range.block_end_bytes() => {
            file.base_bytes.saturating_mul(2)
        }
        Some(next) if next >= start_bytes => next,
        _ => file.end_bytes.checked_add_signed(skip_bytes).map_or(u64::MAX, |last| last.max(start_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By the definitions above: 10 bytes in parts of 4, blocks of 4, of 3 and of 20.
    #[test]
    fn places_are_whole_parts_and_starts_are_begun_ones() {
        assert_eq!((n_places(10, 4, 4), n_places(10, 4, 3), n_starts(10, 4)), (2, 2, 3));
        assert_eq!(n_places(10, 4, 6), 2);
        assert!(n_places(10, 4, 20) > u64::MAX / 8);
        assert_eq!([0, 1, 64, 65].map(n_blocks_behind_map), [0, 63, 0, 63]);
    }

    #[test]
    fn shares_of_a_split_end_where_the_quotient_does() {
        let (percent, max_output) = (30u128, 999);
        let last = last_output_of_split(percent, max_output).expect("a share");
        let is_taken = |output: u64| u128::from(output) / percent <= u128::from(max_output / 100);
        assert!(is_taken(last) && !is_taken(last + 1));
        assert_eq!(last_output_of_split(0, max_output), None);
        assert_eq!((split_bytes(5_000, 512), split_bytes(5_000, 0)), (4_608, 5_000));
    }
}
