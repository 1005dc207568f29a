//! Where blocks may lie.
//!
//! Must not know: streams. Start reading anywhere.

use crate::choice::BlockChoice;
use crate::cursor::FileCursor;
use crate::plan::{FileRange, WorkloadPlan};
use ferrio_spec::{Compatibility, PatternSpec};
use ferrio_units::DataDirection;

/// Bits of a word of a random map.
const MAP_WORD_BITS: u64 = 64;

/// Blocks behind the last one of a map that can still be marked: a map ends with a whole word. Else none can. Seen in the lengths of
/// the last blocks of a window.
pub(crate) fn n_blocks_behind_map(compatibility: Compatibility, n_blocks: u64) -> u64 {
    if compatibility.is_fio() { n_blocks.next_multiple_of(MAP_WORD_BITS) - n_blocks } else { 0 }
}

/// Number of aligned places among which is drawn. Where places are at least as far apart as a block is long, what is left
/// behind the last whole part is no place, even if a block fits there. Else a block that is longer than all of it by more than a
/// part has places without end: the first few are those of the LFSR, and draws of other kinds lie past any file. Natively a place is
/// where a block fits. Seen in which offsets are drawn.
pub(crate) fn n_places(compatibility: Compatibility, length_bytes: u64, align_bytes: u64, min_block_bytes: u64) -> u64 {
    match compatibility {
        Compatibility::Fio if align_bytes >= min_block_bytes => length_bytes / align_bytes,
        Compatibility::Fio => length_bytes.saturating_add(align_bytes).wrapping_sub(min_block_bytes) / align_bytes,
        Compatibility::Native => {
            length_bytes.checked_sub(min_block_bytes).map_or(0, |room_bytes| room_bytes / align_bytes + 1)
        }
    }
}

/// Number of aligned places that begin within a range: the map and the LFSR, which count in the smallest block of all
/// directions, may give the last of them though it is among no draws. Natively those that are drawn. Seen in which offsets are
/// drawn.
pub(crate) fn n_starts(compatibility: Compatibility, n_places: u64, length_bytes: u64, align_bytes: u64) -> u64 {
    match compatibility {
        Compatibility::Fio if n_places > 0 => length_bytes.div_ceil(align_bytes),
        Compatibility::Fio | Compatibility::Native => n_places,
    }
}

/// The unit of the map and of the LFSR: the smallest block of all directions, used or not. Natively of those that are used. Seen in
/// which offsets are drawn.
pub(crate) fn map_unit_bytes(compatibility: Compatibility, pattern: &PatternSpec) -> u64 {
    smallest(pattern, |direction| compatibility.is_fio() || is_used(pattern, direction))
}

/// The unit that skewed draws count in: the smallest block of reads and writes, used or not, and not that of trims. Natively of those
/// that are used. Seen in which offsets are drawn.
pub(crate) fn skew_unit_bytes(compatibility: Compatibility, pattern: &PatternSpec) -> u64 {
    let counts = |direction| match compatibility {
        Compatibility::Fio => direction != DataDirection::Trim,
        Compatibility::Native => is_used(pattern, direction),
    };
    smallest(pattern, counts).max(1)
}

/// Blocks among which skewed draws choose: a last part of a block counts, though nothing fits there. Natively it does not. Seen in
/// which offsets are drawn.
pub(crate) fn n_skewed_blocks(compatibility: Compatibility, length_bytes: u64, unit_bytes: u64) -> u64 {
    if compatibility.is_fio() { length_bytes.div_ceil(unit_bytes) } else { length_bytes / unit_bytes }
}

fn is_used(pattern: &PatternSpec, direction: DataDirection) -> bool {
    // Then the first slot is the size in sequence and the second the one at random.
    pattern.mix.directions()[direction] || (pattern.bs_is_seq_rand && direction != DataDirection::Trim)
}

fn smallest(pattern: &PatternSpec, counts: impl Fn(DataDirection) -> bool) -> u64 {
    let counted = DataDirection::ALL.into_iter().filter(|direction| counts(*direction));
    counted.map(|direction| pattern.block_size[direction].min_bytes).min().unwrap_or(0)
}

/// Blocks of one size may end behind the range of the job, as long as they end within the file, and those of several sizes may not.
/// Natively none may. Seen in the last block of a range.
pub(crate) fn with_reach(mut plan: WorkloadPlan) -> WorkloadPlan {
    if !plan.compatibility.is_fio() {
        plan.files.iter_mut().for_each(|range| range.file_bytes = range.end_bytes());
    }
    plan
}

/// With `zonemode=strided`, skewed draws lie in the range of the file, whether a block fits into the window or not. Natively a window
/// without room for a block has none. Seen in which offsets are drawn.
pub(crate) fn draws_past_window(compatibility: Compatibility, choice: &BlockChoice) -> bool {
    compatibility.is_fio() && matches!(choice, BlockChoice::Skewed(_))
}

