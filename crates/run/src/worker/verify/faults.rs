//! Reports of blocks that differ from what was written, and the effect on the job.
//!
//! Must not know: how blocks are checked. Start reading at [`FaultReports::tell`].

use super::checkers::Faulty;
use crate::error::failure;
use crate::events::MessageStream;
use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use ferrio_spec::VerifySpec;
use ferrio_stats::note::{BadBlock, BlockDump, Fault, VerifyNote};
use ferrio_sys::errno::EILSEQ;
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_units::Direction;
use ferrio_workload::verify::block::BlockRules;
use ferrio_workload::verify::fault::{Damage, diagnose};
use std::io::Write;
use std::path::Path;

/// How faults are reported, and when they end the job.
pub(crate) struct FaultReports {
    /// Damaged blocks are written to files.
    dumps: bool,
    /// The directory of these files; `None`: the present one.
    directory: Option<String>,
    /// A fault ends the job even if errors of verification are tolerated.
    is_fatal: bool,
    step: &'static str,
}

impl FaultReports {
    pub(crate) fn new(plan: &WorkerPlan, spec: &VerifySpec) -> Self {
        Self {
            dumps: spec.dumps,
            directory: spec.dump_directory.clone(),
            is_fatal: spec.is_fatal,
            step: checking_step(plan, spec),
        }
    }

    /// Reports a fault; it ends the job unless such errors are tolerated.
    pub(crate) fn tell(&self, rules: &BlockRules, core: &mut WorkerCore<'_>, faulty: &Faulty) {
        let Faulty { file_index, expected, fault, received } = faulty;
        let regenerated = rules.regenerate(received, expected);
        let file = core.files.plan(*file_index).name.clone();
        let mut dumps = Vec::new();
        if self.dumps {
            // Both blocks have the same length.
            let start = usize::try_from(fault.offset_bytes - expected.offset_bytes).unwrap_or(0);
            let interval = start..start + fault.length_bytes as usize;
            let whole = regenerated.as_deref().and_then(|whole| whole.get(interval.clone()));
            let damaged = received.get(interval).unwrap_or(received);
            dumps = dump(self.directory.as_deref(), &file, fault, damaged, whole, core.context.kept);
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
        core.context.say(MessageStream::Error, VerifyNote::BadBlock(Box::new(bad)));
        if !core.tolerates(Direction::Read, EILSEQ) || self.is_fatal {
            core.control.fail_soon(failure!(EILSEQ, self.step));
        }
    }
}

/// The step that the report names for a fault.
fn checking_step(plan: &WorkerPlan, spec: &VerifySpec) -> &'static str {
    match spec.n_threads {
        1.. => "async_verify",
        0 if plan.engine.def.waits() => "io_u_sync_complete",
        0 => "io_u_queued_complete",
    }
}

/// Writes an interval to two files (received and expected), or to one if its header is at fault; returns these files.
pub(crate) fn dump(
    directory: Option<&str>,
    file: &str,
    fault: &Fault,
    received: &[u8],
    expected: Option<&[u8]>,
    protected_files: &ProtectedPaths,
) -> Vec<BlockDump> {
    let base = file.rsplit('/').next().unwrap_or(file);
    let base = directory.map_or_else(|| base.to_owned(), |directory| format!("{directory}/{base}"));
    let kept = if fault.is_of_header() {
        [("hdr_fail", Some(received)), ("", None)]
    } else {
        [("received", Some(received)), ("expected", expected)]
    };
    let kept = kept.into_iter().filter_map(|(kind, bytes)| Some((kind, bytes?)));
    kept.map(|(kind, bytes)| {
        let path = format!("{base}.{}.{kind}", fault.offset_bytes);
        let opened = output::open(Path::new(&path), OutputStart::Empty, protected_files);
        let error = opened.and_then(|mut output| output.write_all(bytes)).err().map(|error| (&error).into());
        BlockDump { kind: kind.into(), path, error }
    })
    .collect()
}
