//! Blocks of files without data, before a run and after it.
//!
//! Must not know: the work of devices. Start reading at [`holds_no_data`] and [`first_written_bytes`].

use super::asked::syncs_between_writes;
use super::ranges::shared_part;
use crate::audit_input::{AuditInput, AuditedJob, sum};
use ferrio_spec::SyncMode;
use ferrio_stats::{ExtentBytes, LayerKind, StorageLayer, TargetKind, TargetPlace, TargetSize};
use ferrio_units::DataDirection;

/// A smaller share of blocks without data changes no figure that anyone would notice.
pub(crate) const LEAST_SHARE: f64 = 0.05;
/// A smaller share of writes that make a file changes no figure that anyone would notice.
const LEAST_FIRST_SHARE: f64 = 0.1;

/// The job only reads, and a part of its files holds no data.
pub(crate) fn holds_no_data(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    // A mix may read blocks that it has just written.
    let only_reads = job.does(DataDirection::Read) && !job.does(DataDirection::Write);
    let is_empty =
        |(extents, size): (ExtentBytes, u64)| extents.without_data_bytes() as f64 >= size as f64 * LEAST_SHARE;
    only_reads && of_files(case, job).is_some_and(is_empty)
}

/// Sums of the extents of a job's files, and their size in bytes; `None` unless the extents of all its files are known.
pub(crate) fn of_files(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<(ExtentBytes, u64)> {
    let mut total = ExtentBytes::default();
    let mut size_bytes = 0_u64;
    let is_written_before = is_written_before(case, job);
    for place in job.places {
        let (extents, place_bytes) = match place.kind {
            // What the earlier job will leave is not known before the run.
            TargetKind::File if is_written_before && case.is_before() => return None,
            TargetKind::File if is_written_before => (place.now.extents.value()?, place.now.size_bytes),
            TargetKind::File => (place.before.extents.value()?, place.before.size_bytes),
            // The file behind the device is looked at once, before all jobs.
            TargetKind::Block if is_written_before => return None,
            // The part that the job uses decides, wherever the rest of the file has holes.
            TargetKind::Block => match job.part {
                Some(part) => (&part.extents, part.size_bytes),
                None => behind_loop(case, place)?,
            },
            _ => return None,
        };
        total.unwritten_bytes = total.unwritten_bytes.saturating_add(extents.unwritten_bytes);
        total.hole_bytes = total.hole_bytes.saturating_add(extents.hole_bytes);
        size_bytes = size_bytes.saturating_add(place_bytes);
    }
    (size_bytes > 0).then_some((total, size_bytes))
}

/// An earlier job of the run writes what the job reads.
fn is_written_before(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    let is_earlier =
        |other: &AuditedJob<'_>| other.group < job.group || job.spec.grouping.wait_for.as_deref() == Some(other.name);
    let writes = |other: &&AuditedJob<'_>| is_earlier(other) && other.does(DataDirection::Write);
    case.jobs.iter().filter(writes).any(|other| shared_part(other, job).is_some())
}

/// The job writes in order what a later job of the run uses: it prepares the storage.
pub(crate) fn prepares(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> bool {
    let is_later = |other: &&AuditedJob<'_>| other.group > job.group;
    let writes = job.does(DataDirection::Write) && !job.spec.pattern.random;
    writes && case.jobs.iter().filter(is_later).any(|other| shared_part(job, other).is_some())
}

pub(crate) fn loop_of<'a>(case: &AuditInput<'a>, place: &TargetPlace) -> Option<&'a StorageLayer> {
    let layer = case.layer(place.layer.as_deref()?)?;
    (place.kind == TargetKind::Block && layer.kind == LayerKind::Loop).then_some(layer)
}

/// The extents of the file behind a loop device that covers the whole file.
fn behind_loop<'a>(case: &AuditInput<'a>, place: &TargetPlace) -> Option<(&'a ExtentBytes, u64)> {
    let layer = loop_of(case, place)?;
    let backing = layer.backing.as_ref()?;
    let is_whole = case.device(&layer.name)?.size_bytes == Some(backing.size_bytes);
    Some((backing.extents.value().filter(|_| is_whole)?, backing.size_bytes))
}

/// Bytes that the job has written to blocks without data, if they are a tenth or more of all that it has written.
pub(crate) fn first_written_bytes(job: &AuditedJob<'_>) -> Option<u64> {
    let written = job.figures(DataDirection::Write)?.bytes;
    let first = sum(job.places.iter().map(became_data).collect::<Option<Vec<u64>>>()?).min(written);
    (first > 0 && first as f64 >= written as f64 * LEAST_FIRST_SHARE).then_some(first)
}

/// The job writes files in order that it has made itself.
pub(crate) fn makes_files(job: &AuditedJob<'_>) -> bool {
    let has_made = job.workers.iter().any(|worker| worker.n_laid_out.is_some_and(|n_files| n_files > 0));
    let were_missing = !job.places.is_empty() && job.places.iter().all(|place| place.kind == TargetKind::Missing);
    (has_made || were_missing) && !job.spec.pattern.random
}

/// The job makes files and waits for its writes again and again, as the log of a database does: its files are new on purpose.
pub(crate) fn makes_log(job: &AuditedJob<'_>) -> bool {
    makes_files(job) && (syncs_between_writes(job) || job.spec.durability.sync != SyncMode::None)
}

/// Bytes that hold data now and did not before; `None`: that is not known.
fn became_data(place: &TargetPlace) -> Option<u64> {
    let had = match place.kind {
        TargetKind::Missing => 0,
        TargetKind::File => data_bytes(&place.before)?,
        // Blocks of a device are neither allocated nor converted.
        _ => return Some(0),
    };
    Some(data_bytes(&place.now)?.saturating_sub(had))
}

fn data_bytes(size: &TargetSize) -> Option<u64> {
    size.extents.value().map(|extents| extents.written_bytes.saturating_add(extents.delayed_bytes))
}
