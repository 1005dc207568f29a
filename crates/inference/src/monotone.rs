//! Whether a row of values goes up or down all along: the test of Mann and Kendall.
//!
//! Source: Mann, Nonparametric tests against trend, 1945; Kendall, Rank correlation methods, 1975. Must not know: what the values measure. Start reading at
//! [`mann_kendall`].

/// Of more values, the distribution is the normal one.
const MOST_EXACT: usize = 60;

/// A row that goes up or down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monotone {
    /// Pairs that go up less those that go down, as a share of all: 1 if all go up.
    pub tau: f64,
    /// The probability that chance makes it as large, or larger, in either direction.
    pub p: f64,
}

/// The test of a row of values; `None`: there are fewer than four.
pub fn mann_kendall(values: &[f64]) -> Option<Monotone> {
    let n = values.len();
    if n < 4 {
        return None;
    }
    let mut sum = 0_i64;
    for (index, first) in values.iter().enumerate() {
        sum += values[index + 1..].iter().map(|second| second.total_cmp(first) as i64).sum::<i64>();
    }
    let n_pairs = (n * (n - 1) / 2) as i64;
    let p = if n <= MOST_EXACT { exact(n, n_pairs, sum.abs()) } else { normal(n as f64, sum.abs() as f64) };
    Some(Monotone { tau: sum as f64 / n_pairs as f64, p: p.min(1.0) })
}

/// Of all orders of `n` values, the share in which the pairs that go up are so many more than the others, or so many fewer: by the number of inversions.
fn exact(n: usize, n_pairs: i64, sum: i64) -> f64 {
    let mut shares = vec![1.0_f64];
    for size in 2..=n {
        let mut next = vec![0.0; shares.len() + size - 1];
        for (index, share) in shares.iter().enumerate() {
            (0..size).for_each(|further| next[index + further] += share / size as f64);
        }
        shares = next;
    }
    let most_inversions = (n_pairs - sum) / 2;
    2.0 * shares.iter().take(usize::try_from(most_inversions).unwrap_or(0) + 1).sum::<f64>()
}

fn normal(n: f64, sum: f64) -> f64 {
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    crate::two_sided_p((sum - 1.0).max(0.0) / deviation, 400.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Noise, autoregressive};

    /// All of n values in a row: 2 of n! orders. Of 4 values, S = 4 or more has 4 of 24 orders on each side (tables of Kendall).
    #[test]
    fn probabilities_are_those_of_all_orders() {
        let of = |values: &[f64]| mann_kendall(values).expect("enough values");
        assert!((of(&[1.0, 2.0, 3.0, 4.0]).p - 2.0 / 24.0).abs() < 1e-12);
        assert!((of(&[2.0, 1.0, 3.0, 4.0]).p - 8.0 / 24.0).abs() < 1e-12);
        assert!((of(&[5.0, 4.0, 3.0, 2.0, 1.0]).p - 2.0 / 120.0).abs() < 1e-12);
        assert!((of(&[5.0, 4.0, 3.0, 2.0, 1.0]).tau + 1.0).abs() < 1e-12);
        assert_eq!((of(&[1.0; 8]).tau, of(&[1.0; 8]).p), (0.0, 1.0));
        assert_eq!(mann_kendall(&[1.0, 2.0, 3.0]), None);
        // Both ways to compute it agree where they meet.
        assert!((exact(60, 1_770, 300) / normal(60.0, 300.0) - 1.0).abs() < 0.05);
    }

    #[test]
    fn noise_is_seldom_a_trend() {
        for n in [6, 10, 30] {
            let is_found = |seed: &u64| {
                mann_kendall(&autoregressive(n, 0.0, Noise::Normal, *seed)).is_some_and(|found| found.p < 0.01)
            };
            let n_found = (0..4_000).filter(is_found).count();
            assert!(n_found <= 60, "{n}: {n_found} of 4,000");
        }
    }
}
