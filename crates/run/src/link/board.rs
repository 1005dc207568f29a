//! The board: what workers show while they run, and what the supervisor tells them. Atomics in memory that all
//! processes of the run share, sized to the run.
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
    /// One worker. 64 bytes: a cache line of its own.
    pub struct WorkerSlot {
        /// A [`WorkerState`].
        pub state: AtomicU32,
        /// Bits of [`attention`].
        pub attention: AtomicU32,
        /// Files that are open.
        pub n_open_files: AtomicU32,
        /// Figures of an interval that the supervisor has not taken: 0 or 1.
        pub n_unheard: AtomicU32,
        /// Bytes read, written, trimmed so far, ramp included.
        pub bytes: [AtomicU64; 3],
        /// I/Os completed so far.
        pub ios: [AtomicU64; 3],
    }
}

/// When workers hand over what they counted, for who keeps records of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalTimes {
    /// The run's start on its clock, nanoseconds.
    pub origin_ns: u64,
    /// Length of an interval, nanoseconds, at least 1.
    length_ns: u64,
}

impl IntervalTimes {
    /// Intervals from a moment on.
    pub fn new(origin_ns: u64, length: Duration) -> Self {
        Self { origin_ns, length_ns: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX).max(1) }
    }

    /// End of the interval that a moment is in: the first multiple of the length after it. Saturates.
    pub fn next_after(&self, now_ns: u64) -> u64 {
        let n_passed = now_ns.saturating_sub(self.origin_ns) / self.length_ns;
        self.origin_ns.saturating_add((n_passed + 1).saturating_mul(self.length_ns))
    }
}

/// Bits by which the supervisor asks a worker to look up from its loop.
pub mod attention {
    /// End the job.
    pub const TERMINATE: u32 = 1;
    /// Send a snapshot of the statistics.
    pub const SNAPSHOT: u32 = 2;
    /// Write the state file of the verification.
    pub const SAVE_STATE: u32 = 4;
}

/// Where a worker is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum WorkerState {
    /// Not started.
    Waiting,
    /// Process or thread exists.
    Created,
    /// Ready to start I/O.
    Initialised,
    /// Reads its files before the clock starts.
    PreReading,
    /// Does I/O that is not counted.
    Ramping,
    /// Does I/O.
    Running,
    /// Syncs its files.
    Syncing,
    /// Reads back what it wrote.
    Verifying,
    /// Done with I/O.
    Finishing,
    /// Has handed over its results.
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
    /// The state that the worker shows.
    pub fn state(&self) -> WorkerState {
        let index = self.state.load(Ordering::Acquire) as usize;
        WorkerState::ALL.get(index).copied().unwrap_or(WorkerState::Exited)
    }

    /// Shows a state.
    pub fn set_state(&self, state: WorkerState) {
        self.state.store(state as u32, Ordering::Release);
    }

    /// The supervisor wants the job to end.
    pub fn is_told_to_end(&self) -> bool {
        self.attention.load(Ordering::Acquire) & attention::TERMINATE != 0
    }

    /// Takes the right to send the figures of an interval; false: the supervisor has not taken the last ones.
    pub fn may_send_interval(&self) -> bool {
        self.n_unheard.swap(1, Ordering::AcqRel) == 0
    }

    /// The supervisor has taken the figures of an interval.
    pub fn set_heard(&self) {
        self.n_unheard.store(0, Ordering::Release);
    }

    /// The supervisor wants something.
    pub fn wants_attention(&self) -> bool {
        self.attention.load(Ordering::Relaxed) != 0
    }

    /// The supervisor waits for the state file of the verification.
    pub fn wants_state(&self) -> bool {
        self.attention.load(Ordering::Acquire) & attention::SAVE_STATE != 0
    }

    /// What was asked for with these bits is done.
    pub fn has_answered(&self, bits: u32) {
        self.attention.fetch_and(!bits, Ordering::AcqRel);
    }

    /// Asks for attention.
    pub fn ask(&self, bits: u32) {
        self.attention.fetch_or(bits, Ordering::Release);
    }
}

/// What a worker showed last: all that is known of one that died without a word.
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

    /// Figures for a report: I/Os and bytes of the time since it was let go (ramp included), no latencies. None at all
    /// when it had nothing to count yet.
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
    /// Position 0: the generation of the gate.
    gate: SharedMemory<AtomicU32>,
    /// When workers hand over their figures; `None`: never.
    intervals: Option<IntervalTimes>,
    flows: Flows,
    /// Locks of files; `None`: no job has any.
    locks: Option<LockSpace>,
    /// Bytes of files that I/Os are touching; `None`: no two jobs wait for each other's.
    overlaps: Option<LockSpace>,
}

impl Board {
    /// A board for `n_workers`.
    pub fn new(n_workers: usize) -> ferrio_sys::Result<Self> {
        Ok(Self {
            slots: SharedMemory::new(n_workers.max(1))?,
            gate: SharedMemory::new(1)?,
            intervals: None,
            flows: Flows::new(n_workers)?,
            locks: None,
            overlaps: None,
        })
    }

    /// The board of a run, with locks if one of its jobs locks files, or some wait for the I/Os of others.
    pub fn with_locks(self, workers: &[WorkerPlan]) -> ferrio_sys::Result<Self> {
        let space = |wanted: bool| wanted.then(LockSpace::new).transpose();
        let locks = space(workers.iter().any(|worker| worker.spec.target.locking != FileLocking::None))?;
        let overlaps = space(workers.iter().filter(|worker| worker.waits_for_other_jobs()).nth(1).is_some())?;
        Ok(Self { locks, overlaps, ..self })
    }

    /// Locks of files that all workers share.
    pub(crate) fn locks(&self) -> Option<&LockSpace> {
        self.locks.as_ref()
    }

    /// Workers may wait for each other's locks.
    pub(crate) fn has_locks(&self) -> bool {
        self.locks.is_some() || self.overlaps.is_some()
    }

    /// Bytes of files that I/Os of the workers are touching.
    pub(crate) fn overlaps(&self) -> Option<&LockSpace> {
        self.overlaps.as_ref()
    }

    /// The board of a run whose workers hand over their figures at these times.
    #[must_use]
    pub fn with_intervals(self, intervals: Option<IntervalTimes>) -> Self {
        Self { intervals, ..self }
    }

    /// When workers hand over their figures; `None`: never.
    pub fn intervals(&self) -> Option<IntervalTimes> {
        self.intervals
    }

    /// Slot of a worker.
    pub fn slot(&self, index: usize) -> &WorkerSlot {
        &self.slots[index]
    }

    /// The part of a worker in its flow; `None`: it shares with nobody.
    pub(crate) fn flow_seat(&self, plan: &WorkerPlan, index: usize) -> Option<FlowSeat<'_>> {
        plan.flow_index.map(|flow_index| self.flows.seat(flow_index, index))
    }

    /// Generation of the gate: to be read before a worker says that it is ready.
    pub fn gate_generation(&self) -> u32 {
        self.gate[0].load(Ordering::Acquire)
    }

    /// Waits until the gate moves on from `generation`; at most `limit`. True when it did.
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

    /// Lets all that wait go.
    pub fn open_gate(&self) {
        self.gate[0].fetch_add(1, Ordering::Release);
        futex_wake(&self.gate[0], u32::MAX);
    }
}
