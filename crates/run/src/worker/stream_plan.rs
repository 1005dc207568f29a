//! Builds the plan of a worker's workload.
//!
//! Must not know: engines, needs of the verification. Start reading at [`workload_plan`].

use crate::compat;
use crate::files::FileSet;
use crate::plan::{WorkerPlan, limit_ios};
use ferrio_spec::ZoneSpec;
use ferrio_units::random::{SeedIndex, SeedTable, file_distribution_seed};
use ferrio_workload::shape::{Extent, Shape};
use ferrio_workload::{FileRange, SyncIntervals, WorkForm, WorkLimits, WorkloadPlan};
use std::os::unix::ffi::OsStrExt;

/// The facts about the stream of a worker.
pub(crate) fn shape(worker: &WorkerPlan, set: &FileSet) -> Shape {
    let extent = Extent {
        pass_bytes: set.pass_bytes,
        io_bytes: set.io_bytes,
        queues: queues(worker),
        compatibility: worker.compatibility,
    };
    Shape::new(&worker.spec, extent)
}

/// The plan of a worker's I/O over its files.
pub(crate) fn workload_plan(worker: &WorkerPlan, set: &FileSet, shape: Shape) -> WorkloadPlan {
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
    // With `verify_only` no sync is done, but each takes its turn in the order of files, so that the writes after it
    // are those of the earlier run.
    let interval = |blocks: u32| if worker.streams_writes() { blocks } else { 0 };
    WorkloadPlan {
        pattern: spec.pattern.clone(),
        strided: match spec.zones {
            ZoneSpec::Strided(strided) => Some(strided),
            ZoneSpec::None | ZoneSpec::Sequential(_) => None,
        },
        sequential: set.zones.plan(worker),
        syncs: SyncIntervals {
            fsync_blocks: interval(spec.durability.fsync_blocks),
            fdatasync_blocks: interval(spec.durability.fdatasync_blocks),
            sync_file_range_blocks: interval(spec.durability.sync_file_range.map_or(0, |(_, blocks)| blocks)),
        },
        files,
        openfiles: if spec.target.openfiles == 0 { n_files } else { spec.target.openfiles as usize },
        form: match &spec.extent.patterns {
            _ if spec.extent.whole_files => WorkForm::WholeFiles,
            patterns if patterns.is_empty() => {
                worker.shared.positions.of(spec).map_or(WorkForm::Blocks, WorkForm::Common)
            }
            patterns => WorkForm::Patterns(patterns.clone()),
        },
        file_service: spec.target.file_service.clone(),
        file_service_count: spec.target.file_service_count,
        seeds: seeds(worker),
        reseed_each_pass: spec.pattern.randrepeat && spec.pattern.randseed.is_none(),
        limits: limits(worker, set, shape),
        time_based: shape.goes_on_with_time,
        rounds: shape.rounds,
        compatibility: worker.compatibility,
    }
}

fn limits(worker: &WorkerPlan, set: &FileSet, shape: Shape) -> WorkLimits {
    // Several patterns never end by themselves.
    let has_patterns = !worker.spec.extent.patterns.is_empty() && !shape.goes_on_with_time;
    let ends_by_bytes = has_patterns || compat::ends_pass_by_bytes(worker, shape, queues(worker));
    WorkLimits {
        bytes: limit_bytes(worker, set),
        pass_bytes: if ends_by_bytes { pass_bytes(worker, set, shape) } else { u64::MAX },
        // Inserted trims count too, and only the worker knows the sum.
        ios: if worker.trims_between() { u64::MAX } else { limit_ios(worker) },
        ranges_per_trim: worker.spec.extent.ranges_per_trim,
    }
}

/// All directions of a verified job draw their block sizes from the seed of the reads, so that a later job that reads
/// asks for the blocks that were written.
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

/// True if the engine has a queue of its own.
fn queues(worker: &WorkerPlan) -> bool {
    !worker.engine.def.is_inline() && (worker.queue().iodepth > 1 || worker.engine.def.targets.are_files())
}

fn pass_bytes(worker: &WorkerPlan, set: &FileSet, shape: Shape) -> u64 {
    let pass_bytes = compat::pass_bytes(worker, set.pass_bytes, set.io_bytes, shape.rounds);
    compat::pass_bytes_of_pairs(worker, pass_bytes, limit_bytes(worker, set))
}
