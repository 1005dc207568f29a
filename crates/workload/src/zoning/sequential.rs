//! Zones that are written in sequence (`zonemode=zbd`): a write goes to the write pointer of a zone, a read below it.
//!
//! The state of a zone (written, full, closed) changes when its writes complete. Some steps wait until no I/O is in
//! flight that they could overtake: questions that only the device can answer, and changes of a zone (a reset, a write
//! after one of another job).
//! Must not know: how I/Os are drawn, system calls. Start reading at [`SequentialZones::place`], then `writes`. All as
//! seen on fio 3.41, except for the deviations in the table of options.

mod placing;
mod writes;

use super::{
    AwaitedRelease, CompletedIo, DrawnIo, Placement, SharedZoning, ZoneRepair, ZoneWait, Zoning, ZoningFailure,
};
use crate::cursor::FileCursor;
use crate::plan::{FileRange, SequentialPlan, WorkloadPlan};
use crate::zone_table::{Awaited, FailedBlock, ZoneTable};
use ferrio_spec::{DirectionMix, SequentialZonesSpec};
use ferrio_units::{DataDirection, PerDirection};
use placing::{Halt, Placing};
use std::sync::Arc;

/// Number of waits for a place among the open zones that may end without a change. After that, a job takes the place of
/// a zone to which no job writes.
const PATIENCE: u32 = 4;

/// Rules by which a job uses zones.
#[derive(Debug, Clone, Copy)]
struct Rules {
    spec: SequentialZonesSpec,
    keeps_written: bool,
    worker: u32,
    random: bool,
    /// The job reads, and may write.
    mixed: bool,
    /// Smallest block of each direction, at least 1.
    min_bytes: PerDirection<u64>,
}

/// The part of a file's zones that a job uses.
#[derive(Debug, Clone)]
struct FileZones {
    table: Arc<ZoneTable>,
    /// First byte of the job's range; the next field is its end.
    start_bytes: u64,
    end_bytes: u64,
    /// End of a read that goes where it was drawn: the end of the file, if that is behind the range.
    block_end_bytes: u64,
    /// First zone of the job; the next field is the end of the zones.
    first: usize,
    end: usize,
    /// Total size of these zones, of which `zone_reset_threshold` is a share. Their capacity, which may be smaller,
    /// does not matter.
    zones_bytes: u64,
    /// Index of the table's counter for the written bytes of the range.
    range: Option<usize>,
    /// Number of writes since the last reset by `zone_reset_frequency`, or since the file started over.
    n_since_reset: u64,
    /// End of the last I/O of each direction since the file started over.
    last_end_bytes: PerDirection<Option<u64>>,
    /// The zones of the range were empty, or were reset, since the pass began.
    is_ready: bool,
    /// The zone that a waiting write has reached so far, after finishing those before it.
    moved_to: Option<usize>,
}

/// A failed write to a zone that has other writes in flight.
#[derive(Debug, Clone)]
struct FailedWrite {
    file_index: usize,
    zone: usize,
    errno: i32,
    /// Where the write began. Its data is kept only if the zone will be repaired.
    block: FailedBlock,
    /// End of the write in its zone; 0: the I/O was a trim.
    end_bytes: u64,
}

/// State of a job in the zones of its files.
#[derive(Debug, Clone)]
pub(crate) struct SequentialZones {
    rules: Rules,
    files: Vec<FileZones>,
    n_resets: u64,
    /// I/Os of the stream may be in flight.
    may_be_in_flight: bool,
    failed: Vec<FailedWrite>,
    /// The table that the stream waits for, and its ticket from before the zones were looked at.
    awaited: Option<(usize, Awaited, u32)>,
    /// Number of waits since the last I/O that ended without a change.
    n_vain_waits: u32,
    failure: Option<ZoningFailure>,
}

impl SequentialZones {
    pub(crate) fn new(zones: &SequentialPlan, plan: &WorkloadPlan) -> Self {
        let slots = plan.pattern.block_size.0.map(|range| range.min_bytes.max(1));
        let [first, second, _] = slots;
        let min_bytes = if plan.pattern.bs_is_seq_rand { [first.min(second); 3] } else { slots };
        let rules = Rules {
            spec: zones.spec,
            keeps_written: zones.keeps_written,
            worker: zones.worker,
            random: plan.pattern.random,
            mixed: plan.pattern.mix == DirectionMix::ReadWrite && plan.pattern.rwmix_read < 100,
            min_bytes: PerDirection(min_bytes),
        };
        let counts = zones.spec.reset_frequency > 0.0;
        let files = plan.files.iter().zip(&zones.tables);
        let files = files.map(|(range, table)| FileZones::new(table, range, counts));
        Self {
            rules,
            files: files.collect(),
            n_resets: 0,
            may_be_in_flight: false,
            failed: Vec::new(),
            awaited: None,
            n_vain_waits: 0,
            failure: None,
        }
    }

