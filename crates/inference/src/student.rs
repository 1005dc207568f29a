//! Quantiles of Student's t distribution.
//!
//! Must not know: samples. Start reading at [`quantile`].

/// 97.5th percentile of the normal distribution: two-sided 95 %.
pub(crate) const NORMAL_95: f64 = 1.959_963_984_540_054;
/// 99.95th percentile: two-sided 99.9 %.
pub(crate) const NORMAL_999: f64 = 3.290_526_731_491_926;

/// The quantile of the t distribution at which the normal distribution has `normal`. Error below 1 % from four degrees of freedom on;
/// with fewer than three, the value of three.
///
/// Source: the expansion of Cornish and Fisher, Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5.
pub(crate) fn quantile(normal: f64, n_degrees: f64) -> f64 {
    let (z, v) = (normal, n_degrees.max(3.0));
    let (z2, z3) = (z * z, z * z * z);
    let (z5, z7) = (z3 * z2, z3 * z2 * z2);
    let z9 = z7 * z2;
    z + (z3 + z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v * v * v)
        + (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / (92_160.0 * v * v * v * v)
}

/// Quantiles with one, two and three degrees of freedom.
const FEW_DEGREES: [f64; 3] = [12.706, 4.303, 3.182];

/// The 97.5th percentile of the t distribution with a whole number of degrees of freedom, at least one.
pub fn quantile_95(n_degrees: f64) -> f64 {
    let whole = n_degrees.floor().max(1.0) as usize;
    FEW_DEGREES.get(whole - 1).copied().unwrap_or_else(|| quantile(NORMAL_95, n_degrees))
}

/// With more degrees of freedom the t distribution is the normal one, as far as a probability with three digits shows.
const MOST_DEGREES: f64 = 400.0;

/// The probability that chance makes |t| as large as this, or larger: two-sided, 0 to 1.
///
/// Source: the finite series for whole degrees of freedom, Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
pub fn two_sided_p(t: f64, n_degrees: f64) -> f64 {
    let v = n_degrees.floor().clamp(1.0, MOST_DEGREES);
    let angle = (t.abs() / v.sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = v % 2.0 > 0.5;
    // Each term is the one before times cos^2 and a ratio of neighbouring numbers.
    let (mut term, mut below) = if is_odd { (cosine, 3.0) } else { (1.0, 2.0) };
    let mut sum = if v < 2.0 { 0.0 } else { term };
    while below <= v - 2.0 {
        term *= cosine * cosine * (below - 1.0) / below;
        sum += term;
        below += 2.0;
    }
    let within = if is_odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    (1.0 - within).clamp(0.0, 1.0)
}

/// The value that t exceeds by chance with a probability of `error` (one-sided, above 0 and at most a half), with a whole number of degrees of freedom, at least
/// one.
pub fn one_sided_quantile(error: f64, n_degrees: f64) -> f64 {
    // Of all degrees, one has the longest tail: there the value is below 1 / error.
    let (mut low, mut high) = (0.0, 1.0 / error);
    // Each step halves the interval: the last ones are beyond what a number of this kind distinguishes.
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if two_sided_p(middle, n_degrees) > 2.0 * error { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: tables of the distribution, two-sided 5 % and 1 %.
    #[test]
    fn probabilities_of_the_tables() {
        let table = [
            (1.0, 12.706, 0.05),
            (2.0, 4.303, 0.05),
            (3.0, 3.182, 0.05),
            (4.0, 2.776, 0.05),
            (7.0, 3.499, 0.01),
            (10.0, 2.228, 0.05),
            (30.0, 2.750, 0.01),
            (1e9, 1.966, 0.05),
        ];
        for (n_degrees, t, expected) in table {
            let found = two_sided_p(t, n_degrees);
            assert!((found - expected).abs() < 1e-3 * expected.max(0.1), "{n_degrees}: {found}");
        }
        assert!((two_sided_p(0.0, 5.0) - 1.0).abs() < 1e-12);
        assert!(two_sided_p(1e9, 3.0) < 1e-9);
    }

    /// Expected: tables of the distribution.
    #[test]
    fn one_sided_quantiles_of_the_tables() {
        let table = [
            (1.0, 0.01, 31.821),
            (2.0, 0.01, 6.965),
            (3.0, 0.01, 4.541),
            (10.0, 0.01, 2.764),
            (2.0, 0.0005, 31.599),
            (7.0, 0.0025, 4.029),
            (4.0, 0.05, 2.132),
        ];
        for (n_degrees, error, expected) in table {
            let found = one_sided_quantile(error, n_degrees);
            assert!((found / expected - 1.0).abs() < 3e-4, "{n_degrees} {error}: {found}");
        }
    }

    /// Expected: tables of the distribution.
    #[test]
    fn quantiles_of_the_tables() {
        let table = [(4.0, 2.776), (5.0, 2.571), (10.0, 2.228), (30.0, 2.042), (100.0, 1.984), (1e9, 1.960)];
        for (n_degrees, expected) in table {
            let found = quantile(NORMAL_95, n_degrees);
            assert!((found / expected - 1.0).abs() < 0.005, "{n_degrees}: {found}");
        }
        for (n_degrees, expected) in [(10.0, 4.587), (30.0, 3.646), (100.0, 3.390)] {
            let found = quantile(NORMAL_999, n_degrees);
            assert!((found / expected - 1.0).abs() < 0.01, "{n_degrees}: {found}");
        }
    }
}
