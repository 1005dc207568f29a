//! Panels of coloured cells, each with its value in words.
//!
//! Must not know: what the cells mean. Start reading at [`draw`].

use super::font::text_width;
use super::palette::{EMPTY, GROUND, QUIET, TEXT, text_on, value_ink};
use super::sheet::Frame;
use super::sheet::{Anchor, Sheet, fitted};
use super::units::value_text;
use super::{Heights, TEXT_SIZE};
use crate::chart::AxisUnit;
use crate::panel::GridPanel;
use crate::scale::{AxisScale, ChartScale, extremes};

/// Height of the names below the cells, pixels.
const AXIS_HEIGHT: f64 = 42.0;
/// Width of the scale of colours with its words, pixels.
const SCALE_WIDTH: f64 = 130.0;
/// Widest cell, pixels: a table of two columns does not fill a page.
const MOST_CELL: f64 = 300.0;

pub(super) fn heights(panel: &GridPanel) -> Heights {
    let n_rows = panel.rows.len() as f64;
    Heights { least: AXIS_HEIGHT + (n_rows * 18.0).max(60.0), natural: AXIS_HEIGHT + (n_rows * 44.0).max(88.0) }
}

/// Width and height in which all words have room, pixels.
pub(super) fn page_size(panel: &GridPanel) -> (f64, f64) {
    let values = panel.cells.iter().flatten().filter_map(|value| *value).map(|value| value_text(panel.unit, value));
    let cell = values.chain(panel.columns.iter().cloned()).map(|text| text_width(&text, TEXT_SIZE)).fold(0.0, f64::max);
    let cells = (cell + 12.0).min(MOST_CELL) * panel.columns.len() as f64;
    (names_width(panel) + cells + SCALE_WIDTH, AXIS_HEIGHT + (panel.rows.len() as f64 * 26.0).max(60.0))
}

/// Width of the title and the names at the left, pixels.
fn names_width(panel: &GridPanel) -> f64 {
    22.0 + panel.rows.iter().map(|name| text_width(name, TEXT_SIZE)).fold(0.0, f64::max) + 8.0
}

pub(super) fn draw(sheet: &mut Sheet, frame: Frame, panel: &GridPanel) {
    let left = frame.left + names_width(panel);
    let n_columns = panel.columns.len().max(1) as f64;
    let width = (frame.right - SCALE_WIDTH - left).min(MOST_CELL * n_columns);
    let cells = Frame { left, top: frame.top, right: left + width, bottom: frame.bottom - AXIS_HEIGHT };
    let scale = scale_of(panel);
    let (cell_width, cell_height) = (width / n_columns, cells.height() / panel.rows.len().max(1) as f64);
    for (row, columns) in panel.cells.iter().enumerate() {
        for (column, value) in columns.iter().enumerate() {
            let corner = (cells.left + column as f64 * cell_width, cells.bottom - (row + 1) as f64 * cell_height);
            let is_doubtful = panel.doubtful.contains(&(row, column));
            let shade = value.map(|value| (value, scale.share(value)));
            draw_cell(sheet, corner, (cell_width, cell_height), shade, (panel.unit, is_doubtful));
        }
    }
    for (index, name) in panel.rows.iter().enumerate() {
        let y = cells.bottom - (index as f64 + 0.5) * cell_height;
        sheet.text(name, (cells.left - 8.0, y), TEXT_SIZE, TEXT, Anchor::End);
    }
    for (index, name) in panel.columns.iter().enumerate() {
        let x = cells.left + (index as f64 + 0.5) * cell_width;
        let name = fitted(name, TEXT_SIZE, cell_width);
        sheet.text(&name, (x, cells.bottom + 13.0), TEXT_SIZE, TEXT, Anchor::Middle);
    }
    sheet.text(&panel.x_label, (cells.x(0.5), cells.bottom + 31.0), TEXT_SIZE, QUIET, Anchor::Middle);
    sheet.upright_text(&panel.y_label, (frame.left + 8.0, cells.y(0.5)), TEXT_SIZE, QUIET);
    draw_scale(sheet, cells, &scale, panel.unit);
}

/// The scale of the shades: from 0 to the highest value, or from the lowest where it is logarithmic.
fn scale_of(panel: &GridPanel) -> ChartScale {
    let values = panel.cells.iter().flatten().filter_map(|value| *value);
    let usable = |value: &f64| value.is_finite() && (panel.shades != AxisScale::Log || *value > 0.0);
    let (low, high) = extremes(values.filter(usable)).unwrap_or((1.0, 1.0));
    ChartScale::between(panel.shades, if panel.shades == AxisScale::Log { low } else { 0.0 }, high)
}

/// A cell; its value with the share of its shade.
fn draw_cell(
    sheet: &mut Sheet,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    value: Option<(f64, f64)>,
    (unit, is_doubtful): (AxisUnit, bool),
) {
    let colour = value.map_or(EMPTY, |(_, share)| value_ink(share));
    sheet.filled((x, y), (x + width, y + height), GROUND);
    sheet.filled((x + 1.0, y + 1.0), (x + width - 1.0, y + height - 1.0), colour);
    let text = value.map_or_else(|| "-".to_owned(), |(value, _)| value_text(unit, value));
    let size = (TEXT_SIZE * (width - 4.0) / text_width(&text, TEXT_SIZE).max(1.0)).min(TEXT_SIZE);
    // Smaller letters cannot be read; the colour remains.
    if size >= 7.0 {
        let (middle, half) = ((x + width / 2.0, y + height / 2.0), text_width(&text, size) / 2.0 + 2.0);
        sheet.text(&text, middle, size, text_on(colour), Anchor::Middle);
        if is_doubtful {
            sheet.path(vec![(middle.0 - half, middle.1), (middle.0 + half, middle.1)], text_on(colour), 1.5);
        }
    }
}

/// The colours from the lowest to the highest value of the scale.
fn draw_scale(sheet: &mut Sheet, cells: Frame, scale: &ChartScale, unit: AxisUnit) {
    const N_STEPS: usize = 64;
    let (left, right) = (cells.right + 16.0, cells.right + 32.0);
    // Each step reaches to the bottom, where the next ones cover it: steps side by side would have seams.
    for step in (0..N_STEPS).rev() {
        let (low, high) = (step as f64 / N_STEPS as f64, (step + 1) as f64 / N_STEPS as f64);
        sheet.filled((left, cells.y(high)), (right, cells.bottom), value_ink(f64::midpoint(low, high)));
    }
    for share in [0.0, 0.5, 1.0] {
        let y = cells.y(share).clamp(cells.top + 6.0, cells.bottom - 6.0);
        let value = scale.value(share);
        let text = if value == 0.0 { "0".to_owned() } else { value_text(unit, value) };
        sheet.text(&text, (right + 6.0, y), TEXT_SIZE, TEXT, Anchor::Start);
    }
}
