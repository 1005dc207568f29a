//! Sheets as SVG and PNG files: one drawing for both.
//!
//! Must not know: panels. Start reading at [`svg`] and [`png()`].

use super::font::{FAMILY, FONT_LINE, SVG_LINE, register};
use super::palette::GROUND;
use super::sheet::{Anchor, Ink, Place, Sheet, SheetShape};
use crate::plot::PlotError;
use plotters::prelude::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontTransform, IntoFont, RGBAColor, ShapeStyle, TextStyle};

/// plotters places shapes at whole numbers: those of an SVG file are parts of a pixel.
const SVG_SCALE: u32 = 8;
/// Pixels of a PNG file are means of so many in each direction, so that edges are smooth.
const PNG_SCALE: u32 = 2;
const BYTES_PER_PIXEL: usize = 3;

pub(super) fn svg(sheet: &Sheet) -> Result<String, PlotError> {
    let (width, height) = (sheet.width, sheet.height);
    let mut text = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut text, (width * SVG_SCALE, height * SVG_SCALE));
        draw(&mut backend, sheet, SVG_SCALE, SVG_LINE)?;
    }
    // The head of plotters has the size of the coordinates; lines would have spikes at their corners.
    let start = text.find("<svg").unwrap_or_default();
    let end = text[start..].find('>').map_or(start, |end| start + end + 1);
    let (scaled_width, scaled_height) = (width * SVG_SCALE, height * SVG_SCALE);
    let head = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {scaled_width} {scaled_height}\" stroke-linejoin=\"round\" \
         role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>",
        escaped(&sheet.title)
    );
    text.replace_range(..end, &head);
    Ok(text)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

pub(super) fn png(sheet: &Sheet) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (sheet.width * PNG_SCALE, sheet.height * PNG_SCALE);
    let mut fine = vec![u8::MAX; width as usize * height as usize * BYTES_PER_PIXEL];
    draw(&mut BitMapBackend::with_buffer(&mut fine, (width, height)), sheet, PNG_SCALE, FONT_LINE)?;
    let pixels = averaged(&fine, sheet.width as usize, sheet.height as usize);
    drop(fine);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, sheet.width, sheet.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Squares of pixels as one each.
fn averaged(fine: &[u8], width: usize, height: usize) -> Vec<u8> {
    let scale = PNG_SCALE as usize;
    let fine_row_bytes = width * scale * BYTES_PER_PIXEL;
    let mut pixels = Vec::with_capacity(width * height * BYTES_PER_PIXEL);
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for channel in 0..BYTES_PER_PIXEL {
            let at = |dy: usize, dx: usize| {
                fine[(y * scale + dy) * fine_row_bytes + (x * scale + dx) * BYTES_PER_PIXEL + channel]
            };
            let sum: usize = (0..scale * scale).map(|index| usize::from(at(index / scale, index % scale))).sum();
            pixels.push((sum / (scale * scale)) as u8);
        }
    }
    pixels
}

/// Draws the shapes, with lengths times `scale`. `line` is the size of a font for plotters, of one pixel of its own size.
fn draw<B: DrawingBackend>(backend: &mut B, sheet: &Sheet, scale: u32, line: f64) -> Result<(), PlotError> {
    register();
    backend.ensure_prepared().map_err(failed)?;
    let corner = ((sheet.width * scale) as i32, (sheet.height * scale) as i32);
    backend.draw_rect((0, 0), corner, &style(GROUND, 1.0), true).map_err(failed)?;
    let factor = f64::from(scale);
    // Places outside of any sheet would be drawn pixel by pixel.
    let whole = |length: f64| (length * factor).round().clamp(-1e6, 1e6) as i32;
    let at = |(x, y): (f64, f64)| (whole(x), whole(y));
    for shape in &sheet.shapes {
        let drawn = match shape {
            SheetShape::Path { points, ink, width, dashes } => {
                let style = style(*ink, width * factor);
                let draw = |piece: Vec<Place>| backend.draw_path(piece.into_iter().map(at), &style);
                dashed(points, dashes).into_iter().try_for_each(draw)
            }
            SheetShape::Area { points, ink } => {
                backend.fill_polygon(points.iter().map(|place| at(*place)), &style(*ink, 1.0))
            }
            SheetShape::Box { corners: [one, other], ink } => {
                backend.draw_rect(at(*one), at(*other), &style(*ink, 1.0), true)
            }
            SheetShape::Disc { centre, radius, ink } => {
                backend.draw_circle(at(*centre), (radius * factor).round() as u32, &style(*ink, 1.0), true)
            }
            SheetShape::Ring { centre, radius, ink, width } => {
                backend.draw_circle(at(*centre), (radius * factor).round() as u32, &style(*ink, width * factor), false)
            }
            SheetShape::Words { .. } => Ok(()),
            SheetShape::Text { text, place, shift, size, ink, anchor, is_upright } => {
                let place = (place.0 + shift, place.1);
                // plotters centres the pixels of a line with its room for accents, and letters would be too high.
                let down = if line < SVG_LINE { 0.1 * size } else { 0.0 };
                let place = if *is_upright { (place.0 + down, place.1) } else { (place.0, place.1 + down) };
                let turn = if *is_upright { FontTransform::Rotate270 } else { FontTransform::None };
                let font = (FAMILY, size * line * factor).into_font().transform(turn);
                let colour = colour(*ink);
                let text_style = TextStyle::from(font).color(&colour).pos(Pos::new(horizontal(*anchor), VPos::Center));
                backend.draw_text(text, &text_style, at(place))
            }
        };
        drawn.map_err(failed)?;
    }
    backend.present().map_err(failed)
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

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Drawing(error.to_string())
}

fn horizontal(anchor: Anchor) -> HPos {
    match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    }
}

fn colour(ink: Ink) -> RGBAColor {
    let (red, green, blue) = ink.rgb;
    RGBAColor(red, green, blue, ink.opacity)
}

fn style(ink: Ink, width: f64) -> ShapeStyle {
    ShapeStyle { color: colour(ink).to_rgba(), filled: true, stroke_width: (width.round() as u32).max(1) }
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
}
