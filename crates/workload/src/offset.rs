//! Start of the next block.
//!
//! Must not know: block sizes of other directions, files other than the one that it is given.
//! Start reading at [`OffsetPicker::next`].

use crate::choice::{BlockChoice, align_bytes};
use crate::compat::{self, OffsetRules};
use crate::cursor::{FileCursor, NOWHERE};
use crate::next::OffsetState;
use crate::plan::WorkloadPlan;
use ferrio_spec::{FileService, RandomGenerator, RwSequencer};
use ferrio_sys::prefetch;
use ferrio_units::random::{Generator, GeneratorKind, SeedIndex, Taus88};
use ferrio_units::{DataDirection, PerDirection, RandomMap};

/// The start of a block, and its number in the map if it was drawn from one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockStart {
    pub(crate) offset_bytes: u64,
    pub(crate) random: bool,
    /// Number of the block in units of the direction; it is to be marked in the map.
    pub(crate) map_block: Option<u64>,
}

/// Chooses offsets by the order of the job.
#[derive(Debug, Clone)]
pub(crate) struct OffsetPicker {
    random: bool,
    /// Run length of a random job.
    run_length: u64,
    /// I/Os left in the current run.
    run_left: u64,
    identical: bool,
    /// Bytes skipped after each block of a sequential job.
    rules: OffsetRules,
    mix: RandomMix,
    align_bytes: PerDirection<u64>,
    /// A file starts over when no free offset is left.
    starts_over: bool,
    /// A direction that reaches the end of a file continues at its start.
    wraps: bool,
    /// Why the last random block found no offset. If files start over, the next draw is for the same I/O.
    again: Option<Again>,
    /// The last draw lies past the end of the range.
    is_past_end: bool,
    /// The last sequential block of a random job (`percentage_random`, a run) found no offset.
    ended_in_sequence: bool,
    offsets: Generator,
    zones: Taus88,
}

/// Blocks that follow the one before them, among those at random (`percentage_random`).
#[derive(Debug, Clone)]
struct RandomMix {
    percent_random: PerDirection<u32>,
    /// The stream of each direction that draws whether a block follows the one before it.
    streams: PerDirection<Generator>,
    counts: MixCounts,
}

/// What was drawn so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MixCounts {
    /// Number of I/Os that follow the one before them.
    pub(crate) following: PerDirection<u64>,
    /// Number of those at random beside them.
    pub(crate) at_random: PerDirection<u64>,
    /// Draws that lay past the end of the range, so that no I/O came of them.
    pub(crate) n_past_end: u64,
}

/// Why a block is drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Random,
    /// The draw replaces a sequential block.
    InsteadOfSequential,
}

/// Above this number of blocks fio switches to the 64-bit generator by itself.
const MAX_BLOCKS_32: u64 = u32::MAX as u64;

/// A map with this many blocks takes 256 KiB; smaller maps stay in the caches of the core anyway.
const MIN_FETCHED_BLOCKS: u64 = 256 * 1024 * 8;

impl OffsetPicker {
    pub(crate) fn new(plan: &WorkloadPlan, n_blocks: u64) -> Self {
        let WorkloadPlan { pattern, seeds, .. } = plan;
        let wide = pattern.random_generator == Some(RandomGenerator::Tausworthe64)
            || (pattern.random_generator.is_none() && n_blocks > MAX_BLOCKS_32);
        let kind = if wide { GeneratorKind::Taus258 } else { GeneratorKind::Taus88 };
        Self {
            random: pattern.random,
            run_length: u64::try_from(pattern.rw_postfix).unwrap_or(1).max(1),
            run_left: 0,
            identical: pattern.rw_sequencer == RwSequencer::Identical,
            rules: OffsetRules::new(plan.compatibility, if pattern.random { 0 } else { pattern.rw_postfix }),
            mix: RandomMix {
                percent_random: pattern.percentage_random,
                streams: compat::mix_streams(plan.compatibility, seeds),
                counts: MixCounts::default(),
            },
            align_bytes: PerDirection(DataDirection::ALL.map(|direction| align_bytes(pattern, direction))),
            starts_over: plan.time_based || matches!(plan.file_service, FileService::Skewed(_)),
            wraps: plan.wraps(),
            again: None,
            is_past_end: false,
            ended_in_sequence: false,
            offsets: Generator::from_table(kind, seeds, SeedIndex::Offset),
            zones: Taus88::from_table(seeds, SeedIndex::Zone),
        }
    }

