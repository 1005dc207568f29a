//! How long the device works on an I/O: `sim_service`.
//!
//! The text is a list of `[DIRECTION=]DISTRIBUTION[+RATE]`, separated by commas. The distribution is `fixed:T`,
//! `uniform:T-T`, `exponential:MEAN` or `lognormal:MEDIAN/SIGMA` (sigma of the natural logarithm); the rate (bytes a
//! second) adds the time of the transfer. An entry without direction is for all of `read`, `write`, `trim` and `sync`;
//! later entries win; the default of all is `fixed:100us`. Example:
//! `exponential:80us,write=fixed:20us+1g/s,sync=fixed:1ms`.
//! Must not know: when the I/O starts. Start reading at [`ServiceModel`].

use super::error::SimTextError;
use super::parse::{self, MAX_TIME_NS};
use super::rng::SimRandom;
use ferrio_spec::engines::options::sim::SERVICE;
use ferrio_units::Direction;

/// Service times of all directions.
#[derive(Debug, Clone)]
pub(crate) struct ServiceModel {
    services: [Service; 4],
    streams: [SimRandom; 4],
}

/// Service time of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Service {
    distribution: Distribution,
    bytes_per_sec: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Distribution {
    Fixed { ns: u64 },
    Uniform { lo_ns: u64, hi_ns: u64 },
    Exponential { mean_ns: u64 },
    Lognormal { median_ns: u64, sigma: f64 },
}

/// Names of the directions in option texts, by index.
pub(crate) const DIRECTIONS: [&str; 4] = ["read", "write", "trim", "sync"];

/// Index of a direction in [`DIRECTIONS`]: all kinds of sync are one.
pub(crate) const fn direction_index(direction: Direction) -> usize {
    match direction {
        Direction::Read => 0,
        Direction::Write => 1,
        Direction::Trim => 2,
        _ => 3,
    }
}

/// The index of a direction and the rest of an entry `[DIRECTION=]REST`.
pub(crate) fn split_direction(entry: &str) -> Result<(Option<usize>, &str), SimTextError> {
    let Some((name, rest)) = entry.split_once('=') else { return Ok((None, entry.trim())) };
    let index = DIRECTIONS.iter().position(|direction| *direction == name.trim());
    let index = index.ok_or_else(|| {
        let (name, allowed) = (name.to_owned(), DIRECTIONS.join(", "));
        SimTextError::Direction { name, allowed }
    })?;
    Ok((Some(index), rest.trim()))
}

impl ServiceModel {
    pub(crate) fn parse(text: &str, seed: u64) -> Result<Self, SimTextError> {
        let first = Service { distribution: Distribution::Fixed { ns: 0 }, bytes_per_sec: None };
        let mut services = [first; 4];
        // The default is in force for directions that the text does not name.
        for entry in SERVICE.def().default.into_iter().chain([text]).flat_map(|text| text.split(',')) {
            let (direction, rest) = split_direction(entry)?;
            let service = Service::parse(rest)?;
            match direction {
                Some(index) => services[index] = service,
                None => services = [service; 4],
            }
        }
        Ok(Self { services, streams: [0, 1, 2, 3].map(|index| SimRandom::new(seed, index)) })
    }

    /// Draws the service time of an I/O, ns.
    pub(crate) fn draw_ns(&mut self, direction: Direction, length_bytes: u64) -> u64 {
        let index = direction_index(direction);
        let Service { distribution, bytes_per_sec } = self.services[index];
        let transfer_ns = bytes_per_sec.map_or(0, |rate| {
            // Fits u128: 2^64 times 10^9; a transfer of more than a day counts as a day.
            let ns = u128::from(length_bytes) * 1_000_000_000 / u128::from(rate);
            ns.min(MAX_TIME_NS.into()) as u64
        });
        distribution.draw_ns(&mut self.streams[index]) + transfer_ns
    }
}

impl Service {
    fn parse(text: &str) -> Result<Self, SimTextError> {
        let (distribution, rate) = match text.split_once('+') {
            Some((distribution, rate)) => (distribution.trim(), Some(parse::bytes_per_sec(rate.trim())?)),
            None => (text, None),
        };
        Ok(Self { distribution: Distribution::parse(distribution)?, bytes_per_sec: rate })
    }
}

impl Distribution {
    fn parse(text: &str) -> Result<Self, SimTextError> {
        let (kind, values) = text.split_once(':').unwrap_or((text, ""));
        match kind {
            "fixed" => Ok(Self::Fixed { ns: parse::time_ns(values)? }),
            "exponential" => Ok(Self::Exponential { mean_ns: parse::time_ns(values)? }),
            "uniform" => Self::parse_uniform(values),
            "lognormal" => Self::parse_lognormal(values),
            _ => Err(SimTextError::Distribution(text.to_owned())),
        }
    }

