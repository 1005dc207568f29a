//! Statistics of window samples: the `bw` and `iops` lines of a report.
//!
//! Must not know: who samples. Start reading at [`SampleStat`].

use serde::{Deserialize, Serialize};

/// Statistics of the samples of one window sampler (KiB/s, or I/Os per second).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampleStat {
    /// Number of windows with I/O.
    pub n_samples: u64,
    /// Smallest; `u64::MAX` when there is none.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
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
    /// Counts one sample.
    pub fn record(&mut self, value: u64) {
        self.n_samples += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
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
}
