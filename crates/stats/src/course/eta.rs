//! Data for the ETA line: a snapshot of a running run.
//!
//! Must not know: formats, how an ETA is computed. Start reading at [`EtaSnapshot`].

use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Limits that jobs set to their own rate, summed over the running jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EtaLimits {
    /// `rate_min` and `rate`, if any job has one of them.
    BytesPerSec {
        /// Sum of `rate_min`.
        min: u64,
        /// Sum of `rate`.
        max: u64,
    },
    /// `rate_iops_min` and `rate_iops`, if any job has one of them and none has the others.
    Ios {
        /// Sum of `rate_iops_min`.
        min: u64,
        /// Sum of `rate_iops`.
        max: u64,
    },
}

/// State of a run at a certain time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EtaSnapshot {
    /// Number of running jobs, including those in their ramp time.
    pub n_running: u32,
    /// Number of files that they have open, without jobs in their ramp time.
    pub n_open_files: u64,
    /// Their rate limits, if any.
    pub limits: Option<EtaLimits>,
    /// An ETA is known, or 3 s have passed without one: the following fields are shown.
    pub shows_progress: bool,
    /// A letter for the state of each job, in job order: `P` not started, `C` created, `I` setting up, `p` pre-reading,
    /// `/` ramp, `R r` sequential and random read, `W w` write, `M m` mixed, `D d` trim, `V` verifying, `F` syncing,
    /// `f` finishing, `E` exited, `_` reaped, `X` reaped with an error, `K` killed.
    pub states: Vec<char>,
    /// Elapsed time in percent of elapsed and remaining time; `None` if unknown.
    pub percent_done: Option<f64>,
    /// No job does counted I/O: all are in their ramp time or before it, so rates mean nothing yet.
    pub only_ramps: bool,
    /// Bandwidth since the last snapshot, bytes per second.
    pub bytes_per_sec: PerDirection<u64>,
    /// I/Os per second since the last snapshot.
    pub ios_per_sec: PerDirection<u64>,
    /// Latency of 99 % of the I/Os since the last snapshot, nanoseconds; `None` where it is not shown, as in fio.
    pub p99_ns: Option<u64>,
    /// Seconds left; `None` if unknown.
    pub eta_secs: Option<u64>,
    /// `kb_base` of the first job: 1024 or 1000.
    pub kb_base: u32,
    /// Rates are shown in bits (`unit_base` of the first job).
    pub unit_bits: bool,
}

impl EtaLimits {
    /// The limits of both; those in bytes come first, as among the jobs of one run.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::BytesPerSec { min, max }, Self::BytesPerSec { min: its_min, max: its_max }) => {
                Self::BytesPerSec { min: min.saturating_add(its_min), max: max.saturating_add(its_max) }
            }
            (Self::Ios { min, max }, Self::Ios { min: its_min, max: its_max }) => {
                Self::Ios { min: min.saturating_add(its_min), max: max.saturating_add(its_max) }
            }
            (Self::BytesPerSec { .. }, Self::Ios { .. }) => self,
            (Self::Ios { .. }, Self::BytesPerSec { .. }) => other,
        }
    }
}

impl EtaSnapshot {
    /// The state of several runs that go on side by side: the last of them to end says how long all take. `None`: there are none.
    pub fn together<'a>(snapshots: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        snapshots.into_iter().fold(None, |sum: Option<Self>, one| match sum {
            None => Some(one.clone()),
            Some(mut sum) => {
                sum.add(one);
                Some(sum)
            }
        })
    }

    fn add(&mut self, other: &Self) {
        let sum = |one: &PerDirection<u64>, other: &PerDirection<u64>| {
            PerDirection(std::array::from_fn(|index| one.0[index].saturating_add(other.0[index])))
        };
        // A run that is over has no share of its own, and takes no more time.
        let are_known = [&*self, other].iter().all(|one| one.percent_done.is_some() || one.n_running == 0);
        let shares = [self.percent_done, other.percent_done].into_iter().flatten();
        self.percent_done = if are_known { shares.reduce(f64::min) } else { None };
        self.eta_secs = match (self.eta_secs, other.eta_secs) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (Some(one), None) if other.n_running == 0 => Some(one),
            (None, Some(one)) if self.n_running == 0 => Some(one),
            _ => None,
        };
        self.limits = match (self.limits, other.limits) {
            (Some(one), Some(other)) => Some(one.with(other)),
            (one, other) => one.or(other),
        };
        self.n_running = self.n_running.saturating_add(other.n_running);
        self.n_open_files = self.n_open_files.saturating_add(other.n_open_files);
        self.shows_progress |= other.shows_progress;
        self.states.extend(&other.states);
        self.only_ramps &= other.only_ramps;
        self.bytes_per_sec = sum(&self.bytes_per_sec, &other.bytes_per_sec);
        self.ios_per_sec = sum(&self.ios_per_sec, &other.ios_per_sec);
        self.p99_ns = self.p99_ns.max(other.p99_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_side_by_side_are_one_line() {
        let one = EtaSnapshot {
            n_running: 1,
            n_open_files: 2,
            limits: Some(EtaLimits::Ios { min: 0, max: 1_000 }),
            shows_progress: true,
            states: vec!['R'],
            percent_done: Some(40.0),
            bytes_per_sec: PerDirection([4_096, 0, 0]),
            ios_per_sec: PerDirection([1, 0, 0]),
            eta_secs: Some(6),
            kb_base: 1_024,
            ..EtaSnapshot::default()
        };
        let other = EtaSnapshot {
            states: vec!['W', '_'],
            percent_done: Some(70.0),
            bytes_per_sec: PerDirection([0, 512, 0]),
            eta_secs: Some(3),
            ..one.clone()
        };
        let both = EtaSnapshot::together([&one, &other]).expect("two");
        assert_eq!((both.n_running, both.n_open_files), (2, 4));
        assert_eq!((both.eta_secs, both.percent_done), (Some(6), Some(40.0)), "the last to end decides");
        assert_eq!(both.limits, Some(EtaLimits::Ios { min: 0, max: 2_000 }));
        assert_eq!((both.states, both.bytes_per_sec), (vec!['R', 'W', '_'], PerDirection([4_096, 512, 0])));
        let unknown = EtaSnapshot { eta_secs: None, percent_done: None, ..one.clone() };
        let all = EtaSnapshot::together([&one, &unknown]).expect("two");
        assert_eq!((all.eta_secs, all.percent_done), (None, None), "nobody knows when the other one ends");
        let over = EtaSnapshot { n_running: 0, ..unknown };
        let all = EtaSnapshot::together([&over, &one]).expect("two");
        assert_eq!((all.eta_secs, all.percent_done), (Some(6), Some(40.0)), "it is over");
        assert_eq!(EtaSnapshot::together([]), None);
    }
}
