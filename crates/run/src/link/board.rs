//! The board: the progress of the workers, and requests of the supervisor to them. Atomics in memory that all processes
//! of the run share, sized to the run.
//!
//! Must not know: jobs. Start reading at [`WorkerSlot`].

use super::flow::{FlowSeat, Flows};
use crate::plan::WorkerPlan;
use ferrio_spec::FileLocking;
use ferrio_stats::ThreadStats;
use ferrio_sys::range_locks::LockSpace;
use ferrio_sys::{SharedMemory, futex_wait, futex_wake};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

ferrio_sys::shared_struct! {
    /// State of one worker. 64 bytes, so that each has its own cache line.
    pub struct WorkerSlot {
        pub state: AtomicU32,
        /// Bits of [`attention`].
        pub attention: AtomicU32,
        pub n_open_files: AtomicU32,
        /// Number of intervals whose figures were sent and that the supervisor has not received: 0 or 1.
        pub n_unheard: AtomicU32,
        /// Bytes read, written, trimmed so far, ramp included.
        pub bytes: [AtomicU64; 3],
        /// I/Os completed so far.
        pub ios: [AtomicU64; 3],
    }
}

/// Times at which workers send their figures, if records of intervals are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalTimes {
    /// Start of the run on its clock, nanoseconds.
    pub origin_ns: u64,
    /// Length of an interval, nanoseconds, at least 1.
    pub length_ns: u64,
}

impl IntervalTimes {
    pub fn new(origin_ns: u64, length: Duration) -> Self {
        Self { origin_ns, length_ns: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX).max(1) }
    }

    /// End of the interval that contains a time: the first multiple of the length after it. Saturates.
    pub fn next_after(&self, now_ns: u64) -> u64 {
        let n_passed = now_ns.saturating_sub(self.origin_ns) / self.length_ns;
        let end_ns = self.origin_ns.saturating_add((n_passed + 1).saturating_mul(self.length_ns));
        debug_assert!(end_ns > now_ns || end_ns == u64::MAX, "an interval ends after a time in it");
        end_ns
    }
}

/// Requests of the supervisor, one bit each, for which a worker leaves its loop for a moment.
pub mod attention {
    /// End the job.
    pub const TERMINATE: u32 = 1;
    /// Send a snapshot of the statistics.
    pub const SNAPSHOT: u32 = 2;
    /// Write the state file of the verification.
    pub const SAVE_STATE: u32 = 4;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum WorkerState {
    /// Not started.
    Waiting,
    /// The process or thread exists.
    Created,
    /// The worker is ready to start I/O.
    Initialised,
    /// The worker reads its files before the clock starts.
    PreReading,
    /// The worker does I/O that is not counted.
    Ramping,
    Running,
    Syncing,
    /// The worker reads back what it wrote.
    Verifying,
    /// The worker has done its last I/O.
    Finishing,
    /// The worker has sent its results.
    Exited,
}

impl WorkerState {
    const ALL: [Self; 10] = [
        Self::Waiting,
        Self::Created,
        Self::Initialised,
        Self::PreReading,
        Self::Ramping,
        Self::Running,
        Self::Syncing,
        Self::Verifying,
        Self::Finishing,
        Self::Exited,
    ];
}

impl WorkerSlot {
    pub fn state(&self) -> WorkerState {
        let index = self.state.load(Ordering::Acquire) as usize;
        WorkerState::ALL.get(index).copied().unwrap_or(WorkerState::Exited)
    }

    pub fn set_state(&self, state: WorkerState) {
        self.state.store(state as u32, Ordering::Release);
    }

    /// True if the supervisor has asked the worker to end.
    pub fn is_told_to_end(&self) -> bool {
        self.attention.load(Ordering::Acquire) & attention::TERMINATE != 0
    }

    /// Claims the right to send the figures of an interval; false: the supervisor has not received the last ones yet.
    pub fn may_send_interval(&self) -> bool {
        self.n_unheard.swap(1, Ordering::AcqRel) == 0
    }

    /// Called after the supervisor has received the figures of an interval.
    pub fn set_heard(&self) {
        self.n_unheard.store(0, Ordering::Release);
    }

    /// True if the supervisor has any request.
    pub fn wants_attention(&self) -> bool {
        self.attention.load(Ordering::Relaxed) != 0
    }

    /// True if the supervisor waits for the state file of the verification.
    pub fn wants_state(&self) -> bool {
        self.attention.load(Ordering::Acquire) & attention::SAVE_STATE != 0
    }

    /// Clears these requests after they were answered.
    pub fn has_answered(&self, bits: u32) {
        debug_assert_eq!(bits & attention::TERMINATE, 0, "an order to end is never taken back");
        self.attention.fetch_and(!bits, Ordering::AcqRel);
    }

    pub fn ask(&self, bits: u32) {
        debug_assert_ne!(bits, 0, "a request says what is wanted");
        self.attention.fetch_or(bits, Ordering::Release);
    }
}

/// The last state of the board for a worker: all that is known of one that died without sending results.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    state: WorkerState,
    bytes: [u64; 3],
    ios: [u64; 3],
}

