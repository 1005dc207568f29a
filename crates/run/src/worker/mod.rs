//! One worker: what a job process or thread does from its first step to its results.
//!
//! Must not know: other workers, formats.
//! Start reading at [`work`], which is in `whole`; the loops are in `depth_one` and `queued`, what both do per I/O in `io`.

mod account;
mod blocks;
mod commands;
mod control;
mod crash_log;
mod depth_one;
mod file_table;
mod flow;
mod intervals;
mod io;
mod iolog;
mod latency_limits;
mod latency_target;
mod log;
mod message;
mod minima;
mod observe;
mod pace;
mod passes;
mod pauses;
mod queued;
mod ramp_size;
mod response;
mod serialize;
mod setup;
mod slots;
mod sparse_stamps;
mod steady;
mod surroundings;
mod verify;
mod verify_async;
mod verify_backlog;
mod verify_known;
mod verify_overlaps;
mod verify_state;
mod verify_trims;
mod verify_writes;
mod whole;
mod zones;

use crate::error::{JobError, job_error};
use crate::events::Stream;
use crate::files::FileSet;
use crate::logs::LogPort;
use crate::plan::WorkerPlan;
use crate::supervisor::board::{Board, WorkerState};
use crate::trace::{self, TraceGroup, TraceSettings};
use account::Account;
use blocks::BlockTable;
use control::Control;
use ferrio_engine::{Completion, Engine};
use ferrio_job::spec::QueueSpec;
use ferrio_stats::{ReplayStats, ResourceUsage, ThreadStats};
use ferrio_sys::limits::Usage;
use ferrio_sys::{Arena, Clock};
use ferrio_workload::Workload;
use ferrio_workload::command_priority::CommandPriorities;
use ferrio_workload::contents::BufferContents;
use ferrio_workload::replay::{ReplayFigures, ReplayPlan};
use file_table::FileTable;
use flow::Flow;
use intervals::Intervals;
use iolog::IoLog;
use latency_limits::LatencyLimits;
use log::WorkerLog;
use minima::Minima;
use pace::Waiter;
use pauses::Pauses;
use ramp_size::RampSize;
use response::ResponseTimes;
use serialize::Serializer;
use slots::{Batch, Slots};
use sparse_stamps::SparseStamps;
use std::cell::RefCell;
use std::rc::Rc;
use steady::{SteadySampler, SteadyTotals};
use verify::Verifier;

pub use message::{IntervalFigures, WorkerMessage, WorkerOutcome};
pub use whole::work;

/// What a worker gets from the supervisor.
pub struct WorkerContext<'a> {
    /// The board of the run.
    pub board: &'a Board,
    /// Its slot.
    pub slot_index: usize,
    /// Generation of the gate that it waits for.
    pub gate_generation: u32,
    /// The clock of the run.
    pub clock: Clock,
    /// Where its messages go.
    pub send: &'a dyn Fn(&WorkerMessage),
    /// It shares its process with the supervisor.
    pub is_thread: bool,
    /// No file may be made or changed.
    pub readonly: bool,
    /// What is traced.
    pub trace: TraceSettings,
    /// Where its logs go; `None`: it has none.
    pub log: Option<&'a LogPort>,
}

/// Why a loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    /// The workload has nothing left in this pass.
    PassEnd,
    /// The runtime is over, or the supervisor said so.
    Ended,
    /// The device is full, as the job wanted.
    Filled,
    /// The job failed.
    Failed(Box<JobError>),
}

