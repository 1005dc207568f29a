//! Percentiles of a histogram, exact to the sample.
//!
//! Must not know: formats, the list of wanted percentiles. Start reading at [`percentiles`].

use crate::distribution::histogram::{Histogram, bucket_latency_ns};

/// Values of the wanted percentiles (0 to 100) in nanoseconds as in fio, ascending by percentile: values behind fio's
/// buckets (17.18 s and more) count in its last one.
///
/// The value of `p` is the middle of the first bucket at which the running count reaches `p / 100 * N`, so it may be
/// above the largest sample. The comparison is exact, as in fio: a rounded product that should be whole would pick
/// another sample. Percentiles of zero and non-numbers are left out; an empty histogram gives zeroes.
pub fn percentiles(histogram: &Histogram, wanted: &[f64]) -> Vec<(f64, u64)> {
    walk(histogram.folded(), histogram.n_samples(), wanted)
}

/// The same over the whole range of the histogram.
pub fn full_percentiles(histogram: &Histogram, wanted: &[f64]) -> Vec<(f64, u64)> {
    walk(histogram.filled(), histogram.n_samples(), wanted)
}

/// A percentile needs this many samples beyond it to be more than the mood of the slowest few.
pub const FEWEST_BEYOND: u64 = 10;

/// True if fewer than [`FEWEST_BEYOND`] of the samples lie beyond a percentile (0 to 100).
pub fn has_few_beyond(percentile: f64, n_samples: u64) -> bool {
    // A thousandth of a sample for the rounding of 100 - 99.9.
    (100.0 - percentile) / 100.0 * n_samples as f64 + 1e-3 < FEWEST_BEYOND as f64
}

fn walk(mut filled: impl Iterator<Item = (usize, u64)>, n_samples: u64, wanted: &[f64]) -> Vec<(f64, u64)> {
    let mut list: Vec<f64> = wanted.iter().copied().filter(|p| *p > 0.0 && p.is_finite()).collect();
    list.sort_by(f64::total_cmp);
    let mut n_passed = 0u64;
    let mut latency_ns = 0;
    list.into_iter()
        .map(|percentile| {
            let rank = rank_of(percentile, n_samples);
            while n_passed < rank {
                let Some((index, count)) = filled.next() else { break };
                n_passed = n_passed.saturating_add(count);
                latency_ns = bucket_latency_ns(index);
            }
            (percentile, latency_ns)
        })
        .collect()
}

