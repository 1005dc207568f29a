//! Zones that are written in sequence (`zonemode=zbd`), before a run: those of devices, emulated ones, and the ranges of jobs
//! that have to begin and end with them.
//!
//! Must not know: how I/Os go into zones. Start reading at [`ZoneRegistry::enter`].
//! Messages are those of fio 3.33; those of zoned devices are those that the reference names.

mod engine;
mod shared;
mod target;

use crate::error::{JobError, job_error};
use crate::events::{RunEvent, Stream};
use crate::files::{FilePlan, FileSet};
use crate::plan::WorkerPlan;
use ferrio_job::spec::{DirectionMix, SequentialZonesSpec, ZoneSkip, ZoneSpec};
use ferrio_units::DataDirection;
use ferrio_workload::{SequentialPlan, ZoneLayout, ZoneTable};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use engine::reset_zones;

const EINVAL: i32 = 22;

/// The zones of all files of a run: jobs that use the same file share them.
#[derive(Debug)]
pub(crate) struct ZoneRegistry {
    n_workers: usize,
    known: HashMap<PathBuf, Known>,
    /// Files of which a job only verifies what an earlier run wrote.
    verified: HashSet<PathBuf>,
}

/// What is known of one file.
#[derive(Debug)]
struct Known {
    table: Arc<ZoneTable>,
    /// The zones are those of a device, which takes writes to a zone only in their order.
    is_device: bool,
    /// Ranges of the jobs that write there.
    written: Vec<Range<u64>>,
}

/// The zones of the files of a worker, in the order of the files; none without `zonemode=zbd`.
#[derive(Debug, Clone, Default)]
pub struct ZonedFiles(Vec<Arc<ZoneTable>>);

impl PartialEq for ZonedFiles {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(mine, theirs)| Arc::ptr_eq(mine, theirs))
    }
}

impl Eq for ZonedFiles {}

impl ZonedFiles {
    /// No file has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn tables(&self) -> &[Arc<ZoneTable>] {
        &self.0
    }

    /// What the workload has to know of them; `None` without zones.
    pub(crate) fn plan(&self, worker: &WorkerPlan) -> Option<SequentialPlan> {
        let ZoneSpec::Sequential(spec) = worker.spec.zones else { return None };
        Some(SequentialPlan { spec, tables: self.0.clone(), worker: worker.thread_number })
    }
}

impl ZoneRegistry {
    pub(crate) fn new(n_workers: usize) -> Self {
        Self { n_workers, known: HashMap::new(), verified: HashSet::new() }
    }

    /// Finds the zones of a worker's files and puts the ranges of a job to their borders, unless it reads them in sequence.
    /// How much the job does stays as it is.
    pub(crate) fn enter(
        &mut self,
        worker: &WorkerPlan,
        set: &mut FileSet,
        events: &mut dyn FnMut(RunEvent),
    ) -> Result<(), JobError> {
        let ZoneSpec::Sequential(spec) = worker.spec.zones else { return Ok(()) };
        let mut tables = Vec::with_capacity(set.files.len());
        for file in &mut set.files {
            let table = if worker.spec.is_verify_only() {
                self.as_before_writes(worker, &spec, file)?
            } else {
                Arc::clone(&self.known(worker, &spec, file)?.table)
            };
            if spec.job_max_open > 0 && table.max_open() == 0 {
                return Err(refused(
                    "'job_max_open_zones' cannot be used without a global open zones limit".to_owned(),
                ));
            }
            check(worker, &spec, file, &table)?;
            if worker.spec.pattern.mix != DirectionMix::Read || worker.spec.pattern.random {
                round(file, table.layout(), events)?;
            }
            if worker.spec.pattern.mix != DirectionMix::Read && !worker.spec.is_verify_only() {
                self.known(worker, &spec, file)?.claim(file)?;
            }
            tables.push(table);
        }
        set.zones = ZonedFiles(tables);
        Ok(())
    }

    /// The zones of a file as they were before an earlier run wrote to them (`verify_only`): that is known of emulated ones, and of
    /// one job.
    fn as_before_writes(
        &mut self,
        worker: &WorkerPlan,
        spec: &SequentialZonesSpec,
        file: &FilePlan,
    ) -> Result<Arc<ZoneTable>, JobError> {
        let (table, is_device) = target::table(worker, spec, file, self.n_workers)?;
        let key = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        let is_another = !self.verified.insert(key);
        let why = if is_device {
            "on a zoned device: where an earlier run wrote depends on where its zones were written before"
        } else if is_another {
            "in several jobs on one file: which of them wrote where is not known"
        } else {
            return Ok(Arc::new(table));
        };
        Err(refused(format!("{}: verify_only cannot be combined with zonemode=zbd {why}", file.name)))
    }