    /// State of the generator from which random starts are (or would be) drawn.
    pub(crate) fn state(&self) -> OffsetState {
        OffsetState::from(&self.offsets)
    }

    /// The next start in a file; `None`: the file is done.
    #[inline]
    pub(crate) fn next(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        if !self.random {
            return self.sequential(file, direction);
        }
        if self.run_left == 0 {
            self.run_left = self.run_length;
        }
        let first_of_run = self.run_left == self.run_length;
        let was_past_end = std::mem::take(&mut self.is_past_end);
        let start = match self.again.take().filter(|_| self.starts_over && !was_past_end) {
            Some(again) => self.drawn(again, file, direction),
            None if first_of_run => self.random_or_mixed(file, direction),
            None => self.within_run(file, direction),
        };
        // In a file that starts over, another draw is made for the same I/O.
        if start.is_some() || self.is_past_end || !self.starts_over {
            self.run_left -= 1;
        }
        start
    }

    #[inline]
    fn random_or_mixed(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        if self.mix.percent_random[direction] < 100 {
            return self.mixed(file, direction);
        }
        self.drawn(Again::Random, file, direction)
    }

    fn mixed(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        let percent = self.mix.percent_random[direction];
        let sequential = percent == 0 || self.mix.streams[direction].percent() > percent;
        // A sequential block that would start past the end of the file becomes a random one.
        if sequential && (self.is_in_file(file, direction) || self.wraps && file.wrap()) {
            self.mix.counts.following[direction] += 1;
            return self.following(file, direction);
        }
        self.mix.counts.at_random[direction] += 1;
        self.drawn(if sequential { Again::InsteadOfSequential } else { Again::Random }, file, direction)
    }

    /// A random block. If it replaces a sequential one that would start past the end, it has the size of a sequential
    /// block, and may have to stay unmarked in the map.
    #[inline]
    fn drawn(&mut self, what: Again, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        let Some(start) = self.at_random(file, direction) else {
            self.again = Some(what);
            return None;
        };
        if what == Again::Random { Some(start) } else { Some(self.in_place_of_sequential(start)) }
    }

    /// A random block with the size of a sequential one.
    #[cold]
    fn in_place_of_sequential(&self, start: BlockStart) -> BlockStart {
        let map_block = start.map_block.filter(|_| !self.rules.leaves_unmarked);
        BlockStart { random: false, map_block, ..start }
    }

    /// True if the next sequential block starts within the file; where directions wrap, within the range.
    #[inline]
    fn is_in_file(&self, file: &FileCursor, direction: DataDirection) -> bool {
        let end_bytes = if self.wraps { file.end_bytes } else { file.range.block_end_bytes() };
        file.next_bytes[direction] < end_bytes
    }

    /// The last block found no offset because its draw lies past the end of the range.
    pub(crate) fn is_past_end(&self) -> bool {
        self.is_past_end
    }

    /// The random streams start again; a run of sequential blocks continues if `keeps_run`.
    pub(crate) fn reseed(&mut self, fresh: Self, keeps_run: bool) {
        let Self { run_left, again, is_past_end, .. } = *self;
        let counts = self.mix.counts;
        *self = if keeps_run { Self { run_left, again, is_past_end, ..fresh } } else { fresh };
        self.mix.counts = counts;
    }

    /// What was drawn so far, in all passes.
    pub(crate) fn counts(&self) -> MixCounts {
        self.mix.counts
    }

    /// The last block that found no offset was a sequential one, or replaced one.
    pub(crate) fn failed_in_sequence(&mut self) -> bool {
        std::mem::take(&mut self.ended_in_sequence) || matches!(self.again, Some(Again::InsteadOfSequential))
    }

