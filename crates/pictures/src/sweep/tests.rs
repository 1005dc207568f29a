//! Tests of the page of a sweep.
//!
//! Start reading at [`curves_maps_and_all_points_are_shown`].

use super::*;
use crate::outcome::ShownLoops;
use ferrio_formats::IoKind;
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::Metric;

/// A point without records.
struct MadePoint {
    number: usize,
    places: Vec<usize>,
    figures: Vec<RepeatedFigure>,
    is_believable: bool,
}

impl ShownPoint for MadePoint {
    fn number(&self) -> usize {
        self.number
    }

    fn places(&self) -> &[usize] {
        &self.places
    }

    fn is_believable(&self) -> bool {
        self.is_believable
    }

    fn figures(&self) -> &[RepeatedFigure] {
        &self.figures
    }
}

/// An outcome whose second point is the knee of all jobs.
#[derive(Default)]
struct MadeOutcome {
    parameters: Vec<ShownParameter>,
    points: Vec<MadePoint>,
}

impl ShownOutcome for MadeOutcome {
    fn parameters(&self) -> Vec<ShownParameter> {
        self.parameters.clone()
    }

    fn n_repeats(&self) -> Option<u32> {
        Some(1)
    }

    fn points(&self) -> Vec<&dyn ShownPoint> {
        self.points.iter().map(|point| point as &dyn ShownPoint).collect()
    }

    fn is_knee(&self, number: usize, _: &str, _: IoKind) -> bool {
        number == 2
    }

    fn loops(&self) -> Option<ShownLoops<'_>> {
        None
    }
}

const METRICS: [Metric; 3] = [Metric::Iops, Metric::Bandwidth, Metric::P99];

fn figures(iops: f64) -> Vec<RepeatedFigure> {
    let of = |metric| RepeatedFigure {
        job_index: 0,
        job: "a <job>".to_owned(),
        kind: IoKind::Read,
        metric,
        values: vec![iops],
        mean: if metric == Metric::P99 { 1e9 / iops } else { iops },
        interval: Some([iops * 0.9, iops * 1.1]),
        unknown: None,
        between_percent: None,
        within_percent: None,
        is_doubtful: false,
        kinds: None,
    };
    METRICS.map(of).to_vec()
}

fn count(page: &str, part: &str) -> usize {
    page.matches(part).count()
}

/// Points that cannot be believed.
fn n_hollow(page: &str) -> usize {
    let shapes = page.split('<').filter(|shape| shape.starts_with("circle") || shape.starts_with("polygon"));
    shapes.filter(|shape| shape.contains("fill=\"var(--panel)\"")).count()
}

/// Values in maps that cannot be believed.
fn n_struck(page: &str) -> usize {
    page.split('<').filter(|shape| shape.starts_with("line") && shape.contains("stroke=\"#")).count()
}

/// Lines through points: those of axes and legends apart.
fn n_lines(page: &str) -> usize {
    let shapes = page.split('<').filter(|shape| shape.starts_with("polyline") || shape.starts_with("line"));
    shapes.filter(|shape| shape.contains("stroke=\"var(--c") && shape.contains("stroke-width=\"1.75\"")).count()
        - count(page, "<ul class=\"key\">") * 2
}

#[test]
fn curves_maps_and_all_points_are_shown() {
    let point = |index: usize| MadePoint {
        number: index + 1,
        places: vec![index / 3, index % 3],
        figures: figures(100.0 * (index + 1) as f64),
        is_believable: index != 4,
    };
    let parameter = |name: &str, values: &[&str]| ShownParameter {
        name: name.to_owned(),
        values: values.iter().map(|text| (*text).to_owned()).collect(),
    };
    let parameters = vec![parameter("bs", &["4k", "64k"]), parameter("iodepth", &["1", "2", "4"])];
    let outcome = MadeOutcome { parameters, points: (0..6).map(point).collect() };
    let page = page(&SweepPage {
        title: "Sweep".to_owned(),
        outcome: &outcome,
        findings: Vec::new(),
        answers: vec!["Knee of read of a: iodepth=2.".to_owned()],
        remarks: vec!["One run is missing.".to_owned()],
    });
    assert_eq!(count(&within_part(&outcome).into_string(), "class=\"ring\""), 0);
    assert!(page.contains("a &lt;job&gt;: read") && !page.contains("a <job>"));
    // Two lines in four pictures, with three points each; one point is hollow in each of them.
    assert_eq!((n_lines(&page), count(&page, "class=\"told\""), n_hollow(&page)), (8, 24, 4));
    // The knee is marked in each of the pictures, and the first sentence is the answer.
    assert_eq!((count(&page, "class=\"ring\""), count(&page, ">knee</text>")), (4, 4));
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place("Knee of read of a: iodepth=2.") < place("One run is missing."));
    assert!(page.contains("IOPS by bs and iodepth") && count(&page, "<svg class=\"fixed chart\"") == 2 + 2);
    // The point with the lowest rate has the darkest cell, and that with the highest the brightest.
    let map = &page[place("IOPS by bs and iodepth")..];
    let cell =
        |value: &str| map.split(value).next().and_then(|before| before.rsplit("<rect").next()).unwrap_or_default();
    for (value, colour) in [(">100</text>", "#440154"), (">600</text>", "#fde725")] {
        assert!(cell(value).contains(colour), "{value}: {}", cell(value));
    }
    assert_eq!((count(&page, "<tr class=\"hollow\">"), n_struck(&page)), (1, 2));
    assert!(page.contains("One run is missing.") && page.contains("contradicts no figure"));
}

#[test]
fn a_sweep_without_points_is_a_page() {
    let view = SweepPage {
        title: "Sweep".to_owned(),
        outcome: &MadeOutcome::default(),
        findings: Vec::new(),
        answers: Vec::new(),
        remarks: Vec::new(),
    };
    assert!(page(&view).contains("No job has done any I/O."));
}

#[test]
fn both_loops_are_in_one_picture() {
    let point = |index: usize| MadePoint {
        number: index + 1,
        places: Vec::new(),
        figures: figures(100.0 * (index + 1) as f64),
        is_believable: index != 3,
    };
    let all: Vec<MadePoint> = (0..4).map(point).collect();
    let shown = |index: usize, words: &str| (words.to_owned(), &all[index] as &dyn ShownPoint);
    let loops = ShownLoops {
        at: "bs=<4k>".to_owned(),
        closed: vec![shown(0, "iodepth=1"), shown(1, "iodepth=2")],
        open: vec![shown(2, "10 %"), shown(3, "95 %")],
    };
    let page = beside_each_other(&loops).into_string();
    // The figures have no mean latency, so that there is one picture with a line for each loop.
    assert_eq!((n_lines(&page), count(&page, "class=\"told\""), n_hollow(&page)), (2, 4, 1));
    assert!(page.contains("<title>iodepth=2: 5.00 ms</title>") && page.contains("<title>95 %: 2.50 ms</title>"));
    assert!(
        page.contains("Both have bs=&lt;4k&gt;.")
            && page.contains("<tr class=\"hollow\"><td class=\"words\">open</td>")
    );
    let none = ShownLoops { open: Vec::new(), ..loops };
    assert!(!beside_each_other(&none).into_string().contains("<svg"));
}
