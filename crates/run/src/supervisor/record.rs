//! The supervisor's state for each worker.
//!
//! Must not know: how workers are started. Start reading at [`SupervisedWorker`].

use super::steady_group::Steady;
use super::worker_handle::WorkerHandle;
use crate::error::Failure;
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::files::{FileSet, ZonedFiles};
use crate::link::message::WorkerOutcome;
use crate::plan::WorkerPlan;
use ferrio_stats::{EndedBy, FailedStep, LaidOver, Note, ThreadStats};
use std::time::Instant;

#[derive(Default)]
pub(super) enum WorkerStatus {
    /// Not started.
    #[default]
    Waiting,
    /// Started and not ended.
    Running(WorkerHandle),
    /// Ended, or never to be started.
    Ended,
}

/// A worker's status without its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Running,
    Ended,
}

/// The figures of a worker that were reported so far.
pub(super) struct ToldFigures {
    pub(super) stats: ThreadStats,
    pub(super) until_ns: u64,
}

#[derive(Default)]
pub(super) struct SupervisedWorker {
    pub(super) status: WorkerStatus,
    /// The worker's files, if they were laid out before the start.
    pub(super) files: Option<FileSet>,
    /// Zones of its files, which the worker may still hold when it ends.
    pub(super) zones: ZonedFiles,
    /// Number of files that were made or made longer before the start, if it was known then.
    pub(super) n_laid_out: Option<u64>,
    /// What became of files with data that its layout found too short.
    pub(super) laid_over: Vec<LaidOver>,
    /// Process id, or thread id of a thread.
    pub(super) pid: u32,
    /// Time at which the gate was opened for it.
    pub(super) let_go_at: Option<Instant>,
    pub(super) outcome: Option<Box<WorkerOutcome>>,
    /// Latest snapshot while it runs, and the time of its arrival.
    pub(super) snapshot: Option<(Box<ThreadStats>, Instant)>,
    /// A snapshot was requested and has not arrived.
    pub(super) awaits_snapshot: bool,
    /// Figures that were reported for intervals, if records are kept.
    pub(super) told: Option<Box<ToldFigures>>,
    /// Its end was reported for the records.
    pub(super) end_is_told: bool,
    /// Its part in the search for a steady state.
    pub(super) steady: Option<Steady>,
    /// Its end, as far as it came.
    pub(super) end: WorkerEnd,
}

/// The end of a worker, and its stops before.
#[derive(Default)]
pub(super) struct WorkerEnd {
    pub(super) killed_by: Option<i32>,
    /// The signal came before the worker had sent its results.
    pub(super) is_cut_short: bool,
    /// What has ended it before it was done.
    pub(super) ended_by: Option<EndedBy>,
    /// Time for which it was stopped by a signal, ns.
    pub(super) stopped_ns: u64,
}

impl SupervisedWorker {
    pub(super) fn phase(&self) -> Phase {
        match self.status {
            WorkerStatus::Waiting => Phase::Waiting,
            WorkerStatus::Running(_) => Phase::Running,
            WorkerStatus::Ended => Phase::Ended,
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.status, WorkerStatus::Waiting)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.status, WorkerStatus::Running(_))
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.status, WorkerStatus::Ended)
    }

    /// Records the end of the worker. `is_lost`: it ended without sending results.
    pub(super) fn end(&mut self, worker: &WorkerPlan, killed_by: Option<i32>, is_lost: bool) {
        debug_assert!(!self.has_ended(), "a worker ends once");
        self.status = WorkerStatus::Ended;
        self.awaits_snapshot = false;
        self.end.killed_by = killed_by;
        self.zones.release(worker);
        self.end.is_cut_short = killed_by.is_some() && is_lost;
    }

    /// True if it ended with an error.
    pub(super) fn has_failed(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.failure.is_some())
    }

    /// True if it counts as failed in the exit code: it had an error, or was killed before its work was done.
    pub(super) fn is_no_success(&self) -> bool {
        self.has_failed() || self.end.is_cut_short
    }

    /// Records figures that were requested.
    pub(super) fn take_snapshot(&mut self, stats: Box<ThreadStats>, now: Instant) {
        self.snapshot = Some((stats, now));
        self.awaits_snapshot = false;
    }

    pub(super) fn final_stats(&self) -> Option<&ThreadStats> {
        self.outcome.as_ref().map(|outcome| &*outcome.stats)
    }

    /// Its figures at the end of the run, moved out.
    pub(super) fn take_stats(&mut self, now: Instant) -> Box<ThreadStats> {
        match self.outcome.as_mut() {
            Some(outcome) => std::mem::take(&mut outcome.stats),
            None => Box::new(self.stats_now(now)),
        }
    }

    /// Its figures: final, or the latest. If a running worker does not answer a request, its last figures are extended
    /// to the present time: no I/O has completed since then.
    pub(super) fn stats_now(&self, now: Instant) -> ThreadStats {
        if let Some(stats) = self.final_stats() {
            return stats.clone();
        }
        let Some((stats, taken_at)) = &self.snapshot else { return ThreadStats::default() };
        let mut stats = ThreadStats::clone(stats);
        if self.awaits_snapshot {
            let age_ns = u64::try_from(now.saturating_duration_since(*taken_at).as_nanos()).unwrap_or(u64::MAX);
            stats.total_runtime_ns = stats.total_runtime_ns.saturating_add(age_ns);
            for figures in stats.directions.0.iter_mut().filter(|figures| figures.runtime_ns > 0) {
                figures.runtime_ns = figures.runtime_ns.saturating_add(age_ns);
            }
        }
        stats
    }
}

/// Records a worker that cannot even start: its explanation, and its end.
pub(super) fn setup_failed(record: &mut SupervisedWorker, error: Failure, observer: &mut dyn RunObserver) {
    if let Some(note) = &error.note {
        observer.event(RunEvent::Message(MessageStream::Error, Note::clone(note)));
    }
    tell_failed(0, MessageStream::Error, &error, observer);
    record.outcome = Some(Box::new(WorkerOutcome::new(Box::default(), Some(error), false)));
    record.status = WorkerStatus::Ended;
}

/// Reports a failure, in addition to its explanation; not if the explanation says all.
pub(super) fn tell_failed(pid: u32, stream: MessageStream, error: &Failure, observer: &mut dyn RunObserver) {
    if !matches!(error.step, FailedStep::Explained(_)) {
        let failure = Box::new(Failure { note: None, ..error.clone() });
        observer.event(RunEvent::Message(stream, Note::Failed { pid, failure }));
    }
}
