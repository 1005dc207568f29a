//! Quantiles of Student's t distribution.
//!
//! Must not know: samples. Start reading at [`quantile`].

/// 97.5th percentile of the normal distribution: two-sided 95 %.
pub(crate) const NORMAL_95: f64 = 1.959_963_984_540_054;
/// 99.95th percentile: two-sided 99.9 %.
pub(super) const NORMAL_999: f64 = 3.290_526_731_491_926;

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

#[cfg(test)]
mod tests {
    use super::*;

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
