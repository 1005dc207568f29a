//! The stream of I/Os of one worker, for every kind of job.
//!
//! Must not know: who does the I/Os. Start reading at [`Stream::draw`]: limit, file, sync, direction, offset, size.

mod placed;

use crate::block_size::{BlockSizes, Room};
use crate::choice::{self, BlockChoice, Shapes, drawn_bytes, smallest_block_bytes};
use crate::compat;
use crate::cursor::FileCursor;
use crate::direction::DirectionPicker;
use crate::file_pick::FilePicker;
use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo, OffsetState};
use crate::offset::{BlockStart, OffsetPicker};
use crate::plan::{Rounds, WorkLimits, WorkloadError, WorkloadPlan};
use crate::sync_points::SyncPoints;
use crate::zoning::{SharedZoning, Unzoned, Zoning};
use ferrio_spec::DirectionMix;
use ferrio_stats::{DrawCounts, FileTurns};
use ferrio_units::{DataDirection, Direction, PerDirection};
use placed::Waiting;

/// Most times that a file starts over without an I/O. Nearly all draws may lie past its end, so that a valid one takes
/// long; but if no block fits, there will never be one.
const MAX_FRUITLESS: u32 = 1 << 16;

/// The stream of one worker, for any plan. The kind of its zones is a type parameter, because most jobs have none.
#[derive(Debug, Clone)]
pub(crate) struct Stream<Z = Unzoned> {
    zones: Z,
    plan: WorkloadPlan,
    files: Vec<FileCursor>,
    picker: FilePicker,
    directions: DirectionPicker,
    offsets: OffsetPicker,
    sizes: BlockSizes,
    syncs: SyncPoints,
    /// Smallest block of each direction: the unit in which the map is marked.
    map_unit_bytes: PerDirection<u64>,
    n_issued: PerDirection<u64>,
    issued_bytes: u64,
    /// Bytes of trims that are not part of `issued_bytes`.
    uncounted_bytes: u64,
    /// Value of `issued_bytes` at which the pass ends: the limit of the job, or that of the pass.
    pass_end_bytes: u64,
    /// The same for a pass of trims and writes together.
    both_end_bytes: u64,
    n_issued_total: u64,
    /// Kind of the last I/O of this pass.
    last: Option<Direction>,
    /// Start of the block that did not fit when a file ended, if there was an offset at all.
    missed_bytes: Option<u64>,
    /// Direction of the I/O for which there was an offset, but no room for a whole block.
    lacks_room: Option<DataDirection>,
    /// A sequential I/O found no offset, and the I/O that replaces it is not to be marked in a map.
    leaves_unmarked: bool,
    /// Writes go to the range of the last trim of their file (`randtrimwrite`).
    repeats_trims: bool,
    /// The byte limit counts only writes, though there are trims (`trimwrite`).
    counts_writes_only: bool,
    /// The I/O that waits for a zone.
    waiting: Option<Waiting>,
}

impl<Z: Zoning> Stream<Z> {
    /// Makes the stream; allocates the maps.
    pub(crate) fn new(plan: WorkloadPlan, zones: Z) -> Result<Self, WorkloadError> {
        let mut shapes = Shapes::default();
        let files = (0..plan.files.len()).map(|index| FileCursor::new(&plan, index, &mut shapes));
        let files: Result<Vec<_>, _> = files.collect();
        let mut files = files?;
        for file in &mut files {
            zones.open(file);
        }
        let picker = FilePicker::new(&plan)?;
        if plan.pattern.random && plan.restarts() && picker.has_waiting_files() {
            for file in &mut files {
                file.turn.most_ios = most_ios(file);
            }
        }
        let min_bytes = plan.pattern.block_size.0.map(|range| range.min_bytes.max(1));
        let mut stream = Self {
            zones,
            files,
            picker,
            directions: DirectionPicker::new(&plan.pattern, &plan.seeds),
            offsets: offset_picker(&plan),
            sizes: BlockSizes::new(&plan),
            syncs: SyncPoints::new(plan.syncs),
            map_unit_bytes: PerDirection(min_bytes),
            n_issued: PerDirection::all(0),
            issued_bytes: 0,
            uncounted_bytes: 0,
            pass_end_bytes: 0,
            both_end_bytes: 0,
            n_issued_total: 0,
            last: None,
            missed_bytes: None,
            lacks_room: None,
            leaves_unmarked: false,
            repeats_trims: plan.pattern.mix == DirectionMix::TrimWrite && plan.pattern.random,
            counts_writes_only: plan.pattern.mix == DirectionMix::TrimWrite,
            waiting: None,
            plan,
        };
        stream.set_limits();
        Ok(stream)
    }

