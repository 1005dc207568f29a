//! Pictures as sheets, and sheets as files or as parts of pages.
//!
//! Must not know: results. Start reading at [`sheet_of`].

mod axis;
mod bars;
mod files;
mod font;
mod grid;
mod inline;
mod legend;
mod lines;
mod palette;
mod sheet;
pub(crate) mod strips;
mod units;

use crate::chart::ChartLine;
use crate::panel::{GridPanel, LinePanel, Panel, PanelContent, Picture};
use crate::plot::{PictureFormat, PictureSize, PlotError};
use legend::Legend;
use lines::SharedAxis;
use maud::Markup;
use palette::{QUIET, TEXT};
use sheet::Frame;
use sheet::{Anchor, Sheet, fitted, wrapped};

/// Sizes of letters, pixels.
const TITLE_SIZE: f64 = 20.0;
const PANEL_TITLE_SIZE: f64 = 15.0;
const TEXT_SIZE: f64 = 12.0;
/// Empty space at each edge, pixels.
const MARGIN: f64 = 16.0;
/// Height of a line of text, pixels.
const LINE: f64 = 18.0;
/// Width of a picture unless another is asked for, pixels.
const WIDTH: u32 = 1200;

/// The picture as a file.
///
/// # Errors
/// The size is too small for what the picture shows.
pub(crate) fn file(picture: &Picture, size: Option<PictureSize>, format: PictureFormat) -> Result<Vec<u8>, PlotError> {
    let sheet = sheet_of(picture, size)?;
    match format {
        PictureFormat::Svg => files::svg(&sheet).map(String::into_bytes),
        PictureFormat::Png => files::png(&sheet),
    }
}

/// The picture as a part of a page.
///
/// # Errors
/// The picture would be too high.
pub(crate) fn in_page(picture: &Picture) -> Result<Markup, PlotError> {
    Ok(inline::scaled(&sheet_of(picture, None)?, &picture.title))
}

/// Size of a panel of lines on a page, pixels where the page has room; its letters shrink with it on small screens.
const PAGE_SIZE: (u32, u32) = (500, 280);
/// Empty space at the edges of a panel on a page, pixels.
const PAGE_MARGIN: f64 = 6.0;

/// A panel of lines as a part of a page, without its legend.
pub(crate) fn lines_in_page(panel: &LinePanel, label: &str) -> Markup {
    let mut sheet = Sheet::empty(PAGE_SIZE.0, PAGE_SIZE.1);
    let frame = sheet.within(PAGE_MARGIN);
    let mut shared = SharedAxis { gutter: 0.0, ends: None };
    shared.add(panel, frame.height());
    lines::draw(&mut sheet, frame, panel, &shared);
    inline::scaled(&sheet, label)
}

/// The sample of a line for the legend of a page, which has the name beside it.
pub(crate) fn sample_in_page(line: &ChartLine) -> Markup {
    inline::fixed(&legend::sample(line), None)
}

/// A panel of cells as a part of a page, in a size in which its words can be read.
pub(crate) fn grid_in_page(panel: &GridPanel, label: &str) -> Markup {
    let (width, height) = grid::page_size(panel);
    let mut sheet = Sheet::empty((width + 2.0 * PAGE_MARGIN).ceil() as u32, (height + 2.0 * PAGE_MARGIN).ceil() as u32);
    let frame = sheet.within(PAGE_MARGIN);
    grid::draw(&mut sheet, frame, panel);
    inline::fixed(&sheet, Some(label))
}

pub(crate) fn definitions_in_page() -> Markup {
    inline::definitions()
}

/// Heights of a panel's content, pixels.
struct Heights {
    /// Below this, words would overlap.
    least: f64,
    /// That of a picture whose size is free.
    natural: f64,
}

fn heights(panel: &Panel, n_panels: usize) -> Heights {
    match &panel.content {
        PanelContent::Lines(_) => Heights { least: 120.0, natural: if n_panels == 1 { 440.0 } else { 260.0 } },
        PanelContent::Bars(bars) => bars::heights(bars),
        PanelContent::Grid(grid) => grid::heights(grid),
    }
}

