//! Tests of the page of a sweep.
//!
//! Start reading at [`curves_maps_and_all_points_are_shown`].

use super::*;

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

#[test]
fn curves_maps_and_all_points_are_shown() {
    let all: Vec<(Vec<usize>, Vec<RepeatedFigure>)> =
        (0..6).map(|index| (vec![index / 3, index % 3], figures(100.0 * (index + 1) as f64))).collect();
    let point = |(number, (places, figures)): (usize, &'_ (Vec<usize>, Vec<RepeatedFigure>))| {
        (number, places.clone(), figures.clone())
    };
    let owned: Vec<_> = (1..).zip(&all).map(point).collect();
    let points = owned.iter().map(|(number, places, figures)| SweptPoint {
        number: *number,
        places,
        is_believable: *number != 5,
        figures,
        knee_of: if *number == 2 { vec![("a <job>", IoKind::Read)] } else { Vec::new() },
    });
    let values = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let view = SweepView {
        title: "Sweep".to_owned(),
        axes: vec![("bs".to_owned(), values(&["4k", "64k"])), ("iodepth".to_owned(), values(&["1", "2", "4"]))],
        n_repeats: 1,
        points: points.collect(),
        findings: Vec::new(),
        answers: vec!["Knee of read of a: iodepth=2.".to_owned()],
        remarks: vec!["One run is missing.".to_owned()],
        loops: None,
    };
    let page = page(&view);
    assert!(page.contains("a &lt;job&gt;: read") && !page.contains("a <job>"));
    // Two lines in four pictures, with three points each; one point is hollow in each of them.
    assert_eq!(
        (count(&page, "<polyline"), count(&page, "<circle class=\"mark"), count(&page, " hollow\" cx=")),
        (8, 24, 4)
    );
    // The knee is marked in each of the pictures, and the first sentence is the answer.
    assert_eq!((count(&page, "<circle class=\"knee\""), count(&page, ">knee</text>")), (4, 4));
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place("Knee of read of a: iodepth=2.") < place("One run is missing."));
    assert!(page.contains("IOPS by bs and iodepth") && count(&page, "<table class=\"map\"") == 2);
    // The point with the lowest rate has the lightest cell, and that with the highest the darkest.
    assert!(page.contains("<td class=\"s0\">100</td>") && page.contains("<td class=\"s7\">600</td>"));
    assert_eq!(count(&page, "<tr class=\"hollow\">"), 1);
    assert!(page.contains("One run is missing.") && page.contains("contradicts no figure"));
}

#[test]
fn a_sweep_without_points_is_a_page() {
    let view = SweepView {
        title: "Sweep".to_owned(),
        axes: Vec::new(),
        n_repeats: 1,
        points: Vec::new(),
        findings: Vec::new(),
        answers: Vec::new(),
        remarks: Vec::new(),
        loops: None,
    };
    assert!(page(&view).contains("No job has done any I/O."));
}

#[test]
fn both_loops_are_in_one_picture() {
    let all: Vec<Vec<RepeatedFigure>> = (1..=4).map(|index| figures(100.0 * f64::from(index))).collect();
    let point = |index: usize| SweptPoint {
        number: index + 1,
        places: &[],
        is_believable: index != 3,
        figures: &all[index],
        knee_of: Vec::new(),
    };
    let loops = LoopsView {
        at: "bs=<4k>".to_owned(),
        closed: vec![("iodepth=1".to_owned(), point(0)), ("iodepth=2".to_owned(), point(1))],
        open: vec![("10 %".to_owned(), point(2)), ("95 %".to_owned(), point(3))],
    };
    let page = beside_each_other(&loops).into_string();
    // The figures have no mean latency, so that there is one picture with a line for each loop.
    assert_eq!((count(&page, "<polyline"), count(&page, "<circle"), count(&page, " hollow\" cx=")), (2, 4, 1));
    assert!(page.contains("<title>iodepth=2</title>") && page.contains("<title>95 %</title>"));
    assert!(
        page.contains("Both have bs=&lt;4k&gt;.")
            && page.contains("<tr class=\"hollow\"><td class=\"words\">open</td>")
    );
    let none = LoopsView { open: Vec::new(), ..loops };
    assert!(!beside_each_other(&none).into_string().contains("<svg"));
}
