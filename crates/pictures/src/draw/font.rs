//! The font of pictures: `DejaVu Sans`, of which a subset is a part of the program, so that no font has to be installed.
//!
//! Must not know: what is written. Start reading at [`text_width`]. Its licence: `assets/dejavu-sans.LICENSE`.

use plotters::style::{FontStyle, IntoFont, register_font};
use std::sync::Once;

/// Fonts in the order in which a viewer of SVG files takes them. Widths are measured with the first, a wide one.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, Arial, sans-serif";
/// plotters takes the height of a line for the size of a font; for SVG files it divides by this.
pub(super) const SVG_LINE: f64 = 1.24;
/// The height of a line of the font, for pixels and widths: ascent and descent, 2,384 of 2,048 units.
pub(super) const FONT_LINE: f64 = 2384.0 / 2048.0;

const FONT: &[u8] = include_bytes!("../../assets/dejavu-sans.ttf");

/// Makes the font known to plotters.
pub(super) fn register() {
    static DONE: Once = Once::new();
    // A font that cannot be read would be an error of each text that is drawn.
    DONE.call_once(|| drop(register_font(FAMILY, FontStyle::Normal, FONT)));
}

/// Width of a text, pixels.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    /// Widths are whole pixels: those of a large font are more exact.
    const MEASURED_SIZE: f64 = 200.0;
    register();
    let measured = (FAMILY, MEASURED_SIZE * FONT_LINE).into_font().box_size(text);
    // Without the font: a guess.
    let width =
        measured.map_or_else(|_| text.chars().count() as f64 * MEASURED_SIZE * 0.6, |(width, _)| f64::from(width));
    width * size / MEASURED_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_grow_with_the_size_and_the_text() {
        let (one, two) = (text_width("0000", 10.0), text_width("0000", 20.0));
        assert!((two - 2.0 * one).abs() < 0.1, "{one} {two}");
        // A digit of DejaVu Sans is 1,303 of 2,048 units wide.
        assert!((one - 4.0 * 10.0 * 1303.0 / 2048.0).abs() < 0.5, "{one}");
    }
}
