//! Strips: values beside limits in rows of a page, on an axis that several rows share; bars of changes.
//!
//! Places of strips from left to right are percent of the width, so that words keep their size on small screens.
//! Must not know: what the limits are about. Start reading at [`strip`].

use super::axis::DrawnAxis;
use super::inline::{fixed, fluid};
use super::palette::{BEYOND, GRID, GROUND, QUIET, TEXT, change_ink, verdict_ink};
use super::sheet::{Anchor, Sheet};
use crate::chart::{AxisUnit, ChartAxis};
use crate::panel::{ChangeBar, NamedStrip, Strip, StripLimit};
use crate::scale::{AxisScale, ChartScale, extremes};
use maud::Markup;

/// Size of letters, pixels.
const SIZE: f64 = 13.0;
/// Lines of a row, pixels from its top: words of the limit, the bar, words of the figure.
const WORDS_ABOVE: f64 = 10.0;
const BAND: (f64, f64) = (20.0, 40.0);
const WORDS_BELOW: f64 = 50.0;
const HEIGHT: f64 = 60.0;
const AXIS_HEIGHT: f64 = 22.0;
/// Height of a named row, pixels, and the room for its name, percent of the width of a small screen.
const NAMED_HEIGHT: f64 = 20.0;
const NAME_WIDTH: f64 = 40.0;
/// Radius of values, pixels.
const RADIUS: f64 = 3.5;
/// The whole width, and the room at both edges, percent.
const WIDTH: f64 = 100.0;
const EDGE: f64 = 3.0;
/// Words that begin nearer to an edge than this are on the other side of their line, percent.
const NEAR_EDGE: f64 = 35.0;
/// Half of a letter in a picture on a small screen, percent.
const LETTER: f64 = 1.0;
/// Least width of a bar, percent.
const LEAST_BAR: f64 = 0.4;
/// About so many round values: their words have room on a small screen.
const N_TICKS: usize = 6;
/// Powers of ten on an axis, at least: equal values are no noise that fills the picture.
const LEAST_DECADES: f64 = 1.0;
/// Powers of ten between the outermost value and the end of the axis.
const ROOM_DECADES: f64 = 0.1;

/// A logarithmic axis of some rows.
pub(crate) struct StripAxis {
    axis: DrawnAxis,
    /// Place of the lower end, percent.
    from: f64,
}

impl StripAxis {
    /// The axis on which all positive values fit.
    pub(crate) fn of(unit: AxisUnit, values: impl Iterator<Item = f64>) -> Self {
        let found = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = extremes(found.map(|value| AxisScale::Log.place(value))).unwrap_or_default();
        let room = ((LEAST_DECADES - (high - low)) / 2.0).max(ROOM_DECADES);
        let [low, high] = [low - room, high + room].map(|place| 10_f64.powf(place).clamp(f64::MIN_POSITIVE, f64::MAX));
        Self { axis: DrawnAxis::log_between(&ChartAxis::log("", unit), low, high, N_TICKS), from: EDGE }
    }

    /// An axis of factors from 1 to at least `most`, with a line for each doubling.
    pub(crate) fn of_doublings(most: f64) -> Self {
        let mut axis = Self::of(AxisUnit::Count, [1.0, most].into_iter());
        let n_doublings = most.log2().clamp(0.0, 10.0) as i32;
        axis.axis.ticks =
            (0..=n_doublings).map(|power| 2_f64.powi(power)).map(|times| (times, format!("{times} x"))).collect();
        axis
    }

    /// The same axis at the right of the names of rows.
    pub(crate) fn beside_names(self) -> Self {
        Self { from: NAME_WIDTH + EDGE, ..self }
    }

    /// The place of a value, percent of the width; one that is not positive is at the lower end.
    fn place(&self, value: f64) -> f64 {
        self.from + self.axis.share(value) * (WIDTH - EDGE - self.from)
    }
}

