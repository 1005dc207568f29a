//! What the workload of a worker is made from.
//!
//! Must not know: engines. Start reading at [`workload_plan`].

use super::WorkerPlan;
use crate::files::FileSet;
use ferrio_job::spec::DirectionMix;
use ferrio_workload::{FileRange, WorkloadPlan};

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
        })
        .collect();
    let n_files = files.len();
    let syncs = worker.writes();
    let interval = |blocks: u32| if syncs { blocks } else { 0 };
    WorkloadPlan {
        pattern: spec.pattern.clone(),
        fsync_blocks: interval(spec.durability.fsync_blocks),
        fdatasync_blocks: interval(spec.durability.fdatasync_blocks),
        sync_file_range_blocks: interval(spec.durability.sync_file_range.map_or(0, |(_, blocks)| blocks)),
        files,
        openfiles: if spec.target.openfiles == 0 { n_files } else { spec.target.openfiles as usize },
        file_service: spec.target.file_service,
        file_service_count: spec.target.file_service_count,
        seeds: worker.seeds.clone(),
        reseed_each_pass: spec.pattern.randrepeat && spec.pattern.randseed.is_none(),
        limit_bytes: limit_bytes(worker, set),
        limit_ios: limit_ios(worker),
        time_based: spec.limits.time_based,
    }
}

fn limit_bytes(worker: &WorkerPlan, set: &FileSet) -> u64 {
    if worker.spec.limits.time_based || worker.spec.extent.fill_device {
        return u64::MAX;
    }
    set.io_bytes.saturating_mul(u64::from(worker.spec.limits.loops.max(1)))
}

fn limit_ios(worker: &WorkerPlan) -> u64 {
    let limit = worker.spec.extent.number_ios.saturating_mul(u64::from(worker.spec.limits.loops.max(1)));
    match limit {
        0 => u64::MAX,
        // A trim and the write that follows it count as one.
        _ if worker.spec.pattern.mix == DirectionMix::TrimWrite => limit.saturating_mul(2),
        _ => limit,
    }
}
