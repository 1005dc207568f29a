//! Times in which workers were stopped by signals, or the whole program with them.
//!
//! A job that makes no progress for a tick is looked at: reading its state costs a system call, and none is made for jobs that go on. Where the
//! supervisor itself was stopped, its own clock has a gap that no wait for a CPU explains. Must not know: what the workers do. Start reading at
//! [`StopTimes::look`].

use super::record::{SupervisedWorker, WorkerStatus};
use super::worker_handle::WorkerHandle;
use crate::link::board::{Board, Shown};
use ferrio_sys::limits::CpuTurns;
use ferrio_sys::process;
use std::time::{Duration, Instant};

/// Least time between two looks.
const LEAST: Duration = Duration::from_millis(50);
/// The same for each worker: of a thousand jobs that all wait, the states are read once a second.
const LEAST_OF_EACH: Duration = Duration::from_millis(1);
/// A gap between two looks from which on the supervisor may have been stopped; its longest sleep is a tenth of a second.
const GAP: Duration = Duration::from_millis(400);
/// Share of its rate below which a worker has stood still in a gap.
const STANDSTILL: f64 = 0.5;

/// The times of all workers.
#[derive(Debug, Default)]
pub(super) struct StopTimes {
    looked_at: Option<Instant>,
    /// The supervisor's waits for a CPU until the last look, ns.
    waited_ns: u64,
    workers: Vec<StopTime>,
}

/// Of one worker.
#[derive(Debug, Clone, Copy, Default)]
struct StopTime {
    n_ios: u64,
    /// I/Os a second until the last look.
    rate: f64,
    stopped_ns: u64,
    was_stopped: bool,
}

impl StopTimes {
    /// Looks at the workers, unless the last look was just now.
    pub(super) fn look(&mut self, records: &[SupervisedWorker], board: &Board, now: Instant) {
        let since = self.looked_at.map(|looked_at| now.saturating_duration_since(looked_at));
        let least = LEAST.max(LEAST_OF_EACH * records.len() as u32);
        if since.is_some_and(|since| since < least) {
            return;
        }
        self.workers.resize_with(records.len(), StopTime::default);
        self.looked_at = Some(now);
        let gap = since.unwrap_or_default();
        let own_ns = self.own_stop_ns(gap, least);
        for (index, record) in records.iter().enumerate() {
            let WorkerStatus::Running(handle) = &record.status else { continue };
            let time = &mut self.workers[index];
            let n_ios = Shown::of(board.slot(index)).n_ios();
            let n_new = n_ios.wrapping_sub(time.n_ios);
            time.n_ios = n_ios;
            let (rate, seconds) = (time.rate, gap.as_secs_f64());
            // It may have gone on for a moment before and after the stop of both.
            if own_ns > 0 && n_new as f64 <= rate * seconds * STANDSTILL {
                time.stopped_ns += own_ns;
                continue;
            }
            time.rate = if seconds > 0.0 { n_new as f64 / seconds } else { 0.0 };
            let goes_on = n_new > 0;
            let is_stopped = match handle {
                WorkerHandle::Process(pid, _) if !goes_on => process::is_stopped_by_signal(*pid),
                _ => false,
            };
            // A stop begins and ends between two looks: half of the time on either side is its own.
            let gap_ns = gap.as_nanos() as u64;
            time.stopped_ns += match (time.was_stopped, is_stopped) {
                (true, true) => gap_ns,
                (false, false) => 0,
                _ => gap_ns / 2,
            };
            time.was_stopped = is_stopped;
        }
    }

    /// Time of a gap in which the supervisor was stopped; 0: it waited for a CPU, or looks as seldom as that.
    fn own_stop_ns(&mut self, gap: Duration, least: Duration) -> u64 {
        let waited_ns = CpuTurns::of_thread().map_or(u64::MAX, |turns| turns.waited_ns);
        let waited = Duration::from_nanos(waited_ns.saturating_sub(self.waited_ns));
        self.waited_ns = waited_ns;
        let stopped = gap.saturating_sub(waited);
        if stopped >= GAP + least { stopped.as_nanos() as u64 } else { 0 }
    }

    /// Time for which a worker was stopped, ns.
    pub(super) fn of(&self, index: usize) -> u64 {
        self.workers.get(index).map_or(0, |time| time.stopped_ns)
    }
}