    /// Does something with the zones of a file under their lock.
    fn on<T>(
        &mut self,
        file_index: usize,
        mut act: impl FnMut(&mut Placing<'_>) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let Self { rules, files, n_resets, may_be_in_flight, n_vain_waits, .. } = self;
        let file = &mut files[file_index];
        let table = Arc::clone(&file.table);
        let tickets = [Awaited::Zone, Awaited::Place].map(|what| (what, table.ticket(what)));
        let mut has_closed = false;
        let mut done = None;
        table.with(|zones| {
            let file = &mut *file;
            let may_be_in_flight = *may_be_in_flight;
            let is_patient = *n_vain_waits < PATIENCE;
            let mut placing =
                Placing { rules, file, zones, may_be_in_flight, is_patient, n_resets: 0, has_closed: false };
            done = Some(act(&mut placing));
            *n_resets += placing.n_resets;
            has_closed = placing.has_closed;
        });
        if has_closed {
            table.released(Awaited::Place);
        }
        match done {
            Some(Err(Halt::Wait(ZoneWait::Others(what)))) => {
                let ticket = tickets.into_iter().find(|(other, _)| *other == what);
                self.awaited = ticket.map(|(what, ticket)| (file_index, what, ticket));
                Err(Halt::Wait(ZoneWait::Others(what)))
            }
            Some(Err(Halt::Failed(kind, zone))) => {
                self.failure = Some(ZoningFailure { kind, file_index, zone });
                Err(Halt::Nowhere)
            }
            Some(outcome) => outcome,
            None => Err(Halt::Nowhere),
        }
    }

    /// Called after the last write in flight to a zone is done: the written data is on the device, and the device
    /// counts the zone accordingly.
    fn settle(&mut self, file_index: usize, zone: usize) -> Option<ZoneRepair> {
        let is_here = |failed: &mut FailedWrite| (failed.file_index, failed.zone) == (file_index, zone);
        let mut failed: Vec<FailedWrite> = self.failed.extract_if(.., is_here).collect();
        failed.sort_by_key(|failed| failed.block.start_bytes);
        let table = &self.files[file_index].table;
        let recovers = self.rules.spec.recovers_writes;
        let (has_closed, is_as_wanted) = table.with(|zones| {
            let wanted_bytes = failed.iter().map(|failed| failed.end_bytes).max().unwrap_or(0);
            if let Some(first) = failed.first() {
                // No I/O is in flight there, so the device can be asked for the state, and missing data can be written.
                let blocks = || failed.iter().map(|failed| &failed.block);
                let recovered =
                    if recovers { table.recover_on_device(zone, wanted_bytes, &mut blocks()) } else { None };
                zones.set_written(zone, recovered.unwrap_or(first.block.start_bytes));
            }
            let is_as_wanted = failed.is_empty() || (recovers && zones.written(zone) >= wanted_bytes);
            zones.settle(zone);
            let written_bytes = zones.written(zone);
            let is_full = written_bytes >= table.layout().shape(zone).capacity_bytes;
            let closes = is_as_wanted && (is_full || written_bytes == 0);
            if closes {
                zones.close(zone);
                zones.deactivate(zone);
            }
            (closes, is_as_wanted)
        });
        table.released(Awaited::Zone);
        if has_closed {
            table.released(Awaited::Place);
        }
        let last = failed.last().filter(|_| recovers)?;
        Some(ZoneRepair { file_index: file_index as u32, zone, errno: last.errno, has_succeeded: is_as_wanted })
    }
}

impl Zoning for SequentialZones {
    const PLACES_ANEW: bool = true;

    fn open(&self, _: &mut FileCursor) {}

    fn enter(&mut self, _: &mut FileCursor, _: DataDirection) {}

    /// A verified pass begins with empty zones.
    fn ready(&mut self, file_index: usize) -> Option<ZoneWait> {
        if !self.rules.keeps_written || self.files[file_index].is_ready {
            return None;
        }
        match self.on(file_index, |placing| placing.empty_range().map(|()| placing.file.is_ready = true)) {
            Err(Halt::Wait(wait)) => Some(wait),
            _ => None,
        }
    }

