//! What the workload of a worker is made from.
//!
//! Must not know: engines. Start reading at [`workload_plan`].

use super::WorkerPlan;
use crate::files::FileSet;
use ferrio_job::spec::{DirectionMix, RandomDistribution, SizeSpec, ZoneSpec};
use ferrio_units::random::{SeedIndex, SeedTable, file_distribution_seed};
use ferrio_workload::{FileRange, WorkloadPlan};
use std::os::unix::ffi::OsStrExt;

/// The plan of a worker's I/O over its files.
pub(crate) fn workload_plan(worker: &WorkerPlan, set: &FileSet) -> WorkloadPlan {
    let spec = &worker.spec;
    let files: Vec<FileRange> = set
        .files
        .iter()
        .map(|file| FileRange {
            start_bytes: file.start_bytes,
            length_bytes: file.length_bytes,
            file_bytes: file.file_bytes,
            distribution_seed: file_distribution_seed(
                file.path.as_os_str().as_bytes(),
                worker.thread_number.into(),
                &worker.seeds,
            ),
        })
        .collect();
    let n_files = files.len();
    // The writes of `trimwrite` are not followed by syncs (as seen on fio 3.33). With `verify_only` no sync is done, but each takes
    // its turn among the files, and the writes after it are those of the run that did them.
    let syncs = worker.streams_writes() && spec.pattern.mix != DirectionMix::TrimWrite;
    let interval = |blocks: u32| if syncs { blocks } else { 0 };
    WorkloadPlan {
        pattern: spec.pattern.clone(),
        strided: match spec.zones {
            ZoneSpec::Strided(strided) => Some(strided),
            ZoneSpec::None | ZoneSpec::Sequential(_) => None,
        },
        sequential: set.zones.plan(worker),
        fsync_blocks: interval(spec.durability.fsync_blocks),
        fdatasync_blocks: interval(spec.durability.fdatasync_blocks),
        sync_file_range_blocks: interval(spec.durability.sync_file_range.map_or(0, |(_, blocks)| blocks)),
        files,
        openfiles: if spec.target.openfiles == 0 { n_files } else { spec.target.openfiles as usize },
        file_service: spec.target.file_service.clone(),
        file_service_count: spec.target.file_service_count,
        seeds: seeds(worker),
        reseed_each_pass: spec.pattern.randrepeat && spec.pattern.randseed.is_none(),
        limit_bytes: limit_bytes(worker, set),
        pass_limit_bytes: if ends_pass_by_bytes(worker) { pass_bytes(worker, set) } else { u64::MAX },
        limit_ios: limit_ios(worker),
        time_based: spec.limits.time_based,
    }
}

/// All directions of a verified job draw their block sizes from the seed of the reads: what reads it later then asks for the
/// blocks that were written.
fn seeds(worker: &WorkerPlan) -> SeedTable {
    let mut seeds = worker.seeds.clone();
    if worker.spec.verify.is_some() {
        let of_reads = seeds.get(SeedIndex::BlockSizeRead);
        seeds.set(SeedIndex::BlockSizeWrite, of_reads);
        seeds.set(SeedIndex::BlockSizeTrim, of_reads);
    }
    seeds
}

fn limit_bytes(worker: &WorkerPlan, set: &FileSet) -> u64 {
    if worker.spec.limits.time_based {
        return u64::MAX;
    }
    set.io_bytes.saturating_mul(u64::from(worker.spec.limits.loops.max(1)))
}

/// As seen on fio 3.33: engines with a queue of their own end a pass when it has its bytes, the others when its files are done. An engine
/// without files completes at once at a depth of 1. With `verify_backlog` the files end it.
fn ends_pass_by_bytes(worker: &WorkerPlan) -> bool {
    let queues = !worker.engine.inline && (worker.queue().iodepth > 1 || !worker.engine.diskless);
    let has_backlog = worker.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some());
    queues && !worker.spec.limits.time_based && !has_backlog
}

/// Bytes that end a pass. As seen on fio 3.33: a percentage as `io_size` is the size, and a pass of a job that writes at random
/// without a map goes on up to an `io_size` beyond the size. Trims and writes count together, for the size and all that the job
/// is to write.
fn pass_bytes(worker: &WorkerPlan, set: &FileSet) -> u64 {
    let pattern = &worker.spec.pattern;
    let has_map = !pattern.norandommap && pattern.distribution == RandomDistribution::Uniform;
    let is_percent = matches!(worker.spec.extent.io_size, Some(SizeSpec::Percent(_)));
    let own_bytes = if is_percent { set.pass_bytes.min(set.io_bytes) } else { set.pass_bytes };
    let goes_on = worker.streams_writes() && pattern.random && !has_map;
    let pass_bytes = if goes_on { own_bytes.max(set.io_bytes) } else { own_bytes };
    if pattern.mix == DirectionMix::TrimWrite {
        pass_bytes.saturating_add(limit_bytes(worker, set))
    } else {
        pass_bytes
    }
}

/// Most reads, writes and trims of a job, all its passes together.
pub(crate) fn limit_ios(worker: &WorkerPlan) -> u64 {
    let limit = worker.spec.extent.number_ios.saturating_mul(u64::from(worker.spec.limits.loops.max(1)));
    match limit {
        0 => u64::MAX,
        // As seen on fio 3.33: only time ends such a job.
        _ if worker.spec.limits.time_based => u64::MAX,
        // A trim and the write that follows it count as one.
        _ if worker.spec.pattern.mix == DirectionMix::TrimWrite => limit.saturating_mul(2),
        _ => limit,
    }
}