    fn parse_uniform(values: &str) -> Result<Self, SimTextError> {
        let Some((lo, hi)) = values.split_once('-') else {
            return Err(SimTextError::Range(values.to_owned()));
        };
        let (lo_ns, hi_ns) = (parse::time_ns(lo)?, parse::time_ns(hi)?);
        if lo_ns > hi_ns {
            return Err(SimTextError::EmptyRange(values.to_owned()));
        }
        Ok(Self::Uniform { lo_ns, hi_ns })
    }

    fn parse_lognormal(values: &str) -> Result<Self, SimTextError> {
        let [median, sigma] = parse::parts(values, "MEDIAN/SIGMA, such as 80us/0.5")?;
        let (median_ns, sigma) = (parse::time_ns(median)?, parse::fraction(sigma)?);
        if sigma > 10.0 {
            return Err(SimTextError::Sigma(sigma));
        }
        Ok(Self::Lognormal { median_ns, sigma })
    }

    fn draw_ns(self, stream: &mut SimRandom) -> u64 {
        // A cast from a float saturates.
        let whole = |ns: f64| (libm::round(ns) as u64).min(MAX_TIME_NS);
        match self {
            Self::Fixed { ns } => ns,
            // Cannot overflow: both are at most a day.
            Self::Uniform { lo_ns, hi_ns } => lo_ns + stream.below(hi_ns - lo_ns + 1),
            Self::Exponential { mean_ns } => whole(mean_ns as f64 * stream.exponential()),
            Self::Lognormal { median_ns, sigma } => whole(median_ns as f64 * libm::exp(sigma * stream.normal())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N_DRAWS: usize = 100_000;

    fn draws(text: &str) -> Vec<f64> {
        let mut model = ServiceModel::parse(text, 7).unwrap();
        let mut draws: Vec<f64> = (0..N_DRAWS).map(|_| model.draw_ns(Direction::Read, 4096) as f64).collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn close(value: f64, truth: f64) -> bool {
        (value - truth).abs() < truth * 0.02
    }

    #[test]
    fn distributions_have_their_moments() {
        // Means and quantiles from the textbook; 2% is more than 6 standard errors of 100000 draws.
        let uniform = draws("uniform:50us-150us");
        assert!(close(mean(&uniform), 100_000.0) && uniform[0] >= 50_000.0 && uniform[N_DRAWS - 1] <= 150_000.0);
        let exponential = draws("exponential:100us");
        assert!(close(mean(&exponential), 100_000.0));
        assert!(close(exponential[N_DRAWS * 9 / 10], 230_258.5), "{}", exponential[N_DRAWS * 9 / 10]);
        let lognormal = draws("lognormal:80us/0.5");
        assert!(close(lognormal[N_DRAWS / 2], 80_000.0));
        assert!(close(mean(&lognormal), 80_000.0 * libm::exp(0.125)));
    }

    #[test]
    fn directions_have_their_own_models_and_a_rate_adds_the_transfer() {
        let text = "fixed:50us, write = fixed:20us+1g/s ,sync=fixed:1ms";
        let mut model = ServiceModel::parse(text, 1).unwrap();
        assert_eq!(model.draw_ns(Direction::Read, 1 << 20), 50_000);
        assert_eq!(model.draw_ns(Direction::Trim, 1 << 20), 50_000);
        assert_eq!(model.draw_ns(Direction::Write, 1 << 20), 20_000 + 1_000_000_000 / 1024);
        assert_eq!(model.draw_ns(Direction::Datasync, 0), 1_000_000);
        assert_eq!(ServiceModel::parse("write=fixed:1us", 1).unwrap().draw_ns(Direction::Sync, 0), 100_000);
        let slowest = ServiceModel::parse("fixed:0+1/s", 1).unwrap().draw_ns(Direction::Read, u64::MAX);
        assert_eq!(slowest, MAX_TIME_NS);
    }

    #[test]
    fn draws_are_reproducible_and_differ_by_seed() {
        let sequence = |seed| {
            let mut model = ServiceModel::parse("lognormal:80us/1", seed).unwrap();
            (0..100).map(|_| model.draw_ns(Direction::Write, 0)).collect::<Vec<_>>()
        };
        assert_eq!(sequence(1), sequence(1));
        assert_ne!(sequence(1), sequence(2));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("fast", "'fast' is not a distribution"),
            ("fixed:5", "'5' is not a time"),
            ("uniform:5us", "not a range"),
            ("uniform:9us-5us", "ends before"),
            ("lognormal:5us", "MEDIAN/SIGMA"),
            ("lognormal:5us/11", "above 10"),
            ("seek=fixed:5us", "'seek' is not a direction"),
            ("fixed:5us+0/s", "more than 0"),
            ("", "'' is not a distribution"),
        ] {
            let error = ServiceModel::parse(text, 1).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
