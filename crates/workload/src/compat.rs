//! Oddities of fio that users can see: offsets that count though no block fits, roundings, jumps to unexpected offsets.
//!
//! Each is a function here, so that no loop and no other rule has to mention one. All were seen on fio 3.41; the
//! end-to-end tests compare traces with the peer's.
//! Must not know: streams, plans. Start reading anywhere.

use crate::cursor::FileCursor;
use crate::plan::FileRange;

/// Bits of a word of a random map.
const MAP_WORD_BITS: u64 = 64;

/// Number of blocks behind the end of a map that can still be marked, because a map ends with a whole word.
pub(crate) fn n_blocks_behind_map(n_blocks: u64) -> u64 {
    n_blocks.next_multiple_of(MAP_WORD_BITS) - n_blocks
}

/// Number of aligned offsets among which random draws choose. Where offsets are at least one block apart, the remainder
/// behind the last whole part holds none, even if a block fits there. If the smallest block is longer than the range by
/// more than one part, the number is practically unlimited: the LFSR then gives the first few offsets, and draws of
/// other kinds lie past the end of any file.
pub(crate) fn n_places(length_bytes: u64, align_bytes: u64, min_block_bytes: u64) -> u64 {
    if align_bytes >= min_block_bytes {
        return length_bytes / align_bytes;
    }
    length_bytes.saturating_add(align_bytes).wrapping_sub(min_block_bytes) / align_bytes
}

/// Number of aligned offsets that lie within a range. The map and the LFSR count in the smallest block of all
/// directions, so they may give the last of these offsets though no draw can.
pub(crate) fn n_starts(length_bytes: u64, align_bytes: u64) -> u64 {
    length_bytes.div_ceil(align_bytes)
}

/// The largest output of the generator that takes an entry of `bssplit`, where `percent` is the sum of the shares up to
/// this entry: fio takes it if `trunc(r / percent) <= trunc(max_output / 100)`. `None`: no output takes it, as the sum
/// is 0.
pub(crate) fn last_output_of_split(percent: u128, max_output: u64) -> Option<u64> {
    let end = u128::from(max_output / 100 + 1) * percent;
    Some(u64::try_from(end.checked_sub(1)?).unwrap_or(u64::MAX))
}

/// A size of `bssplit` is rounded down to the unit, like a size from a range, before it is checked against the room.
pub(crate) fn split_bytes(bytes: u64, unit_bytes: u64) -> u64 {
    bytes - bytes % unit_bytes.max(1)
}

/// Start of the first block when negative jumps take a job backwards through a range. At the start of the file, or as
/// far from it as the range is long, the block is at `position`; elsewhere it is one jump before that. `None`: there is
/// no such offset.
pub(crate) fn first_of_backwards(file: &FileCursor, skip_bytes: i64, position: u64) -> Option<u64> {
    let FileRange { start_bytes, length_bytes, .. } = file.range;
    if start_bytes == 0 || start_bytes == length_bytes {
        return Some(position);
    }
    let first = length_bytes.checked_add_signed(skip_bytes)?;
    Some(if first < start_bytes { first.saturating_add(start_bytes) } else { first })
}

/// The position after a skip. A position before the start of the range moves to one skip before the end of the range, but
/// not before its start. A position further from the start of the range (or of the window) than the file is long moves to
/// the start of the range, plus the distance between that and the start of the file. Any other position past the end of
/// the range ends the file.
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

    // Expected values: the definitions above, for 10 bytes in parts of 4, and blocks of 4, 3 and 20.
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