    /// Makes a stream whose mix can be steered.
    pub(crate) fn steered(plan: WorkloadPlan, zones: Z) -> Result<Self, WorkloadError> {
        let mut stream = Self::new(plan, zones)?;
        stream.directions = stream.directions.steered();
        Ok(stream)
    }

    /// Sets the time and the due times of the directions; a mix uses them to prefer a direction that is behind.
    pub(crate) fn steer(&mut self, now_ns: u64, dues_ns: PerDirection<u64>) {
        self.directions.steer(now_ns, dues_ns);
    }

    /// The next I/O, or what has to happen before it.
    #[inline]
    pub(crate) fn draw(&mut self) -> Next {
        if Z::PLACES_ANEW
            && let Some(waiting) = self.waiting.take()
        {
            return self.go_on(waiting);
        }
        if self.issued_bytes >= self.pass_end_bytes || self.n_issued_total >= self.plan.limits.ios {
            return Next::PassEnd;
        }
        let Some(file_index) = self.picker.next() else { return Next::PassEnd };
        if let Some(direction) = self.syncs.due(self.n_issued[DataDirection::Write], self.last) {
            self.last = Some(direction);
            return Next::Io(NextIo { direction, file_index: file_index as u32, offset_bytes: 0, length_bytes: 0 });
        }
        if Z::PLACES_ANEW {
            return self.placed_io(file_index);
        }
        let turn = self.files[file_index].turn;
        if turn.n_ios >= turn.most_ios {
            return self.file_end(file_index);
        }
        match self.data_io(file_index) {
            Some(io) => Next::Io(io),
            None => self.file_end(file_index),
        }
    }

    #[inline]
    fn data_io(&mut self, file_index: usize) -> Option<NextIo> {
        let direction = self.directions.next(&self.n_issued, &self.files[file_index]);
        if self.repeats_trims && direction == DataDirection::Write {
            return Some(self.repeated_io(file_index));
        }
        let file = &mut self.files[file_index];
        self.zones.enter(file, direction);
        let Some(start) = self.offsets.next(file, direction) else {
            let was_in_sequence = self.offsets.failed_in_sequence();
            self.leaves_unmarked |= compat::is_left_unmarked(self.plan.compatibility, was_in_sequence);
            self.lacks_room = self.offsets.is_past_end().then_some(direction);
            return None;
        };
        let room_to = |end_bytes: u64| end_bytes.saturating_sub(start.offset_bytes);
        let in_range_bytes = room_to(file.range.end_bytes());
        let in_file_bytes = room_to(file.range.block_end_bytes());
        let room = Room { in_range_bytes, in_file_bytes };
        let Some(block_bytes) = self.sizes.next(direction, start.random, room) else {
            self.lacks_room = Some(direction);
            self.leaves_unmarked = compat::is_left_unmarked(self.plan.compatibility, !start.random);
            file.missed_bytes = Some(start.offset_bytes);
            return None;
        };
        let length_bytes = self.mark(file_index, direction, &start, block_bytes);
        Some(self.count(direction, file_index, start.offset_bytes, length_bytes))
    }

