//! Panels of lines.
//!
//! Must not know: what the lines mean. Start reading at [`draw`].

use super::TEXT_SIZE;
use super::axis::DrawnAxis;
use super::font::text_width;
use super::palette::{AXIS, GRID, QUIET, TEXT, dashes, ink, marker};
use super::sheet::Frame;
use super::sheet::{Anchor, Place, Sheet, fitted};
use crate::chart::{ChartLine, LineWeight};
use crate::plot::panel::LinePanel;
use crate::scale::extremes;

pub(super) const BAND_OPACITY: f64 = 0.18;
/// Opacity of the upper edge of a band.
const EDGE_OPACITY: f64 = 0.55;
/// Markers on a line, so that lines of like colours can be told apart.
const N_MARKERS: usize = 8;
/// Size of the markers on lines, pixels.
pub(super) const RADIUS: f64 = 3.5;
/// A line with few points has a marker on each.
const FEW_POINTS: usize = 40;

fn vertical(panel: &LinePanel, height: f64) -> DrawnAxis {
    let values = panel.lines.iter().flat_map(|line| line.y.iter().chain(&line.low).chain(&line.high).copied());
    DrawnAxis::of(&panel.y, values, ((height - 50.0) / 40.0).clamp(2.0, 10.0) as usize)
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
        band(sheet, line, &place);
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
}

/// Axes with their ticks, the grid and the titles.
fn axes(sheet: &mut Sheet, frame: Frame, plot: Frame, x_axis: &DrawnAxis, y_axis: &DrawnAxis) {
    for (value, text) in &y_axis.ticks {
        let y = plot.y(y_axis.share(*value));
        sheet.path(vec![(plot.left, y), (plot.right, y)], GRID, 1.0);
        sheet.text(text, (plot.left - 8.0, y), TEXT_SIZE, TEXT, Anchor::End);
    }
    let mut free_from = f64::NEG_INFINITY;
    for (value, text) in &x_axis.ticks {
        let x = plot.x(x_axis.share(*value));
        sheet.path(vec![(x, plot.top), (x, plot.bottom)], GRID, 1.0);
        let half = text_width(text, TEXT_SIZE) / 2.0;
        // At the right end, a word may not reach beyond the sheet.
        let centre = x.min(frame.right - half);
        if centre - half > free_from {
            sheet.text(text, (centre, plot.bottom + 13.0), TEXT_SIZE, TEXT, Anchor::Middle);
            free_from = centre + half + 6.0;
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
        LineWeight::Normal => {
            for piece in dashed(points, dashes(look)) {
                sheet.path(piece, ink(look), width);
            }
        }
        LineWeight::Bold => sheet.path(points.to_vec(), ink(look), width),
    }
}

/// The pieces of a line that are drawn.
fn dashed(points: &[Place], lengths: &[f64]) -> Vec<Vec<Place>> {
    let (Some(first), false) = (points.first(), lengths.is_empty()) else { return vec![points.to_vec()] };
    let mut pieces = Vec::new();
    let mut piece = vec![*first];
    let (mut index, mut left) = (0, lengths[0]);
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = (x1 - x0).hypot(y1 - y0);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let corner = (x0 + (x1 - x0) * done / length, y0 + (y1 - y0) * done / length);
            piece.push(corner);
            // Strokes have even numbers.
            if index % 2 == 0 {
                pieces.push(std::mem::take(&mut piece));
            }
            piece = vec![corner];
            index = (index + 1) % lengths.len();
            left = lengths[index];
        }
        left -= length - done;
        piece.push((x1, y1));
    }
    if index % 2 == 0 {
        pieces.push(piece);
    }
    pieces
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
    let corners = marker(look, place, radius);
    if corners.is_empty() { sheet.disc(place, radius, ink(look)) } else { sheet.area(corners, ink(look)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(piece: &[Place]) -> f64 {
        piece.windows(2).map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1)).sum()
    }

    #[test]
    fn dashes_have_their_lengths_across_corners() {
        let points = [(0.0, 0.0), (7.0, 0.0), (7.0, 93.0)];
        let pieces = dashed(&points, &[9.0, 4.0]);
        assert_eq!(pieces.len(), 8);
        assert!(pieces[..7].iter().all(|piece| (length(piece) - 9.0).abs() < 1e-9), "{pieces:?}");
        assert_eq!(pieces[0], [(0.0, 0.0), (7.0, 0.0), (7.0, 2.0)]);
        assert_eq!(dashed(&points, &[]), [points.to_vec()]);
    }

    #[test]
    fn stairs_begin_and_rise_at_their_points() {
        let corners = stepped(&[(0.0, 5.0), (1.0, 9.0)], 10.0);
        assert_eq!(corners, [(0.0, 10.0), (0.0, 10.0), (0.0, 5.0), (1.0, 5.0), (1.0, 9.0)]);
    }
}
