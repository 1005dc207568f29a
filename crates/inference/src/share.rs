//! Confidence interval of a percentile, from histograms of intervals.
//!
//! Must not know: what was measured. Start reading at [`percentile_interval`]. The interval of the share of samples behind the
//! percentile is that of a mean, and the values at the ends of this share are those of the percentile (Woodruff, Confidence intervals
//! for medians and other position measures, 1952).

use super::mean::factors;
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_bounds_ns, bucket_latency_ns};
use ferrio_stats::{Confidence, ImprecisionReason};

/// Fewest samples behind a percentile, and before it. With fewer, a handful of intervals decides, and simulated runs show intervals
/// that are too narrow.
const FEWEST_BEYOND: f64 = 100.0;
/// With fewer samples behind the percentile in an interval, chance hides how the intervals depend on each other: pairs of them become
/// one, if that leaves at least [`FEWEST_INTERVALS`].
const BEYOND_OF_INTERVAL: f64 = 10.0;
const FEWEST_INTERVALS: usize = 40;
/// The error is larger by this much for each interval that holds samples behind the percentile, counted as if all held as many: the
/// fewer they are, the less is known of how much they vary. From simulated runs.
const UNKNOWN_VARIANCE: f64 = 4.0;

/// Buckets of an interval that are not empty, with their counts.
pub type Counts = Vec<(u16, u64)>;

/// A percentile (above 0 and below 100) of the samples of all intervals, nanoseconds, with the interval that covers the true value
/// with a probability of 95 %.
pub fn percentile_interval(cells: &[Counts], percent: f64) -> Result<Confidence, ImprecisionReason> {
    let total = Total::of(cells);
    let share = percent / 100.0;
    if total.n_samples * share.min(1.0 - share) < FEWEST_BEYOND {
        return Err(ImprecisionReason::TooFewSamples);
    }
    let (bucket, part) = total.place(share);
    let mut n_holding = Holding::default();
    let mut beyond = |cell: &Counts| -> f64 {
        let n_samples: f64 = cell.iter().map(|(_, count)| *count as f64).sum();
        let above: f64 =
            cell.iter().map(|(index, count)| *count as f64 * behind(usize::from(*index), bucket, part)).sum();
        n_holding.add(above);
        above - (1.0 - share) * n_samples
    };
    let mut excess: Vec<f64> = cells.iter().map(&mut beyond).collect();
    while total.n_samples * (1.0 - share) < BEYOND_OF_INTERVAL * excess.len() as f64
        && excess.len() >= 2 * FEWEST_INTERVALS
    {
        excess = excess.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
    }
    let mean_beyond = (1.0 - share) * total.n_samples / excess.len() as f64;
    let (low, high) = factors(&excess, mean_beyond, 1.0 + UNKNOWN_VARIANCE / n_holding.number())?;
    // The more samples lie behind the value, the larger is the true percentile.
    let share_at = |factor: f64| (1.0 - (1.0 - share) * factor).max(0.0);
    let (low_share, high_share) = (share_at(high), share_at(low));
    let value = bucket_latency_ns(bucket) as f64;
    let (low, high) = (total.value(low_share), total.value(high_share));
    Ok(Confidence { value, low: low.min(value), high: high.max(value) })
}

/// The part of a bucket that lies behind a place in another bucket.
fn behind(index: usize, bucket: usize, part: f64) -> f64 {
    match index.cmp(&bucket) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0 - part,
        std::cmp::Ordering::Greater => 1.0,
    }
}

/// Number of intervals that hold the samples behind a percentile, as if all of these held as many (Kish's effective size).
#[derive(Default)]
struct Holding {
    sum: f64,
    squares: f64,
}

impl Holding {
    fn add(&mut self, n_samples: f64) {
        self.sum += n_samples;
        self.squares += n_samples * n_samples;
    }

    fn number(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 1.0 }
    }
}

/// The samples of all intervals.
struct Total {
    counts: Vec<f64>,
    n_samples: f64,
}

impl Total {
    fn of(cells: &[Counts]) -> Self {
        let mut counts = vec![0.0; N_FULL_BUCKETS];
        for (index, count) in cells.iter().flatten() {
            // A record that was read may name any bucket.
            if let Some(sum) = counts.get_mut(usize::from(*index)) {
                *sum += *count as f64;
            }
        }
        let n_samples = counts.iter().sum();
        Self { counts, n_samples }
    }

