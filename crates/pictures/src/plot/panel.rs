//! A picture as values: panels with lines, bars or a grid.
//!
//! Must not know: results, how a picture is drawn. Start reading at [`Picture`]. Values are in base units, as in
//! [`crate::chart`].

use crate::chart::AxisUnit;

/// A picture: panels one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Its title.
    pub title: String,
    /// What a reader has to know, in sentences below the panels.
    pub notes: Vec<String>,
    /// The panels.
    pub panels: Vec<Panel>,
}

/// A part of a picture with axes of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// What it shows.
    pub content: PanelContent,
}

/// What a panel shows.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelContent {
    /// Lines over a horizontal axis.
    Lines(LinePanel),
    /// Rows of bars or of points, with their spread.
    Bars(BarPanel),
    /// A table of coloured cells.
    Grid(GridPanel),
}

/// An axis of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlotAxis {
    /// What it measures; the unit is added when it is drawn.
    pub label: String,
    /// In which unit its values are.
    pub unit: AxisUnit,
    /// How values become places.
    pub scale: AxisScale,
}

impl PlotAxis {
    /// An axis.
    pub fn new(label: impl Into<String>, unit: AxisUnit, scale: AxisScale) -> Self {
        Self { label: label.into(), unit, scale }
    }
}

/// How values of an axis become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Equal distances are equal differences; the axis has its 0.
    Linear,
    /// Equal distances are equal factors.
    Log,
    /// For percentiles: 90, 99 and 99.9 % have equal distances.
    Nines,
}

/// Lines.
#[derive(Debug, Clone, PartialEq)]
pub struct LinePanel {
    /// The horizontal axis.
    pub x: PlotAxis,
    /// The vertical axis.
    pub y: PlotAxis,
    /// The lines; later ones lie above.
    pub lines: Vec<PlotLine>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlotLine {
    /// Its name in the legend; empty: it is not in the legend.
    pub name: String,
    /// Number of its colour, dashes and marker.
    pub look: usize,
    /// How much it stands out.
    pub weight: LineWeight,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Indexes of the points before which the line is broken: nothing was measured between.
    pub breaks: Vec<usize>,
    /// Lower and upper edge of the band around the line, for each point; empty: no band.
    pub band: Vec<(f64, f64)>,
    /// A value holds until the next one.
    pub is_stepped: bool,
}

impl PlotLine {
    /// The ranges of points that belong together.
    pub(super) fn pieces(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.breaks.iter().copied());
        let ends = self.breaks.iter().copied().chain(std::iter::once(self.points.len()));
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

/// Bars or points in rows, one row a class.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPanel {
    /// The axis of the values.
    pub value: PlotAxis,
    /// The head of the column with the values in words.
    pub head: &'static str,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// For each name of the legend, values for each class.
    pub groups: Vec<BarGroup>,
}

/// Values of one name of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// The name.
    pub name: String,
    /// Number of its colour.
    pub look: usize,
    /// A value for each class; `None`: the class has none.
    pub values: Vec<Option<FigureSpread>>,
}

/// A figure with its spread.
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
    /// What the columns are.
    pub x_label: String,
    /// What the rows are.
    pub y_label: String,
    /// The columns, from left to right.
    pub columns: Vec<String>,
    /// The rows, from below.
    pub rows: Vec<String>,
    /// For each row, the value of each column; `None`: not measured.
    pub cells: Vec<Vec<Option<f64>>>,
    /// The unit of the values.
    pub unit: AxisUnit,
}
