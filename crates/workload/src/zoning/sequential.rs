//! Zones that are written in sequence (`zonemode=zbd`): writes go to where a zone was written last, reads below it.
//!
//! Must not know: how an I/O was drawn, system calls. Start reading at [`SequentialZones::place`].
//! All of it as seen on fio 3.33, but for what the table of options says.

use super::table::{ZoneTable, Zones};
use super::{Drawn, Zoning, ZoningFailure};
use crate::cursor::FileCursor;
use crate::plan::{FileRange, WorkloadPlan};
use ferrio_job::spec::{DirectionMix, SequentialZonesSpec, ZoneSkip};
use ferrio_units::{DataDirection, PerDirection};
use std::sync::Arc;

/// The zones of the files of a job.
#[derive(Debug, Clone)]
pub struct SequentialPlan {
    /// What the job asks for.
    pub spec: SequentialZonesSpec,
    /// The zones of each of its files, in their order.
    pub tables: Vec<Arc<ZoneTable>>,
    /// Number of the worker in the run.
    pub worker: u32,
}

/// What a job does with zones.
#[derive(Debug, Clone, Copy)]
struct Rules {
    spec: SequentialZonesSpec,
    worker: u32,
    random: bool,
    /// It reads and writes.
    mixed: bool,
    /// Smallest block of each direction, at least 1.
    min_bytes: PerDirection<u64>,
}

/// The part of a file's zones that a job uses.
#[derive(Debug, Clone)]
struct FileZones {
    table: Arc<ZoneTable>,
    /// First byte of the job, and the end.
    start_bytes: u64,
    end_bytes: u64,
    /// End of what a read may touch that goes where it was drawn: that of the file if it lies beyond.
    block_end_bytes: u64,
    /// First zone of the job, and the end.
    first: usize,
    end: usize,
    /// Size of these zones: as seen on fio 3.33, a smaller capacity does not change what `zone_reset_threshold` is a share of.
    zones_bytes: u64,
    /// Where the table counts what is written in the range.
    range: Option<usize>,
    /// Writes since the last reset that was no need, or since the file started over.
    n_since_reset: u64,
    /// End of the last I/O of each direction since the file started over.
    last_end_bytes: PerDirection<Option<u64>>,
}

/// Where a job stands in the zones of its files.
#[derive(Debug, Clone)]
pub(crate) struct SequentialZones {
    rules: Rules,
    files: Vec<FileZones>,
    n_resets: u64,
    failure: Option<ZoningFailure>,
}

impl SequentialZones {
    pub(crate) fn new(zones: &SequentialPlan, plan: &WorkloadPlan) -> Self {
        let slots = plan.pattern.block_size.0.map(|range| range.min_bytes.max(1));
        let [first, second, _] = slots;
        let min_bytes = if plan.pattern.bs_is_seq_rand { [first.min(second); 3] } else { slots };
        let rules = Rules {
            spec: zones.spec,
            worker: zones.worker,
            random: plan.pattern.random,
            mixed: plan.pattern.mix == DirectionMix::ReadWrite,
            min_bytes: PerDirection(min_bytes),
        };
        let counts = rules.mixed || zones.spec.reset_frequency > 0.0;
        let files = plan.files.iter().zip(&zones.tables);
        let files = files.map(|(range, table)| FileZones::new(table, range, counts));
        Self { rules, files: files.collect(), n_resets: 0, failure: None }
    }
}

impl Zoning for SequentialZones {
    const PLACES_ANEW: bool = true;

    fn open(&self, _: &mut FileCursor) {}

    fn enter(&mut self, _: &mut FileCursor, _: DataDirection) {}

    /// As long as there is nothing to be read, what would be read is written.
    fn turn(&mut self, file_index: usize, direction: DataDirection) -> DataDirection {
        let file = &self.files[file_index];
        let reads = self.rules.mixed && direction == DataDirection::Read && !self.rules.spec.reads_beyond_written;
        let is_empty = |range| file.table.with(|zones| zones.written_in_range(range)) == 0;
        if reads && file.range.is_some_and(is_empty) { DataDirection::Write } else { direction }
    }

    fn begin(&mut self, file_index: usize, direction: DataDirection, offset_bytes: u64) -> Option<u64> {
        if self.rules.random {
            return Some(offset_bytes);
        }
        let (rules, file) = (self.rules, &mut self.files[file_index]);
        let table = Arc::clone(&file.table);
        table.with(|zones| {
            Placing { rules: &rules, file: &mut *file, zones, reset: None }.begin(direction, offset_bytes)
        })
    }

