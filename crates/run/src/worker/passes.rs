//! The passes of a worker, with the steps before the first, between them, and after the last.
//!
//! Must not know: how I/O is done. Start reading at [`Passes::run_to_end`].
//! Facts: reference "When a pass ends".

use super::core::debug_trace::{tell_memory, tell_memory_end, trace_sprandom};
use super::core::{Stop, WorkerCore};
use super::deadlines::{Deadlines, JobClocks, save_state};
use super::finish::{close_all, close_pass, sync_pass};
use super::hooks::Hooks;
use super::hooks::iolog::IoLog;
use super::loops::connection::{connect, disconnect};
use super::loops::flow::Flow;
use super::loops::pacing::Pacing;
use super::loops::remember::remember_pass;
use super::loops::trims::n_ios;
use super::loops::work_in_turns::{self, WorkInTurns};
use super::loops::{Worker, run_pass};
use super::prepare;
use super::read_back::{verify_pass, verify_passes};
use super::samplers::Samplers;
use super::stream_plan::shape;
use super::verify::Verifier;
use super::worker_figures::WorkerFigures;
use crate::compat;
use crate::error::Failure;
use crate::events::RunEvent;
use crate::files::FileSet;
use crate::layout;
use crate::link::board::WorkerState;
use crate::link::context::WorkerContext;
use crate::link::message::WorkerMessage;
use crate::plan::WorkerPlan;
use ferrio_stats::ThreadStats;
use ferrio_units::{DataDirection, PerDirection};
use ferrio_workload::replay::ReplayPlan;

pub(super) struct Passes<'a> {
    worker: Worker<'a>,
    /// The work of a job that moves no data; `None`: the job does I/O.
    work: Option<WorkInTurns<'a>>,
    deadlines: Deadlines,
    plan: &'a WorkerPlan,
    set: FileSet,
}

/// Makes the files that the next pass reads. Nothing tells of it, as a job may have many passes.
fn make_again(plan: &WorkerPlan, core: &WorkerCore<'_>, set: &FileSet) -> Result<(), Failure> {
    let context = core.context;
    let mut say = |event| {
        if !matches!(event, RunEvent::LayingOut { .. }) {
            (context.send)(&WorkerMessage::from_layout(event));
        }
    };
    layout::make_again(plan, set, context.tracer.settings(), &mut say, &|| core.control.slot().is_told_to_end())
}

impl<'a> Passes<'a> {
    /// Makes all that I/O needs, so that nothing is allocated later.
    pub(super) fn new(
        plan: &'a WorkerPlan,
        replay: Option<ReplayPlan>,
        set: FileSet,
        context: &'a WorkerContext<'a>,
    ) -> Result<Box<Self>, Failure> {
        let shape = shape(plan, &set);
        let (mut core, work) = prepare::core(plan, replay, &set, shape, context)?;
        let hooks = Hooks::new(plan, &mut core, &set, shape)?;
        let pacing = Pacing::new(plan, &core, &hooks);
        let samplers = Samplers::new(plan);
        let deadlines = Deadlines { samplers, figures: WorkerFigures::new(plan), clocks: JobClocks::new(plan) };
        Ok(Self::boxed(core, (hooks, pacing, work), deadlines, (plan, set)))
    }

