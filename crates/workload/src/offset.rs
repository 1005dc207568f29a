//! Where the next block starts.
//!
//! Must not know: block sizes of other directions, files other than the one it is given.
//! Start reading at [`OffsetPicker::next`].

use crate::choice::{BlockChoice, align_bytes};
use crate::cursor::FileCursor;
use ferrio_job::spec::{PatternSpec, RandomGenerator, RwSequencer};
use ferrio_units::random::{Generator, GeneratorKind, SeedIndex, SeedTable, Taus88};
use ferrio_units::{DataDirection, PerDirection};

/// A start, and the block number where it was drawn at random from a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) offset_bytes: u64,
    pub(crate) random: bool,
    /// Block in the units of the direction, to be marked in the map.
    pub(crate) map_block: Option<u64>,
}

/// Chooses offsets by the order of the job.
#[derive(Debug, Clone)]
pub(crate) struct OffsetPicker {
    random: bool,
    /// Run length of a random job.
    run_length: u64,
    /// I/Os left in the run.
    run_left: u64,
    identical: bool,
    /// Bytes skipped after each block of a sequential job.
    skip_bytes: i64,
    percent_random: PerDirection<u32>,
    align_bytes: PerDirection<u64>,
    time_based: bool,
    offsets: Generator,
    mix: Generator,
    zones: Taus88,
}

/// Above this many blocks a 32-bit draw cannot reach every block.
const MAX_BLOCKS_32: u64 = 1 << 32;

impl OffsetPicker {
    pub(crate) fn new(pattern: &PatternSpec, seeds: &SeedTable, n_blocks: u64, time_based: bool) -> Self {
        let wide = pattern.random_generator == Some(RandomGenerator::Tausworthe64)
            || (pattern.random_generator.is_none() && n_blocks > MAX_BLOCKS_32);
        let kind = if wide { GeneratorKind::Taus258 } else { GeneratorKind::Taus88 };
        Self {
            random: pattern.random,
            run_length: u64::try_from(pattern.rw_postfix).unwrap_or(1).max(1),
            run_left: 0,
            identical: pattern.rw_sequencer == RwSequencer::Identical,
            skip_bytes: if pattern.random { 0 } else { pattern.rw_postfix },
            percent_random: pattern.percentage_random,
            align_bytes: PerDirection(DataDirection::ALL.map(|direction| align_bytes(pattern, direction))),
            time_based,
            offsets: Generator::from_table(kind, seeds, SeedIndex::Offset),
            mix: Generator::from_table(GeneratorKind::Taus88, seeds, SeedIndex::SequentialMixRead),
            zones: Taus88::from_table(seeds, SeedIndex::Zone),
        }
    }

    /// The next start in a file; `None`: the file is done.
    #[inline]
    pub(crate) fn next(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<Start> {
        if !self.random {
            return self.sequential(file, direction);
        }
        if self.run_left == 0 {
            self.run_left = self.run_length;
        }
        let first_of_run = self.run_left == self.run_length;
        let start = if first_of_run { self.random_or_mixed(file, direction) } else { self.within_run(file, direction) };
        self.run_left -= 1;
        start
    }

    #[inline]
    fn random_or_mixed(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<Start> {
        let percent = self.percent_random[direction];
        let sequential = percent < 100 && (percent == 0 || self.mix.percent() > percent);
        // A sequential block that would start past the end becomes a random one.
        if sequential && file.next_bytes[direction] < file.end_bytes {
            return self.sequential(file, direction);
        }
        if sequential { self.instead_of_sequential(file, direction) } else { self.at_random(file, direction) }
    }

    /// A random block where a sequential one would start past the end: it is not marked in the map (as seen on fio 3.33).
    fn instead_of_sequential(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<Start> {
        let start = self.at_random(file, direction)?;
        Some(Start { map_block: None, ..start })
    }

    /// Inside a run: the next block of the file and direction, or the same again, from the start of the range where there
    /// was none (as seen on fio 3.33). A run that reaches the end of the range goes on elsewhere, and is no longer for it.
    fn within_run(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<Start> {
        if self.identical {
            let offset_bytes = file.last_bytes[direction];
            return Some(Start { offset_bytes, random: false, map_block: None });
        }
        if file.next_bytes[direction] >= file.end_bytes {
            return self.instead_of_sequential(file, direction);
        }
        self.sequential(file, direction)
    }

    /// An I/O that repeats a range counts for its run.
    #[inline]
    pub(crate) fn count_repeat(&mut self) {
        self.run_left = self.run_left.checked_sub(1).unwrap_or(self.run_length - 1);
    }

    #[inline]
    fn at_random(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<Start> {
        let align = self.align_bytes[direction];
        let n_blocks = file.n_drawn[direction];
        let (block, map_block) = match &mut file.choice {
            BlockChoice::Free => (self.offsets.below(n_blocks), None),
            BlockChoice::Map(map) => {
                let free = map.next_free(self.offsets.below(n_blocks))?;
                (free, Some(free))
            }
            BlockChoice::Lfsr(lfsr) => (lfsr.next_block()?, None),
            BlockChoice::Skewed(blocks) => (blocks.next_block(), None),
            BlockChoice::Zoned(zones) => (zones.next_block(direction, &mut self.zones, &mut self.offsets)?, None),
            BlockChoice::Sequence(sequence) => (sequence.next_block()?, None),
        };
        if block >= file.n_places[direction] {
            return None;
        }
        // Cannot overflow: block * align is below the length of the range, and the base lies inside of the file.
        let offset_bytes = file.base_bytes + block * align;
        Some(Start { offset_bytes, random: true, map_block })
    }

    #[inline]
    fn sequential(&mut self, file: &mut FileCursor, direction: DataDirection) -> Option<Start> {
        let position = file.next_bytes[direction];
        if position >= file.end_bytes {
            return None;
        }
        let offset_bytes =
            if self.skip_bytes == 0 || file.fresh[direction] { position } else { self.skipped(file, position) };
        Some(Start { offset_bytes, random: false, map_block: None })
    }

    /// The position after a skip. A jump past the end goes to the start, one before the start to the end.
    fn skipped(&self, file: &FileCursor, position: u64) -> u64 {
        let range = file.range;
        match position.checked_add_signed(self.skip_bytes) {
            Some(next) if next >= file.end_bytes => range.start_bytes,
            Some(next) if next >= range.start_bytes => next,
            _ => file.end_bytes.saturating_add_signed(self.skip_bytes).max(range.start_bytes),
        }
    }

    /// True when a file that is done starts over instead.
    pub(crate) fn restarts(&self) -> bool {
        self.time_based
    }
}
