//! Steady state (`steadystate`): decides whether the rate or latency of the last samples is constant enough.
//!
//! There is a window of samples, one for each interval. When it is full, a check follows each new sample. Figures and
//! their rounding are those of fio 3.41.
//!
//! Must not know: the source of the samples, the effect of the decision. Start reading at [`SteadyState::add`].

use ferrio_spec::{SteadyCriterion, SteadyMetric};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Figures of one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SteadySample {
    pub ios_per_sec: u64,
    pub bytes_per_sec: u64,
    /// Sum of the completion latencies, nanoseconds.
    pub clat_sum_ns: u128,
    pub n_clats: u64,
}

impl SteadySample {
    /// Adds the same interval of another job: rates add up, latencies are joined.
    pub fn add_member(&mut self, other: &Self) {
        self.ios_per_sec = self.ios_per_sec.saturating_add(other.ios_per_sec);
        self.bytes_per_sec = self.bytes_per_sec.saturating_add(other.bytes_per_sec);
        self.clat_sum_ns = self.clat_sum_ns.saturating_add(other.clat_sum_ns);
        self.n_clats = self.n_clats.saturating_add(other.n_clats);
    }

    /// Mean completion latency in nanoseconds, rounded down; 0 without any.
    pub fn mean_clat_ns(&self) -> u64 {
        let mean = self.clat_sum_ns.checked_div(u128::from(self.n_clats)).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    fn value(&self, metric: SteadyMetric) -> u64 {
        match metric {
            SteadyMetric::Iops => self.ios_per_sec,
            SteadyMetric::Bw => self.bytes_per_sec,
            SteadyMetric::Lat => self.mean_clat_ns(),
        }
    }
}

/// The state of a job, or of a group of jobs that is judged together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    pub criterion: SteadyCriterion,
    /// Length of the window, seconds (`steadystate_duration`).
    pub duration_secs: u64,
    /// A full window has met the criterion.
    pub is_attained: bool,
    /// The figure compared last: percent of the mean, or the unit of the metric. 0 before the window is full.
    pub figure: f64,
    /// Largest distance from the mean, unit of the metric; 0 for slopes.
    pub max_deviation: f64,
    /// Slope per sample, unit of the metric; 0 for distances.
    pub slope: f64,
    /// Number of samples in a full window.
    n_window: usize,
    samples: VecDeque<SteadySample>,
    /// Number of samples so far, including those that have left the window.
    #[serde(default)]
    n_samples: usize,
}

impl SteadyState {
    /// An empty state. The window has `n_window` samples, at least 1. Memory is taken as samples come.
    pub fn new(criterion: SteadyCriterion, duration_secs: u64, n_window: usize) -> Self {
        Self {
            criterion,
            duration_secs,
            is_attained: false,
            figure: 0.0,
            max_deviation: 0.0,
            slope: 0.0,
            n_window: n_window.max(1),
            samples: VecDeque::new(),
            n_samples: 0,
        }
    }

    /// Number of samples in a full window; `None` if these counts cannot come from a search, which is possible for data
    /// from another process.
    pub fn n_window(&self) -> Option<usize> {
        let n_kept = self.samples.len();
        let is_possible = self.n_window > 0 && n_kept <= self.n_window && n_kept <= self.n_samples;
        is_possible.then_some(self.n_window)
    }

    pub fn newest(&self) -> Option<&SteadySample> {
        self.samples.back()
    }

    /// True if the window is full, so that a check followed the last sample.
    pub fn is_full(&self) -> bool {
        self.samples.len() == self.n_window
    }

    /// Indexes of the oldest and the newest sample in a ring as long as the window; the very first sample is at 0.
    pub fn head_and_tail(&self) -> (usize, usize) {
        let oldest = self.n_samples - self.samples.len();
        (oldest % self.n_window, self.n_samples.saturating_sub(1) % self.n_window)
    }

    /// The compared value of each sample in the window, oldest first.
    pub fn values(&self) -> Vec<u64> {
        self.samples.iter().map(|sample| sample.value(self.criterion.metric)).collect()
    }

