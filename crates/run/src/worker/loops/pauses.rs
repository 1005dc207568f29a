//! Pauses of a job: `thinktime` and its family.
//!
//! Must not know: how it waits. Start reading at [`Pauses::look`].
//! Facts: reference "Rates and pauses"; the I/Os that fio 3.41 does between two pauses at a depth of 8.

use crate::plan::DrawnLengths;
use ferrio_spec::PauseSpec;
use ferrio_units::random::{OwnSeed, SeedTable};

/// Progress of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkDone {
    /// Number of reads, writes and trims issued.
    pub(crate) n_issued: u64,
    pub(crate) n_done: u64,
    pub(crate) in_flight: u32,
}

/// The step before the next I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// No pause: the job continues.
    No,
    /// Wait for all I/Os in flight.
    Collect,
    /// Spin until this time, ns.
    Spin(u64),
    /// Sleep until this time, ns.
    Sleep(u64),
    /// A pause of this many nanoseconds is over.
    Over(u64),
}

const fn ns(us: u64) -> u64 {
    us.saturating_mul(1_000)
}

/// State of a job's pauses.
#[derive(Debug)]
pub(crate) struct Pauses {
    are_none: bool,
    lengths: DrawnLengths,
    /// Length of the current pause.
    pause_ns: u64,
    /// Most of a pause that is spun.
    spin_ns: u64,
    /// Number of I/Os between two pauses; `u64::MAX`: they do not matter.
    n_ios: u64,
    counts_issued: bool,
    /// Time between two pauses; `u64::MAX`: it does not matter.
    io_time_ns: u64,
    /// Number of I/Os when the last pause was decided; those in flight then count for the next.
    n_before: u64,
    /// Number of I/Os issued when the last pause ended: there is at least one between two pauses.
    n_issued_before: u64,
    /// Time at which the last pause ended.
    since_ns: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    /// Waiting until nothing is in flight.
    Collecting,
    /// Pausing since this time.
    Pausing(u64),
}

impl Pauses {
    pub(crate) fn new(spec: &PauseSpec, seeds: &SeedTable) -> Self {
        let is_timed = spec.io_time_us > 0;
        let n_ios = spec.n_ios.map_or(if is_timed { u64::MAX } else { 1 }, u64::from);
        Self {
            are_none: spec.pause_us == 0,
            lengths: DrawnLengths::new(spec.drawn, spec.pause_us, seeds.own(OwnSeed::ThinkTime)),
            pause_ns: 0,
            spin_ns: ns(spec.spin_us),
            n_ios,
            counts_issued: spec.counts_issued,
            io_time_ns: if is_timed { ns(spec.io_time_us) } else { u64::MAX },
            n_before: 0,
            n_issued_before: 0,
            since_ns: 0,
            state: State::Working,
        }
    }

    pub(crate) fn start(&mut self, now_ns: u64) {
        self.since_ns = now_ns;
    }

    /// The step before the next I/O.
    pub(crate) fn look(&mut self, now_ns: u64, progress: WorkDone) -> Pause {
        if self.are_none {
            return Pause::No;
        }
        if self.state == State::Working {
            let n_ios = if self.counts_issued { progress.n_issued } else { progress.n_done };
            let is_fresh = progress.n_issued == self.n_issued_before;
            let is_time = now_ns.saturating_sub(self.since_ns) >= self.io_time_ns;
            if is_fresh || (n_ios.saturating_sub(self.n_before) < self.n_ios && !is_time) {
                return Pause::No;
            }
            (self.n_before, self.n_issued_before) = (n_ios, progress.n_issued);
            self.pause_ns = self.lengths.next_ns();
            self.state = State::Collecting;
        }
        let start_ns = match self.state {
            State::Pausing(start_ns) => start_ns,
            _ if progress.in_flight > 0 => return Pause::Collect,
            _ => now_ns,
        };
        self.state = State::Pausing(start_ns);
        self.pause(start_ns, now_ns)
    }

