//! The stream of a plain job: one file, one direction, one block size, no syncs. Most jobs that look for the limit of a
//! device are plain. An I/O costs a quarter of the instructions of the general [`Stream`](crate::stream::Stream), which
//! repeats decisions for each I/O that never change in a plain job.
//!
//! Must not know: any job that is not plain. Start reading at [`PlainStream::new`], then [`PlainStream::draw`].

use crate::choice::{self, BlockChoice};
use crate::compat;
use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo, OffsetState};
use crate::plan::{FileRange, Rounds, SyncIntervals, WorkForm, WorkLimits, WorkloadError, WorkloadPlan};
use crate::stream::offset_picker;
use ferrio_spec::{DirectionMix, FileService, PatternSpec, RandomDistribution, RandomGenerator};
use ferrio_sys::prefetch;
use ferrio_units::random::{SeedIndex, Taus88, UniformBlocks};
use ferrio_units::{DataDirection, RandomMap};

#[derive(Debug, Clone)]
pub(crate) struct PlainStream {
    direction: DataDirection,
    block_bytes: u64,
    start_bytes: u64,
    /// Number of blocks in the range of the file.
    n_blocks: u64,
    order: BlockOrder,
    /// Blocks of the present pass, or since the file started over.
    n_since_rewind: u64,
    n_issued: u64,
    /// Number of I/Os at which the pass ends, by the limits of the job and of the pass.
    n_end: u64,
    /// All of the file was issued in this pass.
    is_done: bool,
    missed_bytes: Option<u64>,
    limits: Limits,
}

#[derive(Debug, Clone)]
enum BlockOrder {
    /// Ascending, from the start of the range.
    Sequential,
    /// Random, each block once a pass.
    Mapped(Box<MappedBlocks>),
    /// Random, with repetitions.
    Free(UniformBlocks),
}

/// Draws without repetition, made a few I/Os before they are used. The map of a large file is not in the nearest
/// caches, so each draw prefetches its word of the map while earlier I/Os are done.
#[derive(Debug, Clone)]
struct MappedBlocks {
    map: RandomMap,
    blocks: UniformBlocks,
    drawn: [Draw; N_AHEAD],
    /// Index of the next draw to use.
    index: usize,
}

/// Long enough to hide a memory access at 60 ns an I/O, and a power of two.
const N_AHEAD: usize = 4;

/// A drawn block, and the state of the stream before the draw.
#[derive(Debug, Clone, Copy)]
struct Draw {
    stream_words: [u32; 3],
    /// A plain file has at most 2^32 blocks.
    block: u32,
}

impl Draw {
    #[inline]
    fn next_of(blocks: &mut UniformBlocks) -> Self {
        Self { stream_words: blocks.stream().words(), block: blocks.next_block() as u32 }
    }
}

impl MappedBlocks {
    fn new(map: RandomMap, mut blocks: UniformBlocks) -> Self {
        Self { map, drawn: std::array::from_fn(|_| Draw::next_of(&mut blocks)), blocks, index: 0 }
    }

    /// The stream starts anew; the map stays.
    fn restart(&mut self, mut blocks: UniformBlocks) {
        self.drawn = std::array::from_fn(|_| Draw::next_of(&mut blocks));
        (self.blocks, self.index) = (blocks, 0);
    }

    /// The next block; `None`: all were taken.
    #[expect(
        clippy::inline_always,
        reason = "left to itself the compiler calls it where streams have a pace: 20 instructions"
    )]
    #[inline(always)]
    fn take_next(&mut self) -> Option<u64> {
        let later = Draw::next_of(&mut self.blocks);
        if let Some(word) = self.map.word_of(later.block.into()) {
            prefetch(word);
        }
        let draw = std::mem::replace(&mut self.drawn[self.index % N_AHEAD], later);
        self.index = (self.index + 1) % N_AHEAD;
        self.map.take_next_free(draw.block.into())
    }

    /// State of the stream before the next block.
    fn stream_words(&self) -> [u32; 3] {
        self.drawn[self.index % N_AHEAD].stream_words
    }
}

/// Limits in I/Os, and what a new pass needs.
#[derive(Debug, Clone)]
struct Limits {
    n_total: u64,
    n_in_pass: u64,
    /// The file starts over when it is done, without being closed.
    starts_over: bool,
    /// State of the generator that a sequential job does not use.
    unused: OffsetState,
    /// The stream in its initial state, if each pass starts it anew.
    first: Option<UniformBlocks>,
    range: FileRange,
}

/// The facts about a plain plan that the stream needs.
struct Facts {
    direction: DataDirection,
    block_bytes: u64,
    n_blocks: u64,
}

