//! A chart as values: what is drawn, in which units, on which axes.
//!
//! Must not know: where the figures come from, how a chart is drawn. Start reading at [`Chart`]. Values are in base units:
//! seconds on axes of time, nanoseconds for latencies, bytes per second, I/Os per second, percent.

use crate::scale::AxisScale;
use ferrio_stats::IoKind;
use ferrio_stats::MetricUnit;
use serde::Serialize;
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its name within a view, of letters and hyphens.
    pub id: &'static str,
    pub title: String,
    /// What a reader has to know to read it, in a sentence; empty: nothing.
    pub note: String,
    pub x: ChartAxis,
    pub y: ChartAxis,
    pub content: ChartContent,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartAxis {
    /// What it measures; a picture adds the unit.
    pub label: Cow<'static, str>,
    pub unit: AxisUnit,
    /// How values become places.
    #[serde(rename = "is_log")]
    pub scale: AxisScale,
    /// Names of the places 0, 1, 2 and so on of a picture's axis; empty: its places are values.
    #[serde(skip)]
    pub names: Vec<String>,
}

impl ChartAxis {
    /// Time since the start of the job.
    pub const TIME: Self = Self::linear("time", AxisUnit::Seconds);

    pub fn new(label: impl Into<Cow<'static, str>>, unit: AxisUnit, scale: AxisScale) -> Self {
        Self { label: label.into(), unit, scale, names: Vec::new() }
    }

    /// An axis of names at equal distances.
    pub(crate) fn of_names(label: impl Into<Cow<'static, str>>, names: Vec<String>) -> Self {
        Self { label: label.into(), unit: AxisUnit::Count, scale: AxisScale::Linear, names }
    }

    pub const fn linear(label: &'static str, unit: AxisUnit) -> Self {
        Self { label: Cow::Borrowed(label), unit, scale: AxisScale::Linear, names: Vec::new() }
    }

