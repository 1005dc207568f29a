//! The report of a worker: its counts with times, CPU use, and the figures of its parts.
//!
//! Must not know: loops, the times of reports. Start reading at [`WorkerFigures::at`].

use super::core::WorkerCore;
use super::hooks::Hooks;
use super::hooks::blocks::BlockTable;
use super::loops::Worker;
use super::verify::Verifier;
use crate::compat;
use crate::plan::WorkerPlan;
use ferrio_engine::Server;
use ferrio_stats::{CpuTurns, ForeignDatagrams, HelperUsage, ResourceUsage, ThreadStats, TimeCounts};
use ferrio_sys::limits::{Usage, cpu_beside_thread_ns};
use ferrio_units::{DataDirection, PerDirection};
use ferrio_workload::SharedZoning;
use ferrio_workload::replay::ReplayStream;
use std::cell::Cell;

/// The start of the reported time.
pub(super) struct WorkerFigures {
    rules: FigureRules,
    usage_at_start: CpuUse,
    /// The most that helpers were seen to have used. It is a difference of two clocks of the kernel, which round in their own ways, or
    /// a sum over workers, of which some have ended; so a later one may be smaller.
    most_of_helpers: Cell<HelperUsage>,
    /// `None`: the kernel does not count the turns of threads.
    turns_at_start: Option<CpuTurns>,
    /// Bytes that the kernel had read for the worker; `None`: not counted, or nobody asks.
    read_bytes_at_start: Option<u64>,
    /// Start of the present pass, without its ramp.
    pass_start_ns: u64,
    /// The pass only reads back what others wrote.
    only_reads_back: bool,
    /// The last reading of a backlog of writes.
    backlog: BacklogRead,
    /// `None`: the time of the job goes on.
    ended: Option<TimeEnd>,
    /// Times of steps at the ends of passes.
    steps: TimeCounts,
}

/// What the job's options mean for its figures.
struct FigureRules {
    /// Directions that have the time of a pass, if they moved data in it.
    timed: PerDirection<bool>,
    /// A pass only remembers writes, which takes no time (`verify_only`).
    only_remembers: bool,
    reads_backlog: bool,
    /// Targets are files, of which the kernel counts what is read.
    has_files: bool,
    /// The job may write or trim, and so reset zones.
    may_reset_zones: bool,
    /// Datagrams of others count as received.
    takes_foreign: bool,
}

impl FigureRules {
    fn new(plan: &WorkerPlan) -> Self {
        let used = plan.used_directions();
        let is_timed = !plan.engine.def.moves_nothing() || compat::times_idle_turns(plan);
        let timed = |direction| used[direction] || (direction == DataDirection::Trim && plan.trims_beside());
        Self {
            timed: PerDirection(DataDirection::ALL.map(|direction| is_timed && timed(direction))),
            only_remembers: plan.spec.is_verify_only(),
            reads_backlog: plan.spec.verify.as_ref().is_some_and(|verify| verify.backlog.is_some()),
            has_files: plan.engine.def.targets.are_files(),
            may_reset_zones: plan.writes() || used[DataDirection::Trim],
            takes_foreign: plan.compatibility.is_fio(),
        }
    }
}

/// A reading of the backlog. If no I/O follows it, the pass was over before, and its time is that of reads alone.
#[derive(Default)]
struct BacklogRead {
    took_ns: u64,
    /// Number of I/Os that the job had issued until then.
    n_issued: u64,
}

/// The beginning of a step at the end of a pass.
pub(super) struct StepBegin {
    now_ns: u64,
    usage: Usage,
}

/// The end of a job's time, and what it had used until then.
struct TimeEnd {
    now_ns: u64,
    usage: CpuUse,
    turns: Option<CpuTurns>,
}

/// What the job's thread has used until now, and its process, if that is not the process of other jobs. Among other jobs the kernel's
/// workers are known by the thread that they work for.
#[derive(Clone, Copy, Default)]
struct CpuUse {
    own: Usage,
    process: Option<Usage>,
    /// CPU time of all other threads of that process, ns.
    beside_ns: u64,
    kernel_workers: Option<Usage>,
}

impl CpuUse {
    fn now(core: &WorkerCore<'_>) -> Self {
        let is_thread = core.context.is_thread;
        let has_workers = is_thread && core.context.keeps_evidence && core.engine.has_kernel_workers();
        Self {
            own: Usage::of_thread(),
            process: (!is_thread).then(Usage::of_process),
            beside_ns: if is_thread { 0 } else { cpu_beside_thread_ns() },
            kernel_workers: has_workers.then(Usage::of_kernel_workers).flatten(),
        }
    }