impl PlainStream {
    /// The stream of a plan; `None` if the plan is not plain.
    pub(crate) fn new(plan: &WorkloadPlan) -> Result<Option<Self>, WorkloadError> {
        let Some(facts) = facts(plan) else { return Ok(None) };
        let stream = Taus88::from_table(&plan.seeds, SeedIndex::Offset);
        let Some(blocks) = UniformBlocks::new(stream, facts.n_blocks) else { return Ok(None) };
        let limits = Limits {
            n_total: plan.limits.bytes.div_ceil(facts.block_bytes).min(plan.limits.ios),
            n_in_pass: plan.limits.pass_bytes.div_ceil(facts.block_bytes),
            starts_over: starts_over(plan, &facts),
            unused: if plan.pattern.random { OffsetState::None } else { offset_picker(plan).state() },
            first: plan.reseed_each_pass.then(|| blocks.clone()),
            range: plan.files[0],
        };
        let order = match BlockChoice::uniform(plan, 0)? {
            _ if !plan.pattern.random => BlockOrder::Sequential,
            BlockChoice::Map(map) => BlockOrder::Mapped(Box::new(MappedBlocks::new(map, blocks))),
            BlockChoice::Free if facts.n_blocks > 0 => BlockOrder::Free(blocks),
            BlockChoice::Free
            | BlockChoice::Lfsr(_)
            | BlockChoice::Skewed(_)
            | BlockChoice::Permuted(_)
            | BlockChoice::Zoned(_)
            | BlockChoice::Sequence(_)
            | BlockChoice::SpRandom(_) => return Ok(None),
        };
        Ok(Some(Self {
            direction: facts.direction,
            block_bytes: facts.block_bytes,
            start_bytes: plan.files[0].start_bytes,
            n_blocks: facts.n_blocks,
            order,
            n_since_rewind: 0,
            n_issued: 0,
            n_end: limits.n_total.min(limits.n_in_pass),
            is_done: false,
            missed_bytes: None,
            limits,
        }))
    }

    /// The next I/O, or what has to happen before it.
    #[expect(clippy::inline_always, reason = "left to itself the compiler does not")]
    #[inline(always)]
    pub(crate) fn draw(&mut self) -> Next {
        if self.n_issued >= self.n_end || self.is_done {
            return Next::PassEnd;
        }
        let block = match &mut self.order {
            BlockOrder::Sequential => Some(self.n_since_rewind),
            BlockOrder::Mapped(blocks) => blocks.take_next(),
            BlockOrder::Free(blocks) => Some(blocks.next_block()),
        };
        match block {
            // The map may be larger than the range: its unit is the smallest block of all directions, whether the job
            // uses it or not.
            Some(block) if block < self.n_blocks => Next::Io(self.io(block)),
            missed => self.file_end(missed),
        }
    }

    #[inline]
    fn io(&mut self, block: u64) -> NextIo {
        self.n_since_rewind += 1;
        self.n_issued += 1;
        NextIo {
            direction: self.direction.into(),
            file_index: 0,
            // Cannot overflow: the offset lies below the end of the range.
            offset_bytes: self.start_bytes + block * self.block_bytes,
            length_bytes: self.block_bytes,
        }
    }

    #[cold]
    fn file_end(&mut self, missed: Option<u64>) -> Next {
        self.missed_bytes = missed.and_then(|block| self.offset_of_missed(block));
        // A file without an I/O since its last rewind would restart for ever.
        if self.limits.starts_over && self.n_since_rewind > 0 {
            self.rewind();
            return Next::Restart(0);
        }
        self.is_done = true;
        Next::Close(0)
    }

    /// As [`Stream::missed_bytes`](crate::stream::Stream::missed_bytes).
    fn offset_of_missed(&self, block: u64) -> Option<u64> {
        let in_range_bytes = block.saturating_mul(self.block_bytes);
        let in_file_bytes = self.start_bytes.saturating_add(in_range_bytes);
        let FileRange { length_bytes, .. } = self.limits.range;
        match self.order {
            BlockOrder::Sequential if in_file_bytes >= self.limits.range.block_end_bytes() => None,
            BlockOrder::Sequential if in_range_bytes < length_bytes => Some(in_file_bytes),
            _ => Some(in_range_bytes),
        }
    }

    fn rewind(&mut self) {
        self.n_since_rewind = 0;
        if let BlockOrder::Mapped(blocks) = &mut self.order {
            blocks.map.reset();
        }
    }
}

impl JobStream for PlainStream {
    fn start_pass(&mut self) {
        self.rewind();
        self.is_done = false;
        self.n_end = self.limits.n_total.min(self.n_issued.saturating_add(self.limits.n_in_pass));
        let Some(first) = &self.limits.first else { return };
        match &mut self.order {
            BlockOrder::Sequential => {}
            BlockOrder::Mapped(blocks) => blocks.restart(first.clone()),
            BlockOrder::Free(blocks) => blocks.clone_from(first),
        }
    }

    fn progress(&self) -> IssuedTotals {
        IssuedTotals {
            last_was_sync: false,
            issued_bytes: self.n_issued.saturating_mul(self.block_bytes),
            n_issued: self.n_issued,
            n_writes_issued: if self.direction == DataDirection::Write { self.n_issued } else { 0 },
            is_spent: self.n_issued >= self.limits.n_total,
        }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        Some(Box::new(self.clone()))
    }

    fn offset_state(&self) -> OffsetState {
        match &self.order {
            BlockOrder::Sequential => self.limits.unused,
            BlockOrder::Mapped(blocks) => OffsetState::Taus88(blocks.stream_words()),
            BlockOrder::Free(blocks) => OffsetState::Taus88(blocks.stream().words()),
        }
    }

