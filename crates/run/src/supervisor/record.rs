//! What the supervisor knows of each worker.
//!
//! Must not know: how workers are started. Start reading at [`CrewRecord`].

use super::launch::WorkerHandle;
use super::steady::Steady;
use super::stretches::ToldFigures;
use crate::error::Failure;
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::files::FileSet;
use crate::link::message::WorkerOutcome;
use crate::plan::WorkerPlan;
use crate::zones::ZonedFiles;
use ferrio_stats::{Note, ThreadStats};
use std::time::Instant;

/// Where a worker is, as seen from outside.
#[derive(Default)]
pub(super) enum CrewStatus {
    /// Not started.
    #[default]
    Waiting,
    /// Started and not ended.
    Running(WorkerHandle),
    /// Ended, or never to be started.
    Ended,
}

/// One worker.
#[derive(Default)]
pub(super) struct CrewRecord {
    pub(super) status: CrewStatus,
    /// Its files, when they were laid out before the start.
    pub(super) files: Option<FileSet>,
    /// Zones of its files, which it may hold when it ends.
    pub(super) zones: ZonedFiles,
    /// Process id, or thread id of a thread.
    pub(super) pid: u32,
    /// When it was let go to do its I/O.
    pub(super) let_go_at: Option<Instant>,
    pub(super) outcome: Option<Box<WorkerOutcome>>,
    /// Latest snapshot while it runs, and when it came.
    pub(super) snapshot: Option<(Box<ThreadStats>, Instant)>,
    /// A snapshot was asked for and has not come.
    pub(super) awaits_snapshot: bool,
    /// What was told of it, where records of intervals are kept.
    pub(super) told: Option<Box<ToldFigures>>,
    /// Its end was told too.
    pub(super) end_is_told: bool,
    /// Its part in a search for a steady state.
    pub(super) steady: Option<Steady>,
    /// The signal that killed it.
    pub(super) killed_by: Option<i32>,
    /// That was before it had handed over its results.
    pub(super) is_cut_short: bool,
}

impl CrewRecord {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.status, CrewStatus::Waiting)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.status, CrewStatus::Running(_))
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.status, CrewStatus::Ended)
    }

    /// It is gone. `is_lost`: without its results.
    pub(super) fn end(&mut self, worker: &WorkerPlan, killed_by: Option<i32>, is_lost: bool) {
        self.status = CrewStatus::Ended;
        self.awaits_snapshot = false;
        self.killed_by = killed_by;
        self.zones.release(worker);
        self.is_cut_short = killed_by.is_some() && is_lost;
    }

    /// It ended with an error.
    pub(super) fn has_failed(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.failure.is_some())
    }

    /// It counts in the exit code: it failed, or was killed before it had done its work.
    pub(super) fn is_no_success(&self) -> bool {
        self.has_failed() || self.is_cut_short
    }

    /// Figures that were asked for have come.
    pub(super) fn take_snapshot(&mut self, stats: Box<ThreadStats>, now: Instant) {
        self.snapshot = Some((stats, now));
        self.awaits_snapshot = false;
    }

    /// Its final figures.
    pub(super) fn final_stats(&self) -> Option<&ThreadStats> {
        self.outcome.as_ref().map(|outcome| &*outcome.stats)
    }

    /// Its figures at the end of the run, taken from it.
    pub(super) fn take_stats(&mut self, now: Instant) -> Box<ThreadStats> {
        match self.outcome.as_mut() {
            Some(outcome) => std::mem::take(&mut outcome.stats),
            None => Box::new(self.stats_now(now)),
        }
    }

    /// Its figures: final, or the latest. Those of a worker that was asked and is silent are made older: it has completed
    /// nothing since it was asked, and time goes on.
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

/// A worker that cannot even start: what explains it, and its end.
pub(super) fn setup_failed(record: &mut CrewRecord, error: Failure, observer: &mut dyn RunObserver) {
    if let Some(note) = &error.note {
        observer.event(RunEvent::Message(MessageStream::Error, Note::clone(note)));
    }
    observer.event(RunEvent::Message(MessageStream::Error, failed(0, &error)));
    record.outcome = Some(Box::new(WorkerOutcome::new(Box::default(), Some(error), false)));
    record.status = CrewStatus::Ended;
}

/// What is said of a failure beside what explains it.
pub(super) fn failed(pid: u32, error: &Failure) -> Note {
    Note::Failed { pid, failure: Box::new(Failure { note: None, ..error.clone() }) }
}
