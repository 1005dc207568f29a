//! Colours, dashes and markers that can be told apart, also by the colour-blind and on paper without colours.
//!
//! Must not know: what is drawn. Start reading at [`ink`]. Colours of lines: Okabe and Ito; of values: viridis.

use super::sheet::{Ink, Place};
use ferrio_insight::compare::ComparisonVerdict;
use ferrio_insight::limits::FitVerdict;

pub(super) const TEXT: Ink = Ink::opaque((0x22, 0x22, 0x22)).on_pages("var(--text)");
pub(super) const QUIET: Ink = Ink::opaque((0x55, 0x55, 0x55)).on_pages("var(--faint)");
/// Lines of the grid.
pub(super) const GRID: Ink = Ink::opaque((0xdd, 0xdd, 0xdd)).on_pages("var(--line)");
pub(super) const AXIS: Ink = Ink::opaque((0x88, 0x88, 0x88)).on_pages("var(--faint)");
/// What a picture lies on.
pub(super) const GROUND: Ink = Ink::opaque((0xff, 0xff, 0xff)).on_pages("var(--panel)");
/// The side beyond a limit, which is hatched on pages.
pub(super) const BEYOND: Ink = Ink::opaque((0xdd, 0xdd, 0xdd)).on_pages("url(#beyond)");
/// A cell without a value.
pub(super) const EMPTY: Ink = Ink::opaque((0xee, 0xee, 0xee)).on_pages("var(--line)");

/// The colours of Okabe and Ito without yellow, which is too pale for lines. Pages have others on a dark ground.
const COLOURS: [Ink; 7] = [
    Ink::opaque((0x00, 0x72, 0xb2)).on_pages("var(--c0)"),
    Ink::opaque((0xd5, 0x5e, 0x00)).on_pages("var(--c1)"),
    Ink::opaque((0x00, 0x9e, 0x73)).on_pages("var(--c2)"),
    Ink::opaque((0xcc, 0x79, 0xa7)).on_pages("var(--c3)"),
    Ink::opaque((0xe6, 0x9f, 0x00)).on_pages("var(--c4)"),
    Ink::opaque((0x56, 0xb4, 0xe9)).on_pages("var(--c5)"),
    Ink::opaque((0x00, 0x00, 0x00)).on_pages("var(--c6)"),
];

/// Lengths of strokes and gaps, pixels; empty: a line without gaps.
const DASHES: [&[f64]; 4] = [&[], &[9.0, 4.0], &[2.5, 3.0], &[10.0, 3.5, 2.5, 3.5]];

/// Points of viridis at equal distances.
const VIRIDIS: [(u8, u8, u8); 9] = [
    (0x44, 0x01, 0x54),
    (0x47, 0x2d, 0x7b),
    (0x3b, 0x52, 0x8b),
    (0x2c, 0x72, 0x8e),
    (0x21, 0x91, 0x8c),
    (0x28, 0xae, 0x80),
    (0x5e, 0xc9, 0x62),
    (0xad, 0xdc, 0x30),
    (0xfd, 0xe7, 0x25),
];

pub(super) fn ink(look: usize) -> Ink {
    COLOURS[look % COLOURS.len()]
}

/// The colour of a change, which only pages show.
pub(super) fn change_ink(verdict: ComparisonVerdict) -> Ink {
    match verdict {
        ComparisonVerdict::Faster => Ink::opaque((0x1a, 0x7f, 0x37)).on_pages("var(--better)"),
        ComparisonVerdict::Slower => Ink::opaque((0xb3, 0x26, 0x1e)).on_pages("var(--worse)"),
        ComparisonVerdict::Differs => Ink::opaque((0x0a, 0x53, 0xbe)).on_pages("var(--note)"),
        ComparisonVerdict::Same | ComparisonVerdict::Unknown => QUIET,
    }
}

/// The colour of a verdict, which only pages show.
pub(super) fn verdict_ink(verdict: FitVerdict) -> Ink {
    match verdict {
        FitVerdict::Fits => Ink::opaque((0x1a, 0x7f, 0x37)).on_pages("var(--fits)"),
        FitVerdict::CantTell => Ink::opaque((0x8a, 0x53, 0x00)).on_pages("var(--cant-tell)"),
        FitVerdict::DoesNotFit => Ink::opaque((0xb3, 0x26, 0x1e)).on_pages("var(--does-not-fit)"),
    }
}

pub(super) fn dashes(look: usize) -> &'static [f64] {
    DASHES[look % DASHES.len()]
}

/// The colour of a share, 0 to 1, of the highest value.
pub(super) fn value_ink(share: f64) -> Ink {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let index = (place as usize).min(VIRIDIS.len() - 2);
    let (low, high, part) = (VIRIDIS[index], VIRIDIS[index + 1], place - index as f64);
    let mix = |low: u8, high: u8| (f64::from(low) + part * (f64::from(high) - f64::from(low))).round() as u8;
    Ink::opaque((mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2)))
}

/// The colour in which text can be read on another, also on a dark page.
pub(super) fn text_on(background: Ink) -> Ink {
    if !background.on_pages.is_empty() {
        return TEXT;
    }
    let (red, green, blue) = background.rgb;
    let brightness = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    Ink::opaque(if brightness > 128.0 { TEXT.rgb } else { GROUND.rgb })
}

/// Corners of the marker of a look, around a place; empty: a disc.
pub(super) fn marker(look: usize, (x, y): Place, radius: f64) -> Vec<Place> {
    let at = |offsets: &[Place]| offsets.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect();
    match look % 5 {
        0 => Vec::new(),
        1 => at(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => at(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => at(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        _ => at(&[(-1.1, -0.8), (1.1, -0.8), (0.0, 1.2)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_28_looks_differ() {
        let looks: Vec<_> = (0..28)
            .map(|look| (ink(look).rgb, dashes(look).len(), dashes(look).first().map(|length| *length as u8)))
            .collect();
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks[..index].contains(look), "{index}");
        }
    }

    #[test]
    fn the_ends_of_the_scale_are_its_ends() {
        assert_eq!((value_ink(-1.0).rgb, value_ink(2.0).rgb), ((0x44, 0x01, 0x54), (0xfd, 0xe7, 0x25)));
        assert_eq!(
            (text_on(value_ink(0.0)), text_on(value_ink(1.0))),
            (Ink::opaque(GROUND.rgb), Ink::opaque(TEXT.rgb))
        );
        assert!(value_ink(f64::NAN).opacity > 0.99);
    }
}
