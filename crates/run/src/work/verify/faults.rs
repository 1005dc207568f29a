//! Reports of blocks that differ from what was written, and the effect on the job.
//!
//! Must not know: how blocks are checked. Start reading at [`tell_fault`].

use super::checkers::Faulty;
use super::dump::dump;
use crate::error::failure;
use crate::events::MessageStream;
use crate::plan::WorkerPlan;
use crate::work::lane::Lane;
use ferrio_spec::VerifySpec;
use ferrio_stats::note::{BadBlock, VerifyNote};
use ferrio_sys::errno::EILSEQ;
use ferrio_units::Direction;
use ferrio_workload::verify::block::BlockRules;
use ferrio_workload::verify::fault::{Damage, diagnose};

/// Reports a fault; it ends the job unless such errors are tolerated.
pub(crate) fn tell_fault(spec: &VerifySpec, rules: &BlockRules, lane: &mut Lane<'_>, faulty: &Faulty) {
    let Faulty { file_index, expected, fault, received } = faulty;
    let regenerated = rules.regenerate(received, expected);
    let file = lane.files.plan(*file_index).name.clone();
    let mut dumps = Vec::new();
    if spec.dumps {
        // Both blocks have the same length.
        let start = usize::try_from(fault.offset_bytes - expected.offset_bytes).unwrap_or(0);
        let interval = start..start + fault.length_bytes as usize;
        let whole = regenerated.as_deref().and_then(|whole| whole.get(interval.clone()));
        let damaged = received.get(interval).unwrap_or(received);
        dumps = dump(spec, &file, fault, damaged, whole, lane.context.kept);
    }
    let own = rules.regenerate_own(received, expected.offset_bytes);
    let foreign = rules.foreign_layout(received, expected.offset_bytes).map(Damage::OtherLayout);
    let bad = BadBlock {
        file,
        offset_bytes: expected.offset_bytes,
        length_bytes: received.len() as u64,
        fault: fault.clone(),
        dumps,
        damage: foreign.or_else(|| diagnose(fault, received, regenerated.as_deref(), own.as_deref())),
    };
    lane.context.say(MessageStream::Error, VerifyNote::BadBlock(Box::new(bad)));
    if !lane.tolerates(Direction::Read, EILSEQ) || spec.is_fatal {
        lane.control.fail_soon(failure!(EILSEQ, checking_step(lane.plan)));
    }
}

/// The step that the report names for a fault.
fn checking_step(plan: &WorkerPlan) -> &'static str {
    match &plan.spec.verify {
        Some(verify) if verify.n_threads > 0 => "async_verify",
        _ if plan.engine.def.waits() => "io_u_sync_complete",
        _ => "io_u_queued_complete",
    }
}