    /// A write to the range of the last trim of its file.
    fn repeated_io(&mut self, file_index: usize) -> NextIo {
        let file = &self.files[file_index];
        let (offset_bytes, length_bytes) = (file.last_bytes[DataDirection::Trim], file.last_trim_bytes);
        self.offsets.count_repeat();
        self.count(DataDirection::Write, file_index, offset_bytes, length_bytes)
    }

    /// Number of bytes of a block that no visited block covers, according to the map.
    fn free_bytes(&self, file_index: usize, direction: DataDirection, start: &BlockStart, block_bytes: u64) -> u64 {
        let (Some(block), BlockChoice::Map(map)) = (start.map_block, &self.files[file_index].choice) else {
            return block_bytes;
        };
        let unit_bytes = self.map_unit_bytes[direction];
        let n_wanted = n_units(block_bytes, unit_bytes);
        let n_free = (0..n_wanted).take_while(|index| map.is_free(block.saturating_add(*index))).count() as u64;
        if n_free < n_wanted { n_free * unit_bytes } else { block_bytes }
    }

    /// Marks a block in the map. A block that overlaps visited blocks is cut short, but a range of a trim that has several
    /// (`num_range`) keeps its length, so that the lengths of ranges are those that were asked for.
    #[inline]
    fn mark(&mut self, file_index: usize, direction: DataDirection, start: &BlockStart, block_bytes: u64) -> u64 {
        let FileCursor { choice, has_window, .. } = &mut self.files[file_index];
        let (Some(block), BlockChoice::Map(map), false) = (start.map_block, choice, self.leaves_unmarked) else {
            return block_bytes;
        };
        let unit_bytes = self.map_unit_bytes[direction];
        if block_bytes == unit_bytes {
            // The block is free, so it is marked whole.
            map.mark(block, 1);
            return block_bytes;
        }
        let n_wanted = n_units(block_bytes, unit_bytes);
        let n_left = map.n_blocks().saturating_sub(block);
        let n_marked = map.mark(block, if *has_window { n_wanted.min(n_left) } else { n_wanted });
        // A block that reaches past the last whole block of the map is not cut short there; one that reaches past a
        // window is cut at the last word of the map.
        let n_free = match (n_marked < n_left, *has_window) {
            (true, _) => n_marked,
            (false, true) => n_left + compat::n_blocks_behind_map(self.plan.compatibility, map.n_blocks()),
            (false, false) => u64::MAX,
        };
        let keeps_length = self.plan.limits.ranges_per_trim > 1 && direction == DataDirection::Trim;
        if n_free < n_wanted && !keeps_length { n_free * unit_bytes } else { block_bytes }
    }

    #[inline]
    fn count(&mut self, direction: DataDirection, file_index: usize, offset_bytes: u64, length_bytes: u64) -> NextIo {
        if self.counts_writes_only {
            self.count_trim_write(direction, length_bytes);
        } else {
            self.issued_bytes = self.issued_bytes.saturating_add(length_bytes);
        }
        let file = &mut self.files[file_index];
        file.last_bytes[direction] = offset_bytes;
        file.next_bytes[direction] = offset_bytes.saturating_add(length_bytes);
        file.fresh[direction] = false;
        file.turn.n_ios += 1;
        self.zones.issued(length_bytes);
        self.n_issued[direction] += 1;
        self.n_issued_total += 1;
        self.leaves_unmarked = false;
        file.has_unwritten_trim = direction == DataDirection::Trim;
        if file.has_unwritten_trim {
            file.last_trim_bytes = length_bytes;
        }
        self.last = Some(direction.into());
        NextIo { direction: direction.into(), file_index: file_index as u32, offset_bytes, length_bytes }
    }

