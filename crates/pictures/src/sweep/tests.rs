//! Tests of the page of a sweep.
//!
//! Start reading at [`curves_maps_and_all_points_are_shown`].

use super::*;

const METRICS: [ComparedMetric; 3] = [ComparedMetric::Iops, ComparedMetric::Bandwidth, ComparedMetric::P99];

fn figures(iops: f64) -> Vec<RepeatedFigure> {
    let of = |metric| RepeatedFigure {
        job_index: 0,
        job: "a <job>".to_owned(),
        kind: FiguresOf::Read,
        metric,
        values: vec![iops],
        mean: if metric == ComparedMetric::P99 { 1e9 / iops } else { iops },
        interval: Some([iops * 0.9, iops * 1.1]),
        unknown: None,
        between_percent: None,
        within_percent: None,
        is_doubtful: false,
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
    });
    let values = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let view = SweepView {
        title: "Sweep".to_owned(),
        axes: vec![("bs".to_owned(), values(&["4k", "64k"])), ("iodepth".to_owned(), values(&["1", "2", "4"]))],
        n_repeats: 1,
        points: points.collect(),
        findings: Vec::new(),
        remarks: vec!["One run is missing.".to_owned()],
    };
    let page = page(&view);
    assert!(page.contains("a &lt;job&gt;: read") && !page.contains("a <job>"));
    // Two lines in four pictures, with three points each; one point is hollow in each of them.
    assert_eq!((count(&page, "<polyline"), count(&page, "<circle"), count(&page, " hollow\" cx=")), (8, 24, 4));
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
        remarks: Vec::new(),
    };
    assert!(page(&view).contains("No job has done any I/O."));
}
