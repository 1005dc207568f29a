//! Statistics of window samples: the `bw` and `iops` lines of a report.
//!
//! Must not know: samplers. Start reading at [`SampleStat`].

use crate::counters::counts::add_to;
use serde::{Deserialize, Serialize};

/// Statistics of the samples of one window sampler (KiB/s, or I/Os per second).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampleStat {
    /// Number of windows with I/O.
    pub n_samples: u64,
    /// Smallest; `u64::MAX` when there is none.
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    /// Sum of squared distances from the mean (Welford's S).
    pub sum_squared_deviations: f64,
}

impl Default for SampleStat {
    fn default() -> Self {
        Self { n_samples: 0, min: u64::MAX, max: 0, mean: 0.0, sum_squared_deviations: 0.0 }
    }
}

impl SampleStat {
    pub fn record(&mut self, value: u64) {
        self.n_samples += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        debug_assert!(self.min <= self.max, "the smallest sample is no larger than the largest");
        let delta = value as f64 - self.mean;
        self.mean += delta / self.n_samples as f64;
        self.sum_squared_deviations += delta * (value as f64 - self.mean);
    }

    /// Sample standard deviation; 0 below two samples.
    pub fn standard_deviation(&self) -> f64 {
        if self.n_samples < 2 {
            return 0.0;
        }
        (self.sum_squared_deviations / (self.n_samples - 1) as f64).sqrt()
    }

    /// Adds the samples of another member of a group: figures of members that run side by side add up, and so do the
    /// numbers of samples (checked against fio 3.41: two members with 4 samples each give 8).
    pub fn add_member(&mut self, member: &Self) {
        if member.n_samples == 0 {
            return;
        }
        if self.n_samples == 0 {
            *self = *member;
            return;
        }
        add_to(&mut self.n_samples, member.n_samples);
        add_to(&mut self.min, member.min);
        add_to(&mut self.max, member.max);
        self.mean += member.mean;
        self.sum_squared_deviations += member.sum_squared_deviations;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_that_of_a_sample() {
        let mut stat = SampleStat::default();
        assert!(stat.standard_deviation().abs() < 1e-12);
        for value in [3824, 3928, 3868] {
            stat.record(value);
        }
        // Mean 3873.33, squared distances 2433.78 + 2988.44 + 28.44 = 5450.67, over 2.
        assert!((stat.mean - 11_620.0 / 3.0).abs() < 1e-9);
        assert!((stat.standard_deviation() - 52.204_725_201_420_28).abs() < 1e-9);
    }

    /// Expected values: fio 3.41, for a group of 2 jobs with 3 samples and the same seeds.
    #[test]
    fn members_add_up() {
        let mut first = SampleStat::default();
        for value in [4000, 4000, 4008] {
            first.record(value);
        }
        let mut group = SampleStat::default();
        group.add_member(&SampleStat::default());
        group.add_member(&first);
        group.add_member(&first);
        assert_eq!((group.n_samples, group.min, group.max), (6, 8000, 8016));
        assert!((group.mean - 2.0 * first.mean).abs() < 1e-9);
        assert!((group.sum_squared_deviations - 2.0 * first.sum_squared_deviations).abs() < 1e-9);
    }
}
