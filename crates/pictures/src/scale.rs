//! From values to places: the scales of all charts, whatever draws them.
//!
//! Must not know: figures, units, pixels. Start reading at [`ChartScale::share`].

use serde::{Serialize, Serializer};

/// How values of an axis become places. In JSON: whether equal distances are equal factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Equal distances are equal differences; the axis has its 0.
    Linear,
    /// Equal distances are equal factors.
    Log,
    /// For percentiles: 90, 99 and 99.9 % have equal distances.
    Nines,
}

impl Serialize for AxisScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self == Self::Log)
    }
}

/// Values that are farther apart than by this factor are on a logarithmic scale.
const WIDE: f64 = 20.0;

pub(crate) const MOST_PERCENT: f64 = 99.999_999;

impl AxisScale {
    /// The scale on which a reader can tell all values apart: logarithmic where all are above 0 and far apart.
    pub(crate) fn fitting(values: impl Iterator<Item = f64>) -> Self {
        let found = extremes(values.filter(|value| value.is_finite() && *value >= 0.0));
        if found.is_some_and(|(low, high)| low > 0.0 && high > low * WIDE) { Self::Log } else { Self::Linear }
    }

    /// Where a value lies on a scale without ends.
    pub(crate) fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log if value > 0.0 => value.log10(),
            Self::Log => f64::NEG_INFINITY,
            Self::Nines => -(1.0 - value.clamp(0.0, MOST_PERCENT) / 100.0).log10(),
        }
    }
}

/// A scale with its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChartScale {
    pub(crate) scale: AxisScale,
    /// The places of both ends.
    pub(crate) ends: (f64, f64),
}

impl ChartScale {
    /// A scale from one value to another.
    pub(crate) fn between(scale: AxisScale, low: f64, high: f64) -> Self {
        Self { scale, ends: (scale.place(low), scale.place(high)) }
    }

    /// The place of a value: 0 at the low end, 1 at the high one; values beyond the ends are at the ends.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let (low, high) = self.ends;
        let share = (self.scale.place(value) - low) / (high - low);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The value at a share of the way from the low end to the high one.
    pub(crate) fn value(&self, share: f64) -> f64 {
        let place = self.ends.0 + share * (self.ends.1 - self.ends.0);
        match self.scale {
            AxisScale::Linear => place,
            AxisScale::Log => 10_f64.powf(place),
            AxisScale::Nines => 100.0 * (1.0 - 10_f64.powf(-place)),
        }
    }

    /// True for a value between the ends, or beyond them by no more than the noise of computing.
    pub(crate) fn has(&self, value: f64) -> bool {
        let slack = (self.ends.1 - self.ends.0) * 1e-6;
        (self.ends.0 - slack..=self.ends.1 + slack).contains(&self.scale.place(value))
    }
}

/// The smallest and the largest of some values; `None`: there are none.
pub(crate) fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |found: Option<(f64, f64)>, value| {
        Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    })
}

/// 1, 2 or 5 times a power of ten, at least `step`.
pub(crate) fn nice_step(step: f64) -> f64 {
    let step = if step.is_finite() && step > 0.0 { step } else { 1.0 };
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|mantissa| mantissa * power)
        .find(|nice| *nice >= step * (1.0 - 1e-9))
        .unwrap_or(step)
}

/// Some multiples of powers of ten, ascending: the round values of a logarithmic scale.
pub(crate) fn round_values(powers: impl Iterator<Item = i32>, mantissas: &[f64]) -> impl Iterator<Item = f64> {
    powers.flat_map(move |power| mantissas.iter().map(move |mantissa| mantissa * 10_f64.powi(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_distances_and_values_beyond_are_at_the_ends() {
        let scale = ChartScale::between(AxisScale::Log, 1e3, 1e7);
        assert!((scale.share(1e4) - 0.25).abs() < 1e-9 && (scale.share(1e6) - 0.75).abs() < 1e-9);
        assert_eq!((scale.share(0.0), scale.share(1.0), scale.share(1e9)), (0.0, 0.0, 1.0));
        assert!(scale.has(1e3) && scale.has(1e7) && !scale.has(900.0) && !scale.has(2e7));
        let nothing = ChartScale::between(AxisScale::Linear, 5.0, 5.0);
        assert!(nothing.share(5.0).abs() < 1e-12);
    }

    #[test]
    fn shares_are_those_of_their_values() {
        for (scale, low, high) in
            [(AxisScale::Linear, 0.0, 8.0), (AxisScale::Log, 1e3, 1e7), (AxisScale::Nines, 0.0, 99.9)]
        {
            let scale = ChartScale::between(scale, low, high);
            for share in [0.0, 0.25, 1.0] {
                assert!((scale.share(scale.value(share)) - share).abs() < 1e-9, "{scale:?} {share}");
            }
        }
    }

    #[test]
    fn far_values_are_logarithmic_and_near_ones_begin_at_0() {
        for (values, expected) in [
            (&[40.0, 100.0][..], AxisScale::Linear),
            (&[10.0, 1000.0], AxisScale::Log),
            (&[0.0, 1000.0], AxisScale::Linear),
            (&[f64::NAN, f64::INFINITY], AxisScale::Linear),
            (&[], AxisScale::Linear),
        ] {
            assert_eq!(AxisScale::fitting(values.iter().copied()), expected, "{values:?}");
        }
    }

    #[test]
    fn steps_and_values_are_round() {
        for (step, expected) in [(0.3, 0.5), (2.0, 2.0), (41.0, 50.0), (f64::NAN, 1.0), (-1.0, 1.0)] {
            assert!((nice_step(step) - expected).abs() < 1e-12, "{step}");
        }
        assert_eq!(round_values(1..=2, &[1.0, 5.0]).collect::<Vec<_>>(), [10.0, 50.0, 100.0, 500.0]);
        assert_eq!(extremes([3.0, 1.0, 2.0].into_iter()), Some((1.0, 3.0)));
    }
}