/// A row of values beside their limit.
pub(crate) fn strip(axis: &StripAxis, row: &Strip, label: &str) -> Markup {
    let mut sheet = Sheet::empty(WIDTH as u32, HEIGHT as u32);
    grid(&mut sheet, axis);
    let middle = f64::midpoint(BAND.0, BAND.1);
    if let Some(limit) = &row.limit {
        draw_limit(&mut sheet, axis, (limit.value, limit.is_most), (BAND, 4.0));
        beside(&mut sheet, axis.place(limit.value), limit);
    }
    if let Some(((low, high), verdict)) = row.interval {
        let (low, high) = (axis.place(low), axis.place(high));
        sheet.filled((low, BAND.0 + 6.0), (high.max(low + LEAST_BAR), BAND.1 - 6.0), verdict_ink(verdict));
    }
    let figure = axis.place(row.figure.0);
    sheet.path(vec![(figure, BAND.0 + 2.0), (figure, BAND.1 - 2.0)], TEXT, 2.0);
    for (value, words) in row.values.iter().filter(|(value, _)| value.is_finite()) {
        let place = (axis.place(*value), middle);
        sheet.disc(place, RADIUS, GROUND.faded(0.6));
        sheet.ring(place, RADIUS, TEXT, 1.3);
        sheet.words(place, words);
    }
    around(&mut sheet, (figure, WORDS_BELOW), &row.figure.1);
    fluid(&sheet, Some(label))
}

/// Rows of values with their names, joined by a line.
pub(crate) fn named_strips(axis: &StripAxis, rows: &[NamedStrip], label: &str) -> Markup {
    let mut sheet = Sheet::empty(WIDTH as u32, (NAMED_HEIGHT * rows.len() as f64) as u32);
    grid(&mut sheet, axis);
    let y = |row: usize| (row as f64 + 0.5) * NAMED_HEIGHT;
    for (row, strip) in rows.iter().enumerate() {
        let band = (y(row) - NAMED_HEIGHT / 2.0 + 1.0, y(row) + NAMED_HEIGHT / 2.0 - 1.0);
        for limit in &strip.limits {
            draw_limit(&mut sheet, axis, *limit, (band, 0.0));
        }
    }
    sheet.path(rows.iter().enumerate().map(|(row, strip)| (axis.place(strip.value), y(row))).collect(), TEXT, 2.0);
    for (row, strip) in rows.iter().enumerate() {
        sheet.disc((axis.place(strip.value), y(row)), RADIUS, TEXT);
        sheet.text(&strip.words, (1.0, y(row)), SIZE, TEXT, Anchor::Start);
    }
    fluid(&sheet, Some(label))
}

/// The words of an axis, below its rows.
pub(crate) fn axis_words(axis: &StripAxis) -> Markup {
    let mut sheet = Sheet::empty(WIDTH as u32, AXIS_HEIGHT as u32);
    let mut free_from = f64::NEG_INFINITY;
    for (value, words) in &axis.axis.ticks {
        let (x, half) = (axis.place(*value), half_width(words));
        if x - half >= free_from {
            around(&mut sheet, (x, AXIS_HEIGHT / 2.0), words);
            free_from = x + half + LETTER;
        }
    }
    fluid(&sheet, None)
}

/// Size of a bar of a change, pixels.
const CHANGE_SIZE: (u32, u32) = (160, 16);

/// A bar for a cell of a table: the interval, the change as a line in it, and no change as a line behind it.
pub(crate) fn change_bar(bar: &ChangeBar) -> Markup {
    let mut sheet = Sheet::empty(CHANGE_SIZE.0, CHANGE_SIZE.1);
    let frame = sheet.within(0.0);
    let scale = ChartScale::between(AxisScale::Linear, -bar.most_percent, bar.most_percent);
    let x = |percent: f64| frame.x(scale.share(percent));
    let (low, high) = bar.interval_percent;
    sheet.dashed_path(vec![(x(0.0), frame.top), (x(0.0), frame.bottom)], QUIET, 1.0, &[2.0, 2.0]);
    let least_right = x(low) + 2.0;
    sheet.filled((x(low), frame.top + 4.0), (x(high).max(least_right), frame.bottom - 4.0), change_ink(bar.verdict));
    // Points at the edges, where the interval goes on beyond them.
    let mut point = |edge: f64, inwards: f64| {
        let base = edge + inwards;
        sheet.area(vec![(edge, frame.y(0.5)), (base, frame.top + 1.0), (base, frame.bottom - 1.0)], TEXT);
    };
    if low < -bar.most_percent {
        point(frame.left, 7.0);
    }
    if high > bar.most_percent {
        point(frame.right, -7.0);
    }
    let at = x(bar.percent).clamp(frame.left + 1.0, frame.right - 1.0);
    sheet.path(vec![(at, frame.top + 1.0), (at, frame.bottom - 1.0)], TEXT, 2.0);
    fixed(&sheet, None)
}

