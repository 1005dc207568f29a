//! Deadlines of a worker's loop: ends of ramp and runtime, samples, requests of the supervisor.
//!
//! Must not know: I/O. Start reading at [`Control::is_due`], the one check per I/O.

use crate::error::Failure;
use crate::link::board::{WorkerSlot, attention};
use crate::plan::WorkerPlan;
use ferrio_sys::Clock;
use std::sync::atomic::Ordering;

/// Time between two calibrations of the clock.
const CALIBRATION_NS: u64 = 250_000_000;

/// Time between two updates of the board.
const PUBLISH_NS: u64 = 20_000_000;

/// Time for which I/Os in flight may go on after the run was told to end, where a server does them.
const STOP_PATIENCE_NS: u64 = 500_000_000;

/// The same after the end of the runtime, while data move: the time after which block devices of Linux take a request for lost.
const RUNTIME_PATIENCE_NS: u64 = 30_000_000_000;

/// The same where fewer data move than [`LEAST_MOVED_BYTES`].
const SILENCE_NS: u64 = 1_500_000_000;

/// Data of I/Os in flight that move within [`SILENCE_NS`] at least, if they are to be waited for: a slow line carries more.
const LEAST_MOVED_BYTES: u64 = 64 << 10;

/// The end time of a ramp that does not end by time.
const OPEN_RAMP_NS: u64 = u64::MAX - 1;

/// Deadlines of a worker.
pub(crate) struct Control<'a> {
    slot: &'a WorkerSlot,
    /// Earliest deadline, as a raw stamp.
    next_stamp: u64,
    /// Earliest deadline, nanoseconds.
    next_ns: u64,
    /// Start of counted I/O.
    epoch_ns: u64,
    ramp_end_ns: u64,
    runtime_ns: u64,
    runtime_end_ns: u64,
    calibration_ns: u64,
    /// Time at which a wait for I/Os in flight first found that the job is told to end.
    stop_seen_ns: Option<u64>,
    /// Time at which such a wait, after the end of the runtime, last found that enough had moved, and what has moved since then, bytes.
    moved: Option<(u64, u64)>,
    /// I/Os in flight were given up, which ends the job, during its ramp too: the time since when nothing has come of them.
    given_up_since_ns: Option<u64>,
    /// Writes are being read back: only reads take time, and no depth is tried.
    is_reading_back: bool,
    /// A fault that a completed I/O has revealed; the job ends with it when the loop checks its deadlines next.
    late_failure: Option<Box<Failure>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Due {
    pub(crate) terminate: bool,
    pub(crate) snapshot: bool,
    /// The state of the verification is to be saved.
    pub(crate) state: bool,
    pub(crate) ramp_over: bool,
    pub(crate) runtime_over: bool,
}

impl<'a> Control<'a> {
    pub(crate) fn new(worker: &WorkerPlan, slot: &'a WorkerSlot) -> Self {
        let ns = |us: u64| us.saturating_mul(1_000);
        let limits = &worker.spec.limits;
        Self {
            slot,
            next_stamp: 0,
            next_ns: 0,
            epoch_ns: 0,
            ramp_end_ns: match (limits.ramp_time_us, limits.ramp_bytes) {
                (0, 0) => u64::MAX,
                (0, _) => OPEN_RAMP_NS,
                (us, _) => ns(us),
            },
            runtime_ns: if limits.runtime_us > 0 { ns(limits.runtime_us) } else { u64::MAX },
            runtime_end_ns: u64::MAX,
            calibration_ns: 0,
            stop_seen_ns: None,
            moved: None,
            given_up_since_ns: None,
            is_reading_back: false,
            late_failure: None,
        }
    }

    pub(crate) fn start(&mut self, now_ns: u64) {
        self.epoch_ns = now_ns;
        self.calibration_ns = now_ns + CALIBRATION_NS;
        if self.ramp_end_ns == u64::MAX {
            self.runtime_end_ns = now_ns.saturating_add(self.runtime_ns);
        } else {
            self.ramp_end_ns = self.ramp_end_ns.saturating_add(now_ns).min(OPEN_RAMP_NS);
        }
        self.next_stamp = 0;
    }

    /// True during the ramp.
    pub(crate) fn is_ramping(&self) -> bool {
        self.ramp_end_ns != u64::MAX
    }

    /// True if [`Control::take_due`] has to be called.
    #[inline]
    pub(crate) fn is_due(&self, stamp: u64) -> bool {
        stamp >= self.next_stamp || self.slot.attention.load(Ordering::Relaxed) != 0
    }

    /// Ends the ramp when the loop checks next.
    pub(crate) fn end_ramp(&mut self) {
        self.ramp_end_ns = 0;
        self.look_up();
    }

    /// Makes the loop check its deadlines before the next I/O.
    pub(crate) fn look_up(&mut self) {
        self.next_stamp = 0;
    }

    /// Lets the job fail, not within the completion that reveals the fault, but when the loop checks next, or at the
    /// end of the pass.
    pub(crate) fn fail_soon(&mut self, error: Failure) {
        self.late_failure.get_or_insert_with(|| Box::new(error));
        self.look_up();
    }

    /// Start of counted I/O, nanoseconds.
    pub(crate) fn epoch_ns(&self) -> u64 {
        self.epoch_ns
    }

    pub(crate) fn count_from(&mut self, now_ns: u64) {
        debug_assert!(now_ns >= self.epoch_ns, "counted I/O begins no earlier than before");
        self.epoch_ns = now_ns;
    }

