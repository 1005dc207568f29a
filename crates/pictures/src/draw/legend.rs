//! Legends: below a panel, never over its data.
//!
//! Must not know: axes. Start reading at [`Legend::of`].

use super::font::text_width;
use super::lines::{BAND_OPACITY, RADIUS, has_markers, stroke, symbol};
use super::palette::{TEXT, ink};
use super::sheet::{Anchor, Place, Sheet, fitted};
use super::{LINE, TEXT_SIZE};
use crate::chart::{ChartLine, LineWeight};
use crate::panel::PanelContent;

/// Width of a sample of a line, pixels.
const SAMPLE: f64 = 46.0;
/// Space between a sample and its name, and between entries.
const SPACE: f64 = 6.0;
/// Space between an entry and the next one.
const BETWEEN: f64 = 20.0;

/// A legend: names with their samples, placed in rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Legend {
    entries: Vec<LegendEntry>,
    n_rows: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct LegendEntry {
    name: String,
    sample: Sample,
    x: f64,
    row: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sample {
    Line { look: usize, weight: LineWeight, has_band: bool, has_markers: bool },
    Bar { look: usize },
}

impl Sample {
    fn of(line: &ChartLine) -> Self {
        Self::Line {
            look: line.colour,
            weight: line.weight,
            has_band: !line.low.is_empty() && !line.has_whiskers,
            has_markers: has_markers(line),
        }
    }

    /// Draws it at the right of a place.
    fn draw(self, sheet: &mut Sheet, (x, y): Place) {
        match self {
            Self::Line { look, weight, has_band, has_markers } => {
                if has_band {
                    sheet.filled((x, y - 6.0), (x + SAMPLE, y + 6.0), ink(look).faded(BAND_OPACITY));
                }
                stroke(sheet, &[(x, y), (x + SAMPLE, y)], look, weight);
                if has_markers {
                    symbol(sheet, (x + SAMPLE / 2.0, y), look, RADIUS);
                }
            }
            Self::Bar { look } => sheet.filled((x + SAMPLE - 16.0, y - 6.0), (x + SAMPLE, y + 6.0), ink(look)),
        }
    }
}

/// The sample of a line alone, for a page that has the name beside it.
pub(super) fn sample(line: &ChartLine) -> Sheet {
    let mut sheet = Sheet::empty(SAMPLE as u32, LINE as u32);
    Sample::of(line).draw(&mut sheet, (0.0, LINE / 2.0));
    sheet
}

impl Legend {
    /// The legend of a panel; `None`: there is nothing to tell apart.
    pub(super) fn of(content: &PanelContent, width: f64) -> Option<Self> {
        let named: Vec<(&str, Sample)> = match content {
            PanelContent::Lines(panel) => {
                let lines = panel.lines.iter().filter(|line| !line.name.is_empty());
                lines.map(|line| (line.name.as_str(), Sample::of(line))).collect()
            }
            PanelContent::Bars(panel) => {
                panel.groups.iter().map(|group| (group.name.as_str(), Sample::Bar { look: group.look })).collect()
            }
            PanelContent::Grid(_) => Vec::new(),
        };
        (!named.is_empty()).then(|| Self::placed(&named, width))
    }

    fn placed(named: &[(&str, Sample)], width: f64) -> Self {
        let (mut x, mut row) = (0.0, 0);
        let mut entries = Vec::with_capacity(named.len());
        for (name, sample) in named {
            let name = fitted(name, TEXT_SIZE, (width - SAMPLE - SPACE).min(420.0));
            let entry_width = SAMPLE + SPACE + text_width(&name, TEXT_SIZE);
            if x > 0.0 && x + entry_width > width {
                (x, row) = (0.0, row + 1);
            }
            entries.push(LegendEntry { name, sample: *sample, x, row });
            x += entry_width + BETWEEN;
        }
        Self { entries, n_rows: row + 1 }
    }

    /// Its height, pixels.
    pub(super) fn height(&self) -> f64 {
        self.n_rows as f64 * LINE + 8.0
    }

    /// Draws it with its upper left corner here.
    pub(super) fn draw(&self, sheet: &mut Sheet, left: f64, top: f64) {
        for entry in &self.entries {
            let (x, y) = (left + entry.x, top + 4.0 + (entry.row as f64 + 0.5) * LINE);
            entry.sample.draw(sheet, (x, y));
            sheet.text(&entry.name, (x + SAMPLE + SPACE, y), TEXT_SIZE, TEXT, Anchor::Start);
        }
    }
}