    fn pause(&mut self, start_ns: u64, now_ns: u64) -> Pause {
        let elapsed_ns = now_ns.saturating_sub(start_ns);
        let spin_ns = self.spin_ns.min(self.pause_ns);
        if elapsed_ns < spin_ns {
            return Pause::Spin(start_ns.saturating_add(spin_ns));
        }
        if elapsed_ns < self.pause_ns {
            return Pause::Sleep(start_ns.saturating_add(self.pause_ns));
        }
        self.state = State::Working;
        self.since_ns = now_ns;
        Pause::Over(elapsed_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::DrawnTime;
    use ferrio_units::random::DEFAULT_RAND_SEED;

    fn pauses(change: impl FnOnce(&mut PauseSpec)) -> Pauses {
        let mut spec = PauseSpec { pause_us: 50, ..PauseSpec::default() };
        change(&mut spec);
        Pauses::new(&spec, &SeedTable::new(DEFAULT_RAND_SEED, 1))
    }

    /// Numbers of I/Os between the pauses of a loop at a depth of 8, on a device that does one I/O after another: a
    /// slot is free again as soon as all are taken.
    fn between(mut pauses: Pauses, n_pauses: usize) -> Vec<u64> {
        let (mut now_ns, mut progress, mut last) = (0, WorkDone { n_issued: 0, n_done: 0, in_flight: 0 }, 0);
        let mut seen = Vec::new();
        while seen.len() < n_pauses {
            match pauses.look(now_ns, progress) {
                Pause::No => {
                    progress.n_issued += 1;
                    progress.in_flight += 1;
                    if progress.in_flight == 8 {
                        (progress.n_done, progress.in_flight) = (progress.n_done + 1, 7);
                    }
                }
                Pause::Collect => (progress.n_done, progress.in_flight) = (progress.n_issued, 0),
                Pause::Spin(until_ns) | Pause::Sleep(until_ns) => now_ns = until_ns,
                Pause::Over(pause_ns) => {
                    assert_eq!(pause_ns, 50_000);
                    seen.push(progress.n_done - last);
                    last = progress.n_done;
                }
            }
        }
        seen
    }

    // Expected values: counted in logs of fio 3.41 (libaio on a cached file, depth 8).
    #[test]
    fn ios_between_pauses_are_those_of_the_peer() {
        assert_eq!(between(pauses(|_| ()), 4), [8, 1, 1, 1]);
        assert_eq!(between(pauses(|spec| spec.n_ios = Some(4)), 5), [11, 1, 10, 1, 10]);
        assert_eq!(between(pauses(|spec| spec.n_ios = Some(16)), 4), [23, 16, 16, 16]);
        for n_ios in [1, 4, 16] {
            let by_issue = pauses(|spec| (spec.n_ios, spec.counts_issued) = (Some(n_ios), true));
            assert_eq!(between(by_issue, 3), [u64::from(n_ios); 3]);
        }
        // A pause after each I/O.
        assert_eq!(between(pauses(|spec| spec.n_ios = Some(0)), 3), [1, 1, 1]);
    }

    #[test]
    fn a_pause_is_spun_and_slept() {
        let done = |n_done| WorkDone { n_issued: n_done, n_done, in_flight: 0 };
        let mut both = pauses(|spec| spec.spin_us = 20);
        assert_eq!(both.look(0, done(0)), Pause::No);
        assert_eq!(both.look(100, done(1)), Pause::Spin(20_100));
        assert_eq!(both.look(20_100, done(1)), Pause::Sleep(50_100));
        assert_eq!(both.look(50_200, done(1)), Pause::Over(50_100));
        assert_eq!(both.look(50_200, done(1)), Pause::No);
        let mut capped = pauses(|spec| spec.spin_us = 90);
        assert_eq!(capped.look(0, done(1)), Pause::Spin(50_000));
        assert_eq!(capped.look(50_000, done(1)), Pause::Over(50_000));
        assert_eq!(pauses(|spec| spec.pause_us = 0).look(1, done(1)), Pause::No);
    }

    #[test]
    fn time_between_pauses_counts_from_the_last() {
        let done = |n_done| WorkDone { n_issued: n_done, n_done, in_flight: 0 };
        let mut timed = pauses(|spec| spec.io_time_us = 200);
        timed.start(1_000);
        assert_eq!(timed.look(200_999, done(9)), Pause::No);
        assert_eq!(timed.look(201_000, done(10)), Pause::Sleep(251_000));
        assert_eq!(timed.look(251_000, done(10)), Pause::Over(50_000));
        assert_eq!(timed.look(450_999, done(99)), Pause::No);
        assert_eq!(timed.look(451_000, done(99)), Pause::Sleep(501_000));
    }

    /// Lengths of the first pauses of a job of this number, ns.
    fn lengths(drawn: DrawnTime, thread_number: u64) -> Vec<u64> {
        let spec = PauseSpec { drawn: Some(drawn), pause_us: drawn.mean_us(), ..PauseSpec::default() };
        let mut pauses = Pauses::new(&spec, &SeedTable::new(DEFAULT_RAND_SEED, thread_number));
        let (mut now_ns, mut n_done, mut seen) = (0, 1, Vec::new());
        while seen.len() < 100_000 {
            match pauses.look(now_ns, WorkDone { n_issued: n_done, n_done, in_flight: 0 }) {
                Pause::No => n_done += 1,
                Pause::Collect => unreachable!("nothing is in flight"),
                Pause::Spin(until_ns) | Pause::Sleep(until_ns) => now_ns = until_ns,
                Pause::Over(pause_ns) => seen.push(pause_ns),
            }
        }
        seen
    }

    fn mean(values: &[u64]) -> f64 {
        values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64
    }

    // The bounds are four standard errors of a mean of 100,000 draws. An exponential distribution has a deviation as large as its
    // mean, and a share of 1 / e beyond it; a uniform one has a deviation of its width by the root of 12.
    #[test]
    fn drawn_lengths_follow_their_distribution() {
        let (n, root) = (100_000.0, 100_000.0_f64.sqrt());
        let exponential = lengths(DrawnTime::Exponential { mean_us: 2_000 }, 1);
        let mean_ns = mean(&exponential);
        assert!((mean_ns - 2e6).abs() < 4.0 * 2e6 / root, "{mean_ns}");
        let beyond = exponential.iter().filter(|pause_ns| **pause_ns > 2_000_000).count() as f64 / n;
        let share = (-1.0_f64).exp();
        assert!((beyond - share).abs() < 4.0 * (share * (1.0 - share)).sqrt() / root, "{beyond}");
        let uniform = lengths(DrawnTime::Uniform { low_us: 1_000, high_us: 5_000 }, 1);
        let mean_ns = mean(&uniform);
        assert!((mean_ns - 3e6).abs() < 4.0 * 4e6 / 12.0_f64.sqrt() / root, "{mean_ns}");
        let ends = (uniform.iter().min(), uniform.iter().max());
        assert!(ends.0.is_some_and(|low| (1_000_000..1_001_000).contains(low)), "{ends:?}");
        assert!(ends.1.is_some_and(|high| (4_999_000..=5_000_000).contains(high)), "{ends:?}");
    }

    #[test]
    fn drawn_lengths_repeat_and_differ_between_jobs() {
        let drawn = DrawnTime::Exponential { mean_us: 50 };
        assert_eq!(lengths(drawn, 1), lengths(drawn, 1));
        assert_ne!(lengths(drawn, 1), lengths(drawn, 2));
    }

    #[test]
    fn no_more_than_a_drawn_pause_is_spun() {
        let mut pauses = pauses(|spec| {
            spec.drawn = Some(DrawnTime::Uniform { low_us: 50, high_us: 50 });
            spec.spin_us = 90;
        });
        let done = WorkDone { n_issued: 1, n_done: 1, in_flight: 0 };
        assert_eq!(pauses.look(0, done), Pause::Spin(50_000));
        assert_eq!(pauses.look(50_000, done), Pause::Over(50_000));
    }
}
