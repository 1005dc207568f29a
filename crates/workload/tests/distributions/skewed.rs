//! `random_distribution=zipf`, `pareto` and `normal`.
//!
//! Definitions: reference "Zipf, pareto, normal". Each gives the share of every rank; ranks go to blocks by the multiplication
//! of the reference. Start reading at [`assert_shares`].

use super::chi_square::{assert_fits, counts};
use super::jobs::{FILE_SEEDS, blocks, random_reads};
use ferrio_spec::RandomDistribution;

const N_DRAWS: usize = 200_000;

/// A power of two, for which each rank has a block of its own, and another number.
const SIZES: [usize; 2] = [1_024, 1_000];

/// Checks that the blocks of a job have the shares of the ranks that map to them.
fn assert_shares(distribution: &RandomDistribution, rank_shares: &[f64]) {
    let n_blocks = rank_shares.len();
    let block = |rank: usize| ((rank as u64).wrapping_mul(0x61C8_8646_80B5_83EB) % n_blocks as u64) as usize;
    let mut shares = vec![0.0; n_blocks];
    rank_shares.iter().enumerate().for_each(|(rank, share)| shares[block(rank)] += share);
    // Blocks of the wanted ranks come first.
    let mut order: Vec<usize> = Vec::new();
    let mut is_placed = vec![false; n_blocks];
    for block in (0..n_blocks).map(block).chain(0..n_blocks) {
        if !std::mem::replace(&mut is_placed[block], true) {
            order.push(block);
        }
    }
    for seed in FILE_SEEDS {
        let mut plan = random_reads(n_blocks as u64);
        plan.pattern.distribution = distribution.clone();
        plan.files[0].distribution_seed = seed;
        let counts = counts(n_blocks, blocks(plan, N_DRAWS));
        assert_fits(
            &format!("{distribution:?} {n_blocks}"),
            order.iter().map(|block| (counts[*block], shares[*block])),
        );
    }
}

/// The shares between ascending limits from 0 to 1.
fn differences(limits: impl Iterator<Item = f64>) -> Vec<f64> {
    let limits: Vec<f64> = limits.collect();
    limits.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Weights `1 / (rank + 1)^theta` of all ranks, as shares.
fn zipf_law(n: usize, theta: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=n).map(|place| (place as f64).powf(-theta)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// The first two ranks by the law. The others share what is left like a power function: a draw `u` below
/// `1 + ((k / n)^(1 - theta) - 1) / eta` is a rank below `k`, by the formula of the reference solved for `u`.
fn zipf_shares(n: usize, theta: f64) -> Vec<f64> {
    let law = zipf_law(n, theta);
    let first_two = law[0] + law[1];
    let power = |k: usize| (k as f64 / n as f64).powf(1.0 - theta);
    let eta = (1.0 - power(2)) / (1.0 - first_two);
    let limit = |k: usize| match k {
        0 => 0.0,
        1 => law[0],
        _ => 1.0 + (power(k) - 1.0) / eta,
    };
    differences((0..=n).map(limit))
}

const THETAS: [f64; 6] = [0.0, 0.5, 0.9, 1.1, 1.2, 2.0];

#[test]
fn zipf() {
    for n in SIZES {
        for theta in THETAS {
            assert_shares(&RandomDistribution::Zipf { theta, center: Some(0.0) }, &zipf_shares(n, theta));
        }
    }
}

/// The distance between the method and the law: the sums of the first ranks, for any number of them, differ by at most
/// 2.5 percentage points. The difference is largest at 1.2, with 2.1 points.
#[test]
fn the_method_is_near_the_law() {
    for n in SIZES {
        for theta in THETAS {
            let (mut off, mut largest) = (0.0_f64, 0.0_f64);
            for (share, law) in zipf_shares(n, theta).iter().zip(zipf_law(n, theta)) {
                off += share - law;
                largest = largest.max(off.abs());
            }
            println!("zipf {theta} of {n}: {largest:.4}");
            assert!(largest < 0.025, "{theta} of {n}: {largest}");
        }
    }
}

/// Rank below `k` for a draw below `(k / (n - 1))^(1 / p)` with `p = log h / log(1 - h)`: the share `h` of the ranks has `1 - h`.
#[test]
fn pareto() {
    for n in SIZES {
        for h in [0.1, 0.2, 0.3, 0.5, 0.8] {
            let inverse_power = (1.0_f64 - h).ln() / h.ln();
            let limit = |k: usize| (k as f64 / (n - 1) as f64).min(1.0).powf(inverse_power);
            assert!(((h * (n - 1) as f64 / (n - 1) as f64).powf(inverse_power) - (1.0 - h)).abs() < 1e-12);
            assert_shares(&RandomDistribution::Pareto { h, center: Some(0.0) }, &differences((0..=n).map(limit)));
        }
    }
}

/// Shares of the sums of 12 draws from `0..=n`.
fn sums_of_12(n: usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    for _ in 0..12 {
        let mut next = vec![0.0; shares.len() + n];
        let mut window = 0.0_f64;
        for (sum, share) in next.iter_mut().enumerate() {
            window += shares.get(sum).copied().unwrap_or(0.0);
            if sum > n {
                window -= shares.get(sum - n - 1).copied().unwrap_or(0.0);
            }
            *share = window.max(0.0) / (n + 1) as f64;
        }
        shares = next;
    }
    shares
}

/// The mean of 12 draws, rounded up, and a uniform deviation of `spread` values around it, halved while it leads outside.
fn normal_shares(n: usize, deviation_percent: f64) -> Vec<f64> {
    let spread = ((n as f64 * deviation_percent / 100.0).ceil() as i64).min(n as i64 / 2);
    let mut shares = vec![0.0; n];
    for (sum, share) in sums_of_12(n).into_iter().enumerate() {
        let mean = sum.div_ceil(12) as i64;
        for drawn in 0..spread.max(1) {
            let mut deviation = drawn - spread / 2;
            while deviation != 0 && !(0..n as i64).contains(&(mean + deviation)) {
                deviation /= 2;
            }
            shares[(mean + deviation) as usize % n] += share / spread.max(1) as f64;
        }
    }
    shares
}

#[test]
fn normal() {
    for n in SIZES {
        for deviation_percent in [0.0, 2.5, 10.0, 50.0, 99.0] {
            let distribution = RandomDistribution::Normal { deviation_percent, center: None };
            assert_shares(&distribution, &normal_shares(n, deviation_percent));
        }
    }
}

/// The mean of 12 uniform draws has a twelfth of the range as its deviation, and nearly the shape of the bell.
#[test]
fn the_normal_definition_is_a_bell() {
    let n = 1_024;
    let shares = normal_shares(n, 0.0);
    let within = |n_deviations: f64| -> f64 {
        let is_within = |rank: usize| (rank as f64 - n as f64 / 2.0).abs() <= n_deviations * n as f64 / 12.0;
        (0..n).filter(|rank| is_within(*rank)).map(|rank| shares[rank]).sum()
    };
    for (n_deviations, share) in [(1.0, 0.6827), (2.0, 0.9545), (3.0, 0.9973)] {
        assert!((within(n_deviations) - share).abs() < 0.005, "{n_deviations}: {}", within(n_deviations));
    }
}
