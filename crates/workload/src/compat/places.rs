//! Oddities of the offsets and ends of blocks.
//!
//! Must not know: streams. Start reading anywhere.

use crate::choice::BlockChoice;
use crate::cursor::FileCursor;
use crate::plan::{FileRange, WorkloadPlan};
use ferrio_spec::{Compatibility, PatternSpec};
use ferrio_units::DataDirection;

const MAP_WORD_BITS: u64 = 64;

/// Number of blocks behind the end of a map that can still be marked, because a map ends with a whole word. Native: 0.
/// Shows in the lengths of the last blocks of a window.
pub(crate) fn n_blocks_behind_map(compatibility: Compatibility, n_blocks: u64) -> u64 {
    if compatibility.is_fio() { n_blocks.next_multiple_of(MAP_WORD_BITS) - n_blocks } else { 0 }
}

/// Number of aligned offsets among which random draws choose. If offsets are at least one block apart, the remainder
/// after the last whole part has no offset, even if a block fits there. If the smallest block is longer than the range
/// by more than one part, the number is practically unlimited: the LFSR then gives the first few offsets, and draws of
/// other kinds are past the end of any file. Native: the offsets at which a block fits. Shows in the offsets.
pub(crate) fn n_places(compatibility: Compatibility, length_bytes: u64, align_bytes: u64, min_block_bytes: u64) -> u64 {
    match compatibility {
        Compatibility::Fio if align_bytes >= min_block_bytes => length_bytes / align_bytes,
        Compatibility::Fio => length_bytes.saturating_add(align_bytes).wrapping_sub(min_block_bytes) / align_bytes,
        Compatibility::Native => {
            length_bytes.checked_sub(min_block_bytes).map_or(0, |room_bytes| room_bytes / align_bytes + 1)
        }
    }
}

/// Number of aligned offsets within a range. The map and the LFSR count in the smallest block of all directions, so
/// they may give the last of these offsets though no draw can. Native: only the offsets of draws. Shows in the offsets.
pub(crate) fn n_starts(compatibility: Compatibility, n_places: u64, length_bytes: u64, align_bytes: u64) -> u64 {
    match compatibility {
        Compatibility::Fio if n_places > 0 => length_bytes.div_ceil(align_bytes),
        Compatibility::Fio | Compatibility::Native => n_places,
    }
}

/// The unit of the map and of the LFSR: the smallest block of all directions, whether the job uses them or not. Native: of
/// the directions that it uses. Shows in the offsets.
pub(crate) fn map_unit_bytes(compatibility: Compatibility, pattern: &PatternSpec) -> u64 {
    smallest(pattern, |direction| compatibility.is_fio() || is_used(pattern, direction))
}

/// The unit of skewed draws: the smallest block of reads and writes, whether the job uses it or not, but not that of
/// trims. Native: the smallest block of the directions that the job uses. Shows in the offsets.
pub(crate) fn skew_unit_bytes(compatibility: Compatibility, pattern: &PatternSpec) -> u64 {
    let counts = |direction| match compatibility {
        Compatibility::Fio => direction != DataDirection::Trim,
        Compatibility::Native => is_used(pattern, direction),
    };
    smallest(pattern, counts).max(1)
}

/// Number of blocks among which skewed draws choose: a last partial block counts, though no block fits there. Native: it
/// does not count. Shows in the offsets.
pub(crate) fn n_skewed_blocks(compatibility: Compatibility, length_bytes: u64, unit_bytes: u64) -> u64 {
    if compatibility.is_fio() { length_bytes.div_ceil(unit_bytes) } else { length_bytes / unit_bytes }
}

fn is_used(pattern: &PatternSpec, direction: DataDirection) -> bool {
    // With `bs_is_seq_rand` the first slot is the sequential size and the second one the random size.
    pattern.mix.directions()[direction] || (pattern.bs_is_seq_rand && direction != DataDirection::Trim)
}

fn smallest(pattern: &PatternSpec, counts: impl Fn(DataDirection) -> bool) -> u64 {
    let counted = DataDirection::ALL.into_iter().filter(|direction| counts(*direction));
    counted.map(|direction| pattern.block_size[direction].min_bytes).min().unwrap_or(0)
}