    /// As seen on fio 3.41: only writes count for the limit of the job, but trims and writes for that of a pass.
    fn count_trim_write(&mut self, direction: DataDirection, length_bytes: u64) {
        let is_trim = direction == DataDirection::Trim;
        let bytes = if is_trim { &mut self.uncounted_bytes } else { &mut self.issued_bytes };
        *bytes = bytes.saturating_add(length_bytes);
        if self.issued_bytes.saturating_add(self.uncounted_bytes) >= self.both_end_bytes {
            self.pass_end_bytes = self.issued_bytes;
        }
    }

    fn set_limits(&mut self) {
        let WorkLimits { bytes, pass_bytes, .. } = self.plan.limits;
        let of_pass = |issued_bytes: u64| issued_bytes.saturating_add(pass_bytes);
        self.both_end_bytes = of_pass(self.issued_bytes.saturating_add(self.uncounted_bytes));
        self.pass_end_bytes = if self.counts_writes_only { bytes } else { bytes.min(of_pass(self.issued_bytes)) };
    }

    fn file_end(&mut self, file_index: usize) -> Next {
        if self.zones.shared().is_some_and(|zones| zones.failure().is_some()) {
            return Next::Failed;
        }
        let without_room = std::mem::take(&mut self.lacks_room);
        let lacks_room = without_room.is_some();
        let file = &mut self.files[file_index];
        self.missed_bytes = file.missed_bytes.take();
        // A sequential direction that reaches the end of the only file continues at its start until the time is over; several
        // files are closed, and their pass ends.
        let closes_for_rest = compat::closes_for_rest(self.plan.compatibility);
        let takes_rest = self.plan.rounds == Rounds::OfBlocks || !closes_for_rest;
        let at_rest = without_room.filter(|_| takes_rest);
        if self.offsets.wraps() && !self.plan.pattern.random && goes_on_at_start(file, at_rest) {
            self.picker.stay();
            self.directions.hold(&self.n_issued);
            return Next::Restart(file_index as u32);
        }
        // A file without an I/O since its last rewind would restart for ever, unless another draw may find an offset.
        let restarts = self.plan.restarts() && !(lacks_room && closes_for_rest);
        let draws_again = lacks_room && self.plan.pattern.random && file.n_fruitless < MAX_FRUITLESS;
        if (file.turn.n_ios > 0 || draws_again) && (restarts || self.picker.starts_over()) {
            file.rewind();
            self.zones.restart();
            let (compatibility, is_random) = (self.plan.compatibility, self.plan.pattern.random);
            let closes =
                self.picker.starts_over() && compat::closes_before_restart(compatibility, lacks_room, is_random);
            if closes {
                self.picker.close(file_index);
                return Next::Close(file_index as u32);
            }
            // In fio, all I/O of such a job goes to the first files.
            if restarts && is_random && self.picker.has_waiting_files() {
                self.picker.leave(file_index);
                return Next::Close(file_index as u32);
            }
            self.picker.stay();
            self.directions.hold(&self.n_issued);
            return Next::Restart(file_index as u32);
        }
        self.picker.finish(file_index);
        Next::Close(file_index as u32)
    }

    /// What the streams have drawn; `None`: no option asks for a share of it.
    fn drawn_counts(&self) -> Option<Box<DrawCounts>> {
        let counts = self.offsets.counts();
        let pattern = &self.plan.pattern;
        let n_ios = self.n_issued_total;
        let n_turns = self.picker.n_turns();
        let mut drawn = DrawCounts {
            n_following: counts.following,
            n_at_random: counts.at_random,
            files: n_turns.map(|n_turns| FileTurns { n_ios, n_turns }),
            hot_files: self.picker.hot_draws(),
            ..DrawCounts::default()
        };
        for choice in self.files.iter().map(|file| &file.choice) {
            for direction in DataDirection::ALL {
                choice.add_zones(direction, &mut drawn.zones[direction]);
            }
        }
        // Writes that repeat the range of a trim, and runs of blocks, are no draws.
        if !self.repeats_trims && pattern.rw_postfix <= 1 {
            let n_following: u64 = counts.following.0.iter().sum();
            drawn.hot = choice::hot_draws(&self.files, (n_ios + counts.n_past_end).saturating_sub(n_following));
        }
        (drawn != DrawCounts::default()).then(|| Box::new(drawn))
    }