/// State of a worker while it does I/O.
struct Worker<'a> {
    plan: &'a WorkerPlan,
    context: &'a WorkerContext<'a>,
    clock: Clock,
    set: FileSet,
    workload: Workload,
    contents: BufferContents,
    engine: Box<dyn Engine + 'a>,
    arena: Rc<RefCell<Arena>>,
    block_bytes: usize,
    files: FileTable,
    slots: Slots,
    queue: QueueSpec,
    prepared: Batch,
    completions: Vec<Completion>,
    account: Account,
    control: Control<'a>,
    iolog: Option<IoLog>,
    log: Option<Box<WorkerLog<'a>>>,
    /// The log wants to see every I/O.
    logs_each_io: bool,
    /// Draws the priorities of single I/Os.
    priorities: Option<Box<CommandPriorities>>,
    /// When the I/Os in flight were meant to start.
    response: Option<Box<ResponseTimes>>,
    /// Which bytes I/Os in flight touch.
    serializer: Option<Box<Serializer>>,
    /// Makes and checks the contents of blocks.
    verifier: Option<Box<Verifier>>,
    /// What an I/O that is done has shown to be wrong; the job ends with it at its next look up.
    late_failure: Option<Box<JobError>>,
    /// How long I/Os may take.
    latency_limits: Option<Box<LatencyLimits>>,
    /// A ramp that ends with what is moved, while it runs.
    ramp_size: Option<RampSize>,
    /// States of blocks.
    blocks: Option<BlockTable>,
    /// Every I/O is shown to `observe_issue`.
    observes_issues: bool,
    /// Every data I/O is shown to `observe_done`.
    observes_completions: bool,
    /// Lowest and highest byte written since the last `sync_file_range`, by file.
    dirty: Vec<Option<(u64, u64)>>,
    /// Latencies are measured: every I/O needs its stamps.
    stamps_wanted: bool,
    /// Where they are not: how often the clock is read all the same.
    sparse_stamps: SparseStamps,
    steady: SteadySampler,
    intervals: Intervals,
    minima: Minima,
    waiter: Waiter,
    flow: Option<Flow<'a>>,
    pauses: Pauses,
    /// Time may pass between the end of an I/O and the turn of the next, or the end has no stamp of its own.
    times_turns: bool,
    /// I/Os issued when the loop of `thinkcycles` ran last.
    n_spun_for: u64,
    usage_at_start: Usage,
    /// Start of the counted part of the present pass.
    pass_start_ns: u64,
}

impl<'a> Worker<'a> {
    fn new(
        plan: &'a WorkerPlan,
        replay: Option<ReplayPlan>,
        set: FileSet,
        context: &'a WorkerContext<'a>,
    ) -> Result<Box<Self>, JobError> {
        let clock = context.clock.clone();
        let block_bytes = usize::try_from(plan.max_block_bytes()).unwrap_or(usize::MAX);
        let arena = setup::buffers(plan, block_bytes)?;
        let engine = setup::engine(plan, &set, &arena, block_bytes, context)?;
        let workload = setup::workload(plan, replay, &set)?;
        let queue = plan.queue();
        let mut account = Account::new(plan);
        let log = WorkerLog::new(plan, context.log, plan.ioprio()).map(Box::new);
        if let Some(log) = &log {
            account.sample_each(log.bw_each(), log.iops_each());
        }
        let blocks = BlockTable::new(plan, &set)?;
        let latency_limits = LatencyLimits::new(plan).map(Box::new);
        let response = ResponseTimes::new(plan).map(Box::new);
        let priorities = setup::priorities(plan).map(Box::new);
        let verifier = Verifier::prepare(plan, &set, block_bytes)?;
        account.tell_priorities(plan, priorities.as_deref());
        let mut worker = Box::new(Self {
            files: FileTable::new(plan, &set),
            contents: setup::contents(plan, &set),
            slots: Slots::new(queue.iodepth, block_bytes),
            prepared: Batch::new(queue.iodepth),
            completions: Vec::with_capacity(queue.iodepth as usize),
            stamps_wanted: account.needs_stamps() || response.is_some() || latency_limits.is_some(),
            control: Control::new(plan, context.board.slot(context.slot_index)),
            iolog: None,
            logs_each_io: log.as_ref().is_some_and(|log| log.needs_each_io()),
            log,
            dirty: vec![None; set.files.len()],
            sparse_stamps: SparseStamps::new(),
            steady: SteadySampler::new(plan),
            intervals: Intervals::new(context.board.intervals()),
            minima: Minima::new(plan),
            waiter: Waiter::new(),
            flow: Flow::new(plan, context),
            pauses: Pauses::new(&plan.spec.pace.pauses),
            n_spun_for: 0,
            usage_at_start: Usage::default(),
            pass_start_ns: 0,
            plan,
            context,
            clock,
            set,
            workload,
            engine,
            arena,
            block_bytes,
            queue,
            account,
            priorities,
            response,
            serializer: Serializer::new(plan).map(Box::new),
            verifier,
            late_failure: None,
            latency_limits,
            ramp_size: RampSize::new(plan),
            blocks,
            observes_issues: false,
            observes_completions: false,
            times_turns: true,
        });
        worker.decide_once();
        Ok(worker)
    }