    /// The next start within a run: behind the last block of this file and direction. With `rw_sequencer=identical` it
    /// is the start of the last block again, or of the range if there was none. At the end of the
    /// file a random block takes over and counts as sequential; at the end of a range that is shorter than the file,
    /// the file ends.
    fn within_run(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        if self.identical {
            let last_bytes = file.last_bytes[direction];
            let offset_bytes = if last_bytes == NOWHERE { file.base_bytes } else { last_bytes };
            return Some(BlockStart { offset_bytes, random: false, map_block: None });
        }
        if !(self.is_in_file(file, direction) || self.wraps && file.wrap()) {
            return self.drawn(Again::InsteadOfSequential, file, direction);
        }
        self.following(file, direction)
    }

    /// The block behind the last one, in a random job.
    fn following(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        let start = self.sequential(file, direction);
        self.ended_in_sequence = start.is_none();
        start
    }

    /// Counts an I/O that repeats a range as a part of the run.
    #[inline]
    pub(crate) fn count_repeat(&mut self) {
        self.run_left = self.run_left.checked_sub(1).unwrap_or(self.run_length - 1);
    }

    #[inline]
    fn at_random(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        let align = self.align_bytes[direction];
        let n_blocks = file.n_drawn[direction];
        let (block, map_block) = match &mut file.choice {
            // If there is no offset to choose from, nothing is drawn from the job's streams, and the file gives no block.
            BlockChoice::Free | BlockChoice::Map(_) | BlockChoice::Zoned(_) if n_blocks == 0 => (0, None),
            BlockChoice::Free => (self.offsets.below(n_blocks), None),
            BlockChoice::Map(map) => {
                let free = map.next_free(self.offsets.below(n_blocks))?;
                if map.n_blocks() >= MIN_FETCHED_BLOCKS {
                    fetch_next(map, &self.offsets, n_blocks);
                }
                (free, Some(free))
            }
            BlockChoice::Lfsr(lfsr) => (lfsr.next_block()?, None),
            BlockChoice::Skewed(blocks) => (blocks.next_block(), None),
            BlockChoice::Permuted(blocks) => (blocks.next_block(direction)?, None),
            BlockChoice::Zoned(zones) => (zones.next_block(direction, &mut self.zones, &mut self.offsets)?, None),
            BlockChoice::Sequence(sequence) => (sequence.next_block()?, None),
            BlockChoice::SpRandom(_) if direction != DataDirection::Write => (self.offsets.below(n_blocks), None),
            BlockChoice::SpRandom(blocks) => (blocks.next_block()?, None),
        };
        if block >= file.n_starts[direction] {
            self.is_past_end = true;
            self.mix.counts.n_past_end += 1;
            file.missed_bytes =
                Some(compat::missed_past_end(&file.range, file.base_bytes, block.saturating_mul(align)));
            return None;
        }
        // Cannot overflow: block * align is below the length of the range, and the base lies inside of the file.
        let offset_bytes = file.base_bytes + block * align;
        Some(BlockStart { offset_bytes, random: true, map_block })
    }

    #[inline]
    fn sequential(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<BlockStart> {
        let position = file.next_bytes[direction];
        if position >= file.range.block_end_bytes() {
            return None;
        }
        let offset_bytes = match (self.rules.skip_bytes, file.fresh[direction]) {
            (0, _) => position,
            (_, false) => self.rules.after(file, position),
            (..0, true) => self.rules.first_backwards(file, position)?,
            (_, true) => position,
        };
        if offset_bytes >= file.end_bytes {
            file.missed_bytes = Some(compat::missed_past_end(&file.range, offset_bytes, 0));
            return None;
        }
        Some(BlockStart { offset_bytes, random: false, map_block: None })
    }

    /// True when a direction that reaches the end of a file continues at its start.
    pub(crate) fn wraps(&self) -> bool {
        self.wraps
    }
}

/// Prefetches the word of the map that the next draw will look at, while the present I/O is done. If the next draw is
/// of another kind, the prefetch is merely useless.
#[inline]
fn fetch_next(map: &RandomMap, offsets: &Generator, n_blocks: u64) {
    if let Some(word) = map.word_of(offsets.clone().below(n_blocks)) {
        prefetch(word);
    }
}
