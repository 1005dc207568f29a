//! Jobs with a search for a steady state. Jobs that share a report are judged together.
//!
//! Must not know: the criteria of a steady state, how workers are ended. Start reading at [`SteadyGroup::take`].

use super::record::Phase;
use crate::plan::WorkerPlan;
use ferrio_stats::{SteadySample, SteadyState};
use std::collections::VecDeque;

/// The part of a worker in a search.
pub(super) enum Steady {
    /// The worker is the first of its group, and has the data of the group.
    Leads(Box<SteadyGroup>),
    /// The worker with this index is the first of the group.
    Follows(usize),
}

/// Workers that are judged together.
pub(super) struct SteadyGroup {
    pub(super) state: SteadyState,
    members: Vec<Member>,
    /// All members have given samples for the same time.
    has_begun: bool,
    n_window: usize,
}

/// A worker, and its samples that wait for those of the others.
struct Member {
    index: usize,
    samples: VecDeque<SteadySample>,
}

impl SteadyGroup {
    /// A group with one member, if its job asks for a search.
    pub(super) fn new(index: usize, worker: &WorkerPlan) -> Option<Self> {
        let spec = &worker.spec.steady_state;
        let n_window = usize::try_from(spec.duration_us.checked_div(spec.interval_us)?).ok().filter(|n| *n > 0)?;
        let state = SteadyState::new(spec.criterion, spec.duration_us / 1_000_000, n_window);
        let mut group = Self { state, members: Vec::new(), has_begun: false, n_window };
        group.join(index);
        Some(group)
    }

    pub(super) fn join(&mut self, index: usize) {
        let last = self.members.last().map(|member| member.index);
        debug_assert!(last.is_none_or(|last| last < index), "members are found by bisection");
        self.members.push(Member { index, samples: VecDeque::new() });
    }

    pub(super) fn members(&self) -> impl Iterator<Item = usize> {
        self.members.iter().map(|member| member.index)
    }

    /// Adds a sample of a member. `phase` returns the phase of a member. True: the group has just become steady. The
    /// result of each interval is reported together with the index of the last member.
    pub(super) fn take(
        &mut self,
        index: usize,
        sample: SteadySample,
        phase: impl Fn(usize) -> Phase,
        mut tell: impl FnMut(usize, &SteadyState),
    ) -> bool {
        // Until all members run, their samples are for different times, and only the newest counts.
        let n_kept = if self.has_begun { self.n_window } else { 1 };
        // Members are sorted by index.
        let Ok(position) = self.members.binary_search_by_key(&index, |member| member.index) else { return false };
        let samples = &mut self.members[position].samples;
        samples.push_back(sample);
        if samples.len() > n_kept {
            samples.pop_front();
        }
        debug_assert!(samples.len() <= self.n_window, "no more samples are kept than a window has");
        if self.state.is_attained {
            return false;
        }
        while let Some(sum) = self.next_sum(&phase) {
            self.has_begun = true;
            let is_steady = self.state.add(sum);
            tell(self.members.last().map_or(index, |member| member.index), &self.state);
            if is_steady {
                return true;
            }
        }
        false
    }

    /// The sum for the next interval, once all running members have sent their samples of it.
    fn next_sum(&mut self, phase: &impl Fn(usize) -> Phase) -> Option<SteadySample> {
        let is_missing = |member: &Member| match phase(member.index) {
            Phase::Waiting => true,
            Phase::Running => member.samples.is_empty(),
            Phase::Ended => false,
        };
        let has_any = self.members.iter().any(|member| !member.samples.is_empty());
        if !has_any || self.members.iter().any(is_missing) {
            return None;
        }
        let mut sum = SteadySample::default();
        self.members.iter_mut().filter_map(|member| member.samples.pop_front()).for_each(|next| sum.add_member(&next));
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::{SteadyCriterion, SteadyMetric};

    fn group(n_members: usize) -> SteadyGroup {
        let criterion = SteadyCriterion { metric: SteadyMetric::Iops, is_slope: false, limit: 1.0, is_percent: false };
        let state = SteadyState::new(criterion, 2, 2);
        let mut group = SteadyGroup { state, members: Vec::new(), has_begun: false, n_window: 2 };
        (0..n_members).for_each(|index| group.join(index));
        group
    }

    fn ios(ios_per_sec: u64) -> SteadySample {
        SteadySample { ios_per_sec, ..SteadySample::default() }
    }

    #[test]
    fn intervals_of_all_members_are_summed() {
        let mut group = group(2);
        let running = |_| Phase::Running;
        for (index, sample, is_steady) in [(0, 10, false), (1, 20, false), (1, 15, false), (0, 15, true), (0, 1, false)]
        {
            assert_eq!(group.take(index, ios(sample), running, |_, _| ()), is_steady, "{index} {sample}");
        }
        assert!(group.state.window(|sample| sample.ios_per_sec).eq([30, 30]));
    }

    #[test]
    fn nothing_counts_before_all_run() {
        let mut group = group(2);
        let one_waits = |index| if index == 1 { Phase::Waiting } else { Phase::Running };
        for _ in 0..5 {
            assert!(!group.take(0, ios(10), one_waits, |_, _| ()));
        }
        let running = |_| Phase::Running;
        assert!(!group.take(1, ios(1), running, |_, _| ()));
        assert!(group.state.window(|sample| sample.ios_per_sec).eq([11, 0]));
    }

    #[test]
    fn who_has_ended_is_not_waited_for() {
        let mut group = group(2);
        let one_ended = |index| if index == 1 { Phase::Ended } else { Phase::Running };
        assert!(!group.take(0, ios(10), one_ended, |_, _| ()));
        assert!(group.take(0, ios(10), one_ended, |_, _| ()));
        assert!(!group.take(7, ios(10), one_ended, |_, _| ()), "a stranger");
    }

    #[test]
    fn a_late_member_loses_no_interval() {
        let mut group = group(2);
        let running = |_| Phase::Running;
        let steps = [(0, 5), (1, 5), (0, 100), (0, 7), (1, 200), (1, 293)];
        let steady: Vec<bool> =
            steps.iter().map(|(index, sample)| group.take(*index, ios(*sample), running, |_, _| ())).collect();
        assert_eq!(steady, [false, false, false, false, false, true], "10, 300, 300");
    }
}
