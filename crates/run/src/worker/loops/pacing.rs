//! Waits for the time of the next I/O, in jobs with rates or pauses.
//!
//! Must not know: how rates are kept (the workload does that), pauses (`pauses`), loops. Start reading at
//! [`wait_until_due`].
//! Facts: reference "Rates and pauses".

use super::Worker;
use super::flow::Flow;
use super::in_flight::{collect_some, collect_until};
use super::pauses::{Pause, Pauses, WorkDone};
use crate::plan::WorkerPlan;
use crate::worker::core::control::Control;
use crate::worker::core::{Stop, WorkerCore};
use crate::worker::hooks::Hooks;
use ferrio_stats::TimeCounts;
use ferrio_sys::Clock;
use ferrio_sys::clock::ClockKind;

/// Time by which a sleep is assumed to end late at first, ns; later it is measured.
const FIRST_MARGIN_NS: u64 = 10_000;

/// Longest time to spin at the end of a wait, ns. If sleeps end later than that, the job catches up afterwards.
const MAX_MARGIN_NS: u64 = 50_000;

/// A wait that leaves less than this for a sleep is spun, because going to sleep and waking up takes as long, ns.
const MIN_SLEEP_NS: u64 = 4_000;

/// Time between two looks at the progress of other jobs in a flow, ns.
const SPIN_NS: u64 = 2_000;

/// Pacing of the empty loop of `thinkcycles` between two looks at the board.
const SPINS_BETWEEN_LOOKS: u32 = 1 << 16;

/// Waits until a time of the clock: sleeps, then spins for about as long as sleeps end late on this machine.
#[derive(Debug)]
pub(crate) struct Waiter {
    margin_ns: u64,
    /// Time that was spun in all waits, ns.
    spun_ns: u64,
}

impl Waiter {
    pub(crate) fn new() -> Self {
        Self { margin_ns: FIRST_MARGIN_NS, spun_ns: 0 }
    }

    /// Waits until `until_ns`, or until a signal or `is_called` ends the wait.
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
        self.spun_ns += spin(clock, until_ns, is_called);
    }

    /// Learns from a sleep that ended this late. The margin grows twice as fast as it shrinks, so that two of three
    /// sleeps end in time. A sleep that ends extremely late, which no margin could make up for, hardly changes it.
    fn learn(&mut self, late_ns: u64) {
        let late_ns = late_ns.min(MAX_MARGIN_NS);
        if late_ns > self.margin_ns {
            self.margin_ns += (late_ns - self.margin_ns) / 8;
        } else {
            self.margin_ns -= (self.margin_ns - late_ns) / 16;
        }
    }
}

/// The same without sleeping. Returns how long it took, ns.
pub(crate) fn spin(clock: &Clock, until_ns: u64, is_called: impl Fn() -> bool) -> u64 {
    if clock.kind() == ClockKind::Virtual {
        clock.sleep_until_ns(until_ns);
    }
    let began_ns = clock.now_ns();
    let mut now_ns = began_ns;
    while now_ns < until_ns && !is_called() {
        std::hint::spin_loop();
        now_ns = clock.now_ns();
    }
    now_ns.saturating_sub(began_ns)
}

/// Waits for turns, in jobs with rates, pauses or a flow.
pub(crate) struct Pacing<'a> {
    waiter: Waiter,
    pub(crate) flow: Option<Flow<'a>>,
    pub(crate) pauses: Pauses,
    /// Time may pass between the end of an I/O and the turn of the next, or the end has no stamp of its own.
    are_timed: bool,
    /// Number of issued I/Os at the last loop of `thinkcycles`.
    n_spun_for: u64,
    /// Length of that loop, in rounds (`thinkcycles`).
    n_spins: u32,
    /// Rates go on after a pause as if it had not been.
    ignores_pauses: bool,
    /// Time in pauses, ns.
    paused_ns: u64,
    /// Time in waits for other jobs of the flow, ns.
    flow_ns: u64,
    /// Time of syncs before files are closed within a pass, and their CPU time, ns.
    closing_ns: [u64; 2],
}

