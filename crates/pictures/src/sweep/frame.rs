//! The frame of a picture: scales, lines at round values, their words.
//!
//! Must not know: figures of jobs. Start reading at [`PixelScale::of`].

use crate::scale::{AxisScale, ChartScale, extremes, nice_step, round_values};
use ferrio_stats::MetricUnit;
use ferrio_units::humanize::{duration_text, thousands};
use maud::{Markup, html};

/// Size of a picture, pixels of its own scale.
pub(super) const WIDTH: f64 = 640.0;
pub(super) const HEIGHT: f64 = 300.0;
/// Room for words at the left, at the bottom, and at the other edges.
pub(super) const LEFT: f64 = 76.0;
const BOTTOM: f64 = 44.0;
const EDGE: f64 = 14.0;
/// Values that are farther apart than by this factor are on a logarithmic scale.
const WIDE: f64 = 20.0;
/// About so many lines at round values.
const N_TICKS: f64 = 5.0;
const MOST_TICKS: i32 = 20;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PixelScale {
    scale: ChartScale,
    /// The smallest and the largest value.
    values: (f64, f64),
    /// Pixels of both ends.
    ends: (f64, f64),
}

impl PixelScale {
    /// The scale on which all values fit: from 0, or logarithmic where they are far apart.
    fn of(values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Self {
        let found = values.filter(|value| value.is_finite() && *value >= 0.0);
        let (low, high) = extremes(found).unwrap_or_default();
        let (scale, low, high) = if low > 0.0 && high > low * WIDE {
            (AxisScale::Log, low / 1.25, high * 1.25)
        } else {
            (AxisScale::Linear, 0.0, if high > 0.0 { high * 1.08 } else { 1.0 })
        };
        Self { scale: ChartScale::between(scale, low, high), values: (low, high), ends }
    }

    /// One from the bottom to the top of a picture.
    pub(super) fn up(values: impl Iterator<Item = f64>) -> Self {
        Self::of(values, (HEIGHT - BOTTOM, EDGE))
    }

    /// One from the left to the right.
    pub(super) fn across(values: impl Iterator<Item = f64>) -> Self {
        Self::of(values, (LEFT, WIDTH - EDGE))
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        self.ends.0 + self.scale.share(value) * (self.ends.1 - self.ends.0)
    }

    /// Round values.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.values;
        if self.scale.scale == AxisScale::Log {
            let mantissas: &[f64] = if (high / low).log10() > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let powers = low.log10().floor() as i32..=high.log10().floor() as i32;
            return round_values(powers, mantissas).filter(|value| (low..=high).contains(value)).collect();
        }
        let step = nice_step(high / N_TICKS);
        (0..MOST_TICKS).map(|index| f64::from(index) * step).take_while(|value| *value <= high).collect()
    }
}

/// The place of a value of a parameter among all of them: equal distances.
pub(super) fn place_of(index: usize, n_values: usize) -> f64 {
    let room = WIDTH - EDGE - LEFT;
    LEFT + room * (index as f64 + 0.5) / n_values.max(1) as f64
}

/// Lines and words of a scale from the bottom to the top.
pub(super) fn left_axis(scale: &PixelScale, unit: MetricUnit) -> Markup {
    html! {
        @for value in scale.ticks() {
            @let y = pixels(scale.place(value));
            line class="grid" x1=(LEFT) x2=(WIDTH - EDGE) y1=(y) y2=(y) {}
            text x=(LEFT - 6.0) y=(y) text-anchor="end" dominant-baseline="middle" { (value_text(unit, value)) }
        }
        line class="axis" x1=(LEFT) x2=(LEFT) y1=(EDGE) y2=(HEIGHT - BOTTOM) {}
        line class="axis" x1=(LEFT) x2=(WIDTH - EDGE) y1=(HEIGHT - BOTTOM) y2=(HEIGHT - BOTTOM) {}
    }
}

/// Words below a picture at such places, and the name of the scale. Where there are many, some are left out.
pub(super) fn bottom_axis(words: &[(f64, String)], name: &str) -> Markup {
    let longest = words.iter().map(|(_, word)| word.chars().count()).max().unwrap_or(1);
    let most = ((WIDTH - LEFT) / (7.0 * longest as f64 + 10.0)).max(1.0) as usize;
    let every = words.len().div_ceil(most).max(1);
    html! {
        @for (x, word) in words.iter().step_by(every) {
            text x=(pixels(*x)) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" { (word) }
        }
        text class="name" x=(pixels(f64::midpoint(LEFT, WIDTH - EDGE))) y=(HEIGHT - 6.0) text-anchor="middle" { (name) }
    }
}

/// A value of a scale in few letters.
pub(crate) fn value_text(unit: MetricUnit, value: f64) -> String {
    match unit {
        MetricUnit::IosPerSecond => short(value),
        MetricUnit::BytesPerSecond => format!("{} MB/s", short(value / 1e6)),
        MetricUnit::Nanoseconds if value <= 0.0 => "0".to_owned(),
        MetricUnit::Nanoseconds => duration_text(value).replace(".00 ", " ").replace(".0 ", " "),
    }
}

/// A number in few letters: `12.5k`.
fn short(value: f64) -> String {
    let trimmed = |value: f64| format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned();
    match value {
        value if value >= 1e6 => format!("{}M", trimmed(value / 1e6)),
        value if value >= 1e4 => format!("{}k", trimmed(value / 1e3)),
        value if value >= 100.0 => thousands(value.round() as u64),
        value => trimmed(value),
    }
}

/// A place as an attribute has it.
pub(super) fn pixels(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_values_begin_at_0_and_far_ones_are_logarithmic() {
        let near = PixelScale::up([40.0, 100.0].into_iter());
        assert_eq!((near.place(0.0), near.ticks()), (HEIGHT - BOTTOM, vec![0.0, 50.0, 100.0]));
        let far = PixelScale::across([10.0, 1000.0].into_iter());
        assert_eq!(far.ticks(), [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
        let middle = f64::midpoint(far.place(10.0), far.place(1000.0));
        assert!((far.place(100.0) - middle).abs() < 1e-9);
        assert_eq!(PixelScale::up(std::iter::empty()).ticks().len(), 6);
        assert!(PixelScale::up([0.0].into_iter()).place(0.0).is_finite());
    }

    #[test]
    fn values_have_few_letters() {
        let iops = [5.0, 250.0, 9_999.0, 12_500.0, 2e6].map(|value| value_text(MetricUnit::IosPerSecond, value));
        assert_eq!(iops, ["5", "250", "9,999", "12.5k", "2M"]);
        assert_eq!(value_text(MetricUnit::BytesPerSecond, 2.5e9), "2,500 MB/s");
        assert_eq!(value_text(MetricUnit::Nanoseconds, 2e6), "2 ms");
    }
}
