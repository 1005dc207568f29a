//! Tests of the charts, with figures whose pictures are known.

use super::*;
use crate::chart::{ChartContent, ChartLine};
use ferrio_formats::{Figures, LatencyFigures, LatencyHeat, LatencyKind, Quantity, TimeBase, TimeSeries};
use ferrio_units::DataDirection;

const MS: u64 = 1_000_000;

fn job(series: Vec<TimeSeries>) -> JobResult {
    JobResult { name: "j".to_owned(), series, ..JobResult::default() }
}

fn rate(values: &[f64]) -> TimeSeries {
    let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Write, 100 * MS);
    series.base = TimeBase::Run(0);
    for (index, value) in (0..).zip(values) {
        series.add_rate(index * 100 * MS, (index + 1) * 100 * MS, *value, 1000);
    }
    series
}

fn lines<'a>(charts: &'a [Chart], id: &str) -> &'a [ChartLine] {
    let chart = charts.iter().find(|chart| chart.id == id).expect("this chart");
    let ChartContent::Lines(lines) = &chart.content else { panic!("no lines") };
    lines
}

#[test]
fn rates_of_jobs_add_up() {
    let (one, other) = (job(vec![rate(&[10.0, 20.0])]), job(vec![rate(&[1.0, 2.0])]));
    let charts = charts(&[&one, &other], 100);
    let write = &lines(&charts, "iops")[0];
    assert_eq!((write.name.as_str(), &write.x[..], &write.y[..]), ("write", &[0.05, 0.15][..], &[11.0, 22.0][..]));
}

#[test]
fn a_peak_is_seen_whatever_the_number_of_points() {
    let mut values = vec![5.0; 10_000];
    values[7_777] = 9e6;
    let job = job(vec![rate(&values)]);
    let charts = charts(&[&job], 50);
    let write = &lines(&charts, "iops")[0];
    assert!(write.x.len() <= 50);
    assert!(write.high.contains(&9e6), "{:?}", write.high);
}

#[test]
fn percentiles_over_time_are_those_of_each_interval() {
    let mut latency = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), DataDirection::Read, MS);
    let mut heat = LatencyHeat::new(MS);
    for latency_ns in 1..=100_u64 {
        heat.add(0, latency_ns, 1, 10);
        heat.add(MS, 2 * latency_ns, 1, 10);
        latency.add(0, latency_ns as f64, 10);
    }
    latency.heat = Some(heat);
    let charts = charts(&[&job(vec![latency])], 100);
    let found: Vec<(&str, f64)> =
        lines(&charts, "latency").iter().map(|line| (line.name.as_str(), line.y[0])).collect();
    // Of 100 I/Os, none is beyond 99.9 %.
    assert_eq!(found, [("read p50", 50.0), ("read p99", 99.0), ("read max", 100.0)]);
    assert!(charts.iter().any(|chart| chart.id == "heat"));
}

#[test]
fn the_distribution_has_all_ios_and_ends_at_100_percent() {
    let clat =
        LatencyFigures { n_samples: 4, max_ns: 4096, bins: vec![(1024, 1), (4096, 3)], ..LatencyFigures::default() };
    let mut job = job(Vec::new());
    job.directions[DataDirection::Read] = Some(Figures { clat: Some(clat), ..Figures::default() });
    let charts = charts(&[&job], 100);
    let shares = &lines(&charts, "distribution")[0];
    // Two octaves of eight classes each, the class of 4,096 and the empty one behind it.
    assert_eq!((shares.y.len(), shares.y[0], shares.y[16], shares.y[17]), (18, 25.0, 75.0, 0.0));
    let cumulative = &lines(&charts, "cumulative")[0];
    assert_eq!((&cumulative.x[..], &cumulative.y[..]), (&[1024.0, 4096.0][..], &[25.0, 100.0][..]));
}

#[test]
fn percentiles_of_a_report_stand_for_its_distribution() {
    let percentiles = vec![(1.0, 900), (50.0, 1000), (99.99, 9000)];
    let clat = LatencyFigures { n_samples: 4, max_ns: 8999, percentiles, ..LatencyFigures::default() };
    let mut job = job(Vec::new());
    job.directions[DataDirection::Write] = Some(Figures { clat: Some(clat), ..Figures::default() });
    let single = charts(&[&job], 100);
    let line = &lines(&single, "cumulative")[0];
    assert_eq!((&line.x[..], &line.y[..]), (&[900.0, 1000.0, 8999.0][..], &[1.0, 50.0, 99.99][..]));
    assert!(single.iter().all(|chart| chart.id != "distribution"));
    assert!(charts(&[&job, &job], 100).is_empty(), "percentiles of two jobs have no sum");
}

/// One I/O of ten million is the slowest: its own time is shown, however wide an interval.
#[test]
fn the_slowest_io_is_shown_as_it_is() {
    let mut latency = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), DataDirection::Read, MS);
    let mut heat = LatencyHeat::new(MS);
    for ms in 0..10_000 {
        let latency_ns = if ms == 7_777 { 123_456_789 } else { 50_000 };
        heat.add(ms * MS, latency_ns, 1, 64);
        latency.add(ms * MS, latency_ns as f64, 4096);
    }
    latency.heat = Some(heat);
    let charts = charts(&[&job(vec![latency])], 100);
    let slowest = lines(&charts, "latency").iter().find(|line| line.name == "read max").expect("a line");
    assert!(slowest.y.contains(&123_460_000.0), "{:?}", slowest.y);
}

#[test]
fn without_figures_there_are_no_charts() {
    assert!(charts(&[&job(Vec::new())], 100).is_empty());
    assert!(charts(&[], 100).is_empty());
}
