//! Percentiles of a histogram, to the sample that fio picks.
//!
//! Must not know: formats, which percentiles a job wants. Start reading at [`percentiles`].

use crate::histogram::{Histogram, bucket_value_ns};

/// Values of the wanted percentiles (0 to 100) in nanoseconds, ascending by percentile.
///
/// The value of `p` is the middle of the first bucket at which the running count reaches `p / 100 * N`, so it may lie
/// above the largest sample. The product is rounded as the 80-bit floating point numbers of x86 do it: which sample is
/// picked at a tie depends on that, and fio's figures come from there. Percentiles of zero and non-numbers are left
/// out; an empty histogram gives zeros.
pub fn percentiles(histogram: &Histogram, wanted: &[f64]) -> Vec<(f64, u64)> {
    let mut list: Vec<f64> = wanted.iter().copied().filter(|p| *p > 0.0 && p.is_finite()).collect();
    list.sort_by(f64::total_cmp);
    let n_samples = histogram.n_samples();
    let mut filled = histogram.filled();
    let mut n_passed = 0u64;
    let mut value_ns = 0;
    list.into_iter()
        .map(|percentile| {
            let rank = rank_of(percentile, n_samples);
            while n_passed < rank {
                let Some((index, count)) = filled.next() else { break };
                n_passed = n_passed.saturating_add(count);
                value_ns = bucket_value_ns(index);
            }
            (percentile, value_ns)
        })
        .collect()
}

/// Smallest whole number that is not below `percentile / 100 * n_samples`, where the quotient and the product are each
/// rounded to 64 significant bits. At least 1 when there are samples.
fn rank_of(percentile: f64, n_samples: u64) -> u64 {
    if n_samples == 0 {
        return 0;
    }
    if !percentile.is_normal() {
        return 1;
    }
    let bits = percentile.to_bits();
    // percentile = significand * 2^exponent with a significand of exactly 53 bits.
    let significand = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    // 53 + 70 bits fit in 128; the quotient has at least 116 bits, so rounding to 64 drops some and needs the rest
    // only to see that a tie is none.
    let scaled = significand << 70;
    let (quotient, quotient_shift) = round_to_64_bits(scaled / 100, scaled % 100 != 0);
    // Two factors below 2^64.
    let (product, product_shift) = round_to_64_bits(quotient * u128::from(n_samples), false);
    round_up(product, exponent - 70 + quotient_shift + product_shift).max(1)
}

/// The nearest number of 64 bits to `value` (plus a little when `has_rest`), and the power of two it was divided by.
/// Ties go to the even number.
fn round_to_64_bits(value: u128, has_rest: bool) -> (u128, i32) {
    let n_bits = 128 - value.leading_zeros();
    let Some(shift) = n_bits.checked_sub(64).filter(|shift| *shift > 0) else { return (value, 0) };
    let kept = value >> shift;
    let dropped = value & ((1 << shift) - 1);
    let half = 1u128 << (shift - 1);
    let up = dropped > half || (dropped == half && (has_rest || kept & 1 == 1));
    // A carry to 2^64 is one bit more, which the callers' 128 bits hold: 2^64 * (2^64 - 1) is below 2^128.
    (kept + u128::from(up), shift as i32)
}

/// `value * 2^exponent`, rounded up to a whole number, at most `u64::MAX`.
fn round_up(value: u128, exponent: i32) -> u64 {
    let whole = match exponent {
        0.. if value.leading_zeros() as i32 > exponent => value << exponent,
        0.. => u128::MAX,
        -127..0 => value.div_ceil(1 << -exponent),
        _ => u128::from(value > 0),
    };
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::bucket_index;
    use proptest::prelude::*;

    fn histogram_of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    /// Ranks that Debian's fio 3.33 picks on x86-64 (seen by `--percentile_list` against the bins of json+). With the
    /// quotient in 53 bits the answers would be 2, 17, 19, 3 and 4.
    #[test]
    fn rank_is_that_of_the_peer() {
        let table = [(5.0, 20, 1), (80.0, 20, 16), (90.0, 20, 18), (5.0, 40, 2), (5.0, 60, 3), (50.0, 7, 4)];
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
            mut values in prop::collection::vec(0u64..20_000_000_000, 1..400),
            percentile in 0.01f64..100.0,
        ) {
            let histogram = histogram_of(&values);
            values.sort_unstable();
            let ranked = values[rank_of(percentile, values.len() as u64) as usize - 1];
            let expected = bucket_value_ns(bucket_index(ranked));
            prop_assert_eq!(percentiles(&histogram, &[percentile]), [(percentile, expected)]);
        }

        /// The oracle counts its rank in another way, so its answer may be that of a neighbouring sample.
        #[test]
        fn value_agrees_with_hdrhistogram(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..400),
            percentile in 0.01f64..100.0,
        ) {
            let mut oracle = hdrhistogram::Histogram::<u64>::new(3).expect("3 digits are allowed");
            for value in &values { oracle.record(*value).expect("grows by itself"); }
            values.sort_unstable();
            let theirs = oracle.value_at_quantile(percentile / 100.0);
            let rank = rank_of(percentile, values.len() as u64) as usize;
            let neighbours = &values[rank.saturating_sub(2)..(rank + 1).min(values.len())];
            let ours: Vec<u64> = neighbours.iter().map(|value| bucket_value_ns(bucket_index(*value))).collect();
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
