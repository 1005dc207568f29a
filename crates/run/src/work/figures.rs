//! The report of a worker: its counts with times, CPU use, and the figures of its parts.
//!
//! Must not know: loops, the times of reports. Start reading at [`WorkerFigures::at`].

use super::hooks::Hooks;
use super::hooks::blocks::BlockTable;
use super::lane::Lane;
use super::loops::Worker;
use crate::compat;
use ferrio_stats::{CpuTurns, ReplayStats, ResourceUsage, ThreadStats};
use ferrio_sys::limits::{ThreadTurns, Usage};
use ferrio_units::DataDirection;
use ferrio_workload::replay::ReplayFigures;

/// The start of the reported time.
pub(super) struct WorkerFigures {
    usage_at_start: Usage,
    /// `None`: the kernel does not count the turns of threads.
    turns_at_start: Option<ThreadTurns>,
    /// Start of the present pass, without its ramp.
    pass_start_ns: u64,
}

impl WorkerFigures {
    pub(super) fn new() -> Self {
        Self { usage_at_start: Usage::default(), turns_at_start: None, pass_start_ns: 0 }
    }

    /// Looks at the turns on a CPU until now, if evidence is kept. It is called before the time starts, since it takes some microseconds.
    pub(super) fn start_turns(&mut self, lane: &Lane<'_>) {
        self.turns_at_start = lane.context.keeps_evidence.then(ThreadTurns::of_thread).flatten();
    }

    /// Starts the reported time now.
    pub(super) fn start(&mut self, now_ns: u64, lane: &Lane<'_>) {
        self.usage_at_start = usage(lane);
        self.pass_start_ns = now_ns;
    }

    /// Starts a pass.
    pub(super) fn start_pass(&mut self, now_ns: u64) {
        self.pass_start_ns = now_ns;
    }

    /// Ends a pass.
    pub(super) fn end_pass(&mut self, now_ns: u64, lane: &mut Lane<'_>) {
        let mut stats = std::mem::take(&mut lane.account.stats);
        self.add_runtime(&mut stats, now_ns, lane);
        lane.account.stats = stats;
        self.pass_start_ns = now_ns;
    }

    /// Adds the time of the present pass to the directions that moved data.
    fn add_runtime(&self, stats: &mut ThreadStats, now_ns: u64, lane: &Lane<'_>) {
        if lane.account.is_ramping() {
            return;
        }
        let (plan, is_reading_back) = (lane.plan, lane.control.is_reading_back);
        if plan.spec.is_verify_only() && !is_reading_back {
            return;
        }
        for direction in DataDirection::ALL {
            let figures = &mut stats.directions[direction];
            let trims_beside = direction == DataDirection::Trim && plan.trims_beside();
            let takes_part = if is_reading_back {
                direction == DataDirection::Read
            } else {
                plan.used_directions()[direction] || trims_beside
            };
            let is_timed = !plan.engine.def.moves_nothing() || compat::times_idle_turns(plan);
            if figures.n_completed > 0 && takes_part && is_timed {
                figures.runtime_ns += now_ns.saturating_sub(self.pass_start_ns);
            }
        }
    }

    /// The report at a time during the run.
    pub(super) fn at(&self, now_ns: u64, worker: &Worker<'_>) -> ThreadStats {
        let Worker { lane, hooks, .. } = worker;
        let mut stats = lane.account.reported();
        self.add_runtime(&mut stats, now_ns, lane);
        self.complete(&mut stats, now_ns, lane, hooks);
        stats
    }

    /// The report at the end.
    pub(super) fn last(&self, now_ns: u64, worker: &mut Worker<'_>) -> Box<ThreadStats> {
        let Worker { lane, hooks, .. } = worker;
        let mut stats = Box::new(lane.account.take_reported());
        stats.log_stall_ns = hooks.log.as_ref().map_or(0, |log| log.stalled().as_nanos() as u64);
        self.complete(&mut stats, now_ns, lane, hooks);
        stats
    }

    /// Adds figures that are known only at the end: CPU, page faults, total time.
    fn complete(&self, stats: &mut ThreadStats, now_ns: u64, lane: &Lane<'_>, hooks: &Hooks<'_>) {
        stats.features.block_states = hooks.blocks.as_ref().map(BlockTable::states);
        stats.features.zone_resets = n_zone_resets(lane, hooks);
        stats.features.replay = lane
            .workload
            .replay_figures()
            .map(|ReplayFigures { n_timed, n_late, max_late_ns }| ReplayStats { n_timed, n_late, max_late_ns });
        stats.features.verify = hooks.verifier.as_ref().and_then(|verifier| verifier.figures());
        let usage = usage(lane).since(self.usage_at_start);
        stats.usage = ResourceUsage {
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            context_switches: usage.voluntary_switches + usage.involuntary_switches,
            major_faults: usage.major_faults,
            minor_faults: usage.minor_faults,
            cpu_turns: self.turns_at_start.and_then(|before| {
                let ThreadTurns { ran_ns, waited_ns, n_turns, n_sleeps } = ThreadTurns::of_thread()?.since(before);
                Some(CpuTurns { ran_ns, waited_ns, n_turns, n_sleeps })
            }),
        };
        stats.total_runtime_ns = now_ns.saturating_sub(lane.control.epoch_ns);
    }
}

fn usage(lane: &Lane<'_>) -> Usage {
    if lane.context.is_thread { Usage::of_thread() } else { Usage::of_process() }
}

/// Number of zones that were reset to be written again, if the job changes zones.
fn n_zone_resets(lane: &Lane<'_>, hooks: &Hooks<'_>) -> Option<u64> {
    let trims = lane.plan.used_directions()[DataDirection::Trim];
    (hooks.has_zones && (lane.plan.writes() || trims)).then(|| lane.workload.n_zone_resets())
}