    /// Puts the parts into one place.
    // A function of its own: copies of all parts are on the stack for a moment, and the making of the parts needs much stack itself.
    // Of each forked job, the stack is memory of its own.
    #[inline(never)]
    fn boxed(
        core: Box<WorkerCore<'a>>,
        (hooks, pacing, work): (Hooks<'a>, Pacing<'a>, Option<WorkInTurns<'a>>),
        deadlines: Deadlines,
        (plan, set): (&'a WorkerPlan, FileSet),
    ) -> Box<Self> {
        Box::new(Self { worker: Worker { core: *core, hooks, pacing }, work, deadlines, plan, set })
    }

    /// Makes the connection that the I/Os use, if there is one, or starts the program beside which turns of work run.
    pub(super) fn connect(&mut self) -> Result<(), Failure> {
        connect(&mut self.worker.core)?;
        self.work.as_mut().map_or(Ok(()), WorkInTurns::begin)
    }

    /// Does all passes. Returns the failure of the job, if there is one.
    pub(super) fn run_to_end(&mut self) -> Option<Failure> {
        let result = self.begin().and_then(|()| self.run_passes());
        let Self { worker, work, plan, .. } = self;
        if let Some(work) = work.as_mut().filter(|_| result.is_ok()) {
            work.end(&mut worker.core);
        }
        worker.pacing.flow.iter().for_each(Flow::leave);
        let Worker { core, hooks, .. } = &mut *worker;
        if plan.spec.layout.unlink && !core.context.readonly {
            core.files.unlink(core.engine.as_mut());
        }
        let logged = hooks.iolog.take().map_or(Ok(()), IoLog::finish);
        let told = hooks.verifier_mut().map_or(Ok(()), Verifier::finish_journal);
        let saves_state = plan.spec.verify.as_ref().is_some_and(|verify| verify.saves_state);
        if saves_state || core.control.slot().wants_state() {
            save_state(worker);
        }
        result.and(logged).and(told).err()
    }

    /// Start of counted I/O on the clock of the run, ns.
    pub(super) fn epoch_ns(&self) -> u64 {
        self.worker.core.control.epoch_ns()
    }

    /// The figures of a worker without a connection: empty, except for the settings of its measurements.
    pub(super) fn unbegun_stats(&self) -> Box<ThreadStats> {
        let ThreadStats { latency_search, .. } = self.worker.core.account.stats;
        Box::new(ThreadStats { latency_search, ..ThreadStats::default() })
    }

    pub(super) fn into_stats(mut self: Box<Self>) -> Box<ThreadStats> {
        let core = &self.worker.core;
        let now_ns = core.clock.now_ns();
        core.publish();
        tell_memory_end(self.plan, core);
        let stats = self.deadlines.figures.last(now_ns, &mut self.worker);
        disconnect(&mut self.worker.core);
        stats
    }

    fn begin(&mut self) -> Result<(), Failure> {
        let Self { worker, deadlines, plan, .. } = self;
        let Worker { core, pacing, .. } = worker;
        if plan.spec.layout.pre_read && plan.engine.def.targets.are_files() {
            core.context.enter(WorkerState::PreReading);
            core.files.pre_read()?;
        }
        tell_memory(plan, core);
        trace_sprandom(plan, core);
        deadlines.figures.start_turns(core);
        let now_ns = core.clock.now_ns();
        deadlines.figures.start(now_ns, core);
        core.control.start(now_ns);
        if let Some(pace) = core.workload.pace() {
            pace.start(now_ns);
        }
        pacing.pauses.start(now_ns);
        // If I/O begins as soon as the gate opens, the job has joined its flow before.
        pacing.flow.iter().for_each(Flow::join);
        deadlines.start(now_ns, worker)?;
        let Worker { core, hooks, .. } = worker;
        core.context.enter(if core.account.is_ramping() { WorkerState::Ramping } else { WorkerState::Running });
        if let Some(path) = &plan.spec.write_iolog {
            hooks.start_iolog(IoLog::open(path, core.context.kept)?);
            (0..core.files.n_files()).for_each(|file| hooks.file(core, file, "add"));
        }
        Ok(())
    }

    fn run_passes(&mut self) -> Result<(), Failure> {
        let mut n_passes = 0;
        loop {
            let done_before = self.moved();
            let stop = self.do_pass();
            n_passes += 1;
            let stop = self.with_late_failure(stop);
            let (stop, is_synced) = self.synced(stop);
            let core = &mut self.worker.core;
            self.deadlines.figures.end_pass(core.clock.now_ns(), core);
            let stop = self.verified(stop, is_synced);
            let goes_on = matches!(stop, Stop::PassEnd) && self.moved() != done_before && self.goes_on(n_passes);
            let stop = if goes_on { stop } else { self.verified_at_last(stop, is_synced) };
            let stop = self.with_late_failure(stop);
            if goes_on && stop == Stop::PassEnd {
                let Err(error) = self.start_next_pass() else { continue };
                self.end_time();
                return if error.is_stopped() { Ok(()) } else { Err(error) };
            }
            self.end_time();
            if let Stop::Failed(error) = stop {
                // The job has failed already, so a second failure does not matter.
                let _ = close_all(&mut self.worker);
                return Err(*error);
            }
            close_pass(&mut self.worker);
            return Ok(());
        }
    }

    /// The time of the job is over: it includes neither the last closing of files nor their removal.
    fn end_time(&mut self) {
        let Self { worker, deadlines, .. } = self;
        let now_ns = worker.core.clock.now_ns();
        deadlines.figures.end(now_ns, &worker.core);
        deadlines.finish_log(now_ns, worker);
    }

    /// Starts the next pass. Its time includes closing the files of the last one, and their removal, but not their making.
    fn start_next_pass(&mut self) -> Result<(), Failure> {
        self.deadlines.figures.start_pass(self.worker.core.clock.now_ns());
        close_pass(&mut self.worker);
        let Worker { core, hooks, .. } = &mut self.worker;
        let plan = self.plan;
        if plan.spec.layout.unlink_each_loop && !core.context.readonly {
            let begin = WorkerFigures::begin_step(core);
            core.files.unlink(core.engine.as_mut());
            if plan.used_directions()[DataDirection::Read] && plan.engine.def.targets.are_files() {
                make_again(plan, core, &self.set)?;
                self.deadlines.figures.start_pass(core.clock.now_ns());
            }
            self.deadlines.figures.end_step(&begin, false, core);
        }
        if !core.account.is_ramping() {
            core.context.enter(WorkerState::Running);
        }
        core.workload.start_pass();
        if let Some(priorities) = &mut hooks.priorities {
            priorities.start_pass();
        }
        Ok(())
    }

    fn do_pass(&mut self) -> Stop {
        let Self { worker, work, deadlines, plan, .. } = self;
        if let Some(work) = work {
            return work_in_turns::run(worker, work, deadlines);
        }
        if plan.spec.is_verify_only() {
            return remember_pass(worker);
        }
        if let Some(verifier) = worker.hooks.verifier_mut() {
            verifier.mark_pass(&worker.core.workload);
        }
        run_pass(worker, deadlines)
    }

    /// The end of a pass, after its closing syncs. True: all that it has written is synced.
    fn synced(&mut self, stop: Stop) -> (Stop, bool) {
        if matches!(stop, Stop::Failed(_)) {
            return (stop, false);
        }
        if !self.worker.core.rules.syncs.are_at_end() {
            return (stop, false);
        }
        let begin = WorkerFigures::begin_step(&self.worker.core);
        let synced = sync_pass(&mut self.worker);
        self.deadlines.figures.end_step(&begin, true, &self.worker.core);
        match synced {
            Ok(is_synced) => (stop, is_synced),
            Err(error) => (Stop::Failed(Box::new(error)), false),
        }
    }

    /// The end of a pass, after its writes were read back.
    fn verified(&mut self, stop: Stop, is_synced: bool) -> Stop {
        match stop {
            Stop::PassEnd | Stop::Filled => match verify_pass(&mut self.worker, &mut self.deadlines, is_synced) {
                Stop::PassEnd => stop,
                other => other,
            },
            other => other,
        }
    }

    /// The end of the last pass, after the writes of all passes were read back.
    fn verified_at_last(&mut self, stop: Stop, is_synced: bool) -> Stop {
        let has_failed = self.worker.core.control.will_fail();
        match stop {
            Stop::PassEnd | Stop::Filled if !has_failed => {
                match verify_passes(&mut self.worker, &mut self.deadlines, is_synced) {
                    Stop::PassEnd => stop,
                    other => other,
                }
            }
            other => other,
        }
    }

    /// A pass that revealed a fault is the last.
    fn with_late_failure(&mut self, stop: Stop) -> Stop {
        match self.worker.core.control.take_late_failure() {
            Some(failure) if !matches!(stop, Stop::Failed(_)) => Stop::Failed(failure),
            _ => stop,
        }
    }

    fn unread_bytes(&self) -> u64 {
        self.worker.hooks.verifier().map_or(0, |verifier| verifier.memory().unread_bytes())
    }

    /// Figures that change if a pass did anything.
    fn moved(&self) -> (PerDirection<u64>, u64) {
        (self.worker.core.account.ios(), self.unread_bytes())
    }

    /// Bytes that count for `io_size`. They may include bytes read back, unless the job goes through its files several times
    /// until `io_size` is done.
    fn moved_bytes(&self) -> u64 {
        let Worker { core, hooks, .. } = &self.worker;
        let issued_bytes = core.workload.progress().issued_bytes;
        if !compat::counts_read_back(self.plan) {
            return issued_bytes;
        }
        let bytes = core.account.bytes();
        if self.plan.spec.is_verify_only() {
            // Bytes of the earlier run, which did the I/Os of this stream and also read back what is read now.
            let of_mix = hooks.verifier().map_or(0, |verifier| verifier.memory().unread_mix_bytes());
            let read_bytes = bytes[DataDirection::Read].saturating_sub(of_mix);
            return issued_bytes.saturating_add(read_bytes).saturating_add(self.unread_bytes());
        }
        issued_bytes.max(bytes[DataDirection::Read].saturating_add(bytes[DataDirection::Write]))
    }

    /// True if another pass follows: because of `loops`, an `io_size` beyond the pass, or remaining time.
    fn goes_on(&self, n_passes: u32) -> bool {
        let plan = self.plan;
        let spec = &plan.spec;
        let core = &self.worker.core;
        if core.workload.progress().is_spent || n_ios(&self.worker) >= core.rules.limit_ios {
            return false;
        }
        // The end may have come in the closing syncs or while writes were read back.
        let control = &core.control;
        if control.is_terminated() || core.clock.now_ns() >= control.runtime_end_ns() {
            return false;
        }
        if n_passes < spec.limits.loops {
            return true;
        }
        let left_bytes = self.set.io_bytes.saturating_sub(self.moved_bytes());
        let is_beyond_pass = self.set.io_bytes > self.set.pass_bytes;
        let is_more = compat::wants_another_pass(plan, !self.set.zones.is_empty(), is_beyond_pass);
        spec.limits.time_based || (is_more && left_bytes >= compat::smallest_pass_bytes(plan))
    }
}
