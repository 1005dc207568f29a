//! `bsrange` and `bssplit`.
//!
//! Definitions: reference "Block sizes".

use super::chi_square::assert_fits;
use super::jobs::{ios, sequential_reads};
use ferrio_spec::{BlockRange, BlockShare, RandomGenerator};
use ferrio_units::PerDirection;
use ferrio_workload::WorkloadPlan;
use std::collections::BTreeMap;

const N_DRAWS: usize = 200_000;

/// Checks that the sizes of a job's blocks have their shares, and that there are no others.
fn assert_sizes(what: &str, mut plan: WorkloadPlan, shares: &BTreeMap<u64, f64>) {
    for generator in [RandomGenerator::Tausworthe, RandomGenerator::Tausworthe64] {
        plan.pattern.random_generator = Some(generator);
        let mut bins: BTreeMap<u64, (u64, f64)> = shares.iter().map(|(bytes, share)| (*bytes, (0, *share))).collect();
        for io in ios(plan.clone(), N_DRAWS) {
            bins.entry(io.length_bytes).or_default().0 += 1;
        }
        assert_fits(what, bins.into_values());
    }
}

/// `min + trunc(max * r)`, rounded down to a multiple of the minimum, at most the maximum: all values of `trunc(max *
/// r)` are equally likely, and are counted here.
#[test]
fn ranges() {
    for (min_bytes, max_bytes, bs_unaligned) in
        [(512, 4_096, false), (512, 4_096, true), (1_000, 4_500, false), (1_000, 4_500, true), (4_096, 65_536, false)]
    {
        let mut shares = BTreeMap::new();
        for drawn in min_bytes..min_bytes + max_bytes {
            let rounded = if bs_unaligned { drawn } else { drawn / min_bytes * min_bytes };
            *shares.entry(rounded.min(max_bytes)).or_default() += 1.0 / max_bytes as f64;
        }
        let mut plan = sequential_reads();
        plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes, max_bytes });
        plan.pattern.bs_unaligned = bs_unaligned;
        assert_sizes(&format!("bsrange={min_bytes}-{max_bytes} unaligned={bs_unaligned}"), plan, &shares);
    }
}

/// By the same definition, computed: a maximum that is no multiple of the minimum has the share of the values behind
/// the last multiple; without rounding it has the share of a whole minimum.
#[test]
fn the_maximum_has_more_than_others() {
    let mut plan = sequential_reads();
    plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes: 512, max_bytes: 4_096 });
    plan.pattern.bs_unaligned = true;
    let n_largest = ios(plan, N_DRAWS).iter().filter(|io| io.length_bytes == 4_096).count() as u64;
    let share = 512.0 / 4_096.0;
    assert_fits("the largest", [(n_largest, share), (N_DRAWS as u64 - n_largest, 1.0 - share)]);
}

#[test]
fn shares_of_sizes() {
    let splits: [&[(u64, u32)]; 4] = [
        &[(4, 10), (32, 40), (64, 50)],
        &[(8, 1), (4, 99)],
        &[(1, 25), (32, 25), (4, 50)],
        &[(1, 2), (2, 3), (4, 5), (8, 10), (16, 15), (32, 25), (64, 40)],
    ];
    for split in splits {
        let sizes = || split.iter().map(|(kib, _)| kib << 10);
        let shares = split.iter().map(|(kib, percent)| (kib << 10, f64::from(*percent) / 100.0)).collect();
        let list = split.iter().map(|&(kib, percent)| BlockShare { block_bytes: kib << 10, percent }).collect();
        let mut plan = sequential_reads();
        let range = BlockRange { min_bytes: sizes().min().unwrap(), max_bytes: sizes().max().unwrap() };
        (plan.pattern.block_size, plan.pattern.block_split) = (PerDirection::all(range), PerDirection::all(list));
        assert_sizes(&format!("bssplit {split:?}"), plan, &shares);
    }
}