    /// Adds the newest sample and checks. True: steady. Later samples then change nothing.
    pub fn add(&mut self, sample: SteadySample) -> bool {
        if self.is_attained {
            return true;
        }
        if self.is_full() {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.n_samples += 1;
        if self.is_full() {
            self.check();
        }
        self.is_attained
    }

    fn check(&mut self) {
        let values: Vec<f64> = self.samples.iter().map(|sample| sample.value(self.criterion.metric) as f64).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        // As in fio: a slope is compared with the whole number of the mean, a deviation with the exact mean.
        let (absolute, whole) = if self.criterion.is_slope {
            self.slope = slope(&values, mean);
            (self.slope, mean.trunc())
        } else {
            self.max_deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
            (self.max_deviation, mean)
        };
        self.figure = match (self.criterion.is_percent, whole > 0.0) {
            (false, _) => absolute,
            (true, true) => 100.0 * absolute / whole,
            (true, false) => 0.0,
        };
        // A window without I/O is not steady, although nothing is more constant.
        self.is_attained = mean >= 1.0 && self.figure.abs() < self.criterion.limit;
    }

    /// Values of the window's samples, oldest first; 0 for missing ones.
    pub fn window(&self, value: impl Fn(&SteadySample) -> u64) -> impl Iterator<Item = u64> {
        let n_missing = self.n_window - self.samples.len();
        self.samples.iter().map(value).chain(std::iter::repeat_n(0, n_missing))
    }

    /// Mean over the whole window, rounded down; missing samples count as 0.
    pub fn mean(&self, value: impl Fn(&SteadySample) -> u64) -> u64 {
        let sum: u128 = self.samples.iter().map(|sample| u128::from(value(sample))).sum();
        // Fits: the mean of 64-bit numbers has 64 bits.
        u64::try_from(sum / self.n_window as u128).unwrap_or(u64::MAX)
    }
}

/// Slope of the least-squares line through values at 0, 1, 2, ...; 0 for a single value.
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (index, value) in values.iter().enumerate() {
        let distance = index as f64 - middle;
        products += distance * (value - mean);
        squares += distance * distance;
    }
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state(metric: SteadyMetric, is_slope: bool, limit: f64, is_percent: bool, n_window: usize) -> SteadyState {
        SteadyState::new(SteadyCriterion { metric, is_slope, limit, is_percent }, n_window as u64, n_window)
    }

    fn ios(ios_per_sec: u64) -> SteadySample {
        SteadySample { ios_per_sec, bytes_per_sec: ios_per_sec * 4096, ..SteadySample::default() }
    }

    fn near(ours: f64, theirs: f64) {
        assert!((ours - theirs).abs() < 5e-7, "{ours} {theirs}");
    }

    /// Expected: a run of a development version of fio with `iops_slope:5%` over 3 s.
    #[test]
    fn slope_of_the_sample() {
        let mut state = state(SteadyMetric::Iops, true, 5.0, true, 3);
        let samples = [(12_083, 49_493_213), (14_266, 58_436_481), (12_916, 52_903_936)];
        let attained = samples.map(|(ios_per_sec, bytes_per_sec)| {
            state.add(SteadySample { ios_per_sec, bytes_per_sec, ..SteadySample::default() })
        });
        assert_eq!(attained, [false, false, true]);
        near(state.slope, 416.5);
        near(state.figure, 3.182_304);
        near(state.max_deviation, 0.0);
        assert_eq!(state.mean(|sample| sample.bytes_per_sec), 53_611_210);
        assert_eq!(state.mean(|sample| sample.ios_per_sec), 13_088);
        assert!(state.window(|sample| sample.ios_per_sec).eq([12_083, 14_266, 12_916]));
    }

    /// Expected: runs of fio 3.41.
    #[test]
    fn deviations_of_the_peer() {
        let table = [
            (vec![1003, 1001], true, 90.0, 1.0, 0.099_8),
            (vec![1010, 995], true, 90.0, 7.5, 0.748_13),
            (vec![826, 999, 996], true, 90.0, 114.333_333, 12.158_809),
            (vec![1578, 2009, 1992], true, 90.0, 281.666_667, 15.146_084),
            (vec![789, 1006], false, 500.0, 108.5, 108.5),
        ];
        for (values, is_percent, limit, deviation, figure) in table {
            let mut state = state(SteadyMetric::Iops, false, limit, is_percent, values.len());
            let attained: Vec<bool> = values.iter().map(|value| state.add(ios(*value))).collect();
            assert_eq!((attained.first(), attained.last()), (Some(&false), Some(&true)));
            near(state.max_deviation, deviation);
            near(state.figure, figure);
            near(state.slope, 0.0);
        }
    }