    fn place(&mut self, file_index: usize, drawn: Drawn) -> Option<Drawn> {
        let (rules, file) = (self.rules, &mut self.files[file_index]);
        let table = Arc::clone(&file.table);
        let placed = table.with(|zones| {
            let mut placing = Placing { rules: &rules, file: &mut *file, zones, reset: None };
            let placed = placing.place(drawn);
            // The device is asked while nobody else may write there.
            let outcome = placing.reset.map(|zone| (zone, zones.table().reset_device(zone)));
            (placed, outcome)
        });
        let (placed, reset) = placed;
        match reset {
            None => {}
            Some((_, Ok(()))) => self.n_resets += 1,
            Some((zone, Err(errno))) => {
                self.failure = Some(ZoningFailure { errno, file_index, zone });
                return None;
            }
        }
        if let Some(placed) = placed {
            file.last_end_bytes[placed.direction] = Some(placed.offset_bytes.saturating_add(placed.length_bytes));
        }
        placed
    }

    fn issued(&mut self, _: u64) {}

    fn restart(&mut self) {
        for file in &mut self.files {
            file.last_end_bytes = PerDirection::all(None);
            file.n_since_reset = 0;
        }
    }

    fn n_resets(&self) -> u64 {
        self.n_resets
    }

    fn failure(&self) -> Option<ZoningFailure> {
        self.failure
    }
}

impl FileZones {
    fn new(table: &Arc<ZoneTable>, range: &FileRange, counts: bool) -> Self {
        let (start_bytes, end_bytes) = (range.start_bytes, range.end_bytes());
        let layout = table.layout();
        let zone_of = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(layout.n_zones);
        let first = zone_of(start_bytes / layout.zone_bytes);
        let end = zone_of(end_bytes.div_ceil(layout.zone_bytes));
        let n_zones = end.saturating_sub(first) as u64;
        Self {
            start_bytes,
            end_bytes,
            block_end_bytes: range.block_end_bytes(),
            first,
            end,
            zones_bytes: n_zones.saturating_mul(layout.zone_bytes),
            range: if counts { table.count_range(first, end) } else { None },
            n_since_reset: 0,
            last_end_bytes: PerDirection::all(None),
            table: Arc::clone(table),
        }
    }
}

/// One I/O on its way into the zones, while nobody else looks at them.
struct Placing<'a> {
    rules: &'a Rules,
    file: &'a mut FileZones,
    zones: &'a Zones<'a>,
    /// The zone that the device has to reset before the I/O.
    reset: Option<usize>,
}

