//! The knee of a load: where latency begins to grow faster than throughput.
//!
//! The measure is Kleinrock's power, throughput divided by mean latency: while throughput grows by a larger share than latency, power grows, and
//! beyond the knee it falls. Source: Kleinrock, Power and Deterministic Rules of Thumb for Probabilistic Problems in Computer Communications, 1979.
//! Must not know: parameters, jobs. Start reading at [`knee`].

use crate::repeats::RepeatedFigure;
use ferrio_stats::{Confidence, Metric};
use serde::Serialize;

/// Fewest points of a curve that has a knee.
const FEWEST: usize = 3;

/// Throughput that grows by less than this factor along all of the curve does not rise.
const RISES: f64 = 1.1;
/// Throughput that grows by this factor although power falls from the first point on rises gradually.
const RISES_MUCH: f64 = 1.5;

/// What a curve says of its knee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KneeKind {
    /// Power is the most between the ends of the curve.
    Found,
    /// Power is the most at the first point, and throughput hardly grows beyond it.
    AtFirst,
    /// Power still grows at the last point.
    AtLast,
    /// Throughput does not rise along the curve, or by no more than its intervals are wide.
    NoRise,
    /// Throughput rises, and latency by a larger share from the first point on: no point stands out.
    Gradual,
    /// The intervals leave open which point has the most power, or a figure has none.
    NotKnown,
}

/// A point of a curve: throughput a second, and mean latency in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// I/Os per second.
    pub throughput: Confidence,
    /// Mean latency, nanoseconds.
    pub latency_ns: Confidence,
    /// Both intervals are known.
    pub is_certain: bool,
}

/// The knee of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Knee {
    /// Index of the point with the most power.
    pub index: usize,
    /// Indexes of the first and the last point whose power may be the most, by the intervals of the figures.
    pub between: [usize; 2],
    /// What the curve says of it.
    pub kind: KneeKind,
    /// By which factor throughput grows from the first point to its largest.
    pub rise: f64,
}

impl LoadPoint {
    /// The point of a rate and a mean latency.
    ///
    /// `None`: one of them is 0, or of another metric.
    pub fn of(rate: &RepeatedFigure, latency: &RepeatedFigure) -> Option<Self> {
        let is_right = rate.metric == Metric::Iops && latency.metric == Metric::MeanLatency;
        let of = |figure: &RepeatedFigure| {
            let [low, high] = figure.interval.unwrap_or([figure.mean; 2]);
            Confidence { value: figure.mean, low, high }
        };
        let is_certain = rate.interval.is_some() && latency.interval.is_some();
        let point = Self { throughput: of(rate), latency_ns: of(latency), is_certain };
        (is_right && point.throughput.value > 0.0 && point.latency_ns.value > 0.0).then_some(point)
    }

    fn power(&self) -> Confidence {
        let Self { throughput, latency_ns, .. } = self;
        Confidence {
            value: throughput.value / latency_ns.value,
            low: throughput.low.max(0.0) / latency_ns.high,
            high: if latency_ns.low > 0.0 { throughput.high / latency_ns.low } else { f64::INFINITY },
        }
    }
}

