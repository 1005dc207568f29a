//! Tests of the page as text.

use super::*;
use ferrio_results::JobResult;

#[test]
fn no_text_of_a_result_becomes_markup() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>".to_owned();
    let series =
        ferrio_results::TimeSeries::new(ferrio_results::Quantity::Iops, ferrio_units::DataDirection::Read, 1_000_000);
    let mut series = series;
    series.add(0, 1.0, 10);
    let job = JobResult {
        name: hostile.clone(),
        options: vec![(hostile.clone(), hostile.clone())],
        series: vec![series],
        ..JobResult::default()
    };
    let result = RunResult {
        name: hostile.clone(),
        program: hostile.clone(),
        jobs: vec![job],
        remarks: vec![hostile],
        ..RunResult::default()
    };
    let page = page(&[result]);
    assert_eq!(page.matches("<script").count(), 3);
    assert!(!page.contains("<img") && page.contains("&lt;img"));
}

#[test]
fn a_page_without_results_is_a_page() {
    assert!(page(&[]).contains("No results"));
}

#[test]
fn the_page_itself_is_small() {
    assert!(page(&[]).len() < 300_000);
}
