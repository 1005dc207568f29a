//! A picture as values: panels with lines, bars or a grid, on the axes and of the lines of all charts.
//!
//! Must not know: results, how a picture is drawn. Start reading at [`Picture`]. Values are in base units, as in
//! [`crate::chart`].

use crate::chart::{AxisUnit, ChartAxis, ChartLine};

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
}
