//! The deadlines of a worker: what it does when its loop is interrupted for deadlines and for requests of the supervisor.
//!
//! Must not know: the kind of loop. Start reading at [`Deadlines::on_deadline`].

use super::core::{Stop, WorkerCore};
use super::hooks::depth_search::SearchStep;
use super::loops::in_flight::collect_some;
use super::loops::{DeadlineHandler, Worker};
use super::read_back::read_backlog;
use super::samplers::Samplers;
use super::worker_figures::WorkerFigures;
use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::link::board::{WorkerState, attention};
use crate::link::message::{WorkerMessage, WorkerSnapshot};
use crate::link::trace::TraceGroup;
use crate::plan::WorkerPlan;
use ferrio_stats::note::RunNote;
use ferrio_sys::clock::clock_ms;
use ferrio_sys::errno::EINVAL;

const NS_PER_MS: u64 = 1_000_000;

/// Handles the deadlines of a worker.
pub(super) struct Deadlines {
    pub(super) samplers: Samplers,
    pub(super) figures: WorkerFigures,
    pub(super) clocks: JobClocks,
}

/// Clocks that the job asks for, by their numbers in `clock_gettime(2)`.
pub(super) struct JobClocks {
    start_id: u32,
    /// The clock of times in logs; `None`: they count from the start of the job.
    log_id: Option<u32>,
}

impl JobClocks {
    pub(super) fn new(plan: &WorkerPlan) -> Self {
        let (reporting, logs) = (&plan.spec.reporting, &plan.spec.logs);
        Self { start_id: reporting.job_start_clock_id, log_id: logs.alternate_epoch.then_some(logs.epoch_clock_id) }
    }
}

impl DeadlineHandler for Deadlines {
    #[cold]
    fn on_deadline(&mut self, worker: &mut Worker<'_>, stamp: u64) -> Option<Stop> {
        let core = &mut worker.core;
        let now_ns = core.clock.at_ns(stamp);
        let due = core.control.take_due(&mut core.clock, now_ns);
        if due.ramp_over {
            self.end_ramp(now_ns, worker);
        } else if !due.runtime_over || self.samplers.rates.next_ns() < core.control.runtime_end_ns() {
            // A window that ended before the runtime gets its sample, even if a stall delayed the look until the end.
            self.samplers.sample_rates(now_ns, core, &mut worker.hooks);
        }
        let too_slow = self.samplers.at(now_ns, &worker.core).err().map(Stop::from);
        let judged = self.try_next_depth(now_ns, worker);
        let (core, context) = (&worker.core, worker.core.context);
        core.publish();
        if due.state {
            save_state(worker);
        }
        if due.snapshot {
            let figures = Box::new(self.figures.at(now_ns, worker));
            (context.send)(&WorkerMessage::Snapshot(figures));
        }
        self.hand_over_interval(now_ns, worker);
        self.arm(now_ns, worker);
        let failed = worker.core.control.take_late_failure().map(Stop::Failed);
        if let Some(stop) = failed.or(too_slow).or(judged) {
            return Some(stop);
        }
        if due.terminate || due.runtime_over { Some(Stop::Ended) } else { read_backlog(worker, self) }
    }
}

impl Deadlines {
    /// Starts the I/O.
    ///
    /// # Errors
    /// The clock that the job asks for does not exist.
    pub(super) fn start(&mut self, now_ns: u64, worker: &mut Worker<'_>) -> Result<(), Failure> {
        if worker.core.control.is_ramping() {
            worker.core.account.start_ramp();
        } else {
            self.samplers.start_counting(now_ns, &worker.core);
            start_search(now_ns, worker);
        }
        self.samplers.rates.start(now_ns, &worker.core.account);
        self.samplers.intervals.begin(worker.core.context.board.intervals(), now_ns);
        self.start_log(now_ns, worker)?;
        let id = self.clocks.start_id;
        let start_ms = clock_ms_at(now_ns, id, &worker.core).ok_or_else(|| {
            failure!(EINVAL, "clock_gettime")
                .explained(RunNote::NoSuchClock { option: "job_start_clock_id".to_owned(), id })
        })?;
        worker.core.account.job_starts_at(start_ms);
        set_first_depth(worker);
        Ok(())
    }

    /// Ends rates and logs now.
    pub(super) fn finish_log(&mut self, now_ns: u64, worker: &mut Worker<'_>) {
        self.samplers.finish_rates(now_ns, &mut worker.core, &mut worker.hooks);
    }

    fn end_ramp(&mut self, now_ns: u64, worker: &mut Worker<'_>) {
        self.start_counting(now_ns, worker);
        start_search(now_ns, worker);
        worker.core.context.enter(WorkerState::Running);
    }

    /// Clears all counts so far.
    fn start_counting(&mut self, now_ns: u64, worker: &mut Worker<'_>) {
        let core = &mut worker.core;
        core.account.end_ramp();
        if let Some(server) = core.engine.server() {
            server.counts_begin_anew();
        }
        self.samplers.rates.start(now_ns, &core.account);
        self.samplers.start_counting(now_ns, core);
        // Cannot fail: the clock existed when I/O began.
        core.account.job_starts_at(clock_ms_at(now_ns, self.clocks.start_id, core).unwrap_or(0));
        if let Some(pace) = core.workload.pace() {
            pace.forgive(now_ns);
        }
        worker.pacing.forget_times();
        self.figures.start_turns(&worker.core);
        self.figures.start(now_ns, &worker.core);
        // Cannot fail: the clock existed when the ramp began.
        let _ = self.start_log(now_ns, worker);
    }

