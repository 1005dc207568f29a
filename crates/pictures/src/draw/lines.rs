//! Panels of lines.
//!
//! Must not know: what the lines mean. Start reading at [`draw`].

use super::TEXT_SIZE;
use super::axis::DrawnAxis;
use super::font::text_width;
use super::palette::{AXIS, GRID, GROUND, QUIET, TEXT, dashes, ink, marker};
use super::sheet::Frame;
use super::sheet::{Anchor, Ink, Place, Sheet, fitted};
use crate::chart::{ChartLine, LineWeight, PointMark};
use crate::panel::LinePanel;
use crate::scale::extremes;

pub(super) const BAND_OPACITY: f64 = 0.18;
/// Opacity of the upper edge of a band.
const EDGE_OPACITY: f64 = 0.55;
/// Markers on a line, so that lines of like colours can be told apart.
const N_MARKERS: usize = 8;
/// Size of the markers on lines, pixels.
pub(super) const RADIUS: f64 = 3.5;
/// Space between the words of an axis, pixels.
const BETWEEN_WORDS: f64 = 6.0;
/// Radius of the ring of a knee, pixels.
const RING: f64 = 8.0;
/// A line with few points has a marker on each.
const FEW_POINTS: usize = 40;

fn vertical(panel: &LinePanel, height: f64) -> DrawnAxis {
    let values = panel.lines.iter().flat_map(needed);
    DrawnAxis::of(&panel.y, values, ((height - 50.0) / 40.0).clamp(2.0, 10.0) as usize)
}

/// The values of a line that its axis needs. A whisker may reach beyond the picture: one of a few runs that differ much would press all else together.
fn needed(line: &ChartLine) -> Vec<f64> {
    let ends = line.low.iter().chain(&line.high).copied();
    if line.has_whiskers {
        let known = line.y.iter().zip(&line.high).filter(|(_, high)| !high.is_nan());
        let reach = known.map(|(y, high)| high.min(2.0 * y));
        line.y.iter().copied().chain(reach).collect()
    } else {
        line.y.iter().copied().chain(ends).collect()
    }
}

/// Width of the title and the words left of the data, pixels.
fn gutter(panel: &LinePanel, height: f64) -> f64 {
    let axis = vertical(panel, height);
    22.0 + axis.ticks.iter().map(|(_, text)| text_width(text, TEXT_SIZE)).fold(0.0, f64::max) + 8.0
}

/// What the panels of a picture share, so that equal times lie below each other.
pub(super) struct SharedAxis {
    /// Width of the gutter, pixels.
    pub(super) gutter: f64,
    /// The first and the last value of the horizontal axis.
    pub(super) ends: Option<(f64, f64)>,
}

impl SharedAxis {
    pub(super) fn add(&mut self, panel: &LinePanel, height: f64) {
        self.gutter = self.gutter.max(gutter(panel, height));
        let own = extremes(panel.lines.iter().flat_map(|line| &line.x).copied());
        self.ends = extremes([self.ends, own].into_iter().flatten().flat_map(|(first, last)| [first, last]));
    }
}

pub(super) fn draw(sheet: &mut Sheet, frame: Frame, panel: &LinePanel, shared: &SharedAxis) {
    let y_axis = vertical(panel, frame.height());
    let plot = Frame {
        left: frame.left + shared.gutter,
        top: frame.top + 6.0,
        right: frame.right - 14.0,
        bottom: frame.bottom - 42.0,
    };
    let times = shared.ends.into_iter().flat_map(|(first, last)| [first, last]);
    let x_axis = DrawnAxis::of(&panel.x, times, (plot.width() / 90.0).clamp(2.0, 14.0) as usize);
    axes(sheet, frame, plot, &x_axis, &y_axis);
    let place = |(x, y): (f64, f64)| (plot.x(x_axis.share(x)), plot.y(y_axis.share(y)));
    for line in &panel.lines {
        if line.has_whiskers { whiskers(sheet, line, &place) } else { band(sheet, line, &place) }
    }
    for line in &panel.lines {
        let points: Vec<Place> = line.points().map(place).collect();
        for piece in line.pieces() {
            let points = points[piece].to_vec();
            let points = if line.is_stepped { stepped(&points, plot.bottom) } else { points };
            match points[..] {
                // Between two gaps.
                [alone] => sheet.disc(alone, width_of(line.weight), ink(line.colour)),
                _ => stroke(sheet, &points, line.colour, line.weight),
            }
        }
        markers(sheet, line, &points);
    }
    for line in &panel.lines {
        for (mark, point) in line.marks.iter().zip(line.points()) {
            draw_mark(sheet, mark, place(point), (line.colour, plot.top));
        }
    }
}

