//! Series with known properties, for tests of statistics and of what is made of them.

use ferrio_units::random::Taus258;

/// Distribution of the noise; each has a mean of 0 and a variance of 1.
#[derive(Debug, Clone, Copy)]
pub enum Noise {
    /// That of Gauss.
    Normal,
    /// Skewed: many small values and a few large ones.
    Exponential,
    /// More skewed, with a sigma of 0.5.
    LogNormal,
}

impl Noise {
    pub(crate) fn draw(self, random: &mut Taus258) -> f64 {
        match self {
            Self::Normal => normal(random),
            Self::Exponential => -uniform(random).ln() - 1.0,
            Self::LogNormal => {
                let sigma: f64 = 0.5;
                let mean = (sigma * sigma / 2.0).exp();
                let deviation = mean * ((sigma * sigma).exp() - 1.0).sqrt();
                ((sigma * normal(random)).exp() - mean) / deviation
            }
        }
    }
}

/// Above 0 and at most 1.
pub(crate) fn uniform(random: &mut Taus258) -> f64 {
    ((random.next_u64() >> 11) as f64 + 1.0) / 9_007_199_254_740_992.0
}

/// By the method of Box and Muller.
pub(crate) fn normal(random: &mut Taus258) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Independent values with a mean of 0.
#[cfg(test)]
pub(crate) fn independent(n: usize, noise: Noise, seed: u64) -> Vec<f64> {
    autoregressive(n, 0.0, noise, seed)
}

/// Values that are phi times the value before, and noise; the mean is 0.
pub fn autoregressive(n: usize, phi: f64, noise: Noise, seed: u64) -> Vec<f64> {
    let mut random = Taus258::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut value = 0.0;
    // The first hundred values bring the series into its steady state.
    let mut next = || {
        value = phi * value + noise.draw(&mut random);
        value
    };
    (0..100).for_each(|_| {
        next();
    });
    (0..n).map(|_| next()).collect()
}

/// The share of seeds whose interval covers the truth, of those with an interval, and the share of seeds with one.
#[cfg(test)]
pub(crate) fn coverage(n_runs: u64, covers: impl Fn(u64) -> Option<bool>) -> (f64, f64) {
    let made: Vec<bool> = (1..=n_runs).filter_map(covers).collect();
    let n_covered = made.iter().filter(|covers| **covers).count();
    (n_covered as f64 / made.len().max(1) as f64, made.len() as f64 / n_runs as f64)
}
