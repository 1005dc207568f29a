//! What the options of a job ask for.
//!
//! Must not know: figures. Start reading at [`is_held_back`].

use crate::audit_input::{AuditedJob, is_for_files, is_in_memory};
use ferrio_spec::SyncMode;
use ferrio_units::DataDirection;

/// The job is not meant to be as fast as it can.
pub(crate) fn is_paced(job: &AuditedJob<'_>) -> bool {
    let (pace, latency) = (&job.spec.pace, &job.spec.latency);
    pace.limits_rates() || pace.pauses.is_set() || latency.target_us > 0 || job.spec.replay.is_set()
}

/// The job is not meant to be as fast as it can, or other work than its I/O takes a part of its time.
pub(crate) fn is_held_back(job: &AuditedJob<'_>) -> bool {
    let syncs = job.spec.durability.fsync_blocks > 0 || job.spec.durability.fdatasync_blocks > 0;
    is_paced(job) || syncs || job.spec.submission.serialize_overlap || job.spec.verify.is_some()
}

/// Something else than a rate holds the job back on purpose.
pub(crate) fn waits_beside_rate(job: &AuditedJob<'_>) -> bool {
    let spec = &job.spec;
    let is_timed_otherwise = spec.replay.is_set() || spec.latency.target_us > 0 || spec.pace.flow.weight > 0;
    spec.pace.pauses.is_set() || is_timed_otherwise || spec.verify.is_some()
}

/// The job waits for its writes, in each of them or in syncs.
pub(crate) fn waits_for_writes(job: &AuditedJob<'_>) -> bool {
    waits_in_syncs(job) || job.spec.durability.sync != SyncMode::None
}

/// The job has syncs beside its writes, now and then or at its end.
pub(crate) fn waits_in_syncs(job: &AuditedJob<'_>) -> bool {
    syncs_between_writes(job) || waits_at_end(job)
}

/// The job makes its writes safe on the device, in each of them or in syncs.
pub(crate) fn syncs_on_device(job: &AuditedJob<'_>) -> bool {
    let durability = &job.spec.durability;
    let has_syncs = durability.fsync_blocks > 0 || durability.fdatasync_blocks > 0;
    has_syncs || waits_at_end(job) || durability.sync != SyncMode::None
}

/// The job has syncs between its writes, now and then.
pub(crate) fn syncs_between_writes(job: &AuditedJob<'_>) -> bool {
    let durability = &job.spec.durability;
    durability.fsync_blocks > 0 || durability.fdatasync_blocks > 0 || durability.sync_file_range.is_some()
}

/// The job ends each pass with syncs, during which it has no I/O.
pub(crate) fn waits_at_end(job: &AuditedJob<'_>) -> bool {
    let durability = &job.spec.durability;
    durability.end_fsync || durability.fsync_on_close || durability.end_syncfs
}

/// The job asks for a depth that buffered I/O of its engine cannot have.
pub(crate) fn is_depth_in_vain(job: &AuditedJob<'_>) -> bool {
    job.is_buffered() && !job.engine.queues_buffered && job.spec.queue.iodepth > 1
}

/// I/Os of each clone in flight, on average, by Little's law; `None`: the job did none.
pub(crate) fn mean_depth(job: &AuditedJob<'_>) -> Option<f64> {
    let total = job.total.as_ref()?;
    let in_flight_ns: f64 =
        DataDirection::ALL.iter().map(|direction| total.directions[*direction].clat.sum_ns as f64).sum();
    let seconds = DataDirection::ALL.iter().map(|direction| job.seconds(*direction)).fold(0.0, f64::max);
    (seconds > 0.0).then(|| in_flight_ns / 1e9 / seconds / job.workers.len().max(1) as f64)
}

/// The job asks for direct I/O to files.
pub(crate) fn is_direct_to_files(job: &AuditedJob<'_>) -> bool {
    let is_asked = job.spec.durability.direct && job.has_files() && job.engine.targets.are_opened_by_run();
    is_asked
        && !job.engine.forms.is_always_buffered
        && job.places.iter().all(|place| is_for_files(place) && !is_in_memory(place))
}

/// The option that makes the data of writes easy to compress or to share.
pub(crate) fn easy_data(job: &AuditedJob<'_>) -> Option<&'static str> {
    let buffers = &job.spec.buffers;
    match () {
        () if buffers.pattern.is_some() => Some("buffer_pattern"),
        () if buffers.compress_percent > 0 => Some("buffer_compress_percentage"),
        () if buffers.dedupe.is_some() => Some("dedupe_percentage"),
        // Each of the options above fills the buffers in its place.
        () if buffers.zero => Some("zero_buffers"),
        // Each buffer is filled once, and written again and again. Verification marks each block by itself.
        () if buffers.scramble == Some(false) && !buffers.refill && job.spec.verify.is_none() => {
            Some("scramble_buffers=0")
        }
        () => None,
    }
}

/// The most I/Os of all clones together; `None`: the options set no bound.
pub(crate) fn most_ios(job: &AuditedJob<'_>) -> Option<u64> {
    let (extent, limits) = (&job.spec.extent, &job.spec.limits);
    if limits.time_based && limits.runtime_us > 0 || job.spec.replay.is_set() {
        return None;
    }
    let used = DataDirection::ALL.into_iter().filter(|direction| job.does(*direction));
    let smallest = used.map(|direction| job.spec.pattern.block_size[direction].min_bytes).min()?;
    let by_size = extent.given_io_bytes().filter(|_| smallest > 0).map(|bytes| bytes.div_ceil(smallest));
    let by_number = Some(extent.number_ios).filter(|number| *number > 0);
    let least = by_size.into_iter().chain(by_number).min()?;
    Some(least.saturating_mul(u64::from(limits.loops.max(1))).saturating_mul(u64::from(job.n_clones)))
}