    /// CPU time of the other threads since an earlier state.
    fn helpers_since(self, earlier: Self) -> Option<HelperUsage> {
        if let Some(workers) = self.kernel_workers {
            let Usage { user_ns, system_ns, .. } = workers.since(earlier.kernel_workers.unwrap_or_default());
            return Some(HelperUsage { user_ns, system_ns });
        }
        let process = self.process?.since(earlier.process?);
        // The clocks know how much it is, and the counts only how it divides.
        let all_ns = self.beside_ns.saturating_sub(earlier.beside_ns);
        let system_ns = process.system_ns.saturating_sub(self.own.since(earlier.own).system_ns).min(all_ns);
        Some(HelperUsage { user_ns: all_ns - system_ns, system_ns })
    }
}

impl WorkerFigures {
    pub(super) fn new(plan: &WorkerPlan) -> Self {
        Self {
            rules: FigureRules::new(plan),
            usage_at_start: CpuUse::default(),
            most_of_helpers: Cell::default(),
            turns_at_start: None,
            read_bytes_at_start: None,
            pass_start_ns: 0,
            only_reads_back: false,
            backlog: BacklogRead::default(),
            ended: None,
            steps: TimeCounts::default(),
        }
    }

    /// The times of pauses with those of steps at the ends of passes, where evidence is kept.
    fn times(&self, mut times: TimeCounts) -> Option<Box<TimeCounts>> {
        times.merge(&self.steps);
        self.turns_at_start.map(|_| Box::new(times))
    }

    /// Begins a step at the end of a pass.
    pub(super) fn begin_step(core: &WorkerCore<'_>) -> StepBegin {
        StepBegin { now_ns: core.clock.now_ns(), usage: Usage::of_thread() }
    }

    /// Ends it: closing syncs, or the making of files.
    pub(super) fn end_step(&mut self, begin: &StepBegin, is_sync: bool, core: &WorkerCore<'_>) {
        let took_ns = core.clock.now_ns().saturating_sub(begin.now_ns);
        let used = Usage::of_thread().since(begin.usage);
        let cpu_ns = used.system_ns.saturating_add(used.user_ns);
        let (time_ns, step_cpu_ns) = if is_sync {
            (&mut self.steps.closing_syncs_ns, &mut self.steps.closing_cpu_ns)
        } else {
            (&mut self.steps.set_up_ns, &mut self.steps.set_up_cpu_ns)
        };
        *time_ns += took_ns;
        *step_cpu_ns += cpu_ns;
    }

    /// Looks at the turns on a CPU and at the bytes read until now, if evidence is kept. It is called before the time starts, since
    /// it takes some microseconds.
    pub(super) fn start_turns(&mut self, core: &WorkerCore<'_>) {
        self.turns_at_start = turns(core);
        self.read_bytes_at_start = self.own_read_bytes(core);
    }

    /// Starts the reported time now.
    pub(super) fn start(&mut self, now_ns: u64, core: &WorkerCore<'_>) {
        self.steps = TimeCounts::default();
        self.usage_at_start = CpuUse::now(core);
        self.pass_start_ns = now_ns;
    }

    pub(super) fn start_pass(&mut self, now_ns: u64) {
        self.pass_start_ns = now_ns;
    }

    /// Starts a pass that only reads back what was written.
    pub(super) fn start_read_back(&mut self, now_ns: u64) {
        self.only_reads_back = true;
        self.pass_start_ns = now_ns;
    }

    pub(super) fn end_read_back(&mut self, now_ns: u64, core: &mut WorkerCore<'_>) {
        self.end_pass(now_ns, core);
        self.only_reads_back = false;
    }

    /// Ends a reading of the backlog, which began at `start_ns`.
    pub(super) fn end_backlog(&mut self, start_ns: u64, now_ns: u64, core: &WorkerCore<'_>) {
        self.backlog =
            BacklogRead { took_ns: now_ns.saturating_sub(start_ns), n_issued: core.workload.progress().n_issued };
    }

    /// Ends the time of the job now.
    pub(super) fn end(&mut self, now_ns: u64, core: &WorkerCore<'_>) {
        self.ended = Some(TimeEnd { now_ns, usage: CpuUse::now(core), turns: turns(core) });
    }

    pub(super) fn end_pass(&mut self, now_ns: u64, core: &mut WorkerCore<'_>) {
        let mut stats = std::mem::take(&mut core.account.stats);
        self.add_runtime(&mut stats, now_ns, core);
        core.account.stats = stats;
        self.pass_start_ns = now_ns;
        self.backlog = BacklogRead::default();
    }