/// The plan with the ends that blocks may reach. Blocks of one size may end behind the range of the job if they end
/// within the file; blocks of several sizes may not. Native: no block may. Shows in the last block of a range.
pub(crate) fn with_reach(mut plan: WorkloadPlan) -> WorkloadPlan {
    if !plan.compatibility.is_fio() {
        plan.files.iter_mut().for_each(|range| range.file_bytes = range.end_bytes());
    }
    plan
}

/// True if skewed draws with `zonemode=strided` give blocks even if none fits into the window. Native: a window without
/// room has no blocks. Shows in the offsets.
pub(crate) fn draws_past_window(compatibility: Compatibility, choice: &BlockChoice) -> bool {
    compatibility.is_fio() && matches!(choice, BlockChoice::Skewed(_))
}

/// Start of a block that did not fit: relative to the start of the range if it is past the end of the range, and to the
/// start of the file if the block is only too long there. A trace shows it for the next sync; it has no other effect.
pub(crate) fn missed_past_end(range: &FileRange, base_bytes: u64, distance_bytes: u64) -> u64 {
    base_bytes.saturating_sub(range.start_bytes).saturating_add(distance_bytes)
}

/// The rules for offsets that follow each other, chosen when a stream is made. Those for skips after each block
/// (`rw=read:8k`, `rw=read:-8k`) are functions. They show in the offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OffsetRules {
    /// Bytes to skip after each block of a sequential job.
    pub(crate) skip_bytes: i64,
    /// True if a random block that replaces a sequential one past the end is not marked in the map, so that it may come
    /// again. Native: it is marked. Shows in the offsets of `percentage_random` and of runs (`rw=randread:8`).
    pub(crate) leaves_unmarked: bool,
    first: fn(&FileCursor, i64, u64) -> Option<u64>,
    next: fn(&FileCursor, i64, u64) -> u64,
}

impl OffsetRules {
    pub(crate) fn new(compatibility: Compatibility, skip_bytes: i64) -> Self {
        match compatibility {
            Compatibility::Fio => {
                Self { skip_bytes, leaves_unmarked: true, first: first_of_backwards, next: after_skip }
            }
            Compatibility::Native => {
                Self { skip_bytes, leaves_unmarked: false, first: first_from_end, next: after_plain_skip }
            }
        }
    }

    /// Start of the first block when negative jumps take a job backwards through a range. `None`: there is no such offset.
    pub(crate) fn first_backwards(&self, file: &FileCursor, position: u64) -> Option<u64> {
        (self.first)(file, self.skip_bytes, position)
    }

    #[inline]
    pub(crate) fn after(&self, file: &FileCursor, position: u64) -> u64 {
        (self.next)(file, self.skip_bytes, position)
    }
}

/// fio: at the start of the file, or as far from it as the range is long, the block is at `position`; elsewhere it is one
/// jump before that.
fn first_of_backwards(file: &FileCursor, skip_bytes: i64, position: u64) -> Option<u64> {
    let FileRange { start_bytes, length_bytes, .. } = file.range;
    if start_bytes == 0 || start_bytes == length_bytes {
        return Some(position);
    }
    let first = length_bytes.checked_add_signed(skip_bytes)?;
    Some(if first < start_bytes { first.saturating_add(start_bytes) } else { first })
}

/// fio: a position before the start of the range moves to one skip before the end of the range, but not before its start.
/// A position further from the start of the range (or of the window) than the file is long moves to the start of the
/// range, plus the distance between that and the start of the file. Any other position past the end of the range ends the
/// file.
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

/// Native: the block is one jump before the end of the range; a range that is shorter than a jump has none.
fn first_from_end(file: &FileCursor, skip_bytes: i64, _position: u64) -> Option<u64> {
    file.end_bytes.checked_add_signed(skip_bytes).filter(|first| *first >= file.range.start_bytes)
}

