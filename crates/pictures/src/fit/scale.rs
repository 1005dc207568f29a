//! A logarithmic scale whose places are percent of the width of a picture, so that words keep their size on small screens.
//!
//! Must not know: limits, units. Start reading at [`LogPlaces::of`].

use crate::scale::{AxisScale, ChartScale, extremes, round_values};

/// Room at both edges, percent of the width.
const EDGE: f64 = 3.0;
/// Powers of ten between the ends of a scale, at least: equal values are no noise that fills the picture.
const LEAST_DECADES: f64 = 1.0;
/// Powers of ten between the outermost value and the end of the scale.
const ROOM_DECADES: f64 = 0.1;
/// Powers of ten up to which the lines between them have words.
const FEW_DECADES: f64 = 2.0;
const MOST_TICKS: i32 = 6;

/// A scale from values to places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LogPlaces {
    scale: ChartScale,
    /// Place of the lower end.
    from: f64,
}

impl LogPlaces {
    /// The scale on which all positive values fit.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let found = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = extremes(found.map(|value| AxisScale::Log.place(value))).unwrap_or_default();
        let room = ((LEAST_DECADES - (high - low)) / 2.0).max(ROOM_DECADES);
        Self { scale: ChartScale { scale: AxisScale::Log, ends: (low - room, high + room) }, from: EDGE }
    }

    /// The same scale at the right of words that take so much of the width, percent.
    pub(super) fn beside_words(self, width: f64) -> Self {
        Self { from: width + EDGE, ..self }
    }

    /// The place of a value, percent of the width; one that is not positive is at the left edge.
    pub(super) fn place(&self, value: f64) -> f64 {
        self.from + self.scale.share(value) * (100.0 - EDGE - self.from)
    }

    /// Round values, ascending, so few that their words fit.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.scale.ends;
        let decades = high - low;
        let mantissas: &[f64] = if decades <= FEW_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let (first, last) = (low.floor() as i32, high.floor() as i32);
        let every = if decades <= FEW_DECADES { 1 } else { (last - first + MOST_TICKS - 1) / MOST_TICKS };
        let all = round_values((first..=last).step_by(every.max(1) as usize), mantissas);
        all.filter(|value| value.is_finite() && (low..=high).contains(&value.log10())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_distances() {
        let scale = LogPlaces::of([1e3, 1e7].into_iter());
        let distance = |low, high| scale.place(high) - scale.place(low);
        assert!((distance(1e3, 1e4) - distance(1e6, 1e7)).abs() < 1e-9);
        assert_eq!(scale.ticks(), [1e3, 1e4, 1e5, 1e6, 1e7]);
    }

    #[test]
    fn any_values_have_places_in_the_picture() {
        let all = [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, 1.0, 1e12, f64::MAX];
        for (low, high) in all.iter().flat_map(|low| all.iter().map(move |high| (*low, *high))) {
            let scale = LogPlaces::of([low, high].into_iter());
            for value in all {
                let place = scale.place(value);
                assert!((EDGE..=100.0 - EDGE).contains(&place), "{value} from {low} to {high}: {place}");
            }
            assert!((1..=MOST_TICKS as usize + 1).contains(&scale.ticks().len()), "{:?}", scale.ticks());
        }
    }

    #[test]
    fn equal_values_are_in_the_middle() {
        let scale = LogPlaces::of([5e6; 4].into_iter());
        assert!((scale.place(5e6) - 50.0).abs() < 1e-9);
        assert_eq!(scale.ticks(), [2e6, 5e6, 1e7]);
        assert!((scale.beside_words(40.0).place(5e6) - 70.0).abs() < 1e-9);
    }
}