    /// Expected: fio 3.41 with `bw_slope` over 4128768 and 4083720 bytes/s, and `iops_slope:0.01%` over 1003 and 1001:
    /// a falling line has a negative slope, but is compared without its sign.
    #[test]
    fn falling_slopes_are_compared_without_their_sign() {
        let mut bw = state(SteadyMetric::Bw, true, 90.0, true, 2);
        for bytes_per_sec in [4_128_768, 4_083_720] {
            bw.add(SteadySample { bytes_per_sec, ..SteadySample::default() });
        }
        near(bw.slope, -45_048.0);
        near(bw.figure, -1.097_061);
        assert!(bw.is_attained);
        let mut iops = state(SteadyMetric::Iops, true, 0.01, true, 2);
        assert_eq!([1003, 1001].map(|value| iops.add(ios(value))), [false, false]);
        near(iops.slope, -2.0);
        near(iops.figure, -0.199_601);
    }

    /// Expected: in fio 3.41 `iops:0` and `iops:-1` are never attained, and 5 of 8 samples give means over 8.
    #[test]
    fn limits_are_exclusive_and_missing_samples_are_zeros() {
        let mut zero = state(SteadyMetric::Iops, false, 0.0, false, 1);
        assert!(!zero.add(ios(1003)));
        let mut short = state(SteadyMetric::Iops, false, 0.0001, true, 8);
        let rates = [4_096_000, 4_100_096, 4_096_000, 4_100_096, 4_096_000];
        for bytes_per_sec in rates {
            assert!(!short.add(SteadySample { ios_per_sec: bytes_per_sec / 4096, bytes_per_sec, ..ios(0) }));
        }
        assert_eq!(short.mean(|sample| sample.bytes_per_sec), 2_561_024);
        assert_eq!(short.mean(|sample| sample.ios_per_sec), 625);
        assert!(short.window(|sample| sample.ios_per_sec).eq([1000, 1001, 1000, 1001, 1000, 0, 0, 0]));
        near(short.figure, 0.0);
    }

    #[test]
    fn nothing_at_all_is_not_steady() {
        let mut idle = state(SteadyMetric::Iops, false, 5.0, true, 2);
        assert_eq!([0, 0, 0].map(|value| idle.add(ios(value))), [false; 3]);
    }

    #[test]
    fn latencies_of_members_are_put_together() {
        let mut sample = SteadySample { clat_sum_ns: 3_000, n_clats: 3, ..ios(3) };
        sample.add_member(&SteadySample { clat_sum_ns: 5_000, n_clats: 1, ..ios(1) });
        assert_eq!((sample.ios_per_sec, sample.mean_clat_ns()), (4, 2_000));
        let mut state = state(SteadyMetric::Lat, false, 1.0, false, 2);
        assert!(!state.add(sample));
        assert!(state.add(sample));
        assert_eq!(SteadySample::default().mean_clat_ns(), 0);
    }

    // Expected: indexes in lines of fio 3.41 with a window of three samples.
    #[test]
    fn places_go_round() {
        let mut state = state(SteadyMetric::Iops, false, 0.0, true, 3);
        for expected in [(0, 0), (0, 1), (0, 2), (1, 0), (2, 1), (0, 2), (1, 0)] {
            state.add(SteadySample { ios_per_sec: 7, ..SteadySample::default() });
            assert_eq!(state.head_and_tail(), expected);
        }
    }

    #[test]
    fn the_window_moves() {
        let mut state = state(SteadyMetric::Iops, false, 1.0, true, 3);
        let attained = [10, 900, 1000, 1001, 1000, 5].map(|value| state.add(ios(value)));
        assert_eq!(attained, [false, false, false, false, true, true]);
        assert!(state.window(|sample| sample.ios_per_sec).eq([1000, 1001, 1000]), "what comes later changes nothing");
    }

    proptest! {
        /// Compared with the textbook's other formula for the slope; points on a line give the slope of that line.
        #[test]
        fn slope_is_the_least_squares_line(values in prop::collection::vec(0u32..1_000_000, 2..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let indexes = || (0..values.len()).map(|index| index as f64);
            let sum_x: f64 = indexes().sum();
            let sum_xx: f64 = indexes().map(|x| x * x).sum();
            let sum_xy: f64 = indexes().zip(&values).map(|(x, y)| x * y).sum();
            let expected = (n * sum_xy - sum_x * mean * n) / (n * sum_xx - sum_x * sum_x);
            prop_assert!((slope(&values, mean) - expected).abs() < 1e-6 * expected.abs().max(1.0));
        }
    }
}
