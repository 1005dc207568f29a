//! Zones that are written in sequence (`zonemode=zbd`), before a run: zones of devices, emulated ones, and ranges of
//! jobs, which have to begin and end with zones.
//!
//! Must not know: how I/Os are placed in zones. Start reading at [`ZoneRegistry::enter`]. Messages are those of fio
//! 3.41, or of the reference for kinds of devices that the test machine does not have.

pub(crate) mod debug_trace;
mod shared;
pub(crate) mod sizes;
mod target;

use crate::error::{Failure, failure};
use crate::events::{MessageStream, RunEvent};
use crate::files::{FilePlan, FileSet, ZonedFiles};
use crate::plan::WorkerPlan;
use ferrio_spec::{DirectionMix, SequentialZonesSpec, ZoneSkip, ZoneSpec};
use ferrio_stats::note::ZoneNote;
use ferrio_sys::errno::EINVAL;
use ferrio_units::DataDirection;
use ferrio_workload::{ZoneLayout, ZoneTable};
use shared::DeviceBehind;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use target::TargetZones;

pub(crate) use target::reset_zones;

/// The zones of all files of a run: jobs that use the same file share them.
#[derive(Debug)]
pub(crate) struct ZoneRegistry {
    n_workers: usize,
    known: HashMap<PathBuf, Known>,
    /// Files for which a job only verifies the writes of an earlier run.
    verified: HashSet<PathBuf>,
}

/// The zones of one file, and their device.
#[derive(Debug)]
struct Known {
    table: Arc<ZoneTable>,
    /// `None`: the zones are emulated.
    device: Option<Arc<DeviceBehind>>,
    /// The range in which `zone_reset_threshold` counts written bytes.
    counted: Option<Range<u64>>,
}

impl ZoneRegistry {
    pub(crate) fn new(n_workers: usize) -> Self {
        Self { n_workers, known: HashMap::new(), verified: HashSet::new() }
    }

    /// Finds the zones of a worker's files, and moves the ends of the job's ranges to their borders. The amount of work
    /// stays as it is, even if zones have less capacity than size.
    pub(crate) fn enter(
        &mut self,
        worker: &WorkerPlan,
        set: &mut FileSet,
        events: &mut dyn FnMut(RunEvent),
    ) -> Result<(), Failure> {
        let ZoneSpec::Sequential(spec) = worker.spec.zones else { return Ok(()) };
        if spec.job_max_open > 0 && !worker.streams_writes() {
            events(RunEvent::Message(MessageStream::Info, ZoneNote::JobLimitWithoutWrites.into()));
        }
        let mut tables = Vec::with_capacity(set.files.len());
        for file in &mut set.files {
            let table = if worker.spec.is_verify_only() {
                self.as_before_writes(worker, &spec, file)?
            } else {
                Arc::clone(&self.known(worker, &spec, file)?.table)
            };
            if spec.job_max_open > 0 && worker.streams_writes() && table.limits().max_open == 0 {
                return Err(refused(ZoneNote::JobLimitAlone));
            }
            check(worker, &spec, file, &table)?;
            if worker.spec.pattern.mix == DirectionMix::Read && !worker.spec.pattern.random {
                round_reads(file, table.layout(), events);
            } else {
                round(file, table.layout(), events)?;
            }
            if worker.spec.pattern.mix != DirectionMix::Read && !worker.spec.is_verify_only() {
                self.known(worker, &spec, file)?.count(&spec, file)?;
                let zone_of = |bytes: u64| table.layout().zone_of(bytes).unwrap_or(table.layout().n_zones);
                let end_bytes = file.start_bytes.saturating_add(file.length_bytes);
                table.open_found(zone_of(file.start_bytes), zone_of(end_bytes));
            }
            tables.push(table);
        }
        set.zones = ZonedFiles::new(tables);
        Ok(())
    }

    /// The zones of a file as they were before an earlier run wrote to them (`verify_only`). They are known only for
    /// emulated zones that a single job wrote.
    fn as_before_writes(
        &mut self,
        worker: &WorkerPlan,
        spec: &SequentialZonesSpec,
        file: &FilePlan,
    ) -> Result<Arc<ZoneTable>, Failure> {
        let TargetZones { table, device } = target::table(worker, spec, file, self.n_workers)?;
        let key = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        let is_another = !self.verified.insert(key);
        let file = file.name.clone();
        if device.is_some() {
            return Err(refused(ZoneNote::NotVerifiedOnDevice { file }));
        }
        if is_another {
            return Err(refused(ZoneNote::NotVerifiedTwice { file }));
        }
        Ok(Arc::new(table))
    }

    fn known(
        &mut self,
        worker: &WorkerPlan,
        spec: &SequentialZonesSpec,
        file: &FilePlan,
    ) -> Result<&mut Known, Failure> {
        let key = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        match self.known.entry(key) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                known.admit(worker, spec, file, self.n_workers)?;
                Ok(known)
            }
            Entry::Vacant(place) => {
                let TargetZones { table, device } = target::table(worker, spec, file, self.n_workers)?;
                Ok(place.insert(Known { table: Arc::new(table), device, counted: None }))
            }
        }
    }
}