/// The knee of a curve whose points are in the order of the load; `None`: it has too few points.
pub fn knee(points: &[LoadPoint]) -> Option<Knee> {
    if points.len() < FEWEST {
        return None;
    }
    let powers: Vec<Confidence> = points.iter().map(LoadPoint::power).collect();
    let best = powers.iter().enumerate().max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
    let (index, _) = best?;
    let certain = powers.iter().map(|power| power.low).fold(0.0_f64, f64::max);
    let mut possible = powers.iter().enumerate().filter(|(_, power)| power.high >= certain).map(|(at, _)| at);
    let first = possible.next().unwrap_or(index).min(index);
    let last = possible.next_back().unwrap_or(first).max(index);
    let highest = points.iter().max_by(|one, other| one.throughput.value.total_cmp(&other.throughput.value))?;
    let rise = highest.throughput.value / points[0].throughput.value;
    let is_open = points.iter().any(|point| !point.is_certain) || (first == 0 && last + 1 == points.len());
    let kind = match () {
        () if is_open => KneeKind::NotKnown,
        () if rise < RISES || highest.throughput.low <= points[0].throughput.high => KneeKind::NoRise,
        () if index + 1 == points.len() => KneeKind::AtLast,
        () if index > 0 => KneeKind::Found,
        () if rise >= RISES_MUCH => KneeKind::Gradual,
        () => KneeKind::AtFirst,
    };
    Some(Knee { index, between: [first, last], kind, rise })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(throughput: f64, latency_ns: f64, share: f64) -> LoadPoint {
        let around = |value: f64| Confidence { value, low: value * (1.0 - share), high: value * (1.0 + share) };
        LoadPoint { throughput: around(throughput), latency_ns: around(latency_ns), is_certain: true }
    }

    /// A device with 8 channels of 100 us, at the depths 1, 2, 4, ... 64.
    fn channels(share: f64) -> Vec<LoadPoint> {
        let at = |depth: f64| point(depth.min(8.0) * 10_000.0, (depth / 8.0).max(1.0) * 100_000.0, share);
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(at).to_vec()
    }

    #[test]
    fn the_knee_of_a_device_with_channels_is_their_number() {
        assert_eq!(knee(&channels(0.02)), Some(Knee { index: 3, between: [3, 3], kind: KneeKind::Found, rise: 8.0 }));
        // Power at half and at twice the depth is half as large.
        let wide = knee(&channels(0.2)).expect("a knee");
        assert_eq!((wide.index, wide.between), (3, [2, 4]));
    }

    /// Power of a queue with one server, L * (M - L), is the most at half of its capacity.
    #[test]
    fn the_knee_of_a_queue_is_at_half_of_its_capacity() {
        let at = |load: f64| point(load, 1e9 / (1_000.0 - load), 0.001);
        let points: Vec<LoadPoint> = (1..10).map(|tenth| at(100.0 * f64::from(tenth))).collect();
        assert_eq!(knee(&points).map(|knee| (knee.index, knee.kind)), Some((4, KneeKind::Found)));
    }

    #[test]
    fn ends_and_short_curves_have_none() {
        let rising = &channels(0.01)[..3];
        assert_eq!(knee(rising), Some(Knee { index: 2, between: [2, 2], kind: KneeKind::AtLast, rise: 4.0 }));
        assert_eq!(knee(&rising[..2]), None);
        assert_eq!(knee(&[]), None);
    }

    #[test]
    fn curves_without_a_knee_are_told_apart() {
        let kind = |points: &[LoadPoint]| knee(points).expect("enough points").kind;
        // One channel: more I/Os in flight do no more.
        let flat = [1.0, 2.0, 4.0, 8.0].map(|depth| point(10_000.0, depth * 100_000.0, 0.02));
        assert_eq!(kind(&flat), KneeKind::NoRise);
        // Noise: each point may have the most power.
        let noise = [1.02, 0.97, 1.05, 1.0].map(|factor| point(10_000.0 * factor, 1_000.0, 0.1));
        assert_eq!(kind(&noise), KneeKind::NotKnown);
        let unknown = channels(0.02).into_iter().map(|point| LoadPoint { is_certain: false, ..point });
        assert_eq!(kind(&unknown.collect::<Vec<_>>()), KneeKind::NotKnown);
        // Throughput grows by the cube root of the depth: 4.6 times where the depth grows 97 times.
        let gradual =
            [1.0_f64, 4.0, 16.0, 97.0].map(|depth| point(1e4 * depth.cbrt(), 1e5 * depth / depth.cbrt(), 0.01));
        let found = knee(&gradual).expect("enough points");
        assert_eq!((found.kind, found.index), (KneeKind::Gradual, 0));
        assert!((found.rise - 97_f64.cbrt()).abs() < 1e-9, "{}", found.rise);
        let little = [1.0, 1.2, 1.25, 1.25].map(|factor| point(1e4 * factor, 1e5 * factor.powi(4), 0.01));
        assert_eq!(kind(&little), KneeKind::AtFirst);
    }
}