    /// What the loops would else ask for each I/O.
    fn decide_once(&mut self) {
        self.observes_issues = self.wants_issues();
        self.observes_completions = self.wants_completions();
        self.times_turns = self.wants_times_of_turns();
    }

    /// The stamp of now, or the last one when nobody needs it that often.
    #[inline]
    fn stamp_after(&mut self, last: u64) -> u64 {
        if self.stamps_wanted {
            return self.clock.stamp();
        }
        self.sparse_stamps.next(&self.clock, last)
    }

    /// Looks up from the loop: deadlines and requests.
    #[cold]
    fn attend(&mut self, stamp: u64) -> Option<Stop> {
        let now_ns = self.clock.at_ns(stamp);
        let due = self.control.take_due(&mut self.clock, now_ns);
        if due.ramp_over {
            self.end_ramp(now_ns);
        } else if !due.runtime_over || self.account.next_sample_ns() < self.control.runtime_end_ns() {
            // A window that ended before the runtime has its sample, also when a stall held it until the end.
            self.sample(now_ns);
        }
        if now_ns >= self.steady.end_ns() {
            self.sample_steady(now_ns);
        }
        let too_slow = if now_ns >= self.minima.end_ns() { self.check_minima(now_ns) } else { None };
        let judged = self.attend_latencies(now_ns);
        self.publish();
        self.save_state_if(due.state);
        if due.snapshot {
            (self.context.send)(&WorkerMessage::Snapshot(Box::new(self.figures_at(now_ns))));
        }
        self.hand_over_interval(now_ns);
        let log_ns = self.log.as_ref().map_or(u64::MAX, |log| log.next_ns(now_ns));
        let samples_ns = self.account.next_sample_ns().min(log_ns).min(self.steady.end_ns());
        let next_ns = samples_ns.min(self.intervals.end_ns()).min(self.minima.end_ns());
        self.control.arm(&self.clock, now_ns, next_ns.min(self.latency_window_end_ns()));
        let failed = self.late_failure.take().map(Stop::Failed);
        if let Some(stop) = failed.or(too_slow).or(judged) {
            return Some(stop);
        }
        if due.terminate || due.runtime_over { Some(Stop::Ended) } else { self.read_backlog() }
    }

    /// Takes the samples of rates that are due, and ends the windows of the logs.
    fn sample(&mut self, now_ns: u64) {
        let Self { account, log, .. } = self;
        if now_ns >= account.next_sample_ns() {
            account.sample(now_ns, |kind, direction, value| {
                if let Some(log) = log {
                    log.rate(kind, direction, now_ns, value);
                }
            });
        }
        if let Some(log) = log
            && !account.is_ramping()
        {
            log.tick(now_ns, &account.stats);
        }
    }

