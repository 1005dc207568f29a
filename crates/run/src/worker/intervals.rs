//! Handing over, at the end of each interval of a run, what was counted so far.
//!
//! Must not know: what becomes of it. Start reading at [`Worker::hand_over_interval`].
//! Workers keep the time themselves, so that intervals of all of them end together and to the I/O; the supervisor only
//! says that it has taken the last figures. Until then no more are sent: a supervisor that is busy stops no worker.

use super::{Worker, WorkerMessage};
use crate::supervisor::board::IntervalTimes;
use crate::worker::message::IntervalFigures;

/// When the present interval ends.
pub(super) struct Intervals {
    times: Option<IntervalTimes>,
    end_ns: u64,
}

impl Intervals {
    /// `None`: nobody wants figures of intervals.
    pub(super) fn new(times: Option<IntervalTimes>) -> Self {
        Self { times, end_ns: u64::MAX }
    }

    /// I/O starts, or an interval has ended.
    pub(super) fn start(&mut self, now_ns: u64) {
        self.end_ns = self.times.map_or(u64::MAX, |times| times.next_after(now_ns));
    }

    /// End of the present interval; `u64::MAX` when there is none.
    pub(super) fn end_ns(&self) -> u64 {
        self.end_ns
    }
}

impl Worker<'_> {
    /// Sends all figures if an interval is over. A ramp is part of none, and one whose predecessor was not taken yet goes
    /// on into the next.
    pub(super) fn hand_over_interval(&mut self, now_ns: u64) {
        if now_ns < self.intervals.end_ns() {
            return;
        }
        self.intervals.start(now_ns);
        if self.account.is_ramping() || !self.control.slot().may_send_interval() {
            return;
        }
        let stats = self.figures_at(now_ns);
        (self.context.send)(&WorkerMessage::Interval(Box::new(IntervalFigures { at_ns: now_ns, stats })));
    }
}