/// A mark of a line with such a look in a picture whose upper edge is there.
fn draw_mark(sheet: &mut Sheet, mark: &PointMark, (x, y): Place, (look, top): (usize, f64)) {
    if mark.is_doubtful {
        symbol(sheet, (x, y), look, RADIUS + 1.0);
        symbol_of(sheet, (x, y), look, RADIUS - 1.0, GROUND);
    }
    if mark.is_knee {
        sheet.ring((x, y), RING, TEXT, 2.0);
        let is_below = y < top + 2.0 * RING;
        let word_y = if is_below { y + 2.0 * RING } else { y - 2.0 * RING };
        sheet.text("knee", (x, word_y), TEXT_SIZE, TEXT, Anchor::Middle);
    }
    sheet.words((x, y), &mark.words);
}

/// The interval of each point that has one.
fn whiskers(sheet: &mut Sheet, line: &ChartLine, place: &dyn Fn((f64, f64)) -> Place) {
    for (x, (low, high)) in line.x.iter().zip(line.band()).filter(|(_, (low, high))| !low.is_nan() && !high.is_nan()) {
        sheet.path(vec![place((*x, low)), place((*x, high))], ink(line.colour), 1.5);
    }
}

/// Axes with their ticks, the grid and the titles.
fn axes(sheet: &mut Sheet, frame: Frame, plot: Frame, x_axis: &DrawnAxis, y_axis: &DrawnAxis) {
    for (value, text) in &y_axis.ticks {
        let y = plot.y(y_axis.share(*value));
        sheet.path(vec![(plot.left, y), (plot.right, y)], GRID, 1.0);
        sheet.text(text, (plot.left - 8.0, y), TEXT_SIZE, TEXT, Anchor::End);
    }
    let texts: Vec<(f64, String)> =
        x_axis.ticks.iter().map(|(value, text)| (*value, fitted(text, TEXT_SIZE, plot.width() / 2.0))).collect();
    let widest = texts.iter().map(|(_, text)| text_width(text, TEXT_SIZE)).fold(0.0, f64::max);
    let n_with_room = (plot.width() / (widest + BETWEEN_WORDS)).max(1.0) as usize;
    let every = if x_axis.has_names { texts.len().div_ceil(n_with_room).max(1) } else { 1 };
    let mut free_from = f64::NEG_INFINITY;
    for (index, (value, text)) in texts.iter().enumerate() {
        let x = plot.x(x_axis.share(*value));
        sheet.path(vec![(x, plot.top), (x, plot.bottom)], GRID, 1.0);
        let half = text_width(text, TEXT_SIZE) / 2.0;
        // At the right end, a word may not reach beyond the sheet.
        let centre = x.min(frame.right - half);
        if index % every == 0 && centre - half > free_from {
            sheet.text(text, (centre, plot.bottom + 13.0), TEXT_SIZE, TEXT, Anchor::Middle);
            free_from = centre + half + BETWEEN_WORDS;
        }
    }
    sheet.path(vec![(plot.left, plot.top), (plot.left, plot.bottom), (plot.right, plot.bottom)], AXIS, 1.0);
    let x_title = fitted(&x_axis.title, TEXT_SIZE, plot.width());
    let y_title = fitted(&y_axis.title, TEXT_SIZE, frame.height());
    sheet.text(&x_title, (plot.x(0.5), plot.bottom + 32.0), TEXT_SIZE, QUIET, Anchor::Middle);
    // The title is centred beside the plot where it is shorter than it.
    let half = text_width(&y_title, TEXT_SIZE) / 2.0;
    let middle = plot.y(0.5).clamp(frame.top + half, (frame.bottom - half).max(frame.top + half));
    sheet.upright_text(&y_title, (frame.left + 8.0, middle), TEXT_SIZE, QUIET);
}