impl Placing<'_> {
    /// An I/O in sequence leaves out what it skips, and a write what lies behind the capacity of a zone.
    fn begin(&self, direction: DataDirection, offset_bytes: u64) -> Option<u64> {
        let offset_bytes = self.skipped(direction, offset_bytes);
        let zone = self.zone_of(offset_bytes)?;
        let is_behind = self.is_sequential(zone) && offset_bytes >= self.start(zone) + self.capacity(zone);
        let begin_bytes =
            if is_behind && direction == DataDirection::Write { self.start(zone + 1) } else { offset_bytes };
        Some(begin_bytes).filter(|bytes| *bytes < self.file.end_bytes)
    }

    fn place(&mut self, drawn: Drawn) -> Option<Drawn> {
        let zone = self.zone_of(drawn.offset_bytes)?;
        let reads_anywhere = drawn.direction == DataDirection::Read && self.rules.spec.reads_beyond_written;
        if reads_anywhere || !self.is_sequential(zone) {
            let length_bytes = drawn.length_bytes.min(drawn.at_most_bytes);
            let is_read = drawn.direction == DataDirection::Read;
            let end_bytes = if is_read { self.file.block_end_bytes } else { self.file.end_bytes };
            let fits = drawn.offset_bytes.saturating_add(length_bytes) <= end_bytes;
            return fits.then_some(Drawn { length_bytes, ..drawn });
        }
        match drawn.direction {
            DataDirection::Read => {
                self.read(zone, drawn).map(|io| Drawn { length_bytes: io.length_bytes.min(io.at_most_bytes), ..io })
            }
            DataDirection::Write => Some(self.write(zone, drawn)),
            DataDirection::Trim => self.trim(zone, drawn),
        }
    }

    fn zone_of(&self, offset_bytes: u64) -> Option<usize> {
        let layout = self.zones.table().layout();
        usize::try_from(offset_bytes / layout.zone_bytes).ok().filter(|zone| *zone < layout.n_zones)
    }

    fn start(&self, zone: usize) -> u64 {
        zone as u64 * self.zones.table().layout().zone_bytes
    }

    fn capacity(&self, zone: usize) -> u64 {
        self.zones.table().layout().shape(zone).capacity_bytes
    }

    fn is_sequential(&self, zone: usize) -> bool {
        self.zones.table().layout().shape(zone).is_sequential
    }

    /// Sequential jobs may leave out a part of the file after each zone that they are done with.
    fn skipped(&self, direction: DataDirection, offset_bytes: u64) -> u64 {
        let zone_bytes = self.zones.table().layout().zone_bytes;
        let skip_bytes = match self.rules.spec.skip {
            ZoneSkip::Bytes(bytes) => bytes,
            ZoneSkip::Zones(n_zones) => n_zones.saturating_mul(zone_bytes),
        };
        if skip_bytes == 0 || self.file.last_end_bytes[direction] != Some(offset_bytes) {
            return offset_bytes;
        }
        let Some(zone) = self.zone_of(offset_bytes.saturating_sub(1)) else { return offset_bytes };
        let reads_written = direction == DataDirection::Read && !self.rules.spec.reads_beyond_written;
        let held_bytes = if reads_written { self.zones.written(zone) } else { self.capacity(zone) };
        if offset_bytes < self.start(zone) + held_bytes {
            return offset_bytes;
        }
        let next_bytes = self.start(zone).saturating_add(zone_bytes).saturating_add(skip_bytes);
        if next_bytes < self.file.end_bytes { next_bytes } else { self.file.start_bytes }
    }

    /// First and end of the bytes of a zone that the job can read.
    fn readable(&self, zone: usize) -> (u64, u64) {
        let start = self.start(zone);
        let (first, end) = (start.max(self.file.start_bytes), start + self.zones.written(zone));
        (first, end.min(self.file.end_bytes))
    }

    fn holds_a_block(&self, zone: usize) -> bool {
        let (first, end) = self.readable(zone);
        end.saturating_sub(first) >= self.rules.min_bytes[DataDirection::Read]
    }

    fn read(&self, zone: usize, drawn: Drawn) -> Option<Drawn> {
        if self.rules.random { self.random_read(zone, drawn) } else { self.sequential_read(zone, drawn) }
    }

    /// The nearest zone that holds a block, and in it the same place as drawn, as far as it was written.
    fn random_read(&self, zone: usize, drawn: Drawn) -> Option<Drawn> {
        let min_bytes = self.rules.min_bytes[DataDirection::Read];
        let found = self.nearest(zone, |zone| self.holds_a_block(zone))?;
        let (first, end) = self.readable(found);
        let length_bytes = drawn.length_bytes.min(whole(end - first, min_bytes));
        let n_places = end - first - length_bytes;
        let within = drawn.offset_bytes - self.start(zone).max(self.file.start_bytes);
        let within = within.checked_rem(n_places).unwrap_or(0);
        Some(Drawn { offset_bytes: first + whole(within, min_bytes), length_bytes, ..drawn })
    }

    /// Where it was drawn if it was written, or the next zone that holds a block.
    fn sequential_read(&self, zone: usize, drawn: Drawn) -> Option<Drawn> {
        let min_bytes = self.rules.min_bytes[DataDirection::Read];
        let (first, end) = self.readable(zone);
        let left_bytes = end.saturating_sub(drawn.offset_bytes);
        if left_bytes >= min_bytes && drawn.length_bytes >= end - first {
            // As seen on fio 3.33: what is as long as all that was written is read from the start.
            return Some(Drawn { offset_bytes: first, length_bytes: whole(end - first, min_bytes), ..drawn });
        }
        if left_bytes >= min_bytes {
            return Some(Drawn { length_bytes: drawn.length_bytes.min(whole(left_bytes, min_bytes)), ..drawn });
        }
        let next = (zone + 1..self.file.end).find(|zone| !self.is_sequential(*zone) || self.holds_a_block(*zone))?;
        let (first, end) = self.readable(next);
        let length_bytes = drawn.length_bytes.min(whole(end.saturating_sub(first), min_bytes)).max(min_bytes);
        Some(Drawn { offset_bytes: first, length_bytes, ..drawn })
    }

    /// The zone itself or the nearest on both sides, of two the one after it.
    fn nearest(&self, zone: usize, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let FileZones { first, end, .. } = *self.file;
        if is_wanted(zone) {
            return Some(zone);
        }
        for distance in 1..end.saturating_sub(first) {
            let after = zone.checked_add(distance).filter(|zone| *zone < end);
            let before = zone.checked_sub(distance).filter(|zone| *zone >= first);
            if let Some(found) = [after, before].into_iter().flatten().find(|zone| is_wanted(*zone)) {
                return Some(found);
            }
        }
        None
    }

    fn write(&mut self, drawn_zone: usize, drawn: Drawn) -> Drawn {
        let zone = self.opened(drawn_zone, drawn.offset_bytes);
        let min_bytes = self.rules.min_bytes[DataDirection::Write];
        let mut left_bytes = self.left_bytes(zone);
        let is_due = self.resets_without_need();
        if is_due || !self.has_room(zone) {
            self.reset(zone);
            left_bytes = self.capacity(zone);
        }
        let whole_bytes = if left_bytes < min_bytes { left_bytes } else { whole(left_bytes, min_bytes) };
        let written_bytes = self.zones.written(zone);
        let length_bytes = drawn.length_bytes.min(whole_bytes).min(drawn.at_most_bytes);
        self.zones.set_written(zone, written_bytes + length_bytes);
        if length_bytes == left_bytes {
            self.zones.close(zone);
        }
        Drawn { offset_bytes: self.start(zone) + written_bytes, length_bytes, ..drawn }
    }

    fn left_bytes(&self, zone: usize) -> u64 {
        self.capacity(zone).saturating_sub(self.zones.written(zone))
    }

    /// A block of the smallest size fits behind what was written, or what is left is written too.
    fn has_room(&self, zone: usize) -> bool {
        let left_bytes = self.left_bytes(zone);
        left_bytes >= self.rules.min_bytes[DataDirection::Write] || (self.rules.spec.writes_remainder && left_bytes > 0)
    }

    /// The zone itself, open from now on, or one of those that are open if there may be no more.
    fn opened(&self, zone: usize, offset_bytes: u64) -> usize {
        let max_open = self.zones.table().max_open();
        if max_open == 0 {
            return zone;
        }
        let FileZones { first, end, start_bytes, end_bytes, .. } = *self.file;
        let (mut n_own, mut n_in_range) = (0, 0);
        for (open, owner) in self.zones.open_zones() {
            if open == zone {
                return zone;
            }
            n_own += usize::from(owner == self.rules.worker);
            n_in_range += usize::from((first..end).contains(&open));
        }
        let job_max_open = self.rules.spec.job_max_open as usize;
        let is_at_limit = self.zones.n_open() >= max_open || (job_max_open > 0 && n_own >= job_max_open);
        if is_at_limit && n_in_range > 0 {
            // Cannot overflow: the place is below the length, and there are at most as many open zones as zones.
            let place = u128::from(offset_bytes - start_bytes) * n_in_range as u128;
            let index = (place / u128::from((end_bytes - start_bytes).max(1))) as usize;
            let open_here = || self.zones.open_zones().map(|(open, _)| open).filter(|open| (first..end).contains(open));
            let picked = open_here().nth(index).unwrap_or(zone);
            // As seen on fio 3.33: where no block fits, the first one in which one does. If there is none, fio ends the job.
            return if self.has_room(picked) {
                picked
            } else {
                open_here().find(|open| self.has_room(*open)).unwrap_or(picked)
            };
        }
        if is_at_limit {
            // Other jobs hold them all, out of reach: the one that was opened first is written no longer for now.
            let (oldest, _) = self.zones.open_zone(0);
            self.zones.close(oldest);
        }
        self.zones.open(zone, self.rules.worker);
        zone
    }

    /// Counts a write, and says whether its zone is to be reset though it has room.
    fn resets_without_need(&mut self) -> bool {
        let (spec, file) = (&self.rules.spec, &mut *self.file);
        let Some(range) = file.range.filter(|_| spec.reset_frequency > 0.0) else { return false };
        if (self.zones.written_in_range(range) as f64) < spec.reset_threshold * file.zones_bytes as f64 {
            return false;
        }
        file.n_since_reset += 1;
        // The whole part of the interval counts.
        let is_due = file.n_since_reset as f64 >= (1.0 / spec.reset_frequency).trunc();
        if is_due {
            file.n_since_reset = 0;
        }
        is_due
    }

    fn trim(&mut self, zone: usize, drawn: Drawn) -> Option<Drawn> {
        let holds_data = |zone: usize| self.is_sequential(zone) && self.zones.written(zone) > 0;
        let zone = if self.rules.random { self.nearest(zone, holds_data)? } else { zone };
        // The engine does it; it is no reset that the job did not ask for.
        self.zones.set_written(zone, 0);
        self.zones.close(zone);
        let length_bytes = self.zones.table().layout().zone_bytes;
        Some(Drawn { offset_bytes: self.start(zone), length_bytes, ..drawn })
    }

    fn reset(&mut self, zone: usize) {
        if self.zones.written(zone) > 0 {
            self.reset = Some(zone);
            self.zones.set_written(zone, 0);
        }
    }
}

/// The whole blocks in a number of bytes.
fn whole(bytes: u64, block_bytes: u64) -> u64 {
    bytes - bytes % block_bytes
}

#[cfg(test)]
mod tests;
