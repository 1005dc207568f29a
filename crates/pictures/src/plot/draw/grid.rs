//! Panels of coloured cells, each with its value in words.
//!
//! Must not know: what the cells mean. Start reading at [`draw`].

use super::font::text_width;
use super::palette::{EMPTY, QUIET, TEXT, WHITE, text_on, value_ink};
use super::sheet::Frame;
use super::sheet::{Anchor, Sheet, fitted};
use super::units::value_text;
use super::{Heights, TEXT_SIZE};
use crate::plot::panel::GridPanel;

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

pub(super) fn draw(sheet: &mut Sheet, frame: Frame, panel: &GridPanel) {
    let names = panel.rows.iter().map(|name| text_width(name, TEXT_SIZE)).fold(0.0, f64::max);
    let left = frame.left + 22.0 + names + 8.0;
    let n_columns = panel.columns.len().max(1) as f64;
    let width = (frame.right - SCALE_WIDTH - left).min(MOST_CELL * n_columns);
    let cells = Frame { left, top: frame.top, right: left + width, bottom: frame.bottom - AXIS_HEIGHT };
    let values = || panel.cells.iter().flatten().filter_map(|value| *value);
    let highest = values().fold(0.0, f64::max);
    let (cell_width, cell_height) = (width / n_columns, cells.height() / panel.rows.len().max(1) as f64);
    for (row, columns) in panel.cells.iter().enumerate() {
        for (column, value) in columns.iter().enumerate() {
            let corner = (cells.left + column as f64 * cell_width, cells.bottom - (row + 1) as f64 * cell_height);
            draw_cell(sheet, corner, (cell_width, cell_height), value.map(|value| (value, highest)), panel);
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
    draw_scale(sheet, cells, highest, panel);
}

/// A cell; its value with the highest of the panel.
fn draw_cell(
    sheet: &mut Sheet,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    value: Option<(f64, f64)>,
    panel: &GridPanel,
) {
    let colour = value.map_or(EMPTY, |(value, highest)| value_ink(share(value, highest)));
    sheet.filled((x, y), (x + width, y + height), WHITE);
    sheet.filled((x + 1.0, y + 1.0), (x + width - 1.0, y + height - 1.0), colour);
    let text = value.map_or_else(|| "-".to_owned(), |(value, _)| value_text(panel.unit, value));
    let size = (TEXT_SIZE * (width - 4.0) / text_width(&text, TEXT_SIZE).max(1.0)).min(TEXT_SIZE);
    // Smaller letters cannot be read; the colour remains.
    if size >= 7.0 {
        sheet.text(&text, (x + width / 2.0, y + height / 2.0), size, text_on(colour), Anchor::Middle);
    }
}

fn share(value: f64, highest: f64) -> f64 {
    if highest > 0.0 { value / highest } else { 0.0 }
}

/// The colours from 0 to the highest value.
fn draw_scale(sheet: &mut Sheet, cells: Frame, highest: f64, panel: &GridPanel) {
    const N_STEPS: usize = 64;
    let (left, right) = (cells.right + 16.0, cells.right + 32.0);
    // Each step reaches to the bottom, where the next ones cover it: steps side by side would have seams.
    for step in (0..N_STEPS).rev() {
        let (low, high) = (step as f64 / N_STEPS as f64, (step + 1) as f64 / N_STEPS as f64);
        sheet.filled((left, cells.y(high)), (right, cells.bottom), value_ink(f64::midpoint(low, high)));
    }
    for share in [0.0, 0.5, 1.0] {
        let y = cells.y(share).clamp(cells.top + 6.0, cells.bottom - 6.0);
        let text = if share == 0.0 { "0".to_owned() } else { value_text(panel.unit, highest * share) };
        sheet.text(&text, (right + 6.0, y), TEXT_SIZE, TEXT, Anchor::Start);
    }
}