impl<'a> Pacing<'a> {
    pub(crate) fn new(plan: &WorkerPlan, core: &WorkerCore<'a>, hooks: &Hooks<'_>) -> Self {
        let (pace, pauses) = (&plan.spec.pace, &plan.spec.pace.pauses);
        let flow = Flow::new(plan, core.context);
        let rests = pauses.is_set() || flow.is_some();
        Self {
            waiter: Waiter::new(),
            flow,
            pauses: Pauses::new(pauses, &plan.seeds),
            // True if the end of an I/O does not tell the time of the next one's turn.
            are_timed: rests || !core.stamper.is_wanted || hooks.verifies(),
            n_spun_for: 0,
            n_spins: pauses.n_spins,
            ignores_pauses: pace.ignores_pauses,
            paused_ns: 0,
            flow_ns: 0,
            closing_ns: [0; 2],
        }
    }

    /// Forgets the times between I/Os so far, which were those of a ramp.
    pub(crate) fn forget_times(&mut self) {
        (self.paused_ns, self.flow_ns, self.waiter.spun_ns, self.closing_ns) = (0, 0, 0, [0; 2]);
    }

    /// Adds the sync of a file that is closed.
    pub(crate) fn add_closing_sync(&mut self, took_ns: u64, cpu_ns: u64) {
        self.closing_ns[0] += took_ns;
        self.closing_ns[1] += cpu_ns;
    }

    /// The times between its I/Os: pauses, and syncs of files that were closed.
    pub(crate) fn times(&self) -> TimeCounts {
        let [closing_syncs_ns, closing_cpu_ns] = self.closing_ns;
        TimeCounts {
            paused_ns: self.paused_ns,
            flow_ns: self.flow_ns,
            spun_ns: self.waiter.spun_ns,
            closing_syncs_ns,
            closing_cpu_ns,
            ..TimeCounts::default()
        }
    }
}

/// Called before each I/O of a job with rates or pauses: pauses, and tells the workload the time. If the next I/O is
/// not due, it waits for I/Os in flight, or just for time if there are none, but no longer than until the next
/// deadline. `stamp` is the end of the last I/O, and afterwards the start of the next.
#[inline(never)]
pub(crate) fn wait_until_due(worker: &mut Worker<'_>, stamp: &mut u64) -> Option<Stop> {
    let Worker { core, pacing, .. } = worker;
    if pacing.are_timed {
        let n_waiting = core.workload.pace().map_or(0, |pace| pace.n_waiting());
        let n_issued = core.workload.progress().n_issued - n_waiting;
        if n_issued != pacing.n_spun_for {
            pacing.n_spun_for = n_issued;
            spin_after_io(pacing.n_spins, &core.control);
        }
        *stamp = core.clock.stamp();
        let now_ns = core.clock.at_ns(*stamp);
        if let Some((why, rested)) = rest(worker, now_ns, n_issued) {
            let Worker { core, pacing, .. } = worker;
            *stamp = core.clock.stamp();
            let took_ns = core.clock.at_ns(*stamp).saturating_sub(now_ns);
            match why {
                Rest::Pause => pacing.paused_ns += took_ns,
                Rest::Flow => pacing.flow_ns += took_ns,
                Rest::Storage => {}
            }
            return rested.err();
        }
    }
    let core = &mut worker.core;
    let now_ns = core.clock.at_ns(*stamp);
    let due_ns = core.workload.pace()?.turn(now_ns)?;
    let is_idle = core.slots.n_used() == 0;
    let stop = if core.slots.n_used() > 0 {
        let until_ns = due_ns.min(core.control.next_ns());
        collect_until(worker, until_ns).err()
    } else {
        wait_until(worker, due_ns)
    };
    *stamp = worker.core.clock.stamp();
    if is_idle {
        worker.pacing.paused_ns += worker.core.clock.at_ns(*stamp).saturating_sub(now_ns);
    }
    stop
}