    /// The logs count from now.
    fn start_log(&mut self, now_ns: u64) -> Result<(), JobError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let logs = &self.plan.spec.logs;
        let base_ms = if logs.alternate_epoch { ferrio_sys::clock::clock_ms(logs.epoch_clock_id) } else { Some(0) };
        let Some(base_ms) = base_ms else {
            let text = format!("fio: log_alternate_epoch_clock_id={}: no such clock", logs.epoch_clock_id);
            return Err(job_error!(22, "clock_gettime").explained(text));
        };
        log.start(now_ns, base_ms);
        Ok(())
    }

    fn sample_steady(&mut self, now_ns: u64) {
        let (totals, send) = (self.steady_totals(), self.context.send);
        self.steady.sample(now_ns, totals, |sample| send(&WorkerMessage::Steady(sample)));
    }

    fn steady_totals(&self) -> SteadyTotals {
        SteadyTotals::new(self.account.ios(), self.account.bytes(), &self.account.stats)
    }

    /// Shows progress on the board.
    fn publish(&self) {
        use std::sync::atomic::Ordering::Relaxed;
        let slot = self.control.slot();
        for (index, (bytes, ios)) in self.account.bytes().0.into_iter().zip(self.account.ios().0).enumerate() {
            slot.bytes[index].store(bytes, Relaxed);
            slot.ios[index].store(ios, Relaxed);
        }
        slot.n_open_files.store(self.files.n_open(), Relaxed);
    }

    fn end_ramp(&mut self, now_ns: u64) {
        self.start_counting(now_ns);
        self.start_latency_search(now_ns);
        self.control.slot().set_state(WorkerState::Running);
    }

    /// What was counted until now is forgotten.
    fn start_counting(&mut self, now_ns: u64) {
        self.account.end_ramp();
        self.account.start_windows(now_ns);
        self.steady.start(now_ns, self.steady_totals());
        // The clock was there when I/O began.
        self.account.stats.job_start_ms = self.job_start_ms().unwrap_or(0);
        self.minima.start(now_ns);
        self.workload.forgive(now_ns);
        self.usage_at_start = self.usage();
        self.pass_start_ns = now_ns;
        // The clock was there when the ramp began.
        let _ = self.start_log(now_ns);
    }

    /// The clock of `job_start_clock_id`.
    fn job_start_ms(&self) -> Option<u64> {
        ferrio_sys::clock::clock_ms(self.plan.spec.reporting.job_start_clock_id)
    }

    fn usage(&self) -> Usage {
        if self.context.is_thread { Usage::of_thread() } else { Usage::of_process() }
    }

    /// All that is to be reported at a moment in the midst of the run.
    fn figures_at(&self, now_ns: u64) -> ThreadStats {
        let mut stats = self.account.reported();
        self.add_runtime(&mut stats, now_ns);
        self.complete_stats(&mut stats, now_ns);
        stats
    }

    /// What is only known at the end: CPU, faults, total time.
    fn complete_stats(&self, stats: &mut ThreadStats, now_ns: u64) {
        stats.block_states = self.blocks.as_ref().map(BlockTable::states);
        stats.zone_resets = self.n_zone_resets();
        stats.replay = self
            .workload
            .replay_figures()
            .map(|ReplayFigures { n_timed, n_late, max_late_ns }| ReplayStats { n_timed, n_late, max_late_ns });
        stats.verify = self.verifier.as_ref().and_then(|verifier| verifier.figures());
        let usage = self.usage().since(self.usage_at_start);
        stats.usage = ResourceUsage {
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            context_switches: usage.voluntary_switches + usage.involuntary_switches,
            major_faults: usage.major_faults,
            minor_faults: usage.minor_faults,
        };
        stats.total_runtime_ns = now_ns.saturating_sub(self.control.epoch_ns);
    }

    fn into_stats(mut self: Box<Self>) -> Box<ThreadStats> {
        let now_ns = self.clock.now_ns();
        self.publish();
        let mut stats = Box::new(self.account.take_reported());
        stats.log_stall_ns = self.log.as_ref().map_or(0, |log| log.stalled().as_nanos() as u64);
        self.complete_stats(&mut stats, now_ns);
        stats
    }

    /// Sends a line of a traced group.
    fn trace(&self, group: TraceGroup, text: impl FnOnce() -> String) {
        if self.context.trace.has(group, self.plan.thread_number) {
            self.say(Stream::Trace, trace::line(group, &text()));
        }
    }

    /// Sends lines to the user.
    fn say(&self, stream: Stream, text: String) {
        (self.context.send)(&WorkerMessage::Text(stream, text));
    }
}
