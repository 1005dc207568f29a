//! Axes: their ends, their ticks with words, and the places of values.
//!
//! Must not know: where an axis lies on a sheet. Start reading at [`DrawnAxis::of`].

use super::units::{AxisWords, words_of};
use crate::chart::ChartAxis;
use crate::scale::{AxisScale, ChartScale, MOST_PERCENT, extremes, nice_step, round_values};

/// An axis that can be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DrawnAxis {
    scale: ChartScale,
    /// Values with their words.
    pub(super) ticks: Vec<(f64, String)>,
    /// The ticks are names: where there is no room for all, every second one is left out, or more, but not single ones.
    pub(super) has_names: bool,
    /// What it measures, with its unit.
    pub(super) title: String,
}

impl DrawnAxis {
    pub(super) fn of(axis: &ChartAxis, values: impl Iterator<Item = f64>, n_wanted: usize) -> Self {
        if !axis.names.is_empty() {
            return Self::of_names(axis);
        }
        let usable = |value: &f64| value.is_finite() && (axis.scale != AxisScale::Log || *value > 0.0);
        let (low, high) = extremes(values.filter(usable)).unwrap_or((1.0, 1.0));
        match axis.scale {
            AxisScale::Linear => Self::linear(axis, low, high, n_wanted.max(2)),
            AxisScale::Log => Self::log(axis, low, high, n_wanted.max(2)),
            AxisScale::Nines => Self::nines(axis, low, high),
        }
    }

    /// Names at equal distances, half of one from the ends.
    fn of_names(axis: &ChartAxis) -> Self {
        let ticks = axis.names.iter().enumerate().map(|(index, name)| (index as f64, name.clone())).collect();
        let scale = ChartScale::between(AxisScale::Linear, -0.5, axis.names.len() as f64 - 0.5);
        Self { scale, ticks, has_names: true, title: axis.label.to_string() }
    }

    fn linear(axis: &ChartAxis, low: f64, high: f64, n_wanted: usize) -> Self {
        // An axis has its 0, unless all values are far away from it and it is one of time.
        let is_far = axis.unit.is_time() && low > 0.5 * high;
        let low = if is_far { low } else { low.min(0.0) };
        let high = if high > low { high } else { low + 1.0 };
        let words = words_of(axis.unit, high);
        let step = nice_step((high - low) / words.factor / n_wanted as f64) * words.factor;
        let first = (low / step).floor();
        // The last tick is at or behind the highest value.
        let n_steps = (((high / step) - 1e-9).ceil() - first).clamp(1.0, 100.0) as u32;
        let at = |index: u32| (first + f64::from(index)) * step;
        let ticks = (0..=n_steps).map(|index| (at(index), words.tick(at(index), step))).collect();
        // Lines over time end where their figures end.
        let high = if axis.unit.is_time() { high } else { at(n_steps) };
        let low = if is_far { low } else { at(0) };
        let title = words.title(&axis.label);
        Self { scale: ChartScale::between(axis.scale, low, high), ticks, has_names: false, title }.cut()
    }

    fn log(axis: &ChartAxis, low: f64, high: f64, n_wanted: usize) -> Self {
        Self::log_between(axis, step_down(low), step_up(high.max(low * 1.01)), n_wanted)
    }

    /// A logarithmic axis with these ends.
    pub(super) fn log_between(axis: &ChartAxis, low: f64, high: f64, n_wanted: usize) -> Self {
        let words = AxisWords::of_each_value(axis.unit);
        let decades = (high / low).log10();
        let mantissas: &[f64] = match decades {
            decades if decades <= 1.5 => &[1.0, 2.0, 5.0],
            decades if decades <= n_wanted as f64 / 2.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let n_skipped = (decades / n_wanted as f64).ceil().max(1.0) as i32;
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let powers = (first..=last).filter(|power| power.rem_euclid(n_skipped) == 0);
        let ticks = round_values(powers, mantissas).map(|value| (value, words.tick(value, value))).collect();
        let title = format!("{}, logarithmic", words.title(&axis.label));
        Self { scale: ChartScale::between(axis.scale, low, high), ticks, has_names: false, title }.cut()
    }

    fn nines(axis: &ChartAxis, low: f64, high: f64) -> Self {
        const TICKS: [(f64, &str); 11] = [
            (0.0, "0"),
            (50.0, "50"),
            (75.0, "75"),
            (90.0, "90"),
            (95.0, "95"),
            (99.0, "99"),
            (99.9, "99.9"),
            (99.99, "99.99"),
            (99.999, "99.999"),
            (99.9999, "99.9999"),
            (99.99999, "99.99999"),
        ];
        let ticks = TICKS.iter().map(|(percent, text)| (*percent, (*text).to_owned())).collect();
        let (low, high) = (low.clamp(0.0, 50.0), high.clamp(90.0, MOST_PERCENT));
        let title = format!("{} (%)", axis.label);
        Self { scale: ChartScale::between(axis.scale, low, high), ticks, has_names: false, title }.cut()
    }

    /// Without ticks beyond the ends.
    fn cut(mut self) -> Self {
        let scale = self.scale;
        self.ticks.retain(|(value, _)| scale.has(*value));
        self
    }

    /// The place of a value: 0 at the low end, 1 at the high one; values beyond the ends are at the ends.
    pub(super) fn share(&self, value: f64) -> f64 {
        self.scale.share(value)
    }
}

/// The next of 1, 2 and 5 times a power of ten that is not above the value.
fn step_down(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|mantissa| mantissa * power)
        .find(|step| *step <= value * (1.0 + 1e-9))
        .unwrap_or(value)
}

