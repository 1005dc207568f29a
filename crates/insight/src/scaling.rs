//! How throughput grows with the number of hosts, and from which number on it grows no more.
//!
//! Must not know: fleets, parameters. Start reading at [`Scaling::of`].

use ferrio_stats::Confidence;
use serde::Serialize;

/// Throughput that grows by less than this factor does not rise, as along other loads ([`crate::knee`]).
const RISES: f64 = 1.1;

/// Throughput with a number of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScaleStep {
    /// Number of hosts, from 1.
    pub n_hosts: u32,
    /// Throughput of all of them together, a second.
    pub throughput: Confidence,
    /// Throughput of a host beside that of a host in the first step: 1 where it grows with the number of hosts. By the intervals of both
    /// throughputs.
    pub efficiency: Confidence,
}

/// How throughput grows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scaling {
    /// The numbers of hosts, ascending; at least two.
    pub steps: Vec<ScaleStep>,
    /// Number of hosts from which on more of them bring less than 10 % more; `None`: throughput grows up to the last number.
    pub saturates_at: Option<u32>,
    /// Throughput of the last step beside that at which it saturates; `None`: it does not saturate.
    pub beyond: Option<Confidence>,
}

impl Scaling {
    /// The growth along these numbers of hosts with their throughput, in ascending order; `None`: there are fewer than two, or the first has none.
    pub fn of(points: &[(u32, Confidence)]) -> Option<Self> {
        let (first, rest) = points.split_first()?;
        if rest.is_empty() || first.0 == 0 || first.1.value <= 0.0 {
            return None;
        }
        let step = |&(n_hosts, throughput): &(u32, Confidence)| {
            let more = f64::from(n_hosts) / f64::from(first.0);
            let growth = ratio(throughput, first.1);
            let of = |growth: f64| growth / more;
            let efficiency = Confidence { value: of(growth.value), low: of(growth.low), high: of(growth.high) };
            ScaleStep { n_hosts, throughput, efficiency }
        };
        let mut steps: Vec<ScaleStep> = points.iter().map(step).collect();
        // A figure is as large as itself.
        steps[0].efficiency = Confidence { value: 1.0, low: 1.0, high: 1.0 };
        let is_flat = |(index, one): &(usize, &ScaleStep)| {
            let later = &steps[index + 1..];
            !later.is_empty() && later.iter().all(|other| other.throughput.value < RISES * one.throughput.value)
        };
        let flat = steps.iter().enumerate().find(is_flat).map(|(_, step)| *step);
        let beyond = flat.and_then(|flat| Some(ratio(steps.last()?.throughput, flat.throughput)));
        Some(Self { saturates_at: flat.map(|flat| flat.n_hosts), beyond, steps })
    }
}

/// One figure beside another, from the ends of both intervals.
fn ratio(one: Confidence, other: Confidence) -> Confidence {
    let high = if other.low > 0.0 { one.high / other.low } else { f64::INFINITY };
    Confidence { value: one.value / other.value, low: one.low.max(0.0) / other.high, high }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f64) -> Confidence {
        Confidence { value, low: value, high: value }
    }

    fn of(points: &[(u32, f64)]) -> Option<Scaling> {
        Scaling::of(&points.iter().map(|(n_hosts, value)| (*n_hosts, exact(*value))).collect::<Vec<_>>())
    }

    #[test]
    fn growth_with_the_hosts_is_an_efficiency_of_one() {
        let scaling = of(&[(1, 100.0), (2, 200.0), (4, 400.0)]).expect("a growth");
        assert!(scaling.steps.iter().all(|step| step.efficiency == exact(1.0)));
        assert_eq!((scaling.saturates_at, scaling.beyond), (None, None));
    }

    #[test]
    fn throughput_that_grows_no_more_saturates() {
        let scaling = of(&[(2, 200.0), (4, 390.0), (8, 400.0), (16, 410.0)]).expect("a growth");
        assert_eq!(scaling.saturates_at, Some(4));
        assert_eq!(scaling.beyond, Some(exact(410.0 / 390.0)));
        let shares: Vec<f64> = scaling.steps.iter().map(|step| step.efficiency.value).collect();
        assert_eq!(shares, [1.0, 0.975, 0.5, 0.25625]);
        // A dip that later hosts make good for is no end.
        assert_eq!(of(&[(1, 100.0), (2, 90.0), (4, 300.0)]).expect("a growth").saturates_at, None);
    }

    #[test]
    fn intervals_are_those_of_both_figures() {
        let wide = |value: f64| Confidence { value, low: 0.5 * value, high: 2.0 * value };
        let scaling = Scaling::of(&[(1, wide(100.0)), (2, wide(200.0))]).expect("a growth");
        assert_eq!(scaling.steps[0].efficiency, exact(1.0));
        assert_eq!(scaling.steps[1].efficiency, Confidence { value: 1.0, low: 0.25, high: 4.0 });
        for none in [&[(1, 100.0)][..], &[], &[(1, 0.0), (2, 5.0)], &[(0, 1.0), (1, 2.0)]] {
            assert_eq!(of(none), None);
        }
    }
}
