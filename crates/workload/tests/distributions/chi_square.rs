//! Pearson's test of counts against expected shares.
//!
//! Must not know: the meaning of the counts. Start reading at [`assert_fits`].

/// If the distribution is right, one seed in a thousand gives a statistic above the critical value. Seeds are fixed, so
/// that a test always passes or always fails.
///
/// For 1 to 10 degrees of freedom: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.4, column 0.999.
const CRITICAL: [f64; 10] = [10.828, 13.816, 16.266, 18.467, 20.515, 22.458, 24.322, 26.124, 27.877, 29.588];

/// The quantile 0.999 of the standard normal distribution.
const NORMAL_QUANTILE: f64 = 3.0902;

/// Bins with a smaller expected count are merged with others: the statistic is not chi-square if counts are small.
const MIN_EXPECTED: f64 = 10.0;

/// The statistic and its degrees of freedom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    statistic: f64,
    n_free: usize,
}

impl Fit {
    /// From bins, each with its count and its expected share of all counts.
    pub(crate) fn new(bins: impl IntoIterator<Item = (u64, f64)>) -> Self {
        let mut bins: Vec<(u64, f64)> = bins.into_iter().collect();
        let n_draws: u64 = bins.iter().map(|(count, _)| count).sum();
        let all_shares: f64 = bins.iter().map(|(_, share)| share).sum();
        assert!((all_shares - 1.0).abs() < 1e-6, "the shares are {all_shares} together");
        assert!(bins.iter().all(|(count, share)| *share > 0.0 || *count == 0), "something was drawn that cannot be");
        bins.sort_by(|(_, share), (_, other)| other.total_cmp(share));
        let merged = merged(bins.into_iter().map(|(count, share)| (count as f64, share * n_draws as f64)));
        let statistic = merged.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum();
        assert!(merged.len() > 1, "one bin says nothing");
        Self { statistic, n_free: merged.len() - 1 }
    }

    pub(crate) fn is_good(self) -> bool {
        self.statistic < critical(self.n_free)
    }
}

/// Bins by falling expectation; those at the end are merged until each is large enough.
fn merged(bins: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut merged: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (count, expected) in bins {
        open = (open.0 + count, open.1 + expected);
        if open.1 >= MIN_EXPECTED {
            merged.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = merged.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    merged
}

fn critical(n_free: usize) -> f64 {
    CRITICAL.get(n_free - 1).copied().unwrap_or_else(|| wilson_hilferty(n_free as f64))
}

/// E. B. Wilson and M. M. Hilferty, 1931: the cube root of chi-square is nearly normal. Above 10 degrees of freedom the value is
/// too large by less than 0.7 %.
fn wilson_hilferty(n_free: f64) -> f64 {
    let variance = 2.0 / (9.0 * n_free);
    n_free * (1.0 - variance + NORMAL_QUANTILE * variance.sqrt()).powi(3)
}

/// Groups of neighbouring bins, each with at least a sixteenth of the expected counts.
fn grouped(bins: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let mut groups = vec![(0, 0.0)];
    for (count, share) in bins {
        match groups.last_mut() {
            Some(open) if open.1 < 1.0 / 16.0 => *open = (open.0 + count, open.1 + share),
            _ => groups.push((*count, *share)),
        }
    }
    groups
}

/// Fails if counts do not fit their shares. With many bins, groups of neighbours are compared too, because an error
/// that is spread over all bins is lost in the noise of each.
pub(crate) fn assert_fits(what: &str, bins: impl IntoIterator<Item = (u64, f64)>) {
    let bins: Vec<(u64, f64)> = bins.into_iter().collect();
    let groups = grouped(&bins);
    let all = ("", Fit::new(bins.iter().copied()));
    let is_coarser = groups.len() > 1 && groups.len() * 2 < bins.len();
    for (how, fit) in [Some(all), is_coarser.then(|| (" in groups", Fit::new(groups)))].into_iter().flatten() {
        let critical = critical(fit.n_free);
        println!("{what}{how}: {:.1} of {critical:.1}, {} degrees of freedom", fit.statistic, fit.n_free);
        assert!(fit.is_good(), "{what}{how}: {fit:?} is above {critical:.1}");
    }
}

/// Fails if the values below `n` are not equally frequent.
pub(crate) fn assert_uniform(what: &str, n: usize, values: impl IntoIterator<Item = usize>) {
    assert_fits(what, counts(n, values).into_iter().map(|count| (count, 1.0 / n as f64)));
}

/// How often each value below `n` occurs.
pub(crate) fn counts(n: usize, values: impl IntoIterator<Item = usize>) -> Vec<u64> {
    let mut counts = vec![0; n];
    values.into_iter().for_each(|value| counts[value] += 1);
    counts
}

/// Fails if the flags are not independent of each other, with this share of ones. Groups of four flags count as 16
/// values.
pub(crate) fn assert_independent(what: &str, share: f64, flags: &[bool]) {
    let value = |group: &[bool]| group.iter().fold(0, |value, flag| value * 2 + usize::from(*flag));
    let counts = counts(16, flags.chunks_exact(4).map(value));
    let shares = (0..16_u32)
        .map(|value| share.powi(value.count_ones() as i32) * (1.0 - share).powi(value.count_zeros() as i32 - 28));
    assert_fits(what, counts.into_iter().zip(shares));
}

/// Source as above, section 1.3.6.7.4.
#[test]
fn the_formula_continues_the_table() {
    for (n_free, critical) in [(10.0, 29.588), (20.0, 45.315), (30.0, 59.703), (50.0, 86.661), (100.0, 149.449)] {
        let error = wilson_hilferty(n_free) / critical - 1.0;
        assert!((0.0..0.007).contains(&error), "{n_free}: {error}");
    }
}

#[test]
fn a_wrong_share_is_found_and_a_right_one_is_not() {
    // By hand: 2 * 200^2 / 5000 = 16 is above 10.8, 2 * 100^2 / 5000 = 4 is below.
    assert!(!Fit::new([(5_200, 0.5), (4_800, 0.5)]).is_good());
    assert!(Fit::new([(5_100, 0.5), (4_900, 0.5)]).is_good());
}
