//! A picture as values: panels with lines, bars or a grid, on the axes and of the lines of all charts.
//!
//! Must not know: results, how a picture is drawn. Start reading at [`Picture`]. Values are in base units, as in
//! [`crate::chart`].

use crate::chart::{AxisUnit, ChartAxis, ChartLine};
use crate::scale::AxisScale;
use ferrio_insight::compare::ComparisonVerdict;
use ferrio_insight::limits::FitVerdict;

/// A picture: panels one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub title: String,
    /// What a reader has to know, in sentences below the panels.
    pub notes: Vec<String>,
    pub panels: Vec<Panel>,
}

/// A part of a picture with axes of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub title: String,
    pub content: PanelContent,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PanelContent {
    /// Lines over a horizontal axis.
    Lines(LinePanel),
    /// Rows of bars or of points, with their spread.
    Bars(BarPanel),
    /// A table of coloured cells.
    Grid(GridPanel),
}

#[derive(Debug, Clone, PartialEq)]
pub struct LinePanel {
    pub x: ChartAxis,
    pub y: ChartAxis,
    /// The lines; later ones lie above.
    pub lines: Vec<ChartLine>,
}

/// Bars or points in rows, one row a class.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPanel {
    pub value: ChartAxis,
    /// The head of the column with the values in words.
    pub head: &'static str,
    pub classes: Vec<String>,
    /// For each name of the legend, values for each class.
    pub groups: Vec<BarGroup>,
}

/// Values of one name of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    pub name: String,
    pub look: usize,
    /// A value for each class; `None`: the class has none.
    pub values: Vec<Option<FigureSpread>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FigureSpread {
    /// The average.
    pub mean: f64,
    /// The average less and plus a standard deviation.
    pub deviation: Option<(f64, f64)>,
    /// The lowest and the highest sample.
    pub range: Option<(f64, f64)>,
}

impl FigureSpread {
    /// A figure without a spread.
    pub fn of(mean: f64) -> Self {
        Self { mean, ..Self::default() }
    }
}

/// A table of coloured cells.
#[derive(Debug, Clone, PartialEq)]
pub struct GridPanel {
    pub x_label: String,
    pub y_label: String,
    /// The columns, from left to right.
    pub columns: Vec<String>,
    /// The rows, from below.
    pub rows: Vec<String>,
    /// For each row, the value of each column; `None`: not measured.
    pub cells: Vec<Vec<Option<f64>>>,
    pub unit: AxisUnit,
    /// How values become shades.
    pub shades: AxisScale,
    /// Row and column of the cells whose values cannot be believed.
    pub doubtful: Vec<(usize, usize)>,
}

/// Values beside a limit, in a row on an axis that several rows of a page share.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strip {
    pub(crate) limit: Option<StripLimit>,
    /// Where the true figure is, with the verdict about it.
    pub(crate) interval: Option<((f64, f64), FitVerdict)>,
    /// The values with their words.
    pub(crate) values: Vec<(f64, String)>,
    /// The figure of all values together, with its words.
    pub(crate) figure: (f64, String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StripLimit {
    pub(crate) value: f64,
    /// Values above it are beyond it; otherwise those below it.
    pub(crate) is_most: bool,
    pub(crate) words: String,
    /// The words are on the side of the values that keep the limit.
    pub(crate) is_named_within: bool,
}

/// A value in a row below others, with its words at the left.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedStrip {
    pub(crate) words: String,
    pub(crate) value: f64,
    /// The limits of the value: each with `true` where values above it are beyond it.
    pub(crate) limits: Vec<(f64, bool)>,
}

/// A change with its interval, on a scale that has the same length to both sides of no change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChangeBar {
    pub(crate) percent: f64,
    pub(crate) interval_percent: (f64, f64),
    /// The ends of the scale; an interval that goes beyond them ends in a point.
    pub(crate) most_percent: f64,
    pub(crate) verdict: ComparisonVerdict,
}
