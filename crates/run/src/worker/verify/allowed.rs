//! Checks whether the writes of a job, or of an earlier run with its options, can be read back.
//!
//! Must not know: headers, trims, loops. Start reading at [`check`].

use crate::error::{Failure, failure};
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use ferrio_spec::{DirectionMix, VerifiedWrites, VerifySpec, ZoneSpec};
use ferrio_stats::note::{ManyWrites, Remedy, VerifyNote};
use ferrio_sys::errno::{EINVAL, ENOMEM};
use ferrio_units::DataDirection;
use ferrio_workload::shape::Shape;
use ferrio_workload::verify::pending::{MAX_PENDING, PendingWrite};
use std::collections::BTreeSet;

/// Checks whether the writes of a job, or of an earlier run with its options, can be read back.
///
/// # Errors
/// Writes may overlap in a way that leaves it unknown which of them is there.
pub(crate) fn check(plan: &WorkerPlan, set: &FileSet, shape: Shape) -> Result<(), Failure> {
    let Some(verify) = &plan.spec.verify else { return Ok(()) };
    check_names(set)?;
    check_number(plan, set, shape, verify)?;
    let is_only = verify.reads == VerifiedWrites::OfEarlierRun;
    let refused = |note: VerifyNote| Err(failure!(EINVAL, "verify").explained(note));
    let has_rest = set.io_bytes > set.pass_bytes && !shape.goes_round();
    if is_only && verify.backlog.is_some() && has_rest && shape.overlaps_in_pass() {
        // The bytes that the earlier run read back counted for its `io_size`, including those that were overwritten
        // later.
        return refused(VerifyNote::UncountedPasses);
    }
    if is_only && verify.trims.is_some() && (verify.backlog.is_some() || has_passes(plan, set, shape)) {
        return refused(VerifyNote::UncountedTrims);
    }
    if is_only && raced(plan, shape, verify) {
        return refused(VerifyNote::RacedWrites);
    }
    Ok(())
}

fn has_passes(plan: &WorkerPlan, set: &FileSet, shape: Shape) -> bool {
    // If a sequence or a window runs past the end, the pass ends, and another follows for the rest of `io_size`.
    let may_end_early = shape.jumps || matches!(plan.spec.zones, ZoneSpec::Strided(_));
    let goes_on = plan.spec.extent.io_size.is_some() && plan.spec.extent.io_share().is_none();
    let has_rest = set.io_bytes > set.pass_bytes && !shape.goes_round();
    plan.spec.limits.loops > 1 || has_rest || (may_end_early && goes_on)
}

/// The same for a job that replays a trace: its writes are remembered, and the newest write to each place is read back.
pub(crate) fn check_trace(plan: &WorkerPlan, set: &FileSet) -> Result<(), Failure> {
    if plan.spec.verify.is_some() { check_names(set) } else { Ok(()) }
}

/// If a job has the same file twice, the file is written twice, and holds what was written last.
fn check_names(set: &FileSet) -> Result<(), Failure> {
    let mut names = BTreeSet::new();
    match set.files.iter().find(|file| !names.insert(&file.path)) {
        Some(file) => Err(failure!(EINVAL, "verify").explained(VerifyNote::HasFileTwice { file: file.name.clone() })),
        None => Ok(()),
    }
}

