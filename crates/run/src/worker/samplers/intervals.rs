//! Sends all counts so far at the end of each interval of a run.
//!
//! Must not know: how the figures are used. Start reading at [`Intervals::at`]. Workers watch the time themselves, so
//! that the intervals of all workers end together and exactly at an I/O. The supervisor only confirms that it has
//! received the last figures. Until then no more are sent, so that a busy supervisor stops no worker.

use crate::link::board::IntervalTimes;
use crate::worker::core::WorkerCore;

/// The end of the present interval.
pub(crate) struct Intervals {
    times: Option<IntervalTimes>,
    end_ns: u64,
}

impl Intervals {
    /// No interval begins before [`Self::begin`].
    pub(crate) fn new() -> Self {
        Self { times: None, end_ns: u64::MAX }
    }

    /// I/O starts; `None`: no records of intervals are kept.
    pub(crate) fn begin(&mut self, times: Option<IntervalTimes>, now_ns: u64) {
        self.times = times;
        self.start(now_ns);
    }

    /// Called when an interval begins.
    fn start(&mut self, now_ns: u64) {
        self.end_ns = self.times.map_or(u64::MAX, |times| times.next_after(now_ns));
    }

    /// End of the present interval; `u64::MAX`: there is none.
    pub(crate) fn next_ns(&self) -> u64 {
        self.end_ns
    }

    /// If the interval is over, so that the figures are to be sent: the time at which it was to end. A ramp belongs to no
    /// interval. If the supervisor has not received the last figures, the interval continues into the next.
    pub(crate) fn at(&mut self, now_ns: u64, core: &WorkerCore<'_>) -> Option<u64> {
        let due_ns = self.end_ns;
        if now_ns < due_ns {
            return None;
        }
        self.start(now_ns);
        (!core.account.is_ramping() && core.control.slot().may_send_interval()).then_some(due_ns)
    }
}