    pub const fn log(label: &'static str, unit: AxisUnit) -> Self {
        Self { label: Cow::Borrowed(label), unit, scale: AxisScale::Log, names: Vec::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisUnit {
    Seconds,
    IosPerSecond,
    BytesPerSecond,
    Nanoseconds,
    Percent,
    /// Something without a unit.
    Count,
}

impl AxisUnit {
    pub(crate) const fn of(unit: MetricUnit) -> Self {
        match unit {
            MetricUnit::IosPerSecond => Self::IosPerSecond,
            MetricUnit::BytesPerSecond => Self::BytesPerSecond,
            MetricUnit::Nanoseconds => Self::Nanoseconds,
        }
    }

    /// True for time since the start.
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::Seconds)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartContent {
    /// Lines, each perhaps with a band around it.
    Lines(Vec<ChartLine>),
    /// Bars side by side for each of some classes.
    Bars(Bars),
    Heat(HeatMap),
    /// A table whose cells are shaded within each column.
    Shades(ShadedTable),
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChartLine {
    /// Its name in the legend; empty: it is not in the legend.
    pub name: String,
    /// Number of its colour: [`N_SHADES`] for each kind of I/O; in a picture also that of its dashes and its marker.
    pub colour: usize,
    /// How much it stands out in a picture.
    #[serde(skip)]
    pub weight: LineWeight,
    /// Horizontal values: ascending, except where two figures of each point are compared.
    pub x: Vec<f64>,
    /// Vertical values.
    pub y: Vec<f64>,
    /// Indexes of the points before which the line is broken: nothing was measured between.
    pub breaks: Vec<usize>,
    /// Widths of the intervals around the points: one for each, or one for all; empty: they are points.
    pub widths: Vec<f64>,
    /// Lower edge of its band; empty: no band.
    pub low: Vec<f64>,
    /// Upper edge of its band.
    pub high: Vec<f64>,
    /// The band is the interval of each point, not an area; NaN: that of this point is unknown.
    #[serde(skip)]
    pub has_whiskers: bool,
    /// A value holds until the next one: the line is a staircase.
    pub is_stepped: bool,
    /// What a picture shows at each point; empty: nothing but the point.
    #[serde(skip)]
    pub marks: Vec<PointMark>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointMark {
    /// The point in words, shown on a page below the pointer.
    pub words: String,
    /// The figures of the point cannot be believed: it is hollow.
    pub is_doubtful: bool,
    /// It has a ring and the word knee.
    pub is_knee: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bars {
    pub classes: Vec<String>,
    /// For each name of the legend a value for each class.
    pub groups: Vec<(String, Vec<f64>)>,
}

/// A heat map: columns and rows whose edges are given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatMap {
    /// Left and right edge of each column, ascending.
    pub columns: Vec<(f64, f64)>,
    /// Edges of the rows, ascending: one more than rows.
    pub edges: Vec<f64>,
    /// Names of the rows, from the lowest to the highest; empty: they are ranges of values.
    pub rows: Vec<String>,
    /// Cells that are not empty: column, row and value.
    pub cells: Vec<(usize, usize, u64)>,
    /// What the values are.
    pub counted: &'static str,
    /// The meaning of a high value, for "the darker a cell, the ...".
    pub meaning: &'static str,
    /// How values become shades.
    #[serde(rename = "is_log")]
    pub shades: AxisScale,
}

/// A table of figures, whose cells are the darker the higher they are among those of their column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShadedTable {
    pub columns: Vec<String>,
    /// For each name a value for each column; `None`: there is none.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

/// Shades of the colour of each kind of I/O.
pub const N_SHADES: usize = 4;

pub(crate) fn colour_of(kind: impl Into<IoKind>, shade: usize) -> usize {
    let rank = match kind.into() {
        IoKind::Read => 0,
        IoKind::Write => 1,
        IoKind::Trim => 2,
        IoKind::Sync => 3,
    };
    rank * N_SHADES + shade.min(N_SHADES - 1)
}

impl ChartLine {
    /// A line without points.
    pub(crate) fn new(name: String, colour: usize) -> Self {
        Self { name, colour, ..Self::default() }
    }

    pub(crate) fn through(name: String, colour: usize, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (x, y) = points.into_iter().unzip();
        Self { x, y, ..Self::new(name, colour) }
    }

    /// The same line without its band or its intervals.
    pub(crate) fn without_band(self) -> Self {
        Self { low: Vec::new(), high: Vec::new(), has_whiskers: false, ..self }
    }

    /// Its points, from left to right.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.x.iter().copied().zip(self.y.iter().copied())
    }

    /// Lower and upper edge of its band for each point; none: it has no band.
    pub fn band(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        self.low.iter().zip(&self.high).map(|(low, high)| (*low, *high))
    }

    /// The ranges of points that belong together.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.breaks.iter().copied());
        let ends = self.breaks.iter().copied().chain(std::iter::once(self.x.len()));
        starts.zip(ends).map(|(start, end)| start..end).filter(|piece| !piece.is_empty())
    }
}

/// How much a line stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineWeight {
    /// One of many: thin and pale.
    Faint,
    /// A line of its own.
    #[default]
    Normal,
    /// What many lines have in common.
    Bold,
}

/// Number of the colour of one of several lines of equal rank.
pub(crate) fn colour_of_rank(rank: usize) -> usize {
    (rank * N_SHADES + rank / 3) % (3 * N_SHADES)
}

/// A value with five significant digits: what a picture can show, in few characters.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let digits = 4 - value.abs().log10().floor() as i32;
    let factor = 10_f64.powi(digits.clamp(-300, 300));
    let rounded = (value * factor).round() / factor;
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn five_digits_are_kept() {
        for (value, expected) in [(123_456.0, 123_460.0), (0.000_123_456, 0.000_123_46), (0.0, 0.0), (-1.5, -1.5)] {
            assert!((rounded(value) - expected).abs() <= expected.abs() * 1e-12, "{value}");
        }
        assert!(rounded(f64::MAX) > 1e308 && rounded(f64::MIN_POSITIVE) >= 0.0 && rounded(f64::NAN) == 0.0);
    }
}
