//! Figures of workers by interval and at their ends, for records of a run.
//!
//! Must not know: the form of records. Start reading at [`StretchTeller::interval`]. Workers send all that they have
//! counted so far; the figures of an interval are the difference to those before. So the intervals of a worker,
//! including the last one that its end closes, sum up to its final figures.

use super::RunSettings;
use super::record::{SupervisedWorker, ToldFigures};
use super::series::{self, SeriesKeeper};
use crate::events::{RunEvent, RunObserver};
use crate::link::board::{Board, IntervalTimes};
use crate::link::message::WorkerSnapshot;
use crate::plan::{RunPlan, WorkerPlan};
use crate::probed::provenance;
use ferrio_stats::{IntervalStats, JobEnd, JobSeries, ResourceUsage, StretchTimes, ThreadStats};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Reports the intervals of a run, if records are kept.
pub(super) struct StretchTeller {
    times: Cell<Option<IntervalTimes>>,
    /// The observer receives the intervals.
    tells: bool,
    run_epoch_ms: Cell<u64>,
    series: RefCell<SeriesKeeper>,
}

impl StretchTeller {
    /// Starts the records, at a time of the run's clock.
    pub(super) fn start(plan: &RunPlan, settings: &RunSettings, now_ns: u64, observer: &mut dyn RunObserver) -> Self {
        let run_epoch_ms = ferrio_sys::clock::wall_clock_ms();
        let for_series = || settings.keeps_series.then(|| series::interval(plan.workers.len()));
        let times = settings.record_interval.or_else(for_series).map(|interval| IntervalTimes::new(now_ns, interval));
        let length_ns = times.map_or(1, |times| times.length_ns);
        let tells = settings.record_interval.is_some() || (settings.tells_series && settings.keeps_series);
        if tells {
            let interval = Duration::from_nanos(length_ns);
            observer.event(RunEvent::Recording { provenance: provenance(plan), run_epoch_ms, interval });
        }
        let series = RefCell::new(SeriesKeeper::new(length_ns));
        Self { times: Cell::new(times), tells, run_epoch_ms: Cell::new(run_epoch_ms), series }
    }

    /// The times at which workers send their figures.
    pub(super) fn times(&self) -> Option<IntervalTimes> {
        self.times.get()
    }

    /// Times count from now on: the run begins at a moment on which hosts agreed, and no worker has begun.
    pub(super) fn restart(&self, board: &Board, now_ns: u64) {
        self.times.set(self.times().map(|times| IntervalTimes { origin_ns: now_ns, ..times }));
        self.run_epoch_ms.set(ferrio_sys::clock::wall_clock_ms());
        board.count_intervals_from(now_ns);
    }

    /// Called after a worker has sent its figures.
    pub(super) fn interval(
        &self,
        worker: &WorkerPlan,
        record: &mut SupervisedWorker,
        figures: WorkerSnapshot,
        now: Instant,
        observer: &mut dyn RunObserver,
    ) {
        let WorkerSnapshot { at_ns, due_ns, stats } = figures;
        let is_told = self.tell_interval(worker, record, &stats, (due_ns, at_ns), observer);
        // If the worker is killed later, these are the last figures known.
        record.snapshot = Some((Box::new(stats.clone()), now));
        if is_told {
            record.told = Some(Box::new(ToldFigures { stats, until_ns: at_ns }));
        }
    }

    /// Called after a worker has ended, or when it will never start: reports the rest of its last interval, once.
    pub(super) fn end(
        &self,
        worker: &WorkerPlan,
        record: &mut SupervisedWorker,
        (now, now_ns): (Instant, u64),
        observer: &mut dyn RunObserver,
    ) {
        if self.times().is_none() || record.end_is_told || !worker.spec.reporting.stats {
            return;
        }
        record.end_is_told = true;
        let stats = record.stats_now(now);
        let outcome = record.outcome.as_ref();
        let has_started = outcome.map_or(record.let_go_at.is_some(), |outcome| outcome.has_started);
        let end_ns = outcome.and_then(|outcome| outcome.ended_at_ns).unwrap_or(now_ns);
        if has_started {
            self.tell_interval(worker, record, &stats, (end_ns, end_ns), observer);
        }
        if !self.tells {
            return;
        }
        let start_ns = end_ns.saturating_sub(stats.total_runtime_ns);
        let stretch = self.stretch(worker, start_ns, end_ns, stats);
        let (pid, killed_by) = (record.pid, record.end.killed_by);
        let failure = record.outcome.as_ref().and_then(|outcome| outcome.failure.clone());
        observer.event(RunEvent::JobEnded(Box::new(JobEnd { stretch, has_started, pid, failure, killed_by })));
    }

    /// Reports the figures since the last call; false: the interval is empty, and no time has passed.
    fn tell_interval(
        &self,
        worker: &WorkerPlan,
        record: &SupervisedWorker,
        stats: &ThreadStats,
        (due_ns, end_ns): (u64, u64),
        observer: &mut dyn RunObserver,
    ) -> bool {
        if self.times().is_none() || !worker.spec.reporting.stats {
            return false;
        }
        let (start_ns, stats) = match record.told.as_deref() {
            Some(told) => (told.until_ns, stats.since(&told.stats)),
            None => (end_ns.saturating_sub(stats.total_runtime_ns), stats.since(&ThreadStats::default())),
        };
        if start_ns >= end_ns && stats.has_counted_nothing() && stats.usage == ResourceUsage::default() {
            return false;
        }
        debug_assert!(due_ns <= end_ns, "figures of an interval are from after its end");
        let since_origin = |time_ns: u64| time_ns.saturating_sub(self.origin_ns());
        let times = StretchTimes {
            start_ns: since_origin(start_ns.min(end_ns)),
            due_ns: since_origin(due_ns),
            end_ns: since_origin(end_ns),
        };
        self.series.borrow_mut().add(worker.job_index as u32, times, &stats);
        if self.tells {
            observer.event(RunEvent::Interval(Box::new(self.stretch(worker, start_ns, end_ns, stats))));
        }
        true
    }

    /// The course of the jobs, by job; empty if no intervals were recorded.
    pub(super) fn take_series(&self) -> Vec<JobSeries> {
        self.series.take().into_series()
    }

    fn origin_ns(&self) -> u64 {
        self.times().map_or(0, |times| times.origin_ns)
    }

    fn stretch(&self, worker: &WorkerPlan, start_ns: u64, end_ns: u64, stats: ThreadStats) -> IntervalStats {
        let origin_ns = self.origin_ns();
        IntervalStats {
            job_name: worker.spec.name.clone(),
            job_number: worker.thread_number,
            group_index: worker.group_index,
            directions: worker.used_directions(),
            percentiles: worker.spec.reporting.percentiles.clone(),
            start_ns: start_ns.min(end_ns).saturating_sub(origin_ns),
            end_ns: end_ns.saturating_sub(origin_ns),
            run_epoch_ms: self.run_epoch_ms.get(),
            host: None,
            stats,
        }
    }
}