/// Lines at round values.
fn grid(sheet: &mut Sheet, axis: &StripAxis) {
    let height = f64::from(sheet.height);
    for (value, _) in &axis.axis.ticks {
        let x = axis.place(*value);
        sheet.path(vec![(x, 0.0), (x, height)], GRID, 0.7);
    }
}

/// A limit with the side beyond it, at a height; its line is longer by so many pixels at both ends.
fn draw_limit(sheet: &mut Sheet, axis: &StripAxis, (value, is_most): (f64, bool), (band, longer): ((f64, f64), f64)) {
    let x = axis.place(value);
    let (from, to) = if is_most { (x, WIDTH) } else { (0.0, x) };
    sheet.filled((from, band.0), (to, band.1), BEYOND);
    sheet.path(vec![(x, band.0 - longer), (x, band.1 + longer)], TEXT, 3.0);
}

/// The words of a limit, which begin or end at its line; they are on its other side where they have no room.
fn beside(sheet: &mut Sheet, x: f64, limit: &StripLimit) {
    let is_left = limit.is_most == limit.is_named_within;
    let ends = if is_left { x > NEAR_EDGE } else { x > WIDTH - NEAR_EDGE };
    let (anchor, shift) = if ends { (Anchor::End, -6.0) } else { (Anchor::Start, 6.0) };
    sheet.text_beside(&limit.words, ((x, WORDS_ABOVE), shift), SIZE, TEXT, anchor);
}

/// Half of the width of words on a small screen, percent.
fn half_width(words: &str) -> f64 {
    LETTER * words.chars().count() as f64
}

/// Words in the middle of a place, as far as the edges allow it.
fn around(sheet: &mut Sheet, (x, y): (f64, f64), words: &str) {
    let half = half_width(words);
    let anchor = match x {
        x if x < half => Anchor::Start,
        x if x > WIDTH - half => Anchor::End,
        _ => Anchor::Middle,
    };
    sheet.text(words, (x, y), SIZE, TEXT, anchor);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(axis: &StripAxis) -> Vec<&str> {
        axis.axis.ticks.iter().map(|(_, words)| words.as_str()).collect()
    }

    #[test]
    fn equal_factors_are_equal_distances() {
        let axis = StripAxis::of(AxisUnit::Nanoseconds, [1e3, 1e7].into_iter());
        let distance = |low, high| axis.place(high) - axis.place(low);
        assert!((distance(1e3, 1e4) - distance(1e6, 1e7)).abs() < 1e-9);
        assert_eq!(ticks(&axis), ["1 us", "10 us", "100 us", "1 ms", "10 ms"]);
    }

    #[test]
    fn any_values_have_places_in_the_picture() {
        let all = [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, 1.0, 1e12, f64::MAX];
        for (low, high) in all.iter().flat_map(|low| all.iter().map(move |high| (*low, *high))) {
            let axis = StripAxis::of(AxisUnit::Count, [low, high].into_iter());
            for value in all {
                let place = axis.place(value);
                assert!((EDGE..=WIDTH - EDGE).contains(&place), "{value} from {low} to {high}: {place}");
            }
            assert!((1..=N_TICKS + 1).contains(&axis.axis.ticks.len()), "{low} {high} {:?}", axis.axis.ticks);
        }
    }

    #[test]
    fn equal_values_are_in_the_middle_also_beside_names() {
        let axis = StripAxis::of(AxisUnit::Nanoseconds, [5e6; 4].into_iter());
        assert!((axis.place(5e6) - 50.0).abs() < 1e-9);
        assert_eq!(ticks(&axis), ["2 ms", "5 ms", "10 ms"]);
        let beside = axis.beside_names();
        assert!((beside.place(5e6) - 70.0).abs() < 1e-9);
    }

    #[test]
    fn factors_are_doubled() {
        assert_eq!(ticks(&StripAxis::of_doublings(32.0)), ["1 x", "2 x", "4 x", "8 x", "16 x", "32 x"]);
    }
}
