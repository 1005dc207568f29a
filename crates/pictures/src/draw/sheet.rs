//! A sheet: shapes at places, and frames of places, without a form of file.
//!
//! Must not know: panels, files. Start reading at [`Sheet`]. Lengths are pixels of the finished picture, from the upper left corner.

use super::font::text_width;

/// A colour with its opacity, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ink {
    pub(super) rgb: (u8, u8, u8),
    pub(super) opacity: f64,
    /// What it is in CSS, where a page decides; empty: the colour.
    pub(super) on_pages: &'static str,
}

impl Ink {
    pub(super) const fn opaque(rgb: (u8, u8, u8)) -> Self {
        Self { rgb, opacity: 1.0, on_pages: "" }
    }

    pub(super) const fn on_pages(self, on_pages: &'static str) -> Self {
        Self { on_pages, ..self }
    }

    pub(super) const fn faded(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// The text's point that lies at its place, from left to right. Its height is always centred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A place: pixels from the left and from the top.
pub(super) type Place = (f64, f64);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SheetShape {
    /// A line through points.
    Path {
        points: Vec<Place>,
        ink: Ink,
        width: f64,
        /// Lengths of strokes and gaps, pixels; empty: a line without gaps.
        dashes: &'static [f64],
    },
    Area {
        points: Vec<Place>,
        ink: Ink,
    },
    /// A filled rectangle: two corners.
    Box {
        corners: [Place; 2],
        ink: Ink,
    },
    /// A filled circle.
    Disc {
        centre: Place,
        radius: f64,
        ink: Ink,
    },
    /// A circle that is not filled.
    Ring {
        centre: Place,
        radius: f64,
        ink: Ink,
        width: f64,
    },
    /// What a page says of a point below the pointer; a file does not show it.
    Words {
        centre: Place,
        text: String,
    },
    /// A text of one line.
    Text {
        text: String,
        place: Place,
        /// How far it is moved to the right, pixels: places may be percent.
        shift: f64,
        size: f64,
        ink: Ink,
        anchor: Anchor,
        is_upright: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sheet {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) title: String,
    pub(super) shapes: Vec<SheetShape>,
}

impl Sheet {
    /// One without a title and shapes.
    pub(super) const fn empty(width: u32, height: u32) -> Self {
        Self { width, height, title: String::new(), shapes: Vec::new() }
    }

    /// The sheet without its edges.
    pub(super) fn within(&self, margin: f64) -> Frame {
        let (right, bottom) = (f64::from(self.width) - margin, f64::from(self.height) - margin);
        Frame { left: margin, top: margin, right, bottom }
    }

    pub(super) fn path(&mut self, points: Vec<Place>, ink: Ink, width: f64) {
        self.dashed_path(points, ink, width, &[]);
    }

    pub(super) fn dashed_path(&mut self, points: Vec<Place>, ink: Ink, width: f64, dashes: &'static [f64]) {
        if points.len() > 1 {
            self.shapes.push(SheetShape::Path { points, ink, width, dashes });
        }
    }

    pub(super) fn area(&mut self, points: Vec<Place>, ink: Ink) {
        if points.len() > 2 {
            self.shapes.push(SheetShape::Area { points, ink });
        }
    }

    pub(super) fn filled(&mut self, corner: Place, opposite: Place, ink: Ink) {
        self.shapes.push(SheetShape::Box { corners: [corner, opposite], ink });
    }

    pub(super) fn disc(&mut self, centre: Place, radius: f64, ink: Ink) {
        self.shapes.push(SheetShape::Disc { centre, radius, ink });
    }

    pub(super) fn ring(&mut self, centre: Place, radius: f64, ink: Ink, width: f64) {
        self.shapes.push(SheetShape::Ring { centre, radius, ink, width });
    }

    pub(super) fn words(&mut self, centre: Place, text: &str) {
        self.shapes.push(SheetShape::Words { centre, text: printable(text) });
    }

    pub(super) fn text(&mut self, text: &str, place: Place, size: f64, ink: Ink, anchor: Anchor) {
        self.text_beside(text, (place, 0.0), size, ink, anchor);
    }

    /// A text that is moved to the right of its place by so many pixels.
    pub(super) fn text_beside(
        &mut self,
        text: &str,
        (place, shift): (Place, f64),
        size: f64,
        ink: Ink,
        anchor: Anchor,
    ) {
        let text = printable(text);
        self.shapes.push(SheetShape::Text { text, place, shift, size, ink, anchor, is_upright: false });
    }

    /// A text that is read from below, centred.
    pub(super) fn upright_text(&mut self, text: &str, place: Place, size: f64, ink: Ink) {
        let text = printable(text);
        self.shapes.push(SheetShape::Text {
            text,
            place,
            shift: 0.0,
            size,
            ink,
            anchor: Anchor::Middle,
            is_upright: true,
        });
    }
}

/// The text without characters that no SVG file may contain.
fn printable(text: &str) -> String {
    let is_allowed = |letter: char| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|letter| if is_allowed(letter) { letter } else { '\u{fffd}' }).collect()
}

/// The text, shortened in its middle if it is wider.
pub(super) fn fitted(text: &str, size: f64, most: f64) -> String {
    if text_width(text, size) <= most {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    // Names differ most often at their end.
    let cut = |n_kept: usize| {
        let n_first = n_kept / 2;
        let (first, last) = (&letters[..n_first], &letters[letters.len() - (n_kept - n_first)..]);
        first.iter().chain(['…'].iter()).chain(last).collect::<String>()
    };
    let most_letters = letters.len().saturating_sub(1).min(512);
    let fits = (1..=most_letters).rev().map(cut).find(|short| text_width(short, size) <= most);
    fits.unwrap_or_else(|| "…".to_owned())
}

/// The words of a text in lines that are at most this wide; a word that is wider has a line of its own.
pub(super) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, size, most)),
        }
    }
    lines
}

/// A rectangle, pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The place of a share of the width.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * self.width()
    }

    /// The place of a share of the height, from below.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * self.height()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends() {
        let name = format!("{}-iodepth-64.json", "result".repeat(50));
        let short = fitted(&name, 12.0, 200.0);
        assert!(text_width(&short, 12.0) <= 200.0, "{short}");
        assert!(short.starts_with("result") && short.ends_with("64.json") && short.contains('…'), "{short}");
        assert_eq!(fitted("short", 12.0, 200.0), "short");
        assert_eq!(fitted("short", 12.0, 0.0), "…");
    }

    #[test]
    fn lines_are_not_wider_than_allowed() {
        let text = "one two three four five six seven eight nine ten ".repeat(5);
        let lines = wrapped(&text, 12.0, 150.0);
        assert!(lines.len() > 5 && lines.iter().all(|line| text_width(line, 12.0) <= 150.0), "{lines:?}");
        assert_eq!(lines.join(" "), text.trim());
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(printable("a\u{0}\nb<"), "a\u{fffd}\u{fffd}b<");
    }
}