/// The next of 1, 2 and 5 times a power of ten that is not below the value.
fn step_up(value: f64) -> f64 {
    nice_step(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::AxisUnit;

    fn axis(unit: AxisUnit, scale: AxisScale, values: &[f64]) -> DrawnAxis {
        DrawnAxis::of(&ChartAxis::new("x", unit, scale), values.iter().copied(), 6)
    }

    fn words(axis: &DrawnAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_say_their_unit_once() {
        let rates = axis(AxisUnit::IosPerSecond, AxisScale::Linear, &[120.0, 23_456.0]);
        assert_eq!(words(&rates), ["0", "5,000", "10,000", "15,000", "20,000", "25,000"]);
        let bytes = axis(AxisUnit::BytesPerSecond, AxisScale::Linear, &[3.1e6]);
        assert_eq!(words(&bytes), ["0", "1", "2", "3", "4"]);
        assert_eq!(bytes.title, "x (MB/s)");
        let time = axis(AxisUnit::Seconds, AxisScale::Linear, &[0.0, 7200.0 * 3.0]);
        assert_eq!(
            (words(&time), time.title.as_str()),
            (vec!["0:00", "1:00", "2:00", "3:00", "4:00", "5:00", "6:00"], "x (h:min)")
        );
    }

    #[test]
    fn each_tick_of_a_logarithmic_axis_has_its_unit() {
        let latency = axis(AxisUnit::Nanoseconds, AxisScale::Log, &[34_101.0, 7_967_022.0]);
        assert_eq!(words(&latency), ["30 us", "100 us", "300 us", "1 ms", "3 ms", "10 ms"]);
        assert_eq!(latency.title, "x, logarithmic");
        assert!((latency.share(1e7) - 1.0).abs() < 1e-9 && latency.share(2e4) == 0.0 && latency.share(0.0) == 0.0);
    }

    #[test]
    fn percentiles_are_spread_by_their_nines() {
        let axis = axis(AxisUnit::Percent, AxisScale::Nines, &[1.0, 99.9]);
        assert_eq!(words(&axis), ["50", "75", "90", "95", "99", "99.9"]);
        let gap = |low: f64, high: f64| axis.share(high) - axis.share(low);
        assert!((gap(90.0, 99.0) - gap(99.0, 99.9)).abs() < 1e-9);
    }

    #[test]
    fn names_have_equal_distances() {
        let names = ["4k", "64k", "1m"].map(str::to_owned).to_vec();
        let axis = DrawnAxis::of(&ChartAxis::of_names("bs", names), [0.0].into_iter(), 6);
        assert_eq!((words(&axis), axis.title.as_str()), (vec!["4k", "64k", "1m"], "bs"));
        assert!((axis.share(0.0) - 1.0 / 6.0).abs() < 1e-9 && (axis.share(1.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn any_values_give_an_axis() {
        for scale in [AxisScale::Linear, AxisScale::Log, AxisScale::Nines] {
            for values in
                [&[][..], &[0.0], &[f64::NAN], &[1e300, 1e-300], &[f64::INFINITY], &[u64::MAX as f64], &[-5.0]]
            {
                for unit in [AxisUnit::Seconds, AxisUnit::Nanoseconds, AxisUnit::BytesPerSecond, AxisUnit::Count] {
                    let axis = axis(unit, scale, values);
                    assert!(axis.ticks.len() <= 101, "{scale:?} {values:?} {axis:?}");
                    assert!([0.0, 1.0, 1e300].iter().all(|value| (0.0..=1.0).contains(&axis.share(*value))));
                }
            }
        }
    }
}