/// Smallest whole number that is not below `percentile / 100 * n_samples`. The percentile is taken as the double that
/// it is: 99.9 is slightly above 99.9, and picks sample 1,000 of 1,000. At least 1 if there are samples.
fn rank_of(percentile: f64, n_samples: u64) -> u64 {
    if n_samples == 0 {
        return 0;
    }
    if !percentile.is_normal() {
        return 1;
    }
    let bits = percentile.to_bits();
    // percentile = significand * 2^-shift with a significand of 53 bits.
    let significand = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let shift = 1075 - ((bits >> 52) & 0x7ff) as i32;
    // Fits: 53 bits times 64 bits.
    let product = significand * u128::from(n_samples);
    let rank = match shift {
        // 2^53 percent and more.
        ..=0 => u128::MAX,
        // Fits: 100 has 7 bits.
        1..=120 => product.div_ceil(100 << shift),
        // Below 2^-60 percent and less than 2^117 * 2^-121 of a sample.
        _ => 1,
    };
    u64::try_from(rank).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::histogram::{bucket_index, full_bucket_index};
    use proptest::prelude::*;

    fn histogram_of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    /// Expected values: ranks that fio 3.41 picks on x86-64, found with `--percentile_list` and the bins of json+, in
    /// runs whose latencies have a gap at just that rank. Rounded quotients or products fail at least one row.
    #[test]
    fn rank_is_that_of_the_peer() {
        let table = [
            (5.0, 20, 1),
            (80.0, 20, 16),
            (90.0, 20, 18),
            (50.0, 7, 4),
            (99.9, 1_000, 1_000),
            (99.9, 10_000, 9_991),
            (1.1, 1_000, 12),
            (4.4, 1_000, 45),
            (33.3, 1_000, 333),
            (99.95, 2_000, 2_000),
            (99.99, 10_000, 9_999),
            (30.0, 24_170, 7_251),
            (60.0, 24_170, 14_502),
            (90.0, 99_990, 89_991),
            (7.0, 100_000, 7_000),
            (56.0, 100_000, 56_000),
        ];
        for (percentile, n_samples, rank) in table {
            assert_eq!(rank_of(percentile, n_samples), rank, "{percentile} of {n_samples}");
        }
    }

    #[test]
    fn rank_keeps_its_bounds() {
        assert_eq!(rank_of(100.0, u64::MAX), u64::MAX);
        assert_eq!(rank_of(100.0, 1), 1);
        assert_eq!(rank_of(f64::MIN_POSITIVE, 10), 1);
        assert_eq!(rank_of(f64::MIN_POSITIVE / 2.0, 10), 1);
        assert_eq!(rank_of(f64::MAX, 10), u64::MAX);
        assert_eq!(rank_of(50.0, 0), 0);
    }

    #[test]
    fn list_is_sorted_and_cleaned() {
        let histogram = histogram_of(&(1..=100).collect::<Vec<_>>());
        let found = percentiles(&histogram, &[99.0, 0.0, 1.0, f64::NAN, 50.0]);
        assert_eq!(found, [(1.0, 1), (50.0, 50), (99.0, 99)]);
        assert_eq!(percentiles(&histogram, &[250.0]), [(250.0, 100)]);
        assert_eq!(percentiles(&Histogram::default(), &[1.0, 99.0]), [(1.0, 0), (99.0, 0)]);
    }

    /// Any value of a bucket may be 1/64 off (half a bucket either way, rounded).
    fn within_a_bucket(ours: u64, theirs: u64) -> bool {
        ours.abs_diff(theirs) <= theirs / 64 + 1
    }

    proptest! {
        #[test]
        fn value_is_that_of_the_ranked_sample(
            mut values in prop::collection::vec(0u64..40_000_000_000, 1..400),
            percentile in 0.01f64..100.0,
        ) {
            let histogram = histogram_of(&values);
            values.sort_unstable();
            let ranked = values[rank_of(percentile, values.len() as u64) as usize - 1];
            let expected = bucket_latency_ns(bucket_index(ranked));
            prop_assert_eq!(percentiles(&histogram, &[percentile]), [(percentile, expected)]);
            let expected = bucket_latency_ns(full_bucket_index(ranked));
            prop_assert_eq!(full_percentiles(&histogram, &[percentile]), [(percentile, expected)]);
        }

        /// The reference library computes ranks in another way, so it may pick a neighbouring sample.
        #[test]
        fn value_agrees_with_hdrhistogram(
            mut values in prop::collection::vec((1u64.., 0u32..63).prop_map(|(value, shift)| (value >> shift).clamp(1, 1 << 60)), 1..400),
            percentile in 0.01f64..100.0,
        ) {
            let mut oracle = hdrhistogram::Histogram::<u64>::new(3).expect("3 digits are allowed");
            for value in &values { oracle.record(*value).expect("grows by itself"); }
            values.sort_unstable();
            let theirs = oracle.value_at_quantile(percentile / 100.0);
            let rank = rank_of(percentile, values.len() as u64) as usize;
            let neighbours = &values[rank.saturating_sub(2)..(rank + 1).min(values.len())];
            let ours: Vec<u64> = neighbours.iter().map(|value| bucket_latency_ns(full_bucket_index(*value))).collect();
            prop_assert!(ours.iter().any(|value| within_a_bucket(*value, theirs)), "{:?} {}", ours, theirs);
        }

        #[test]
        fn percentiles_never_fall(values in prop::collection::vec(any::<u64>(), 0..200)) {
            let wanted: Vec<f64> = (1..=20).map(|step| f64::from(step) * 5.0).collect();
            let found = percentiles(&histogram_of(&values), &wanted);
            prop_assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        }
    }
}
