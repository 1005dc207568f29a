//! The bandwidth of all jobs together, sample by sample (`--bandwidth-log`).
//!
//! Must not know: files. Start reading at [`BandwidthMeter::take_due`].

use crate::events::BandwidthSample;
use crate::link::board::{Board, WorkerState};
use crate::plan::WorkerPlan;
use ferrio_units::PerDirection;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Reads the board at equal intervals.
pub(super) struct BandwidthMeter {
    started_at: Instant,
    interval: Duration,
    due_at: Instant,
    last_at: Instant,
    looks: Vec<Look>,
}

/// Values of a worker at the last sample.
struct Look {
    bytes: [u64; 3],
    /// The worker was in its ramp, or before it.
    ramps: bool,
}

impl BandwidthMeter {
    /// The interval is the shortest bandwidth interval of all jobs.
    pub(super) fn new(workers: &[WorkerPlan], started_at: Instant) -> Self {
        let shortest_ms = workers.iter().map(|worker| worker.spec.reporting.bw_window_ms).min().unwrap_or(500);
        let interval = Duration::from_millis(shortest_ms.max(1));
        let due_at = started_at + interval;
        let look = |worker: &WorkerPlan| Look { bytes: [0; 3], ramps: worker.spec.limits.ramp_time_us > 0 };
        Self { started_at, interval, due_at, last_at: started_at, looks: workers.iter().map(look).collect() }
    }

    /// Time until the next sample.
    pub(super) fn time_left(&self, now: Instant) -> Duration {
        self.due_at.saturating_duration_since(now)
    }

    /// The sample, if one is due. A late sample covers a longer time.
    pub(super) fn take_due(&mut self, board: &Board, now: Instant) -> Option<BandwidthSample> {
        if now < self.due_at {
            return None;
        }
        let following = self.due_at + self.interval;
        self.due_at = if following > now { following } else { now + self.interval };
        let elapsed_ns = now.saturating_duration_since(self.last_at).as_nanos().max(1);
        self.last_at = now;
        let bytes = self.moved_since(board);
        let kib_per_sec =
            |bytes: u64| u64::try_from(u128::from(bytes) * 1_000_000_000 / elapsed_ns / 1_024).unwrap_or(u64::MAX);
        Some(BandwidthSample {
            time_ms: now.saturating_duration_since(self.started_at).as_millis() as u64,
            kib_per_sec: PerDirection(bytes.map(kib_per_sec)),
        })
    }

    /// Bytes of all workers since the last sample. Samples during the ramp of a worker do not count, nor does the
    /// sample in which the ramp ends, because the board does not show when that was.
    fn moved_since(&mut self, board: &Board) -> [u64; 3] {
        let mut sums = [0_u64; 3];
        for (index, look) in self.looks.iter_mut().enumerate() {
            let slot = board.slot(index);
            let now = [0, 1, 2].map(|direction: usize| slot.bytes[direction].load(Relaxed));
            let before = std::mem::replace(&mut look.bytes, now);
            let ramps = look.ramps && slot.state() <= WorkerState::Ramping;
            if std::mem::replace(&mut look.ramps, ramps) {
                continue;
            }
            for (sum, (now, before)) in sums.iter_mut().zip(now.into_iter().zip(before)) {
                *sum = sum.saturating_add(now.saturating_sub(before));
            }
        }
        sums
    }
}