    /// The bucket at which the running count reaches a share of the samples, and the part of the bucket before it.
    fn place(&self, share: f64) -> (usize, f64) {
        let wanted = share * self.n_samples;
        let mut passed = 0.0;
        for (index, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            if passed + count >= wanted {
                return (index, (wanted - passed) / count);
            }
            passed += count;
        }
        (N_FULL_BUCKETS - 1, 1.0)
    }

    /// The value at a share of the samples; those of a bucket count as spread evenly over it.
    fn value(&self, share: f64) -> f64 {
        let (bucket, part) = self.place(share);
        let (low, high) = bucket_bounds_ns(bucket);
        low as f64 + part * (high as f64 - low as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive, coverage, normal};
    use ferrio_stats::Histogram;
    use ferrio_units::random::Taus258;

    /// Intervals of lognormal latencies around 100 us, whose level wanders with the intervals. The variance of the logarithm is
    /// 0.04 within intervals, and 0.04 of the level.
    fn cells(n: usize, n_samples: usize, phi: f64, seed: u64) -> Vec<Counts> {
        let mut random = Taus258::new(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let scale = LEVEL * (1.0 - phi * phi).sqrt();
        let levels = autoregressive(n, phi, Noise::Normal, seed);
        let of_level = |level: f64| {
            let mut histogram = Histogram::default();
            for _ in 0..n_samples {
                histogram.record((100_000.0 * (level * scale + 0.2 * normal(&mut random)).exp()) as u64);
            }
            histogram.filled().map(|(bucket, count)| (bucket as u16, count)).collect()
        };
        levels.into_iter().map(of_level).collect()
    }

    fn covers(n: usize, n_samples: usize, phi: f64, (percent, quantile): (f64, f64), n_runs: u64) -> (f64, f64) {
        // All samples together are lognormal with the sum of both variances.
        let truth = 100_000.0 * ((0.04 + LEVEL * LEVEL).sqrt() * quantile).exp();
        coverage(n_runs, |seed| {
            let interval = percentile_interval(&cells(n, n_samples, phi, seed), percent).ok()?;
            Some(interval.low <= truth && truth <= interval.high)
        })
    }

    const LEVEL: f64 = 0.08;
    const P50: (f64, f64) = (50.0, 0.0);
    const P99: (f64, f64) = (99.0, 2.326_348);
    const P999: (f64, f64) = (99.9, 3.090_232);

    #[test]
    fn a_percentile_is_covered() {
        let (share, made) = covers(30, 40, 0.3, P50, 500);
        assert!(made > 0.9 && (0.92..=0.98).contains(&share), "{share} of {made}");
    }

    #[test]
    #[ignore = "takes minutes without optimisation"]
    fn percentiles_are_covered_in_2000_runs() {
        for (n, n_samples, percentile) in [(50, 100, P50), (100, 200, P99), (100, 400, P99), (100, 2_000, P999)] {
            for phi in [0.0, 0.3, 0.6] {
                let (share, made) = covers(n, n_samples, phi, percentile, 2_000);
                eprintln!("{n} intervals of {n_samples}, phi {phi}, {percentile:?}: covers {share:.4} of {made:.4}");
                assert!((0.93..=0.97).contains(&share), "{share} of {made}");
            }
        }
    }

    #[test]
    fn few_samples_behind_a_percentile_say_nothing() {
        let cells = cells(50, 100, 0.0, 1);
        assert!(percentile_interval(&cells, 50.0).is_ok());
        assert_eq!(percentile_interval(&cells, 99.0), Err(ImprecisionReason::TooFewSamples));
        assert_eq!(percentile_interval(&[], 50.0), Err(ImprecisionReason::TooFewSamples));
        assert_eq!(percentile_interval(&cells[..20], 50.0), Err(ImprecisionReason::TooFewIntervals));
        // Buckets that do not exist.
        let hostile = vec![vec![(u16::MAX, u64::MAX), (5, u64::MAX)]; 30];
        assert!(percentile_interval(&hostile, 50.0).is_ok());
    }

    /// All values in one bucket: the interval lies within it.
    #[test]
    fn equal_values_have_the_width_of_their_bucket() {
        let cells: Vec<Counts> = (0..50).map(|_| vec![(737, 100)]).collect();
        let interval = percentile_interval(&cells, 50.0).expect("enough");
        let (low, high) = bucket_bounds_ns(737);
        assert!(
            interval.low >= low as f64 && interval.high <= high as f64 && interval.low <= interval.value,
            "{interval:?}"
        );
    }
}
