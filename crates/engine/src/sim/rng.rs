//! The random streams of the device: one for each purpose, so that one option does not change what another draws.
//!
//! The generator is xoshiro256++ (`rand_xoshiro`). Logarithms and exponentials come from `libm`, whose results are the
//! same to the last bit on every machine.
//! Must not know: purposes. Start reading at [`SimRandom`].

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Distance between the seeds of two purposes (the golden ratio in 64 bits); `seed_from_u64` mixes it well.
const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct SimRandom(Xoshiro256PlusPlus);

impl SimRandom {
    /// The stream of one purpose of a device.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(purpose.wrapping_mul(SEED_STEP))))
    }

    /// Uniform in `0..n`; 0 for `n` 0. The bias is below n / 2^64.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in `0.0..1.0`, 53 bits.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * f64::EPSILON * 0.5
    }

    /// Uniform in `0.0 < x <= 1.0`: safe to take a logarithm of.
    pub(crate) fn open_fraction(&mut self) -> f64 {
        1.0 - self.fraction()
    }

    /// Exponential with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -libm::log(self.open_fraction())
    }

    /// Normal with mean 0 and deviation 1 (Box and Muller; the second value is thrown away).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.fraction())
    }
}