    /// The zones, for their tests.
    #[cfg(test)]
    pub(crate) fn zoning(&mut self) -> &mut Z {
        &mut self.zones
    }
}

/// I/Os of a file without a map until another file has its turn: as many as it has places for blocks.
fn most_ios(file: &FileCursor) -> u64 {
    let has_map = matches!(file.choice, BlockChoice::Map(_));
    if has_map { u64::MAX } else { file.n_starts.0.into_iter().max().unwrap_or(0).max(1) }
}

impl<Z: Zoning + Clone + 'static> JobStream for Stream<Z> {
    fn start_pass(&mut self) {
        self.files.iter_mut().for_each(FileCursor::rewind);
        self.waiting = None;
        self.zones.restart();
        self.zones.start_pass();
        self.picker.restart();
        if compat::loses_share(self.plan.compatibility) {
            self.directions.lose_share();
        }
        self.last = None;
        self.set_limits();
        if self.plan.reseed_each_pass {
            self.files.iter_mut().for_each(|file| file.choice.reseed());
            self.directions.reseed(&self.plan.pattern, &self.plan.seeds);
            self.offsets.reseed(offset_picker(&self.plan), compat::keeps_run(self.plan.compatibility));
            self.sizes = BlockSizes::new(&self.plan);
            self.picker.reseed(&self.plan);
        }
    }

    #[inline]
    fn progress(&self) -> IssuedTotals {
        IssuedTotals {
            last_was_sync: self.last.is_some_and(Direction::is_sync),
            issued_bytes: self.issued_bytes.saturating_add(self.uncounted_bytes),
            n_issued: self.n_issued_total,
            n_writes_issued: self.n_issued[DataDirection::Write],
            is_spent: self.issued_bytes >= self.plan.limits.bytes || self.n_issued_total >= self.plan.limits.ios,
        }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        Some(Box::new(self.clone()))
    }

    fn offset_state(&self) -> OffsetState {
        self.offsets.state()
    }

    fn drawn(&self) -> Option<Box<DrawCounts>> {
        self.drawn_counts()
    }

    fn closed(&mut self, file_index: u32) {
        self.picker.closed(file_index as usize);
    }

    fn missed_bytes(&self) -> Option<u64> {
        self.missed_bytes
    }

    fn zones(&self) -> Option<&dyn SharedZoning> {
        self.zones.shared()
    }

    fn zones_mut(&mut self) -> Option<&mut dyn SharedZoning> {
        self.zones.shared_mut()
    }
}

/// Takes each direction that has reached the end of a file back to its start, or the one at whose remainder no block fits;
/// false: there is none.
fn goes_on_at_start(file: &mut FileCursor, at_rest: Option<DataDirection>) -> bool {
    match at_rest {
        Some(direction) => file.wrap_rest(direction),
        None => file.wrap(),
    }
}

pub(crate) fn offset_picker(plan: &WorkloadPlan) -> OffsetPicker {
    let min_bytes = smallest_block_bytes(plan).max(1);
    let largest = (0..plan.files.len()).map(|file_index| drawn_bytes(plan, file_index) / min_bytes).max().unwrap_or(0);
    OffsetPicker::new(plan, largest)
}

/// Number of units that cover a length. Sizes are mostly powers of two, for which a shift replaces the division of 64
/// bits, which is slow on many CPUs.
#[inline]
fn n_units(bytes: u64, unit_bytes: u64) -> u64 {
    if unit_bytes.is_power_of_two() {
        let shift = unit_bytes.trailing_zeros();
        return (bytes >> shift) + u64::from(bytes & (unit_bytes - 1) != 0);
    }
    bytes.div_ceil(unit_bytes)
}

#[cfg(test)]
pub(crate) mod tests;
