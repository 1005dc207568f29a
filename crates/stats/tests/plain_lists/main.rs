//! No statistic loses accuracy for speed: the running figures equal those of a list of all samples.
//!
//! Must not know: loops. Start reading at [`compare`]; tests of the crate `run` compare whole runs in the same way.
#![expect(clippy::unwrap_used, reason = "all of this is test code")]

mod reference;

use ferrio_stats::{LatencyBuckets, LatencyStat};
use proptest::prelude::*;
use reference::PlainStat;

/// Largest sample for which the squares of 256 samples sum up to less than 2^128: eighteen years.
const SQUARES_FIT_NS: u64 = 1 << 59;

/// Counts samples both ways, in one piece and in two that are merged.
fn compare(samples_ns: &[u64], cut: usize) {
    let (mut plain, mut coarse) = (PlainStat::default(), LatencyBuckets::default());
    let (mut whole, mut parts) = (LatencyStat::new(true), [LatencyStat::new(true), LatencyStat::new(true)]);
    for (index, value_ns) in samples_ns.iter().enumerate() {
        plain.record(*value_ns);
        coarse.record(*value_ns);
        whole.record(*value_ns);
        parts[usize::from(index >= cut)].record(*value_ns);
    }
    let [mut merged, second] = parts;
    merged.merge(&second);
    plain.assert_same_coarse(&coarse);
    for (stat, what) in [(&whole, "whole"), (&merged, "merged")] {
        plain.assert_same(stat, what);
        if samples_ns.iter().all(|value_ns| *value_ns <= SQUARES_FIT_NS) {
            plain.assert_same_variance(stat, what);
        }
    }
}

/// Samples of all sizes, and at the edges of buckets, are equally likely.
fn sample() -> impl Strategy<Value = u64> {
    let edge = (0u32..64, -1i64..2).prop_map(|(shift, step)| (1u64 << shift).wrapping_add_signed(step));
    let label = (1u64..1_000, prop_oneof![Just(1u64), Just(1_000), Just(1_000_000)], 0u64..2)
        .prop_map(|(label, unit, step)| label * unit - step);
    prop_oneof![(any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift), edge, label]
}

#[test]
fn chosen_samples() {
    for samples_ns in [
        vec![],
        vec![0],
        vec![u64::MAX],
        vec![u64::MAX; 5],
        vec![SQUARES_FIT_NS; 200],
        vec![0; 1_000],
        [vec![SQUARES_FIT_NS; 199], vec![SQUARES_FIT_NS - 1]].concat(),
        vec![0, SQUARES_FIT_NS],
        (0..400).collect(),
    ] {
        compare(&samples_ns, samples_ns.len() / 3);
    }
}

proptest! {
    #[test]
    fn any_samples(samples_ns in prop::collection::vec(sample(), 0..200), cut in 0usize..200) {
        compare(&samples_ns, cut);
    }

    #[test]
    fn samples_whose_squares_fit(
        samples_ns in prop::collection::vec(sample().prop_map(|value_ns| value_ns % (SQUARES_FIT_NS + 1)), 0..200),
        cut in 0usize..200,
    ) {
        compare(&samples_ns, cut);
    }

    /// Samples that are equal or nearly so, however large: here a sum of squares in floating point fails.
    #[test]
    fn equal_samples(base_ns in 0..SQUARES_FIT_NS, steps in prop::collection::vec(0u64..3, 1..200), same in any::<bool>()) {
        let samples_ns: Vec<u64> = steps.iter().map(|step| (base_ns + if same { 0 } else { *step }).min(SQUARES_FIT_NS)).collect();
        compare(&samples_ns, samples_ns.len() / 2);
    }
}