/// Refuses a pass that may have more writes than can be remembered, even with the largest blocks, before any is done.
fn check_number(plan: &WorkerPlan, set: &FileSet, shape: Shape, verify: &VerifySpec) -> Result<(), Failure> {
    let writes_only = matches!(plan.spec.pattern.mix, DirectionMix::Write | DirectionMix::TrimWrite);
    let limits = &plan.spec.limits;
    let ends_early = limits.time_based || limits.runtime_us > 0 || plan.spec.extent.number_ios > 0;
    let remembers = verify.reads_back || verify.trims.is_some();
    let remembers = remembers && (verify.reads != VerifiedWrites::Regenerated || shape.overlaps());
    // Writes that wait for a backlog are read back before there are too many.
    let is_only = verify.reads == VerifiedWrites::OfEarlierRun;
    let is_bounded = !is_only && verify.backlog.is_some_and(|backlog| backlog.blocks <= MAX_PENDING as u64 / 2);
    if !writes_only || ends_early || !remembers || is_bounded {
        return Ok(());
    }
    // Of overlapping writes only the newest is remembered.
    let pass_bytes = set.pass_bytes.min(set.io_bytes);
    let n_writes = pass_bytes / plan.spec.pattern.block_size[DataDirection::Write].max_bytes.max(1);
    if n_writes <= MAX_PENDING as u64 {
        return Ok(());
    }
    let limit_bytes = (MAX_PENDING * size_of::<PendingWrite>()) as u64;
    Err(too_many_writes(Some(ManyWrites { n_writes, limit_bytes }), remedies(verify, shape.overlaps())))
}

/// Which writes are read back. `is_remembered`: only remembered writes show which of several overlapping ones is the newest, or what the
/// engine has made of each.
pub(crate) fn reads_of(verify: &VerifySpec, is_remembered: bool) -> VerifiedWrites {
    match verify.reads {
        VerifiedWrites::Regenerated if is_remembered => VerifiedWrites::Done,
        reads => reads,
    }
}

/// Remedies against too many writes. `overlap`: writes may overlap.
pub(crate) fn remedies(verify: &VerifySpec, overlap: bool) -> Vec<Remedy> {
    let mut ways = vec![Remedy::LargerBlocks, Remedy::FewerWrites];
    if verify.reads == VerifiedWrites::Done && verify.trims.is_none() {
        ways.push(Remedy::SmallBacklog);
        if !overlap && verify.backlog.is_none() {
            ways.push(Remedy::Regeneration);
        }
    }
    ways
}

fn too_many_writes(of_pass: Option<ManyWrites>, remedies: Vec<Remedy>) -> Failure {
    let limit = MAX_PENDING as u64;
    failure!(ENOMEM, "verify").explained(VerifyNote::TooManyWrites { of_pass, limit, remedies })
}

/// The job ends because it made more writes than can be remembered.
pub(crate) fn too_many(remedies: &[Remedy]) -> Failure {
    too_many_writes(None, remedies.to_vec())
}

/// True if the writes of an earlier run's passes are kept until the last one, because a pass may have overwritten parts
/// of blocks of earlier passes, or left other numbers and seeds in their headers.
pub(crate) fn keeps_passes_apart(plan: &WorkerPlan, set: &FileSet, shape: Shape) -> bool {
    let Some(verify) = &plan.spec.verify else { return false };
    let tells_passes = verify.checks_seed || verify.checks_sequence;
    let keeps = plan.spec.is_verify_only() && has_passes(plan, set, shape);
    keeps && (tells_passes || shape.in_parts || !shape.visits_once)
}

/// True if the blocks that a run with these options wrote depend on the order in which I/Os in flight together landed.
fn raced(plan: &WorkerPlan, shape: Shape, verify: &VerifySpec) -> bool {
    let are_together = plan.queue().iodepth > 1 && !plan.serializes();
    // Only one job at a time writes to a zone that is written in sequence.
    let is_in_sequence = matches!(plan.spec.zones, ZoneSpec::Sequential(_));
    // If blocks only replace whole blocks, any of them is right, unless seed or sequence are checked.
    let are_told_apart = shape.in_parts || verify.checks_seed || verify.checks_sequence;
    let are_writes = shape.overlaps_in_pass() && are_told_apart && !is_in_sequence && !plan.spec.replay.is_set();
    let are_trims = plan.spec.pattern.mix == DirectionMix::TrimWrite && plan.offloads();
    are_together && (are_writes || are_trims)
}
