//! Lengths of time that are drawn from a distribution.
//!
//! Must not know: what lasts so long. Start reading at [`DrawnLengths::next_ns`].

use ferrio_spec::DrawnTime;
use ferrio_units::random::Taus88;

/// Lengths, ns.
#[derive(Debug)]
pub(crate) enum DrawnLengths {
    Fixed(u64),
    Exponential { mean_ns: f64, stream: Taus88 },
    Uniform { low_ns: u64, high_ns: u64, stream: Taus88 },
}

impl DrawnLengths {
    /// Lengths of a distribution, or one that is always the same.
    pub(crate) fn new(drawn: Option<DrawnTime>, fixed_us: u64, seed: u64) -> Self {
        let stream = Taus88::new(seed as u32);
        match drawn {
            None => Self::Fixed(ns(fixed_us)),
            Some(DrawnTime::Exponential { mean_us }) => Self::Exponential { mean_ns: ns(mean_us) as f64, stream },
            Some(DrawnTime::Uniform { low_us, high_us }) => {
                Self::Uniform { low_ns: ns(low_us), high_ns: ns(high_us), stream }
            }
        }
    }

    /// The next length. The longest of an exponential distribution is 22 times the mean, as draws have 32 bits.
    pub(crate) fn next_ns(&mut self) -> u64 {
        match self {
            Self::Fixed(length_ns) => *length_ns,
            // The cast saturates.
            Self::Exponential { mean_ns, stream } => (*mean_ns * -stream.open_fraction().ln()) as u64,
            Self::Uniform { low_ns, high_ns, stream } => stream.between(*low_ns, *high_ns),
        }
    }
}

const fn ns(us: u64) -> u64 {
    us.saturating_mul(1_000)
}