    fn start_log(&self, now_ns: u64, worker: &mut Worker<'_>) -> Result<(), Failure> {
        let Some(log) = &mut worker.hooks.log else { return Ok(()) };
        let Some(id) = self.clocks.log_id else {
            log.start(now_ns, 0);
            return Ok(());
        };
        let base_ms = clock_ms_at(now_ns, id, &worker.core).ok_or_else(|| {
            failure!(EINVAL, "clock_gettime")
                .explained(RunNote::NoSuchClock { option: "log_alternate_epoch_clock_id".to_owned(), id })
        })?;
        log.start(now_ns, base_ms);
        Ok(())
    }

    /// Moves to the next depth of a search, if the present one was tried long enough.
    fn try_next_depth(&mut self, now_ns: u64, worker: &mut Worker<'_>) -> Option<Stop> {
        // The job fails; it reports what it has done so far.
        let control = &worker.core.control;
        let is_searching = !control.is_reading_back() && !control.will_fail();
        let limits = worker.hooks.latency.as_mut()?;
        let search = limits.search().filter(|search| is_searching && search.is_due(now_ns))?;
        let (shares, before) = ((search.share_percent(), search.percentile()), search.depth());
        let (step, depth) = (search.close(), search.depth());
        let (good, bad) = search.bounds();
        tell_step(&worker.core, shares, before, step, (good, depth, bad));
        if step == SearchStep::Over {
            return Some(Stop::Ended);
        }
        if step != SearchStep::Same {
            while worker.core.slots.n_used() > 0 {
                if let Err(stop) = collect_some(worker) {
                    return Some(stop);
                }
            }
            set_depth(&mut worker.core, depth);
        }
        let now_ns = worker.core.clock.now_ns();
        if step == SearchStep::Final {
            self.finish_log(now_ns, worker);
            self.start_counting(now_ns, worker);
            worker.core.control.count_from(now_ns);
        }
        start_search(now_ns, worker);
        None
    }

    /// Sends all figures if an interval is over.
    fn hand_over_interval(&mut self, now_ns: u64, worker: &mut Worker<'_>) {
        if let Some(due_ns) = self.samplers.intervals.at(now_ns, &worker.core) {
            debug_assert!(due_ns <= now_ns, "an interval is handed over after its end");
            let stats = self.figures.at(now_ns, worker);
            let figures = Box::new(WorkerSnapshot { at_ns: now_ns, due_ns, stats });
            (worker.core.context.send)(&WorkerMessage::Interval(figures));
        }
    }

    /// Sets the next deadline of the loop.
    fn arm(&self, now_ns: u64, worker: &mut Worker<'_>) {
        let Worker { core, hooks, .. } = worker;
        let next_ns = self.samplers.next_ns(now_ns, hooks);
        // No depth is tried while writes are read back.
        let limits = hooks.latency.as_ref().filter(|_| !core.control.is_reading_back());
        let depth_ns = limits.map_or(u64::MAX, |limits| limits.next_ns());
        core.control.arm(&core.clock, now_ns, next_ns.min(depth_ns));
    }
}

/// Writes the state file of the verification, and answers the request. A failure is reported, but ends nothing.
pub(super) fn save_state(worker: &Worker<'_>) {
    let core = &worker.core;
    if let Some(Err(note)) = worker.hooks.verifier().and_then(|verifier| verifier.save_state(core)) {
        core.context.say(MessageStream::Error, note);
    }
    core.control.slot().has_answered(attention::SAVE_STATE);
}

/// Time of the clock `id` at `now_ns`, which is a time of the core's own clock. A worker may have waited for a CPU since then: the time of
/// the clock now would place its I/Os later than they were.
fn clock_ms_at(now_ns: u64, id: u32, core: &WorkerCore<'_>) -> Option<u64> {
    let shown_ms = clock_ms(id)?;
    let since_ns = core.clock.now_ns().saturating_sub(now_ns);
    Some(shown_ms.saturating_sub(since_ns / NS_PER_MS))
}

/// Called before the first I/O: a search begins at a depth of 1.
fn set_first_depth(worker: &mut Worker<'_>) {
    let Worker { core, hooks, .. } = worker;
    if let Some(search) = hooks.latency.as_mut().and_then(|limits| limits.search()) {
        core.context.tracer.line(TraceGroup::Rate, || format!("Latency target={}", search.target_ns()));
        set_depth(core, 1);
    }
}

fn set_depth(core: &mut WorkerCore<'_>, depth: u32) {
    core.slots.limit(depth);
    core.account.searches_at(depth);
}

/// Opens a window of the search for a depth now.
fn start_search(now_ns: u64, worker: &mut Worker<'_>) {
    if let Some(search) = worker.hooks.latency.as_mut().and_then(|limits| limits.search()) {
        search.open(now_ns);
    }
}

/// Sends lines about a window of the search for a depth: the share of its I/Os within the target, and the next step. `shares` are
/// that share and the wanted one, percent; `depths` are the largest that kept the target, the next one to try, and the smallest that missed it.
fn tell_step(core: &WorkerCore<'_>, shares: (f64, f64), before: u32, step: SearchStep, depths: (u32, u32, u32)) {
    let (share_percent, wanted) = shares;
    core.context.tracer.line(TraceGroup::Rate, || format!("Success rate: {share_percent:.2}% (target {wanted:.2}%)"));
    let (good, depth, bad) = depths;
    core.context.tracer.line(TraceGroup::Rate, || match step {
        SearchStep::Depth if depth > before => format!("Ramped up: {good} {depth} {bad}"),
        SearchStep::Depth => format!("Ramped down: {good} {depth} {bad}"),
        SearchStep::Same => format!("Stays: {good} {depth} {bad}"),
        SearchStep::Final => "Quiesce and final run".to_owned(),
        SearchStep::Over => "We are done".to_owned(),
    });
}