/// Lays the picture out on a sheet.
fn sheet_of(picture: &Picture, size: Option<PictureSize>) -> Result<Sheet, PlotError> {
    let width = size.map_or(WIDTH, PictureSize::width);
    let inner = f64::from(width) - 2.0 * MARGIN;
    let notes: Vec<String> = picture.notes.iter().flat_map(|note| wrapped(note, TEXT_SIZE, inner)).collect();
    let legends = legends(picture, inner);
    let heights: Vec<Heights> = picture.panels.iter().map(|panel| heights(panel, picture.panels.len())).collect();
    let n_titles = picture.panels.iter().filter(|panel| !panel.title.is_empty()).count();
    let above = MARGIN + 30.0;
    let fixed = above
        + n_titles as f64 * PANEL_TITLE
        + legends.iter().map(|legend| legend.as_ref().map_or(GAP, |legend| legend.height() + GAP)).sum::<f64>()
        + notes.len() as f64 * LINE
        + MARGIN;
    let least: f64 = heights.iter().map(|heights| heights.least).sum();
    let natural: f64 = heights.iter().map(|heights| heights.natural).sum();
    let height = size.map_or((fixed + natural).ceil() as u32, PictureSize::height);
    let free = f64::from(height) - fixed;
    if free < least - 0.5 {
        return Err(PlotError::TooSmall { least: (fixed + least).ceil() as u32 });
    }
    if size.is_none() && height > PictureSize::MOST {
        return Err(PlotError::TooMuch);
    }
    let mut sheet = Sheet { width, height, title: picture.title.clone(), shapes: Vec::new() };
    let title = fitted(&picture.title, TITLE_SIZE, inner);
    sheet.text(&title, (MARGIN, MARGIN + TITLE_SIZE / 2.0), TITLE_SIZE, TEXT, Anchor::Start);
    let mut y = above;
    // Each has its least, and of the rest a share like its natural height.
    let height_of = |heights: &Heights| heights.least + (free - least) * heights.natural / natural.max(1.0);
    let mut shared = SharedAxis { gutter: 0.0, ends: None };
    for (panel, heights) in picture.panels.iter().zip(&heights) {
        if let PanelContent::Lines(lines) = &panel.content {
            shared.add(lines, height_of(heights));
        }
    }
    for ((panel, heights), legend) in picture.panels.iter().zip(&heights).zip(&legends) {
        if !panel.title.is_empty() {
            let title = fitted(&panel.title, PANEL_TITLE_SIZE, inner);
            sheet.text(&title, (MARGIN, y + PANEL_TITLE_SIZE / 2.0), PANEL_TITLE_SIZE, TEXT, Anchor::Start);
            y += PANEL_TITLE;
        }
        let height = height_of(heights);
        let frame = Frame { left: MARGIN, top: y, right: f64::from(width) - MARGIN, bottom: y + height };
        match &panel.content {
            PanelContent::Lines(lines) => lines::draw(&mut sheet, frame, lines, &shared),
            PanelContent::Bars(bars) => bars::draw(&mut sheet, frame, bars),
            PanelContent::Grid(grid) => grid::draw(&mut sheet, frame, grid),
        }
        y += height;
        if let Some(legend) = legend {
            legend.draw(&mut sheet, MARGIN, y);
            y += legend.height();
        }
        y += GAP;
    }
    for note in &notes {
        sheet.text(note, (MARGIN, y + LINE / 2.0), TEXT_SIZE, QUIET, Anchor::Start);
        y += LINE;
    }
    Ok(sheet)
}

/// Height of a panel's title, pixels.
const PANEL_TITLE: f64 = 24.0;
/// Space behind a panel, pixels.
const GAP: f64 = 10.0;

/// The legends of the panels; panels one after another with the same legend have it once, below the last of them.
fn legends(picture: &Picture, width: f64) -> Vec<Option<Legend>> {
    let mut legends: Vec<Option<Legend>> =
        picture.panels.iter().map(|panel| Legend::of(&panel.content, width)).collect();
    for index in 1..legends.len() {
        if legends[index - 1] == legends[index] {
            legends[index - 1] = None;
        }
    }
    legends
}

#[cfg(test)]
mod tests;