fn band(sheet: &mut Sheet, line: &ChartLine, place: &dyn Fn((f64, f64)) -> Place) {
    if line.low.is_empty() {
        return;
    }
    let edge = |values: &[f64]| line.x.iter().zip(values).map(|(x, value)| place((*x, *value))).collect::<Vec<_>>();
    let (lower, upper) = (edge(&line.low), edge(&line.high));
    for piece in line.pieces() {
        let above = upper[piece.clone()].to_vec();
        let below = lower[piece].iter().rev().copied();
        sheet.area(above.iter().copied().chain(below).collect(), ink(line.colour).faded(BAND_OPACITY));
        // A single high value is a line of a pixel, which the pale band alone would hide.
        sheet.path(above, ink(line.colour).faded(EDGE_OPACITY), 0.75);
    }
}

/// Corners of a staircase that begins and ends on the ground.
fn stepped(points: &[Place], ground: f64) -> Vec<Place> {
    let mut corners = Vec::with_capacity(points.len() * 2 + 1);
    corners.extend(points.first().map(|(x, _)| (*x, ground)));
    let mut height = ground;
    for (x, y) in points {
        corners.push((*x, height));
        corners.push((*x, *y));
        height = *y;
    }
    corners
}

/// Width of a line, pixels.
fn width_of(weight: LineWeight) -> f64 {
    match weight {
        LineWeight::Faint => 1.0,
        LineWeight::Normal => 1.75,
        LineWeight::Bold => 3.0,
    }
}

pub(super) fn stroke(sheet: &mut Sheet, points: &[Place], look: usize, weight: LineWeight) {
    let width = width_of(weight);
    match weight {
        LineWeight::Faint => sheet.path(points.to_vec(), ink(look).faded(0.35), width),
        LineWeight::Normal => sheet.dashed_path(points.to_vec(), ink(look), width, dashes(look)),
        LineWeight::Bold => sheet.path(points.to_vec(), ink(look), width),
    }
}

pub(super) fn has_markers(line: &ChartLine) -> bool {
    line.weight == LineWeight::Normal && !line.is_stepped
}

/// Markers: on each of few points, and on some of many.
fn markers(sheet: &mut Sheet, line: &ChartLine, points: &[Place]) {
    if !has_markers(line) || points.is_empty() {
        return;
    }
    let step = if points.len() <= FEW_POINTS { 1 } else { points.len() / N_MARKERS };
    // Lines have their markers at different points, so that one does not hide another.
    let first = if step == 1 { 0 } else { (line.colour * step / 5) % step };
    for place in points.iter().skip(first).step_by(step) {
        symbol(sheet, *place, line.colour, RADIUS);
    }
}

pub(super) fn symbol(sheet: &mut Sheet, place: Place, look: usize, radius: f64) {
    symbol_of(sheet, place, look, radius, ink(look));
}

fn symbol_of(sheet: &mut Sheet, place: Place, look: usize, radius: f64, ink: Ink) {
    let corners = marker(look, place, radius);
    if corners.is_empty() { sheet.disc(place, radius, ink) } else { sheet.area(corners, ink) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stairs_begin_and_rise_at_their_points() {
        let corners = stepped(&[(0.0, 5.0), (1.0, 9.0)], 10.0);
        assert_eq!(corners, [(0.0, 10.0), (0.0, 10.0), (0.0, 5.0), (1.0, 5.0), (1.0, 9.0)]);
    }
}