impl Known {
    /// Adds a job to these zones. Settings that it does not give are those of the first job; the number of zones also
    /// stays, even if the file has grown since (as seen on fio 3.41).
    fn admit(
        &self,
        worker: &WorkerPlan,
        spec: &SequentialZonesSpec,
        file: &FilePlan,
        n_workers: usize,
    ) -> Result<(), Failure> {
        let layout = self.table.layout();
        if spec.zone_bytes > 0 && spec.zone_bytes != layout.zone_bytes {
            let (given_bytes, zone_bytes) = (spec.zone_bytes, layout.zone_bytes);
            return Err(refused(ZoneNote::NotTheKnownSize { file: file.name.clone(), given_bytes, zone_bytes }));
        }
        let max_open = if let Some(device) = &self.device {
            if worker.spec.pattern.mix != DirectionMix::Read && device.writable.get().is_none() {
                // Cannot fail: it was empty just before.
                let _ = device.writable.set(target::writable(worker, file)?);
            }
            target::table(worker, spec, file, n_workers)?.table.limits().max_open
        } else {
            let capacity_bytes = layout.shape(0).capacity_bytes;
            if spec.capacity_bytes > 0 && spec.capacity_bytes != capacity_bytes {
                let given_bytes = spec.capacity_bytes;
                return Err(refused(ZoneNote::CapacityDiffers {
                    file: file.name.clone(),
                    given_bytes,
                    capacity_bytes,
                }));
            }
            spec.max_open as usize
        };
        if spec.max_open > 0 && max_open != self.table.limits().max_open {
            return Err(refused(ZoneNote::MaxOpenDiffers));
        }
        Ok(())
    }

    /// Called for a job that writes to the range of a file.
    fn count(&mut self, spec: &SequentialZonesSpec, file: &FilePlan) -> Result<(), Failure> {
        const DIFFER: &str = "multi-jobs with different write ranges are not supported with zone_reset_threshold";
        let range = file.start_bytes..file.start_bytes.saturating_add(file.length_bytes);
        if spec.reset_threshold > 0.0 && *self.counted.get_or_insert_with(|| range.clone()) != range {
            return Err(failure!(EINVAL, DIFFER).explained(ZoneNote::RangesDiffer));
        }
        Ok(())
    }
}

/// Refuses a job that cannot work in these zones.
fn check(worker: &WorkerPlan, spec: &SequentialZonesSpec, file: &FilePlan, table: &ZoneTable) -> Result<(), Failure> {
    let zone_bytes = table.layout().zone_bytes;
    if let ZoneSkip::Bytes(skip_bytes) = spec.skip
        && skip_bytes % zone_bytes != 0
    {
        return Err(refused(ZoneNote::SkipIsNoMultiple { file: file.name.clone(), skip_bytes, zone_bytes }));
    }
    let used = worker.used_directions();
    if spec.recovers_writes && worker.spec.verify.is_some() && !worker.engine.def.is_inline() {
        return Err(refused(ZoneNote::CannotRecoverVerified));
    }
    let trim = worker.spec.pattern.block_size[DataDirection::Trim];
    if used[DataDirection::Trim] && (trim.min_bytes != zone_bytes || trim.max_bytes != zone_bytes) {
        let trim_bytes = trim.min_bytes;
        return Err(refused(ZoneNote::TrimIsNoZone { file: file.name.clone(), trim_bytes, zone_bytes }));
    }
    Ok(())
}

/// Rounds the range of a job that writes to whole zones.
fn round(file: &mut FilePlan, layout: &ZoneLayout, events: &mut dyn FnMut(RunEvent)) -> Result<(), Failure> {
    let zone_bytes = layout.zone_bytes;
    let (start, length, name) = (file.start_bytes, file.length_bytes, &file.name);
    let mut tell = |note: ZoneNote| events(RunEvent::Message(MessageStream::Info, note.into()));
    let end = start.saturating_add(length);
    let new_start = start.checked_next_multiple_of(zone_bytes).unwrap_or(u64::MAX);
    let too_small = || refused(ZoneNote::RangeTooSmall { file: name.clone() });
    if new_start != start {
        if new_start >= end {
            return Err(too_small());
        }
        tell(ZoneNote::OffsetIsRounded { file: name.clone(), from_bytes: start, to_bytes: new_start });
    }
    let new_end = (end - end % zone_bytes).min((layout.n_zones as u64).saturating_mul(zone_bytes));
    if new_end != end {
        if new_end <= new_start {
            return Err(too_small());
        }
        let (from_bytes, to_bytes) = (end - new_start, new_end - new_start);
        tell(ZoneNote::SizeIsRounded { file: name.clone(), from_bytes, to_bytes, is_read: false });
    }
    (file.start_bytes, file.length_bytes) = (new_start, new_end - new_start);
    Ok(())
}

/// Rounds the range of a job that reads sequentially: it begins anywhere and ends with a zone; if there is no such end,
/// the range is empty.
fn round_reads(file: &mut FilePlan, layout: &ZoneLayout, events: &mut dyn FnMut(RunEvent)) {
    let end = file.start_bytes.saturating_add(file.length_bytes);
    let new_length = (end - end % layout.zone_bytes).saturating_sub(file.start_bytes);
    if new_length != file.length_bytes {
        let (from_bytes, to_bytes) = (file.length_bytes, new_length);
        let note = ZoneNote::SizeIsRounded { file: file.name.clone(), from_bytes, to_bytes, is_read: true };
        events(RunEvent::Message(MessageStream::Info, note.into()));
        file.length_bytes = new_length;
    }
}

/// The zones cannot be as the job wants them.
fn refused(note: ZoneNote) -> Failure {
    failure!(EINVAL, "zbd_init_files").explained(note)
}

#[cfg(test)]
mod tests;