    fn missed_bytes(&self) -> Option<u64> {
        self.missed_bytes
    }
}

/// True if the file starts over at its end, without being closed.
fn starts_over(plan: &WorkloadPlan, facts: &Facts) -> bool {
    let takes_rest = plan.pattern.random || !compat::closes_for_rest(plan.compatibility);
    let has_time = plan.time_based && (takes_rest || ends_with_a_block(plan, facts));
    let goes_round = match plan.rounds {
        Rounds::None => false,
        Rounds::OfWholeFiles => ends_with_a_block(plan, facts),
        Rounds::OfBlocks => true,
    };
    has_time || (goes_round && !plan.pattern.random)
}

/// The range of the file is a multiple of the block.
fn ends_with_a_block(plan: &WorkloadPlan, facts: &Facts) -> bool {
    plan.files.iter().all(|file| facts.n_blocks.saturating_mul(facts.block_bytes) >= file.length_bytes)
}

/// The facts about a plan if it is plain. All fields of plan and pattern are named here, so that a new field does not
/// compile before its author has decided whether it matters here.
fn facts(plan: &WorkloadPlan) -> Option<Facts> {
    let WorkloadPlan {
        pattern,
        strided: None,
        sequential: None,
        syncs: SyncIntervals { fsync_blocks: 0, fdatasync_blocks: 0, sync_file_range_blocks: 0 },
        files,
        openfiles: _,
        form: WorkForm::Blocks,
        file_service,
        file_service_count: _,
        seeds: _,
        reseed_each_pass: _,
        limits: WorkLimits { ranges_per_trim: 1, .. },
        time_based: _,
        rounds: _,
        compatibility: _,
    } = plan
    else {
        return None;
    };
    let (direction, block_bytes) = plain_pattern(pattern)?;
    let [range] = files.as_slice() else { return None };
    if matches!(file_service, FileService::Skewed(_)) {
        // The file starts over in the middle of a pass.
        return None;
    }
    let n_blocks = n_blocks(range, block_bytes, pattern.random)?;
    let smallest_bytes = choice::smallest_block_bytes(plan).max(1);
    if pattern.random && smallest_bytes < block_bytes && !range.length_bytes.is_multiple_of(block_bytes) {
        // A map of smaller blocks may give the last, partial block, which no draw gives.
        return None;
    }
    // Above this, the general stream draws 64 bits; it counts in the smallest block of all directions, whether the job
    // uses it or not.
    let n_smallest = range.length_bytes / smallest_bytes;
    u32::try_from(n_smallest).is_ok().then_some(Facts { direction, block_bytes, n_blocks })
}

/// Direction and block size if the job has only one of each, and a plain sequential or random order.
fn plain_pattern(pattern: &PatternSpec) -> Option<(DataDirection, u64)> {
    let PatternSpec {
        mix,
        random,
        rw_postfix,
        // Only matters for runs of more than one I/O.
        rw_sequencer: _,
        rwmix_read: _,
        block_size,
        // Only matters for varying sizes.
        block_split: _,
        bs_unaligned: _,
        bs_is_seq_rand: false,
        block_align,
        percentage_random,
        // Is part of the seeds.
        randrepeat: _,
        randseed: _,
        // Is part of the choice of the map.
        norandommap: _,
        softrandommap: _,
        random_generator: None | Some(RandomGenerator::Tausworthe),
        distribution,
        sprandom: None,
    } = pattern
    else {
        return None;
    };
    let direction = match mix {
        DirectionMix::Read => DataDirection::Read,
        DirectionMix::Write => DataDirection::Write,
        DirectionMix::Trim => DataDirection::Trim,
        DirectionMix::ReadWrite | DirectionMix::TrimWrite => return None,
    };
    let size = block_size[direction];
    let has_one_size = size.min_bytes == size.max_bytes && size.min_bytes > 0;
    let is_aligned_to_it = block_align[direction].is_none_or(|align| align == size.min_bytes);
    let is_uniform = *distribution == RandomDistribution::Uniform;
    let is_all_random = *rw_postfix <= 1 && percentage_random[direction] >= 100 && is_uniform;
    let has_one_order = if *random { is_all_random } else { *rw_postfix == 0 };
    (has_one_size && is_aligned_to_it && has_one_order).then_some((direction, size.min_bytes))
}

/// Number of blocks in a range. A last block that runs past the end of the range is read by a sequential job if the
/// file continues there.
fn n_blocks(range: &FileRange, block_bytes: u64, random: bool) -> Option<u64> {
    let n_whole = range.length_bytes / block_bytes;
    if random || range.length_bytes.is_multiple_of(block_bytes) {
        // Offsets must not overflow, so the end of the range is checked.
        return range.start_bytes.checked_add(range.length_bytes).map(|_| n_whole);
    }
    let end_bytes = (n_whole + 1).checked_mul(block_bytes)?.checked_add(range.start_bytes)?;
    Some(n_whole + u64::from(end_bytes <= range.block_end_bytes()))
}

#[cfg(test)]
mod tests;
