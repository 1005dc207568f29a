//! Which writes of a job may lie over others, wholly or in part, and which of them in flight together.
//!
//! Must not know: blocks, passes of reads. Start reading at [`overlaps`].

use crate::files::FileSet;
use crate::plan::WorkerPlan;
use ferrio_job::spec::{DirectionMix, FileService, RandomDistribution, RandomGenerator, VerifySpec, ZoneSpec};
use ferrio_units::DataDirection;

/// A write of a pass may lie over another of it.
pub(super) fn overlaps(plan: &WorkerPlan, set: &FileSet) -> bool {
    // As seen on fio 3.33, whose order it is: with a backlog each pass is for itself, since it is read back at its end.
    let has_backlog = plan.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some());
    overlaps_in_pass(plan) || (set.io_bytes > set.pass_bytes && !has_backlog) || plan.spec.limits.time_based
}

/// The same of a pass that ends with the files.
pub(super) fn overlaps_in_pass(plan: &WorkerPlan) -> bool {
    let is_zoned = plan.spec.zones != ZoneSpec::None;
    let is_traced = plan.spec.replay.is_set();
    let starts_over = matches!(plan.spec.target.file_service, FileService::Skewed(_));
    !visits_once(plan)
        || starts_over
        || jumps(plan)
        || is_zoned
        || is_traced
        || trims_differ(plan)
        || plan.spec.pattern.sprandom.is_some()
}

/// A pass visits no place twice, as far as its order says.
pub(super) fn visits_once(plan: &WorkerPlan) -> bool {
    let pattern = &plan.spec.pattern;
    let size = pattern.block_size[DataDirection::Write];
    // It gives each number once, whatever larger blocks have covered since.
    let draws_under_others =
        pattern.random_generator == Some(RandomGenerator::Lfsr) && size.min_bytes != size.max_bytes;
    !pattern.random
        || (!pattern.norandommap
            && !pattern.softrandommap
            && !draws_under_others
            // Skewed draws repeat themselves, and what is not drawn is not marked in the map.
            && pattern.distribution == RandomDistribution::Uniform
            && pattern.percentage_random[DataDirection::Write] == 100)
}

/// No write lies over another, and what is written is read back file by file in ascending order, not in the order of the writes: as
/// seen on fio 3.33, where no map tells which blocks are written. Of one file in sequence both orders are the same.
pub(super) fn in_place(plan: &WorkerPlan, set: &FileSet) -> bool {
    let pattern = &plan.spec.pattern;
    let differs =
        if pattern.random { pattern.random_generator == Some(RandomGenerator::Lfsr) } else { set.files.len() > 1 };
    differs && !overlaps(plan, set)
}

/// A trim of the mix may lie over more, or less, than the write that follows it.
fn trims_differ(plan: &WorkerPlan) -> bool {
    let pattern = &plan.spec.pattern;
    let (write, trim) = (pattern.block_size[DataDirection::Write], pattern.block_size[DataDirection::Trim]);
    // At random a write repeats the trim before it, whatever its own sizes are.
    let is_one_size = write == trim && write.min_bytes == write.max_bytes;
    pattern.mix == DirectionMix::TrimWrite && !pattern.random && !is_one_size
}

/// A random job writes several blocks in sequence (`rw=randwrite:8`), or one in sequence leaves gaps.
pub(super) fn jumps(plan: &WorkerPlan) -> bool {
    plan.spec.pattern.rw_postfix != i64::from(plan.spec.pattern.random)
}

/// What the run of these options wrote depends on which of several I/Os in flight together came last.
pub(super) fn raced(plan: &WorkerPlan, verify: &VerifySpec) -> bool {
    let are_together = plan.queue().iodepth > 1 && !plan.serializes();
    // Zones that are written in sequence are written by one at a time.
    let is_in_sequence = matches!(plan.spec.zones, ZoneSpec::Sequential(_));
    // Of whole blocks over whole blocks any is right, unless the newest is wanted.
    let are_told_apart = in_parts(plan) || verify.checks_seed || verify.checks_sequence;
    let are_writes = overlaps_in_pass(plan) && are_told_apart && !is_in_sequence && !plan.spec.replay.is_set();
    let are_trims = plan.spec.pattern.mix == DirectionMix::TrimWrite && plan.offloads();
    are_together && (are_writes || are_trims)
}

/// Writes may lie over parts of others: they differ in size, or begin within others.
pub(super) fn in_parts(plan: &WorkerPlan) -> bool {
    let pattern = &plan.spec.pattern;
    let size = pattern.block_size[DataDirection::Write];
    let align = pattern.block_align[DataDirection::Write];
    size.min_bytes != size.max_bytes || align.is_some_and(|align| align != size.min_bytes)
}