/// Where an I/O would have begun that found no place: one past the end of the range is counted from the start of the range, and one
/// that is too long there from that of the file. A trace shows it for the next sync; nothing else depends on it.
pub(crate) fn missed_past_end(range: &FileRange, base_bytes: u64, distance_bytes: u64) -> u64 {
    base_bytes.saturating_sub(range.start_bytes).saturating_add(distance_bytes)
}

/// Where a job in sequence that skips bytes after each block goes on (`rw=read:8k`, `rw=read:-8k`), chosen when its stream is made.
/// Seen in offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Skips {
    pub(crate) skip_bytes: i64,
    first: fn(&FileCursor, i64, u64) -> Option<u64>,
    next: fn(&FileCursor, i64, u64) -> u64,
}

impl Skips {
    pub(crate) fn new(compatibility: Compatibility, skip_bytes: i64) -> Self {
        match compatibility {
            Compatibility::Fio => Self { skip_bytes, first: first_of_backwards, next: after_skip },
            Compatibility::Native => Self { skip_bytes, first: first_from_end, next: after_plain_skip },
        }
    }

    /// The first block of a range that jumps go through backwards. `None`: nowhere.
    pub(crate) fn first_backwards(&self, file: &FileCursor, position: u64) -> Option<u64> {
        (self.first)(file, self.skip_bytes, position)
    }

    /// The position after a skip.
    #[inline]
    pub(crate) fn after(&self, file: &FileCursor, position: u64) -> u64 {
        (self.next)(file, self.skip_bytes, position)
    }
}

/// It begins in its place at the start of its file, or as far from it as the range is long, and else a jump before it.
fn first_of_backwards(file: &FileCursor, skip_bytes: i64, position: u64) -> Option<u64> {
    let FileRange { start_bytes, length_bytes, .. } = file.range;
    if start_bytes == 0 || start_bytes == length_bytes {
        return Some(position);
    }
    let first = length_bytes.checked_add_signed(skip_bytes)?;
    Some(if first < start_bytes { first.saturating_add(start_bytes) } else { first })
}

/// A position before the start goes to the end, unless it jumps over all of the file. One that is further from the start of the
/// range, or of the window, than the file is long goes to the start, or as far behind it as it is from that of the file; any other
/// past the end of the range ends the file.
fn after_skip(file: &FileCursor, skip_bytes: i64, position: u64) -> u64 {
    let start_bytes = file.range.start_bytes;
    match position.checked_add_signed(skip_bytes) {
        Some(next) if next.saturating_sub(file.base_bytes) >= file.range.block_end_bytes() => {
            file.base_bytes.saturating_mul(2)
        }
        Some(next) if next >= start_bytes => next,
        _ => file.end_bytes.checked_add_signed(skip_bytes).map_or(u64::MAX, |last| last.max(start_bytes)),
    }
}

/// Natively a job that goes backwards begins a jump before the end of its range; in one that is shorter it has no block.
fn first_from_end(file: &FileCursor, skip_bytes: i64, _position: u64) -> Option<u64> {
    file.end_bytes.checked_add_signed(skip_bytes).filter(|first| *first >= file.range.start_bytes)
}

/// Natively a position outside of the range ends the file.
fn after_plain_skip(file: &FileCursor, skip_bytes: i64, position: u64) -> u64 {
    position.checked_add_signed(skip_bytes).filter(|next| *next >= file.range.start_bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Compatibility::{Fio, Native};
    use super::*;

    // By the definitions above: 10 bytes in parts of 4, blocks of 4, of 3 and of 20.
    #[test]
    fn places_are_whole_parts_and_starts_are_begun_ones() {
        let starts = |length_bytes| n_starts(Fio, n_places(Fio, length_bytes, 4, 4), length_bytes, 4);
        assert_eq!((n_places(Fio, 10, 4, 4), n_places(Fio, 10, 4, 3), starts(10), starts(3)), (2, 2, 3, 0));
        assert_eq!(n_places(Fio, 10, 4, 6), 2);
        assert!(n_places(Fio, 10, 4, 20) > u64::MAX / 8);
        assert_eq!([0, 1, 64, 65].map(|n_blocks| n_blocks_behind_map(Fio, n_blocks)), [0, 63, 0, 63]);
    }

    // The same blocks fit at 0 and 4; at 0, 4; nowhere. One of 2 fits at 8 too.
    #[test]
    fn native_places_are_where_a_block_fits() {
        assert_eq!([4, 3, 20, 2].map(|block_bytes| n_places(Native, 10, 4, block_bytes)), [2, 2, 0, 3]);
        assert_eq!((n_starts(Native, 2, 10, 4), n_blocks_behind_map(Native, 65)), (2, 0));
        assert_eq!((n_skewed_blocks(Fio, 10, 4), n_skewed_blocks(Native, 10, 4)), (3, 2));
    }
}