    /// Adds the time of the present pass to the directions that moved data.
    fn add_runtime(&self, stats: &mut ThreadStats, now_ns: u64, core: &WorkerCore<'_>) {
        if core.account.is_ramping() {
            return;
        }
        let now_ns = core.control.counted_until_ns(now_ns);
        if self.rules.only_remembers && !self.only_reads_back {
            return;
        }
        let is_last = self.backlog.n_issued == core.workload.progress().n_issued;
        let after_ns = if is_last { self.backlog.took_ns } else { 0 };
        for direction in DataDirection::ALL {
            let figures = &mut stats.directions[direction];
            let reads_back = direction == DataDirection::Read && (self.only_reads_back || self.rules.reads_backlog);
            let is_of_pass = !self.only_reads_back && self.rules.timed[direction];
            if figures.n_completed > 0 && (reads_back || is_of_pass) {
                let after_ns = if reads_back { 0 } else { after_ns };
                figures.runtime_ns += now_ns.saturating_sub(self.pass_start_ns + after_ns);
            }
        }
    }

    /// The report at a time during the run.
    pub(super) fn at(&self, now_ns: u64, worker: &mut Worker<'_>) -> ThreadStats {
        let Worker { core, hooks, .. } = worker;
        let mut stats = core.account.reported();
        self.add_runtime(&mut stats, now_ns, core);
        self.complete(&mut stats, now_ns, core, hooks);
        stats
    }

    /// The report at the end.
    pub(super) fn last(&self, now_ns: u64, worker: &mut Worker<'_>) -> Box<ThreadStats> {
        let Worker { core, hooks, pacing } = worker;
        let times = pacing.times();
        let mut stats = Box::new(core.account.take_reported());
        stats.log_stall_ns = hooks.log.as_ref().map_or(0, |log| log.stalled().as_nanos() as u64);
        self.complete(&mut stats, now_ns, core, hooks);
        stats.features.times = self.times(times);
        stats.features.draws = core.workload.drawn();
        let before = self.read_bytes_at_start;
        stats.features.read_before_bytes = before;
        stats.features.own_read_bytes =
            before.and_then(|before| Some(self.own_read_bytes(core)?.saturating_sub(before)));
        stats
    }

    /// Adds figures that are known only at the end: CPU, page faults, total time.
    fn complete(&self, stats: &mut ThreadStats, now_ns: u64, core: &mut WorkerCore<'_>, hooks: &Hooks<'_>) {
        stats.features.block_states = hooks.blocks.as_ref().map(BlockTable::states);
        stats.features.zone_resets = self.n_zone_resets(core, hooks);
        if let Some(server) = core.engine.server() {
            stats.features.foreign_datagrams = self.foreign_datagrams(server);
            stats.features.server = server.server_steps().map(Box::new);
        }
        stats.features.replay = core.workload.replayed().map(ReplayStream::figures);
        stats.features.verify = hooks.verifier().and_then(Verifier::figures);
        let (now_ns, usage, turns) = match &self.ended {
            Some(TimeEnd { now_ns, usage, turns }) => (*now_ns, *usage, *turns),
            None => (now_ns, CpuUse::now(core), turns(core)),
        };
        let helpers = usage.helpers_since(self.usage_at_start).map(|now| {
            let most = self.most_of_helpers.get();
            let (user_ns, system_ns) = (most.user_ns.max(now.user_ns), most.system_ns.max(now.system_ns));
            self.most_of_helpers.set(HelperUsage { user_ns, system_ns });
            self.most_of_helpers.get()
        });
        let usage = usage.own.since(self.usage_at_start.own);
        stats.usage = ResourceUsage {
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            context_switches: usage.voluntary_switches + usage.involuntary_switches,
            major_faults: usage.major_faults,
            minor_faults: usage.minor_faults,
            cpu_turns: self.turns_at_start.and_then(|before| Some(turns?.since(before))),
            helpers,
        };
        stats.total_runtime_ns = now_ns.saturating_sub(core.control.epoch_ns());
    }

    /// Asked for at the start and the end only, and only where findings are seen.
    fn own_read_bytes(&self, core: &WorkerCore<'_>) -> Option<u64> {
        let is_wanted = core.context.keeps_evidence && self.rules.has_files;
        if is_wanted { crate::evidence::own_read_bytes(core.context.is_thread) } else { None }
    }

    /// Datagrams of others; a native run leaves them out.
    fn foreign_datagrams(&self, server: &dyn Server) -> ForeignDatagrams {
        let n_foreign = server.n_foreign_datagrams();
        if self.rules.takes_foreign {
            ForeignDatagrams { n_taken: n_foreign, n_left_out: 0 }
        } else {
            ForeignDatagrams { n_taken: 0, n_left_out: n_foreign }
        }
    }

    /// Number of zones that were reset to be written again, if the job changes zones.
    fn n_zone_resets(&self, core: &WorkerCore<'_>, hooks: &Hooks<'_>) -> Option<u64> {
        let changes_zones = hooks.has_zones && self.rules.may_reset_zones;
        changes_zones.then(|| core.workload.zones().map_or(0, SharedZoning::n_resets))
    }
}

/// The turns on a CPU until now, where evidence is kept.
fn turns(core: &WorkerCore<'_>) -> Option<CpuTurns> {
    core.context.keeps_evidence.then(CpuTurns::of_thread).flatten()
}
