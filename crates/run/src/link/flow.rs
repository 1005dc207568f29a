//! Shares of jobs in the I/Os that they do together (`flow`): counters that all processes of the run share.
//!
//! Must not know: how a job waits. Start reading at [`FlowSeat::is_ahead`].
//! Facts: reference "Rates and pauses", `flow`.

use ferrio_sys::SharedMemory;
use std::sync::atomic::{AtomicU64, Ordering};

ferrio_sys::shared_struct! {
    /// Sums over the jobs of one `flow_id`: their I/Os and their weights.
    struct Totals {
        ios: AtomicU64,
        weight: AtomicU64,
    }
}

ferrio_sys::shared_struct! {
    /// One job's part of the sums. Weight 0: the job does not take part now.
    struct Member {
        ios: AtomicU64,
        weight: AtomicU64,
    }
}

/// All flows of a run, with one member for each worker.
pub(super) struct Flows {
    totals: SharedMemory<Totals>,
    members: SharedMemory<Member>,
}

/// A worker's place in its flow.
#[derive(Clone, Copy)]
pub(crate) struct FlowSeat<'a> {
    totals: &'a Totals,
    member: &'a Member,
}

impl Flows {
    /// Makes room for as many flows as workers.
    pub(super) fn new(n_workers: usize) -> ferrio_sys::Result<Self> {
        let n_workers = n_workers.max(1);
        Ok(Self { totals: SharedMemory::new(n_workers)?, members: SharedMemory::new(n_workers)? })
    }

    pub(super) fn seat(&self, flow_index: usize, worker_index: usize) -> FlowSeat<'_> {
        FlowSeat { totals: &self.totals[flow_index], member: &self.members[worker_index] }
    }
}

impl FlowSeat<'_> {
    /// Makes the worker take part from now on. It is credited with its share of what the others did before, so that it
    /// does not have to catch up. No effect if it takes part already.
    pub(crate) fn join(&self, weight: u32) {
        debug_assert!(weight > 0, "a job without weight has no seat");
        if self.member.weight.load(Ordering::Acquire) > 0 {
            return;
        }
        let (others, ios) = (self.totals.weight.load(Ordering::Relaxed), self.totals.ios.load(Ordering::Relaxed));
        let share = u128::from(ios) * u128::from(weight) / u128::from(others.max(1));
        let credit = if others == 0 { 0 } else { u64::try_from(share).unwrap_or(u64::MAX) };
        self.member.ios.store(credit, Ordering::Relaxed);
        self.member.weight.store(weight.into(), Ordering::Relaxed);
        self.totals.ios.fetch_add(credit, Ordering::Relaxed);
        self.totals.weight.fetch_add(weight.into(), Ordering::Relaxed);
    }

    /// Ends the worker's part; the others then share without it. A second call has no effect: the supervisor calls this
    /// for each worker that has ended, as a killed one could not.
    pub(crate) fn leave(&self) {
        let weight = self.member.weight.swap(0, Ordering::AcqRel);
        if weight > 0 {
            self.totals.weight.fetch_sub(weight, Ordering::Relaxed);
            self.totals.ios.fetch_sub(self.member.ios.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Counts I/Os of the worker. The sum comes first: if the worker is killed between the two steps, the sum is too
    /// large, which delays no other job; one that is too small would.
    pub(crate) fn add(&self, n_ios: u64) {
        self.totals.ios.fetch_add(n_ios, Ordering::AcqRel);
        self.member.ios.fetch_add(n_ios, Ordering::Relaxed);
    }

    /// True if the worker did more than its share. It cannot be true for all members at once, so one of them always
    /// continues.
    pub(crate) fn is_ahead(&self) -> bool {
        let load = |count: &AtomicU64| u128::from(count.load(Ordering::Relaxed));
        let (own, weight) = (load(&self.member.ios), load(&self.member.weight));
        own * load(&self.totals.weight) > weight * load(&self.totals.ios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers turns to the members in this order, over and over, until `n` were taken; returns the turns that each
    /// took.
    fn turns(seats: &[FlowSeat<'_>], order: &[usize], n: u64) -> Vec<u64> {
        let mut taken = vec![0; seats.len()];
        while taken.iter().sum::<u64>() < n {
            let before: u64 = taken.iter().sum();
            for index in order {
                if !seats[*index].is_ahead() && taken.iter().sum::<u64>() < n {
                    seats[*index].add(1);
                    taken[*index] += 1;
                }
            }
            assert!(taken.iter().sum::<u64>() > before, "nobody goes on");
        }
        taken
    }

    #[test]
    fn shares_follow_the_weights_whoever_is_faster() {
        for order in [&[0, 1][..], &[1, 0], &[0, 0, 0, 0, 0, 1], &[1, 1, 1, 0]] {
            let flows = Flows::new(2).unwrap();
            let seats = [flows.seat(0, 0), flows.seat(0, 1)];
            seats[0].join(3);
            seats[1].join(1);
            let taken = turns(&seats, order, 4_000);
            assert!(taken[0].abs_diff(3_000) <= 3 && taken[1].abs_diff(1_000) <= 3, "{taken:?}");
        }
    }

    #[test]
    fn who_has_left_holds_nobody_back() {
        let flows = Flows::new(2).unwrap();
        let seats = [flows.seat(0, 0), flows.seat(0, 1)];
        seats[0].join(1);
        seats[1].join(1_000);
        turns(&seats, &[0, 1], 50);
        // The supervisor calls this a second time after it has seen the end of the worker.
        seats[1].leave();
        seats[1].leave();
        assert_eq!(turns(&seats, &[0], 1_000), [1_000, 0]);
    }

    #[test]
    fn who_takes_part_does_not_join_again() {
        let flows = Flows::new(2).unwrap();
        let seats = [flows.seat(0, 0), flows.seat(0, 1)];
        for seat in seats.iter().chain(&seats) {
            seat.join(2);
        }
        let taken = turns(&seats, &[0, 1], 1_000);
        seats[0].join(2);
        assert_eq!(taken, turns(&seats, &[0, 1], 1_000));
        seats[0].leave();
        assert_eq!(turns(&seats, &[1], 100), [0, 100]);
    }

    #[test]
    fn who_joins_later_shares_from_then_on() {
        let flows = Flows::new(3).unwrap();
        let seats = [flows.seat(0, 0), flows.seat(0, 1), flows.seat(0, 2)];
        seats[0].join(1);
        seats[1].join(1);
        turns(&seats, &[0, 1], 10_000);
        seats[2].join(2);
        let taken = turns(&seats, &[0, 1, 2], 4_000);
        assert!(taken[2].abs_diff(2_000) <= 3, "{taken:?}");
    }

    #[test]
    fn flows_are_apart() {
        let flows = Flows::new(2).unwrap();
        let seats = [flows.seat(0, 0), flows.seat(1, 1)];
        seats[0].join(1);
        seats[1].join(1);
        assert_eq!(turns(&seats, &[0], 100), [100, 0]);
    }
}