impl Shown {
    pub(crate) fn of(slot: &WorkerSlot) -> Self {
        let load = |counts: &[AtomicU64; 3]| [0, 1, 2].map(|index: usize| counts[index].load(Ordering::Relaxed));
        Self { state: slot.state(), bytes: load(&slot.bytes), ios: load(&slot.ios) }
    }

    /// I/Os of all directions.
    pub(crate) fn n_ios(&self) -> u64 {
        self.ios.iter().fold(0, |sum, ios| sum.wrapping_add(*ios))
    }

    /// Figures for a report: I/Os, bytes and the time since the worker was let go (ramp included), but no latencies.
    /// Empty if the worker had counted nothing yet.
    pub(crate) fn figures(&self, ran: Duration) -> ThreadStats {
        let mut stats = ThreadStats::default();
        if self.state < WorkerState::Running {
            return stats;
        }
        let ran_ns = u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX);
        stats.total_runtime_ns = ran_ns;
        for (index, figures) in stats.directions.0.iter_mut().enumerate() {
            (figures.n_issued, figures.n_completed) = (self.ios[index], self.ios[index]);
            figures.bytes = self.bytes[index];
            figures.runtime_ns = if figures.n_completed > 0 { ran_ns } else { 0 };
        }
        stats
    }
}

/// Slots of all workers, and the gate at which they wait for their start.
pub struct Board {
    slots: SharedMemory<WorkerSlot>,
    /// A single entry: the generation of the gate.
    gate: SharedMemory<AtomicU32>,
    /// Times at which workers send their figures; `None`: never.
    intervals: Option<IntervalTimes>,
    /// A single entry: the time that intervals count from, which may change until the workers are let go.
    origin_ns: SharedMemory<AtomicU64>,
    flows: Flows,
    /// Locks of files; `None`: no job uses locks.
    locks: Option<LockSpace>,
    /// Locks of the bytes that I/Os are touching; `None`: no job waits for another's I/Os.
    overlaps: Option<LockSpace>,
}

impl Board {
    pub fn new(n_workers: usize) -> ferrio_sys::Result<Self> {
        Ok(Self {
            slots: SharedMemory::new(n_workers.max(1))?,
            gate: SharedMemory::new(1)?,
            intervals: None,
            origin_ns: SharedMemory::new(1)?,
            flows: Flows::new(n_workers)?,
            locks: None,
            overlaps: None,
        })
    }

    /// Adds locks, if a job locks files, or if some wait for the I/Os of others.
    pub fn with_locks(self, workers: &[WorkerPlan]) -> ferrio_sys::Result<Self> {
        let space = |wanted: bool| wanted.then(LockSpace::new).transpose();
        let locks = space(workers.iter().any(|worker| worker.spec.target.locking != FileLocking::None))?;
        let overlaps = space(workers.iter().filter(|worker| worker.waits_for_other_jobs()).nth(1).is_some())?;
        Ok(Self { locks, overlaps, ..self })
    }

    /// The locks of files that all workers share.
    pub(crate) fn locks(&self) -> Option<&LockSpace> {
        self.locks.as_ref()
    }

    /// True if workers may wait for each other's locks.
    pub(crate) fn has_locks(&self) -> bool {
        self.locks.is_some() || self.overlaps.is_some()
    }

    /// The locks of the bytes that I/Os of the workers are touching.
    pub(crate) fn overlaps(&self) -> Option<&LockSpace> {
        self.overlaps.as_ref()
    }

    /// Sets the times at which workers send their figures.
    #[must_use]
    pub fn with_intervals(self, intervals: Option<IntervalTimes>) -> Self {
        let board = Self { intervals, ..self };
        board.count_intervals_from(intervals.map_or(0, |times| times.origin_ns));
        board
    }

    /// Intervals count from this time of the run's clock; for workers that have not begun.
    pub fn count_intervals_from(&self, origin_ns: u64) {
        self.origin_ns[0].store(origin_ns, Ordering::Release);
    }

    /// Times at which workers send their figures; `None`: never.
    pub fn intervals(&self) -> Option<IntervalTimes> {
        let origin_ns = self.origin_ns[0].load(Ordering::Acquire);
        self.intervals.map(|times| IntervalTimes { origin_ns, ..times })
    }

    pub fn slot(&self, index: usize) -> &WorkerSlot {
        &self.slots[index]
    }

    /// The worker's seat in its flow; `None`: the job has no `flow`.
    pub(crate) fn flow_seat(&self, plan: &WorkerPlan, index: usize) -> Option<FlowSeat<'_>> {
        plan.flow_index.map(|flow_index| self.flows.seat(flow_index, index))
    }

    /// Generation of the gate; a worker must read it before it reports that it is ready.
    pub fn gate_generation(&self) -> u32 {
        self.gate[0].load(Ordering::Acquire)
    }

    /// Waits until the gate moves on from `generation`, at most for `limit`. True if it did.
    pub fn wait_at_gate(&self, generation: u32, limit: Duration) -> bool {
        let deadline = std::time::Instant::now() + limit;
        while self.gate_generation() == generation {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return false;
            }
            futex_wait(&self.gate[0], generation, Some(left));
        }
        true
    }

    /// Opens the gate for all workers that wait.
    pub fn open_gate(&self) {
        self.gate[0].fetch_add(1, Ordering::Release);
        futex_wake(&self.gate[0], u32::MAX);
    }
}