    /// As long as there is nothing to read, reads become writes, unless the job has none (`rwmixwrite=0`).
    fn turn(&mut self, direction: DataDirection, has_written: bool) -> DataDirection {
        let reads = self.rules.mixed && direction == DataDirection::Read && !self.rules.spec.reads_beyond_written;
        if reads && !has_written { DataDirection::Write } else { direction }
    }

    fn begin(&mut self, file_index: usize, direction: DataDirection, offset_bytes: u64) -> Option<u64> {
        if self.rules.random {
            return Some(offset_bytes);
        }
        self.on(file_index, |placing| placing.begin(direction, offset_bytes)).ok()
    }

    fn place(&mut self, file_index: usize, drawn: DrawnIo) -> Placement {
        if self.failure.is_some() {
            return Placement::Nowhere;
        }
        match self.on(file_index, |placing| placing.place(drawn)) {
            Ok(placed) => {
                (self.may_be_in_flight, self.n_vain_waits) = (true, 0);
                let file = &mut self.files[file_index];
                file.moved_to = None;
                let end_bytes = placed.offset_bytes.saturating_add(placed.length_bytes);
                file.last_end_bytes[placed.direction] = Some(end_bytes);
                Placement::At(placed)
            }
            Err(Halt::Wait(wait)) => Placement::Wait(wait),
            Err(Halt::Nowhere | Halt::Failed(..)) => {
                self.files[file_index].moved_to = None;
                Placement::Nowhere
            }
        }
    }

    fn issued(&mut self, _: u64) {}

    fn restart(&mut self) {
        for file in &mut self.files {
            file.last_end_bytes = PerDirection::all(None);
            file.n_since_reset = 0;
        }
    }

    fn start_pass(&mut self) {
        for file in &mut self.files {
            file.is_ready = false;
        }
    }

    fn shared(&self) -> Option<&dyn SharedZoning> {
        Some(self)
    }

    fn shared_mut(&mut self) -> Option<&mut dyn SharedZoning> {
        Some(self)
    }
}

impl SharedZoning for SequentialZones {
    fn completed(&mut self, io: &CompletedIo<'_>) -> Option<ZoneRepair> {
        let file_index = io.file_index as usize;
        if io.direction == DataDirection::Read {
            return None;
        }
        let worker = self.rules.worker;
        let table = &self.files[file_index].table;
        let layout = table.layout();
        let zone = layout.zone_of(io.offset_bytes).filter(|zone| layout.shape(*zone).is_sequential)?;
        let (was_held, is_last) = table.with(|zones| {
            let was_held = zones.holder(zone).is_some_and(|(owner, _)| owner == worker);
            (was_held, zones.let_go(zone, worker))
        });
        if let Some(failure) = io.failure.filter(|_| was_held) {
            // A failed trim leaves what was there before.
            let is_trim = io.direction == DataDirection::Trim;
            let settled_bytes = table.with(|zones| zones.settled(zone));
            let start_bytes = if is_trim { settled_bytes } else { io.offset_bytes - zone as u64 * layout.zone_bytes };
            let end_bytes = if is_trim { 0 } else { start_bytes + failure.data.len() as u64 };
            let keeps_data = self.rules.spec.recovers_writes && !is_trim;
            let data = if keeps_data { failure.data.into() } else { Box::default() };
            let block = FailedBlock { start_bytes, data };
            self.failed.push(FailedWrite { file_index, zone, errno: failure.errno, block, end_bytes });
        }
        if is_last { self.settle(file_index, zone) } else { None }
    }

    fn drained(&mut self) {
        self.may_be_in_flight = false;
    }

    fn awaited(&mut self) -> Option<AwaitedRelease> {
        let (file_index, what, ticket) = self.awaited.take()?;
        Some(AwaitedRelease { table: Arc::clone(&self.files[file_index].table), what, ticket })
    }

    fn waited(&mut self, has_changed: bool) {
        self.n_vain_waits = self.n_vain_waits.saturating_add((!has_changed).into());
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
            is_ready: false,
            moved_to: None,
            table: Arc::clone(table),
        }
    }
}

/// A number of bytes, rounded down to whole blocks.
fn whole(bytes: u64, block_bytes: u64) -> u64 {
    bytes - bytes % block_bytes
}

#[cfg(test)]
mod tests;
