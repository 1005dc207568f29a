//! Tests of sheets and files.

use super::sheet::SheetShape;
use super::*;
use crate::chart::{AxisUnit, ChartAxis, ChartLine};
use crate::panel::{BarGroup, BarPanel, FigureSpread, LinePanel};
use crate::scale::AxisScale;
use font::text_width;

fn bars(n_classes: usize) -> Picture {
    let value = ChartAxis::new("bandwidth", AxisUnit::BytesPerSecond, AxisScale::Linear);
    let classes = (0..n_classes).map(|index| format!("a job with a name {index}")).collect();
    let values =
        vec![Some(FigureSpread { mean: 5e6, deviation: Some((4e6, 6e6)), range: Some((1e6, 9e6)) }); n_classes];
    let groups = vec![BarGroup { name: "read".to_owned(), look: 0, values }];
    let panel = Panel {
        title: "Bandwidth".to_owned(),
        content: PanelContent::Bars(BarPanel { value, head: "average", classes, groups }),
    };
    Picture { title: "Title".to_owned(), notes: vec!["A note.".to_owned()], panels: vec![panel] }
}

fn lines(n_lines: usize) -> Picture {
    let line = |look: usize| {
        let points = (0..100).map(|x| (f64::from(x), f64::from(x * x) * 1e6));
        ChartLine::through(format!("a line with a rather long name {look}"), look, points)
    };
    let content = LinePanel {
        x: ChartAxis::new("time", AxisUnit::Seconds, AxisScale::Linear),
        y: ChartAxis::new("bandwidth", AxisUnit::BytesPerSecond, AxisScale::Linear),
        lines: (0..n_lines).map(line).collect(),
    };
    let panel = Panel { title: String::new(), content: PanelContent::Lines(content) };
    Picture { title: "Title".to_owned(), notes: Vec::new(), panels: vec![panel] }
}

/// Left, top, right and bottom of each text with the text.
fn texts(sheet: &Sheet) -> Vec<(Frame, &str)> {
    let of_shape = |shape: &'_ SheetShape| match shape {
        SheetShape::Text { place: (x, y), size, anchor, is_upright, text, .. } => {
            let width = text_width(text, *size);
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
            let (left, top) =
                if *is_upright { (x - size / 2.0, y - width / 2.0) } else { (x - before, y - size / 2.0) };
            let (width, height) = if *is_upright { (*size, width) } else { (width, *size) };
            Some(Frame { left, top, right: left + width, bottom: top + height })
        }
        _ => None,
    };
    sheet
        .shapes
        .iter()
        .filter_map(|shape| {
            let SheetShape::Text { text, .. } = shape else { return None };
            Some((of_shape(shape)?, text.as_str()))
        })
        .collect()
}

#[test]
fn no_text_is_cut_and_none_overlaps_another() {
    let sizes = [None, "400x320".parse().ok(), "3000x900".parse().ok()];
    for (picture, size) in
        [lines(1), lines(12), bars(1), bars(5)].iter().flat_map(|picture| sizes.map(|size| (picture, size)))
    {
        let sheet = match sheet_of(picture, size) {
            Ok(sheet) => sheet,
            Err(PlotError::TooSmall { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let texts = texts(&sheet);
        for (index, (frame, text)) in texts.iter().enumerate() {
            let is_inside = frame.left >= 0.0
                && frame.top >= 0.0
                && frame.right <= f64::from(sheet.width)
                && frame.bottom <= f64::from(sheet.height);
            assert!(is_inside, "{text} {frame:?} {size:?}");
            for (other, other_text) in &texts[..index] {
                let is_apart = frame.left >= other.right
                    || other.left >= frame.right
                    || frame.top >= other.bottom
                    || other.top >= frame.bottom;
                assert!(is_apart, "{text} {frame:?} and {other_text} {other:?} {size:?}");
            }
        }
    }
}

#[test]
fn legends_and_notes_lie_below_the_data() {
    let sheet = sheet_of(&lines(12), None).expect("a sheet");
    let lowest_point = sheet.shapes.iter().filter_map(|shape| match shape {
        SheetShape::Area { points, .. } | SheetShape::Path { points, .. } if points.len() > 20 => {
            points.iter().map(|(_, y)| *y).reduce(f64::max)
        }
        _ => None,
    });
    let lowest_point = lowest_point.fold(0.0, f64::max);
    let names = texts(&sheet).into_iter().filter(|(_, text)| text.starts_with("a line"));
    let tops: Vec<f64> = names.map(|(frame, _)| frame.top).collect();
    assert!(
        tops.len() == 12 && lowest_point > 100.0 && tops.iter().all(|top| *top > lowest_point),
        "{tops:?} {lowest_point}"
    );
}

#[test]
fn a_picture_that_is_too_small_says_what_it_needs() {
    let size = "800x300".parse().expect("a size");
    let Err(PlotError::TooSmall { least }) = sheet_of(&bars(64), Some(size)) else { panic!("not refused") };
    let enough = format!("800x{least}").parse().expect("a size");
    assert!(sheet_of(&bars(64), Some(enough)).is_ok());
    assert_eq!(sheet_of(&bars(64), None).map(|sheet| sheet.width), Ok(1200));
    assert_eq!(sheet_of(&bars(20_000), None).err(), Some(PlotError::TooMuch));
}

#[test]
fn files_have_the_size_and_the_colours() {
    let size = "640x400".parse().expect("a size");
    let svg = String::from_utf8(file(&lines(3), Some(size), PictureFormat::Svg).expect("a file")).expect("text");
    assert!(
        svg.starts_with("<svg width=\"640\" height=\"400\" viewBox=\"0 0 5120 3200\"")
            && svg.trim_end().ends_with("</svg>")
    );
    let png = file(&lines(3), Some(size), PictureFormat::Png).expect("a file");
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height), (640, 400));
    let has = |(red, green, blue): (u8, u8, u8)| {
        let is_near = |one: u8, other: u8| one.abs_diff(other) < 4;
        pixels.chunks(3).any(|pixel| is_near(pixel[0], red) && is_near(pixel[1], green) && is_near(pixel[2], blue))
    };
    for look in 0..3 {
        assert!(has(palette::ink(look).rgb), "{look}");
    }
    assert_eq!(pixels[..3], [255, 255, 255]);
    // Letters of the font in the program.
    assert!(has(TEXT.rgb));
}