    fn known(
        &mut self,
        worker: &WorkerPlan,
        spec: &SequentialZonesSpec,
        file: &FilePlan,
    ) -> Result<&mut Known, JobError> {
        let key = std::fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
        match self.known.entry(key) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                known.admit(worker, spec, file, self.n_workers)?;
                Ok(known)
            }
            Entry::Vacant(place) => {
                let (table, is_device) = target::table(worker, spec, file, self.n_workers)?;
                Ok(place.insert(Known { table: Arc::new(table), is_device, written: Vec::new() }))
            }
        }
    }
}

impl Known {
    /// One more job wants these zones. What it does not say is as the first job had it, and so is how many zones there are, also
    /// when the file has grown since (as seen on fio 3.33).
    fn admit(
        &self,
        worker: &WorkerPlan,
        spec: &SequentialZonesSpec,
        file: &FilePlan,
        n_workers: usize,
    ) -> Result<(), JobError> {
        let (layout, name) = (self.table.layout(), &file.name);
        if spec.zone_bytes > 0 && spec.zone_bytes != layout.zone_bytes {
            let (given, zone_bytes) = (spec.zone_bytes, layout.zone_bytes);
            return Err(refused(format!("{name}: zonesize {given} does not match the device zone size {zone_bytes}.")));
        }
        let max_open = if self.is_device {
            target::table(worker, spec, file, n_workers)?.0.max_open()
        } else {
            let capacity_bytes = layout.shape(0).capacity_bytes;
            if spec.capacity_bytes > 0 && spec.capacity_bytes != capacity_bytes {
                let given = spec.capacity_bytes;
                return Err(refused(format!(
                    "{name}: zonecapacity {given} is not the one of an earlier job, {capacity_bytes}"
                )));
            }
            spec.max_open as usize
        };
        if spec.max_open > 0 && max_open != self.table.max_open() {
            return Err(refused("Different 'max_open_zones' values".to_owned()));
        }
        Ok(())
    }

    /// A job writes to the range of a file.
    fn claim(&mut self, file: &FilePlan) -> Result<(), JobError> {
        let range = file.start_bytes..file.start_bytes.saturating_add(file.length_bytes);
        if self.is_device && self.written.iter().any(|other| other.start < range.end && range.start < other.end) {
            let name = &file.name;
            return Err(refused(format!(
                "{name}: several jobs that write to the same zones of a device are not supported"
            )));
        }
        self.written.push(range);
        Ok(())
    }
}

/// What cannot be done in these zones.
fn check(worker: &WorkerPlan, spec: &SequentialZonesSpec, file: &FilePlan, table: &ZoneTable) -> Result<(), JobError> {
    let (zone_bytes, name) = (table.layout().zone_bytes, &file.name);
    if let ZoneSkip::Bytes(skip) = spec.skip
        && skip % zone_bytes != 0
    {
        return Err(refused(format!(
            "{name}: zoneskip {skip} is not a multiple of the device zone size {zone_bytes}."
        )));
    }
    let used = worker.used_directions();
    let trim = worker.spec.pattern.block_size[DataDirection::Trim];
    if used[DataDirection::Trim] && (trim.min_bytes != zone_bytes || trim.max_bytes != zone_bytes) {
        let min_bytes = trim.min_bytes;
        return Err(refused(format!("{name}: trim block size {min_bytes} is not the zone size {zone_bytes}")));
    }
    if used[DataDirection::Write] {
        let min_bytes = worker.spec.pattern.block_size[DataDirection::Write].min_bytes;
        if let Some(capacity) = table.least_capacity_bytes().filter(|capacity| *capacity < min_bytes) {
            return Err(refused(format!("zone capacity {capacity} smaller than minimum block size {min_bytes}")));
        }
    }
    Ok(())
}

/// The range of a job that writes begins and ends with a zone.
fn round(file: &mut FilePlan, layout: &ZoneLayout, events: &mut dyn FnMut(RunEvent)) -> Result<(), JobError> {
    let zone_bytes = layout.zone_bytes;
    let (start, length, name) = (file.start_bytes, file.length_bytes, &file.name);
    let mut tell = |text: String| events(RunEvent::Message(Stream::Info, text));
    let end = start.saturating_add(length);
    let new_start = start.checked_next_multiple_of(zone_bytes).unwrap_or(u64::MAX);
    let too_small = || refused(format!("{name}: io_size must be at least one zone"));
    if new_start != start {
        if new_start >= end {
            return Err(too_small());
        }
        tell(format!("{name}: rounded up offset from {start} to {new_start}"));
    }
    let new_end = (end - end % zone_bytes).min((layout.n_zones as u64).saturating_mul(zone_bytes));
    if new_end != end {
        if new_end <= new_start {
            return Err(too_small());
        }
        tell(format!("{name}: rounded down io_size from {} to {}", end - new_start, new_end - new_start));
    }
    (file.start_bytes, file.length_bytes) = (new_start, new_end - new_start);
    Ok(())
}

/// The zones cannot be as the job wants them.
fn refused(message: String) -> JobError {
    job_error!(EINVAL, "zbd_init_files").explained(message)
}

#[cfg(test)]
mod tests;