    /// True while writes are read back.
    pub(crate) fn is_reading_back(&self) -> bool {
        self.is_reading_back
    }

    /// Called before and after writes are read back.
    pub(crate) fn set_reading_back(&mut self, is_reading_back: bool) {
        self.is_reading_back = is_reading_back;
    }

    /// True if a completed I/O has revealed a fault.
    pub(crate) fn will_fail(&self) -> bool {
        self.late_failure.is_some()
    }

    /// Takes the fault that a completed I/O has revealed.
    pub(crate) fn take_late_failure(&mut self) -> Option<Box<Failure>> {
        self.late_failure.take()
    }

    /// The actions that are due. `next_sample_ns`: time of the next sample.
    pub(crate) fn take_due(&mut self, clock: &mut Clock, now_ns: u64) -> Due {
        let bits = self.slot.attention.load(Ordering::Acquire);
        if bits & attention::SNAPSHOT != 0 {
            self.slot.attention.fetch_and(!attention::SNAPSHOT, Ordering::AcqRel);
        }
        let mut due = Due {
            terminate: bits & attention::TERMINATE != 0,
            snapshot: bits & attention::SNAPSHOT != 0,
            state: bits & attention::SAVE_STATE != 0,
            ..Due::default()
        };
        if now_ns >= self.calibration_ns {
            clock.recalibrate();
            self.calibration_ns = now_ns + CALIBRATION_NS;
        }
        if now_ns >= self.ramp_end_ns {
            debug_assert!(now_ns >= self.epoch_ns, "a ramp ends after its start");
            due.ramp_over = true;
            self.ramp_end_ns = u64::MAX;
            self.epoch_ns = now_ns;
            self.runtime_end_ns = now_ns.saturating_add(self.runtime_ns);
        }
        due.runtime_over = self.given_up_since_ns.is_some() || now_ns >= self.runtime_end_ns;
        due
    }

    /// Sets the stamp at which the loop checks next.
    pub(crate) fn arm(&mut self, clock: &Clock, now_ns: u64, next_sample_ns: u64) {
        let publish_ns = now_ns + PUBLISH_NS;
        let ends_ns = self.ramp_end_ns.min(self.runtime_end_ns);
        let next_ns = self.calibration_ns.min(ends_ns).min(next_sample_ns).min(publish_ns);
        self.next_stamp = clock.stamp_at_ns(next_ns);
        self.next_ns = next_ns;
    }

    /// Time at which the loop checks next.
    pub(crate) fn next_ns(&self) -> u64 {
        if self.next_stamp == 0 { 0 } else { self.next_ns }
    }

    /// End of the runtime; `u64::MAX`: there is none, or the ramp is not over yet.
    pub(crate) fn runtime_end_ns(&self) -> u64 {
        self.runtime_end_ns
    }

    /// True if the supervisor has asked the job to end.
    pub(crate) fn is_terminated(&self) -> bool {
        self.slot.is_told_to_end()
    }

    /// The end of the runtime, during a ramp that nothing has ended yet too: a loop that waits for I/Os in flight does not notice the end
    /// of the ramp. `u64::MAX`: there is none.
    fn latest_end_ns(&self) -> u64 {
        match self.ramp_end_ns {
            // Not started yet: the ends are no points in time.
            _ if self.epoch_ns == 0 => u64::MAX,
            u64::MAX => self.runtime_end_ns,
            OPEN_RAMP_NS => self.epoch_ns.saturating_add(self.runtime_ns),
            ramp_end_ns => ramp_end_ns.saturating_add(self.runtime_ns),
        }
    }

    /// True if the job is told to end, or its time was over so long ago that nothing outside is waited for, such as the answer to the
    /// opening of a file.
    pub(crate) fn is_past_all(&self, now_ns: u64) -> bool {
        self.is_terminated() || now_ns.saturating_sub(SILENCE_NS) >= self.latest_end_ns()
    }

    /// True if I/Os in flight are no longer waited for. Called when a wait brought nothing; `moved_bytes` of them have moved since the
    /// last call.
    pub(crate) fn is_out_of_patience(&mut self, now_ns: u64, moved_bytes: u64) -> bool {
        if self.is_terminated() {
            let stop_ns = *self.stop_seen_ns.get_or_insert(now_ns);
            return now_ns.saturating_sub(stop_ns) >= STOP_PATIENCE_NS;
        }
        let end_ns = self.latest_end_ns();
        if now_ns < end_ns {
            return false;
        }
        let (since_ns, bytes) = self.moved.get_or_insert((end_ns, 0));
        *bytes += moved_bytes;
        if *bytes >= LEAST_MOVED_BYTES {
            (*since_ns, *bytes) = (now_ns, 0);
        }
        let is_silent = now_ns.saturating_sub(*since_ns) >= SILENCE_NS;
        if is_silent || now_ns.saturating_sub(RUNTIME_PATIENCE_NS) >= end_ns {
            self.given_up_since_ns = Some(*since_ns);
        }
        self.given_up_since_ns.is_some()
    }

    /// The time until which the job's rates count: a wait for I/Os that are given up is no part of them.
    pub(crate) fn counted_until_ns(&self, now_ns: u64) -> u64 {
        self.given_up_since_ns.unwrap_or(now_ns).min(now_ns)
    }

    pub(crate) fn slot(&self) -> &'a WorkerSlot {
        self.slot
    }
}