/// Native: a position outside of the range ends the file.
fn after_plain_skip(file: &FileCursor, skip_bytes: i64, position: u64) -> u64 {
    position.checked_add_signed(skip_bytes).filter(|next| *next >= file.range.start_bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Compatibility::{Fio, Native};
    use super::*;
    use ferrio_spec::{BlockRange, JobSpec};
    use ferrio_units::PerDirection;
    use ferrio_units::random::{DistributionShape, SkewedBlocks};

    // Expected values: the definitions above, for 10 bytes in parts of 4, and blocks of 4, 3, 6 and 20.
    #[test]
    fn places_are_whole_parts_and_starts_are_begun_ones() {
        let starts = |length_bytes| n_starts(Fio, n_places(Fio, length_bytes, 4, 4), length_bytes, 4);
        assert_eq!((n_places(Fio, 10, 4, 4), n_places(Fio, 10, 4, 3), starts(10), starts(3)), (2, 2, 3, 0));
        assert_eq!(n_places(Fio, 10, 4, 6), 2);
        assert!(n_places(Fio, 10, 4, 20) > u64::MAX / 8);
        assert_eq!([0, 1, 64, 65].map(|n_blocks| n_blocks_behind_map(Fio, n_blocks)), [0, 63, 0, 63]);
    }

    // In 10 bytes, blocks of 4 and 3 fit at 0 and 4, one of 20 nowhere, one of 2 also at 8.
    #[test]
    fn native_places_are_where_a_block_fits() {
        assert_eq!([4, 3, 20, 2].map(|block_bytes| n_places(Native, 10, 4, block_bytes)), [2, 2, 0, 3]);
        assert_eq!((n_starts(Native, 2, 10, 4), n_blocks_behind_map(Native, 65)), (2, 0));
        assert_eq!((n_skewed_blocks(Fio, 10, 4), n_skewed_blocks(Native, 10, 4)), (3, 2));
    }

    /// A job that reads blocks of 4 KiB; those of writes are of 1 KiB, those of trims of 512 bytes.
    #[test]
    fn native_units_are_blocks_of_used_directions() {
        let mut pattern = JobSpec::default().pattern;
        let sizes = [4_096, 1_024, 512].map(|bytes| BlockRange { min_bytes: bytes, max_bytes: bytes });
        pattern.block_size = PerDirection(sizes);
        assert_eq!([Fio, Native].map(|whose| map_unit_bytes(whose, &pattern)), [512, 4_096]);
        assert_eq!([Fio, Native].map(|whose| skew_unit_bytes(whose, &pattern)), [1_024, 4_096]);
        pattern.bs_is_seq_rand = true;
        assert_eq!([Fio, Native].map(|whose| map_unit_bytes(whose, &pattern)), [512, 1_024]);
    }

    #[test]
    fn only_skewed_draws_of_fio_leave_their_window() {
        let shape = DistributionShape::zipf(10, 1.2).expect("a shape");
        let skewed = BlockChoice::Skewed(SkewedBlocks::new(shape, 1, None));
        assert_eq!([Fio, Native].map(|whose| draws_past_window(whose, &skewed)), [true, false]);
        assert_eq!([Fio, Native].map(|whose| draws_past_window(whose, &BlockChoice::Free)), [false, false]);
    }

    fn cursor(range: FileRange) -> FileCursor {
        FileCursor {
            range,
            end_bytes: range.end_bytes(),
            base_bytes: range.start_bytes,
            next_bytes: PerDirection::all(0),
            last_bytes: PerDirection::all(0),
            fresh: PerDirection::all(true),
            choice: BlockChoice::Free,
            n_starts: PerDirection::all(0),
            n_drawn: PerDirection::all(0),
            has_window: false,
            last_trim_bytes: 0,
            has_unwritten_trim: false,
            turn: crate::cursor::Turn::ENDLESS,
            missed_bytes: None,
            n_fruitless: 0,
        }
    }

    /// A range of 20 bytes at offset 4 of a file that ends with it, with jumps of 8 bytes backwards.
    #[test]
    fn native_jumps_begin_at_the_end_and_end_at_the_start() {
        let file = cursor(FileRange { start_bytes: 4, length_bytes: 20, file_bytes: 24, distribution_seed: 0 });
        let rules = [Fio, Native].map(|whose| OffsetRules::new(whose, -8));
        assert_eq!(rules.map(|rules| rules.leaves_unmarked), [true, false]);
        assert_eq!(rules.map(|rules| rules.first_backwards(&file, 0)), [Some(12), Some(16)]);
        assert_eq!(rules.map(|rules| rules.after(&file, 20)), [12, 12]);
        assert_eq!(rules.map(|rules| rules.after(&file, 8)), [16, u64::MAX]);
        assert_eq!(OffsetRules::new(Native, -30).first_backwards(&file, 0), None);
    }
}
