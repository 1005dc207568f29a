//! The rows of a data sheet, from the figures of the parts.
//!
//! Must not know: how they are shown. Start reading at [`rows`].

use crate::profile::SectionOutcome;
use crate::sweep::OPEN_LOOP_SHARES;
use crate::sweep::outcome::PointOutcome;
use ferrio_formats::{IoKind, Quantity, RunResult, TimeSeries};
use ferrio_stats::Metric;
use serde::Serialize;

/// Part of a long run that is its burst, and the part that is sustained.
const BURST: f64 = 0.1;
const SUSTAINED: f64 = 0.5;
/// Shares of an open loop that the data sheet tells, percent.
const TOLD_SHARES: [u32; 2] = [50, 90];

/// A row of the data sheet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SheetRow {
    /// Name of the part.
    pub part: &'static str,
    /// What was measured.
    pub what: String,
    /// Parameters of the point that has the figures; empty: there is one point.
    pub at: String,
    /// I/Os per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_sec: Option<f64>,
    /// Median latency, nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile of latency, nanoseconds.
    pub p99_ns: Option<f64>,
    /// No finding contradicts the figures.
    pub is_believable: bool,
}

impl SheetRow {
    /// A figure of the row; `None`: it has none.
    pub const fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Iops => self.iops,
            Metric::Bandwidth => self.bytes_per_sec,
            Metric::P50 => self.p50_ns,
            Metric::P99 => self.p99_ns,
            Metric::MeanLatency | Metric::P95 | Metric::P999 | Metric::P9999 | Metric::Max => None,
        }
    }
}

/// The rows, in the order of the parts.
pub(crate) fn rows(sections: &[SectionOutcome]) -> Vec<SheetRow> {
    sections.iter().flat_map(of_section).collect()
}

/// A row for each point of a part with few of them; of a part that tries depths and sizes, the points with the most IOPS and the most bytes.
fn of_section(one: &SectionOutcome) -> Vec<SheetRow> {
    const FEW: usize = 2;
    let points = &one.figures.points;
    let mut rows: Vec<SheetRow> = if one.beside.is_some() {
        let told = points.iter().zip(OPEN_LOOP_SHARES).filter(|(_, share)| TOLD_SHARES.contains(share));
        told.map(|(point, share)| of_open_loop(one, point, share)).collect()
    } else if points.len() <= FEW {
        points.iter().map(|point| row(one, point, one.section.title.to_owned())).collect()
    } else {
        let best = |metric: Metric, what: &str| {
            let value = |point: &&PointOutcome| rate(one, point, metric).unwrap_or_default();
            let found = points.iter().max_by(|one, other| value(one).total_cmp(&value(other)));
            found.map(|point| row(one, point, format!("{}: {what}", one.section.title)))
        };
        let has_sizes = one.section.over.iter().any(|over| over.starts_with("bs="));
        let bytes = if has_sizes { best(Metric::Bandwidth, "most bytes") } else { None };
        best(Metric::Iops, "most IOPS").into_iter().chain(bytes).collect()
    };
    if let Some(course) = &one.course {
        rows.extend(of_course(one, course));
    }
    rows
}

/// A row of an open loop: its other options are those of the closed one.
fn of_open_loop(one: &SectionOutcome, point: &PointOutcome, share: u32) -> SheetRow {
    let rates = point.point.settings.iter().filter(|(option, _)| option.name.starts_with("rate_iops"));
    let at = rates.map(|(option, rate)| format!("{option}={rate}")).collect::<Vec<_>>().join(" ");
    SheetRow { at, ..row(one, point, format!("{}: {share} % of the fastest rate", one.section.title)) }
}

fn row(one: &SectionOutcome, point: &PointOutcome, what: String) -> SheetRow {
    let of = |kind: IoKind, metric: Metric| point.figure(0, kind, metric).map(|figure| figure.mean);
    let kind = one.section.kind;
    SheetRow {
        part: one.section.id,
        what,
        at: point.point.to_string(),
        iops: rate(one, point, Metric::Iops),
        bytes_per_sec: rate(one, point, Metric::Bandwidth),
        p50_ns: of(kind, Metric::P50),
        p99_ns: of(kind, Metric::P99),
        is_believable: point.is_believable(),
    }
}

/// The rate of all kinds of I/O that count; `None`: the point has none of them. Syncs move nothing: theirs is that of the writes between them.
fn rate(one: &SectionOutcome, point: &PointOutcome, metric: Metric) -> Option<f64> {
    one.section
        .moved
        .iter()
        .filter_map(|kind| point.figure(0, *kind, metric))
        .map(|figure| figure.mean)
        .reduce(|sum, one| sum + one)
}

/// The beginning and the end of a long run.
fn of_course(one: &SectionOutcome, course: &RunResult) -> Vec<SheetRow> {
    let series = course.jobs.iter().flat_map(|job| &job.series);
    let bytes = series.filter(|series| series.quantity == Quantity::Bandwidth && series.kind() == one.section.kind);
    let Some(bytes) = bytes.max_by_key(|series| series.filled().count()) else { return Vec::new() };
    let is_believable = one.figures.points.iter().all(PointOutcome::is_believable);
    let row = |words: &str, share: (f64, f64)| {
        let bytes_per_sec = mean_within(bytes, share)?;
        let what = format!("{}: {words}", one.section.title);
        Some(SheetRow {
            part: one.section.id,
            what,
            at: String::new(),
            iops: None,
            bytes_per_sec: Some(bytes_per_sec),
            p50_ns: None,
            p99_ns: None,
            is_believable,
        })
    };
    [row("first tenth", (0.0, BURST)), row("second half", (SUSTAINED, 1.0))].into_iter().flatten().collect()
}

/// Mean of a rate in a part of its time.
fn mean_within(series: &TimeSeries, (from, to): (f64, f64)) -> Option<f64> {
    let points: Vec<(u64, f64)> = series.filled().filter_map(|(time_ns, bin)| Some((time_ns, bin.mean()?))).collect();
    let (first, last) = (points.first()?.0 as f64, points.last()?.0 as f64);
    let place = |time_ns: u64| if last > first { (time_ns as f64 - first) / (last - first) } else { 0.0 };
    let within: Vec<f64> =
        points.iter().filter(|(time, _)| (from..=to).contains(&place(*time))).map(|(_, rate)| *rate).collect();
    (!within.is_empty()).then(|| within.iter().sum::<f64>() / within.len() as f64)
}
