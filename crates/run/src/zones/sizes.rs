//! Sizes given as numbers of zones (`size=4z`), whose length only the device knows; they are converted before anything
//! else is decided.
//!
//! Must not know: I/O in zones. Start reading at [`in_bytes`].

use super::{refused, target};
use crate::error::Failure;
use crate::files;
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::{JobSpec, SizesInZones, ZoneSpec};
use ferrio_stats::note::ZoneNote;
use std::sync::Arc;

/// Jobs with sizes in bytes instead of zones, each with the index of its worker.
pub(crate) type Converted = Vec<(usize, Arc<JobSpec>)>;

/// True if a job of the plan has sizes in zones.
pub(crate) fn are_in(plan: &RunPlan) -> bool {
    plan.workers.iter().any(|worker| has_sizes(&worker.spec))
}

/// Looks at the devices of jobs with sizes in zones. Jobs whose sizes cannot be converted are left out; [`check`] then
/// has the reason. `look_at` is called with each worker before its device is looked at, which may take long.
pub(crate) fn in_bytes(plan: &RunPlan, look_at: &dyn Fn(usize)) -> Converted {
    let of_worker = |(index, worker): (usize, &WorkerPlan)| {
        if !has_sizes(&worker.spec) {
            return None;
        }
        look_at(index);
        Some((index, Arc::new(converted(worker).ok()??)))
    };
    plan.workers.iter().enumerate().filter_map(of_worker).collect()
}

pub(crate) fn put_into(plan: &mut RunPlan, sizes: Converted) {
    if sizes.is_empty() {
        return;
    }
    for (index, spec) in sizes {
        plan.workers[index] = plan.workers[index].with_spec(spec);
    }
    plan.share_dedupe_sets();
}

fn has_sizes(spec: &JobSpec) -> bool {
    matches!(&spec.zones, ZoneSpec::Sequential(zones) if zones.sizes.first().is_some())
}

/// Fails if a worker still has sizes in zones.
pub(crate) fn check(worker: &WorkerPlan) -> Result<(), Failure> {
    match converted(worker)? {
        None => Ok(()),
        Some(_) => Err(refused(ZoneNote::DevicesHaveChanged { job: worker.spec.name.clone() })),
    }
}

/// The job with sizes in bytes; `None` if it has none in zones.
fn converted(worker: &WorkerPlan) -> Result<Option<JobSpec>, Failure> {
    let ZoneSpec::Sequential(zones) = worker.spec.zones else { return Ok(None) };
    if !has_sizes(&worker.spec) {
        return Ok(None);
    }
    let mut spec = JobSpec::clone(&worker.spec);
    let zone_bytes = zone_bytes(worker)?;
    let too_many =
        |(option, n_zones): (&'static str, u64)| refused(ZoneNote::SizeBeyondBytes { option: option.into(), n_zones });
    zones.sizes.put_into(&mut spec.extent, zone_bytes).map_err(too_many)?;
    if let ZoneSpec::Sequential(zones) = &mut spec.zones {
        zones.sizes = SizesInZones::default();
    }
    Ok(Some(spec))
}

/// The length of a zone, which must be the same on all devices of a job.
fn zone_bytes(worker: &WorkerPlan) -> Result<u64, Failure> {
    let mut known = None;
    for path in files::named_paths(worker) {
        let (found, name) = (target::device_zone_bytes(worker, &path)?, path.display());
        let zone_bytes = found.ok_or_else(|| target::needs_zone_size(&name.to_string()))?;
        if let Some(other_bytes) = known.filter(|other| *other != zone_bytes) {
            return Err(refused(ZoneNote::DevicesDiffer { file: name.to_string(), other_bytes, zone_bytes }));
        }
        known = Some(zone_bytes);
    }
    known.ok_or_else(|| target::needs_zone_size(&worker.spec.name))
}
