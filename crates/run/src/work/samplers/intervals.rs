//! Handing over, at the end of each interval of a run, what was counted so far.
//!
//! Must not know: what becomes of it. Start reading at [`Intervals::at`].
//! Workers keep the time themselves, so that intervals of all of them end together and to the I/O; the supervisor only
//! says that it has taken the last figures. Until then no more are sent: a supervisor that is busy stops no worker.

use crate::link::board::IntervalTimes;
use crate::work::lane::Lane;

/// When the present interval ends.
pub(crate) struct Intervals {
    times: Option<IntervalTimes>,
    end_ns: u64,
}

impl Intervals {
    /// `None`: nobody wants figures of intervals.
    pub(crate) fn new(times: Option<IntervalTimes>) -> Self {
        Self { times, end_ns: u64::MAX }
    }

    /// I/O starts, or an interval has ended.
    pub(crate) fn start(&mut self, now_ns: u64) {
        self.end_ns = self.times.map_or(u64::MAX, |times| times.next_after(now_ns));
    }

    /// End of the present interval; `u64::MAX` when there is none.
    pub(crate) fn next_ns(&self) -> u64 {
        self.end_ns
    }

    /// The figures are to be handed over, if the interval is over. A ramp is part of none, and one whose predecessor was not
    /// taken yet goes on into the next.
    pub(crate) fn at(&mut self, now_ns: u64, lane: &Lane<'_>) -> bool {
        if now_ns < self.end_ns {
            return false;
        }
        self.start(now_ns);
        !lane.account.is_ramping() && lane.control.slot().may_send_interval()
    }
}