/// What a rest waits for.
enum Rest {
    /// I/Os in flight.
    Storage,
    /// The end of a pause.
    Pause,
    /// Other jobs of the flow.
    Flow,
}

/// Pauses, or lets other jobs continue, for a limited time; `None`: the job continues.
fn rest(worker: &mut Worker<'_>, now_ns: u64, n_issued: u64) -> Option<(Rest, Result<(), Stop>)> {
    let Worker { core, pacing, .. } = worker;
    let progress = WorkDone { n_issued, n_done: core.account.ios().0.iter().sum(), in_flight: core.slots.n_used() };
    match pacing.pauses.look(now_ns, progress) {
        Pause::Collect => return Some((Rest::Storage, collect_some(worker))),
        Pause::Spin(until_ns) => {
            let slot = core.control.slot();
            let until_ns = until_ns.min(core.control.next_ns());
            pacing.waiter.spun_ns += spin(&core.clock, until_ns, || slot.wants_attention());
            return Some((Rest::Pause, Ok(())));
        }
        Pause::Sleep(until_ns) => return Some((Rest::Pause, wait_until(worker, until_ns).map_or(Ok(()), Err))),
        Pause::Over(pause_ns) if pacing.ignores_pauses => {
            if let Some(pace) = core.workload.pace() {
                pace.postpone(pause_ns, now_ns);
            }
        }
        Pause::No | Pause::Over(_) => {}
    }
    let is_ahead = pacing.flow.as_mut().is_some_and(|flow| flow.holds_back(n_issued));
    is_ahead.then(|| (Rest::Flow, wait_for_others(worker, now_ns).map_or(Ok(()), Err)))
}

pub(crate) fn wait_until(worker: &mut Worker<'_>, until_ns: u64) -> Option<Stop> {
    let Worker { core, pacing, .. } = worker;
    let slot = core.control.slot();
    pacing.waiter.wait(&core.clock, until_ns.min(core.control.next_ns()), || slot.wants_attention());
    None
}

/// Lets the other jobs of a flow continue for a while.
fn wait_for_others(worker: &mut Worker<'_>, now_ns: u64) -> Option<Stop> {
    let Worker { core, pacing, .. } = worker;
    let sleep_ns = pacing.flow.as_ref().map_or(0, Flow::sleep_ns);
    let until_ns = now_ns.saturating_add(sleep_ns.max(SPIN_NS)).min(core.control.next_ns());
    if core.slots.n_used() > 0 {
        return collect_until(worker, until_ns).err();
    }
    if sleep_ns > 0 {
        return wait_until(worker, until_ns);
    }
    let slot = core.control.slot();
    pacing.waiter.spun_ns += spin(&core.clock, until_ns, || slot.wants_attention());
    None
}

/// Runs the loop of `thinkcycles`.
fn spin_after_io(n_spins: u32, control: &Control<'_>) {
    let mut n_left = n_spins;
    while n_left > 0 && !control.slot().wants_attention() {
        let n_spins = n_left.min(SPINS_BETWEEN_LOOKS);
        (0..n_spins).for_each(|spin| _ = std::hint::black_box(spin));
        n_left -= n_spins;
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
        // The difference shrinks by an eighth each time: 17,000 * (7 / 8)^40 = 81.
        (0..40).for_each(|_| waiter.learn(20_000));
        assert!((19_900..=20_000).contains(&waiter.margin_ns), "{}", waiter.margin_ns);
        // The process did not run for a while.
        waiter.learn(10_000_000);
        assert!((20_000..=23_750).contains(&waiter.margin_ns), "{}", waiter.margin_ns);
        // If the machine does not let the process run, the margin does not grow without bound.
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
