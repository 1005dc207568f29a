//! Panels of bars in rows, and of points in rows.
//!
//! Bars begin at 0. On a logarithmic axis there is no 0, so values are points there.
//! Must not know: what the bars mean. Start reading at [`draw`].

use super::axis::DrawnAxis;
use super::font::text_width;
use super::lines::symbol;
use super::palette::{AXIS, GRID, QUIET, TEXT, ink};
use super::sheet::Frame;
use super::sheet::{Anchor, Sheet, fitted};
use super::units::value_text;
use super::{Heights, TEXT_SIZE};
use crate::panel::{BarPanel, FigureSpread};
use crate::scale::AxisScale;

/// Height of the axis below the rows, pixels.
const AXIS_HEIGHT: f64 = 42.0;
/// Height of the head above the column of values, pixels.
const HEAD: f64 = 18.0;
/// Widest name of a class, pixels.
const MOST_NAME: f64 = 320.0;

pub(super) fn heights(panel: &BarPanel) -> Heights {
    let (n_classes, n_groups) = (panel.classes.len() as f64, panel.groups.len().max(1) as f64);
    let rows = |bar: f64, gap: f64| HEAD + AXIS_HEIGHT + n_classes * (n_groups * bar + gap);
    Heights { least: rows(13.0, 2.0), natural: rows(17.0, 8.0) }
}

pub(super) fn draw(sheet: &mut Sheet, frame: Frame, panel: &BarPanel) {
    let spreads = || panel.groups.iter().flat_map(|group| group.values.iter().flatten());
    let values = spreads().flat_map(|spread| {
        let ends = [spread.deviation, spread.range].into_iter().flatten().flat_map(|(low, high)| [low, high]);
        std::iter::once(spread.mean).chain(ends)
    });
    let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
    let name_width = widest(&mut panel.classes.iter().map(|name| text_width(name, TEXT_SIZE))).min(MOST_NAME);
    let figures = &mut spreads().map(|spread| text_width(&value_text(panel.value.unit, spread.mean), TEXT_SIZE));
    let value_width = widest(figures).max(text_width(panel.head, TEXT_SIZE));
    let plot = Frame {
        left: frame.left + name_width + 10.0,
        top: frame.top + HEAD,
        right: frame.right - value_width - 14.0,
        bottom: frame.bottom - AXIS_HEIGHT,
    };
    let axis = DrawnAxis::of(&panel.value, values, (plot.width() / 90.0).clamp(2.0, 10.0) as usize);
    draw_axis(sheet, plot, &axis);
    sheet.text(panel.head, (frame.right, frame.top + HEAD / 2.0 - 1.0), TEXT_SIZE, QUIET, Anchor::End);
    let row_height = plot.height() / panel.classes.len().max(1) as f64;
    let gap = (row_height * 0.25).min(8.0);
    let bar_height = (row_height - gap) / panel.groups.len().max(1) as f64;
    for (index, class) in panel.classes.iter().enumerate() {
        let top = plot.top + row_height * index as f64 + gap / 2.0;
        let middle = plot.top + row_height * (index as f64 + 0.5);
        let name = fitted(class, TEXT_SIZE, MOST_NAME);
        sheet.text(&name, (plot.left - 8.0, middle), TEXT_SIZE, TEXT, Anchor::End);
        for (number, group) in panel.groups.iter().enumerate() {
            let Some(spread) = group.values.get(index).copied().flatten() else { continue };
            let y = top + bar_height * (number as f64 + 0.5);
            draw_value(sheet, plot, &axis, panel.value.scale, (y, bar_height), (&spread, group.look));
            let text = value_text(panel.value.unit, spread.mean);
            sheet.text(&text, (frame.right, y), TEXT_SIZE, TEXT, Anchor::End);
        }
    }
}

fn draw_axis(sheet: &mut Sheet, plot: Frame, axis: &DrawnAxis) {
    let mut free_from = f64::NEG_INFINITY;
    for (value, text) in &axis.ticks {
        let x = plot.x(axis.share(*value));
        sheet.path(vec![(x, plot.top), (x, plot.bottom)], GRID, 1.0);
        let half = text_width(text, TEXT_SIZE) / 2.0;
        if x - half > free_from {
            sheet.text(text, (x, plot.bottom + 13.0), TEXT_SIZE, TEXT, Anchor::Middle);
            free_from = x + half + 6.0;
        }
    }
    sheet.path(vec![(plot.left, plot.top), (plot.left, plot.bottom)], AXIS, 1.0);
    let title = fitted(&axis.title, TEXT_SIZE, plot.width());
    sheet.text(&title, (plot.x(0.5), plot.bottom + 31.0), TEXT_SIZE, QUIET, Anchor::Middle);
}

/// A bar or a point, with its spread: a thick stroke is a deviation to each side, a thin one with ends the range.
fn draw_value(
    sheet: &mut Sheet,
    plot: Frame,
    axis: &DrawnAxis,
    scale: AxisScale,
    (y, height): (f64, f64),
    (spread, look): (&FigureSpread, usize),
) {
    let x = |value: f64| plot.x(axis.share(value));
    let is_point = scale == AxisScale::Log;
    let colour = if is_point { ink(look) } else { TEXT };
    if !is_point {
        let half = height * 0.43;
        sheet.filled((plot.left, y - half), (x(spread.mean), y + half), ink(look).faded(0.75));
    }
    if let Some((low, high)) = spread.range {
        let end = (height * 0.25).min(5.0);
        sheet.path(vec![(x(low), y), (x(high), y)], colour, 1.25);
        for value in [low, high] {
            sheet.path(vec![(x(value), y - end), (x(value), y + end)], colour, 1.25);
        }
    }
    if let Some((low, high)) = spread.deviation {
        sheet.path(vec![(x(low), y), (x(high), y)], colour, 3.5);
    }
    if is_point {
        symbol(sheet, (x(spread.mean), y), look, 5.0);
    }
}
