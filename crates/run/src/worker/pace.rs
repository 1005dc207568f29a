//! A job with rates or pauses waits here for the time of its next I/O.
//!
//! Must not know: how rates are kept (that is the workload's), when a job pauses (`pauses`), loops. Start reading at [`Worker::take_turn`].
//! Facts: reference "Rates and pauses".

use super::pauses::{Pause, Progress};
use super::{Stop, Worker};
use ferrio_sys::Clock;
use ferrio_sys::clock::ClockKind;

/// A sleep ends late by this time at first, ns; then it is measured.
const FIRST_MARGIN_NS: u64 = 10_000;

/// No longer than this is spun at the end of a wait, ns: sleeps that end later are made up for.
const MAX_MARGIN_NS: u64 = 50_000;

/// A wait that leaves less than this to sleep is spun: going to sleep and waking up costs as much, ns.
const MIN_SLEEP_NS: u64 = 4_000;

/// Turns of the empty loop of `thinkcycles` between two looks at the board.
const SPINS_BETWEEN_LOOKS: u32 = 1 << 16;

/// Waits until a time of the clock: sleeps, and spins for as long as sleeps end late here.
#[derive(Debug)]
pub(super) struct Waiter {
    margin_ns: u64,
}

impl Waiter {
    pub(super) fn new() -> Self {
        Self { margin_ns: FIRST_MARGIN_NS }
    }

    /// Waits until `until_ns`, or until a signal or `is_called` ends it.
    fn wait(&mut self, clock: &Clock, until_ns: u64, is_called: impl Fn() -> bool) {
        if clock.kind() == ClockKind::Virtual {
            clock.sleep_until_ns(until_ns);
            return;
        }
        let sleep_until_ns = until_ns.saturating_sub(self.margin_ns);
        if sleep_until_ns > clock.now_ns().saturating_add(MIN_SLEEP_NS) {
            if !clock.sleep_until_ns(sleep_until_ns) {
                return;
            }
            self.learn(clock.now_ns().saturating_sub(sleep_until_ns));
        }
        spin(clock, until_ns, is_called);
    }

    /// A sleep ended so late. The margin follows twice as fast when it was too short as when it was too long, so that two sleeps
    /// of three end in time; one that ends far too late, which no margin makes up for, hardly moves it.
    fn learn(&mut self, late_ns: u64) {
        let late_ns = late_ns.min(MAX_MARGIN_NS);
        if late_ns > self.margin_ns {
            self.margin_ns += (late_ns - self.margin_ns) / 8;
        } else {
            self.margin_ns -= (self.margin_ns - late_ns) / 16;
        }
    }
}

/// The same, without sleep.
pub(super) fn spin(clock: &Clock, until_ns: u64, is_called: impl Fn() -> bool) {
    if clock.kind() == ClockKind::Virtual {
        clock.sleep_until_ns(until_ns);
    }
    while clock.now_ns() < until_ns && !is_called() {
        std::hint::spin_loop();
    }
}

impl Worker<'_> {
    /// Before each I/O of a job with rates or pauses: pauses, and tells the workload the time. While the next I/O is not due:
    /// waits for what is in flight, or just waits when nothing is; no longer than until the loop has to look up.
    /// `stamp` is that of the end of the last I/O, and then that of the start of the next.
    #[inline(never)]
    pub(super) fn take_turn(&mut self, stamp: &mut u64) -> Option<Stop> {
        if self.times_turns {
            let n_issued = self.workload.n_issued();
            if n_issued != self.n_spun_for {
                self.n_spun_for = n_issued;
                self.spin_after_io();
            }
            *stamp = self.clock.stamp();
            if let Some(rested) = self.rest(self.clock.at_ns(*stamp), n_issued) {
                *stamp = self.clock.stamp();
                return rested.err();
            }
        }
        let due_ns = self.workload.turn(self.clock.at_ns(*stamp))?;
        let stop = if self.slots.n_used() > 0 {
            self.collect_until(due_ns.min(self.control.next_ns())).err()
        } else {
            self.wait_until(due_ns)
        };
        *stamp = self.clock.stamp();
        stop
    }

    /// Whether the end of an I/O says nothing of when the turn of the next is.
    pub(super) fn wants_times_of_turns(&self) -> bool {
        let pauses = &self.plan.spec.pace.pauses;
        let rests = pauses.is_set() || self.flow.is_some();
        rests || !self.stamps_wanted || self.verifier.is_some()
    }

    /// Pauses, or lets other jobs go on, for a while at most; `None`: the job goes on.
    fn rest(&mut self, now_ns: u64, n_issued: u64) -> Option<Result<(), Stop>> {
        let progress = Progress { n_issued, n_done: self.account.ios().0.iter().sum(), in_flight: self.slots.n_used() };
        match self.pauses.look(now_ns, progress) {
            Pause::Collect => return Some(self.collect_some()),
            Pause::Spin(until_ns) => {
                let slot = self.control.slot();
                spin(&self.clock, until_ns.min(self.control.next_ns()), || slot.wants_attention());
                return Some(Ok(()));
            }
            Pause::Sleep(until_ns) => return Some(self.wait_until(until_ns).map_or(Ok(()), Err)),
            Pause::Over(pause_ns) if self.plan.spec.pace.ignores_pauses => self.workload.postpone(pause_ns),
            Pause::No | Pause::Over(_) => {}
        }
        self.holds_back(n_issued).then(|| self.wait_for_others(now_ns).map_or(Ok(()), Err))
    }

    pub(super) fn wait_until(&mut self, until_ns: u64) -> Option<Stop> {
        let slot = self.control.slot();
        self.waiter.wait(&self.clock, until_ns.min(self.control.next_ns()), || slot.wants_attention());
        None
    }

    /// `thinkcycles`.
    fn spin_after_io(&self) {
        let mut n_left = self.plan.spec.pace.pauses.n_spins;
        while n_left > 0 && !self.control.slot().wants_attention() {
            let n_spins = n_left.min(SPINS_BETWEEN_LOOKS);
            (0..n_spins).for_each(|spin| _ = std::hint::black_box(spin));
            n_left -= n_spins;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_follows_what_sleeps_cost() {
        let mut waiter = Waiter::new();
        (0..200).for_each(|_| waiter.learn(3_000));
        assert!((3_000..3_100).contains(&waiter.margin_ns), "{}", waiter.margin_ns);
        // What is missing shrinks by an eighth each time: 17,000 * (7 / 8)^40 = 81.
        (0..40).for_each(|_| waiter.learn(20_000));
        assert!((19_900..=20_000).contains(&waiter.margin_ns), "{}", waiter.margin_ns);
        // The process did not run for a while.
        waiter.learn(10_000_000);
        assert!((20_000..=23_750).contains(&waiter.margin_ns), "{}", waiter.margin_ns);
        // A machine that does not let us run is not spun against.
        (0..1_000).for_each(|_| waiter.learn(10_000_000));
        assert!((MAX_MARGIN_NS - 8..=MAX_MARGIN_NS).contains(&waiter.margin_ns), "{}", waiter.margin_ns);
    }

    #[test]
    fn a_virtual_clock_jumps() {
        let clock = Clock::new_virtual();
        Waiter::new().wait(&clock, 12_345, || panic!("nothing is spun"));
        assert_eq!(clock.now_ns(), 12_345);
    }
}
