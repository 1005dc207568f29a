//! Messages about a run before its workers begin: its jobs, oddities of theirs, lines of `--debug`.
//!
//! Must not know: the course of the run. Start reading at [`announce`].

use super::RunSettings;
use crate::compat;
use crate::events::{JobSummary, MessageStream, RunEvent, RunObserver};
use crate::evidence::Probes;
use crate::files::guard;
use crate::link::trace::{self, TraceGroup, TraceSettings};
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_stats::Note;
use ferrio_stats::note::RunNote;
use std::collections::HashSet;
use std::sync::Arc;

/// Sends lines of one group.
pub(super) fn tell_all(
    trace: TraceSettings,
    group: TraceGroup,
    texts: impl IntoIterator<Item = String>,
    observer: &mut dyn RunObserver,
) {
    for text in texts {
        trace.tell(group, &mut |event| observer.event(event), || text);
    }
}

/// Sends lines about the devices (`--debug=diskutil`).
pub(super) fn tell_disks(trace: TraceSettings, probes: &Probes, observer: &mut dyn RunObserver) {
    if trace.has(TraceGroup::DiskUtil) {
        tell_all(trace, TraceGroup::DiskUtil, probes.describe(), observer);
    }
}

/// Sends lines about each job when it is set up (`--debug`).
fn tell_jobs(plan: &RunPlan, trace: TraceSettings, observer: &mut dyn RunObserver) {
    let mut tell = |group: TraceGroup, text: String| trace.tell(group, &mut |event| observer.event(event), || text);
    for worker in plan.workers.iter().filter(|_| trace.has(TraceGroup::Random) || trace.has(TraceGroup::Verify)) {
        for text in trace::seeds(worker) {
            tell(TraceGroup::Random, text);
        }
        tell(TraceGroup::Verify, format!("td->trim_verify={}", u32::from(worker.trims_between())));
    }
}

/// Sends the list of jobs, and notes about them.
pub(super) fn announce(plan: &RunPlan, settings: &RunSettings, trees: Vec<Note>, observer: &mut dyn RunObserver) {
    tell_jobs(plan, settings.trace, observer);
    for note in trees {
        observer.event(RunEvent::Message(MessageStream::Info, note));
    }
    let mut seen = HashSet::new();
    let firsts = plan.workers.iter().filter(|worker| seen.insert(worker.job_index));
    let jobs = firsts.map(|worker| JobSummary { spec: Arc::clone(&worker.spec), group_index: worker.group_index });
    let jobs: Vec<_> = jobs.collect();
    let n_threads = plan.workers.iter().filter(|worker| worker.spec.worker.thread).count() as u32;
    let n_processes = plan.workers.len() as u32 - n_threads;
    observer.event(RunEvent::Starting { jobs, n_threads, n_processes });
    let overwritten = guard::verified_by_clones(&plan.workers);
    let waits = |worker: &&WorkerPlan| compat::tells_capped_depth(worker) && !worker.spec.submission.offload;
    let waits = plan.workers.iter().filter(waits);
    for _ in waits.filter(|worker| worker.spec.queue.iodepth > 1) {
        observer.event(RunEvent::Message(MessageStream::Info, RunNote::DepthIsCapped.into()));
    }
    for worker in &plan.workers {
        if worker.clone_index == 0 && overwritten.contains(&worker.job_index) {
            observer.event(RunEvent::Message(MessageStream::Info, RunNote::ClonesOverwrite.into()));
        }
        let reads_back =
            worker.spec.verify.as_ref().is_some_and(|verify| verify.reads_back && verify.backlog.is_none());
        if reads_back && compat::tells_unread_mix(worker) && worker.spec.limits.time_based {
            observer.event(RunEvent::Message(MessageStream::Info, RunNote::NeverReadsBack.into()));
        }
    }
}
