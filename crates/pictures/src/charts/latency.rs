//! Latency percentiles over time.
//!
//! Must not know: rates. Start reading at [`over_time`].

use super::rates::{MAXIMA, MOST_LINES, apart, line, rounded_time, widths};
use super::together::{latency_kind, of_jobs, pooled};
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, ChartLine, colour_of, colour_of_rank, rounded};
use ferrio_formats::{
    JobResult, LatencyCounts, LatencyKind, NotTogether, Quantity, TimeBin, TimeInterval, TimeIntervals, TimeSeries,
};
use ferrio_stats::Metric;
use ferrio_units::DataDirection;

/// I/Os of an interval that have all percentiles.
const ENOUGH_IOS: u64 = 1000;
/// A course with fewer intervals keeps them, also where some percentiles have too few I/Os.
const FEWEST_INTERVALS: usize = 40;
const MOST_INTERVALS: usize = 200;

/// Percentiles over time; where only means of intervals were recorded, these.
pub(super) fn over_time(jobs: &[&JobResult], most_points: usize) -> Vec<Chart> {
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let mut kind = LatencyKind::Completion;
    for direction in DataDirection::ALL {
        match pooled(jobs, direction, usize::MAX) {
            Ok((found, series)) => {
                kind = found;
                notes.push(note(&series));
                lines.extend(series_lines(&series, most_points));
            }
            Err(NotTogether::Nothing) => {}
            Err(reason) => {
                kind = latency_kind(jobs, direction).unwrap_or(kind);
                lines.extend(single_lines(jobs, kind, direction, most_points));
                notes.push(apart(reason));
            }
        }
    }
    notes.dedup();
    notes.retain(|note| !note.is_empty());
    let chart = Chart {
        id: "latency",
        title: format!("{} over time", capitalised(kind.words())),
        note: notes.join(" "),
        x: ChartAxis::TIME,
        y: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        content: ChartContent::Lines(lines),
    };
    let has_something =
        matches!(&chart.content, ChartContent::Lines(lines) if !lines.is_empty()) || !chart.note.is_empty();
    has_something.then_some(chart).into_iter().collect()
}

/// What the values of a series are, where they are not what a reader expects.
fn note(series: &TimeSeries) -> String {
    match (series.heat.is_some(), series.has_means, series.has_maxima) {
        (true, ..) => String::new(),
        (_, false, _) => MAXIMA.to_owned(),
        (_, _, true) => "Mean and maximum of each interval, as the log has them.".to_owned(),
        _ => "Each value is a mean of an interval, so single slow I/Os cannot be seen.".to_owned(),
    }
}

/// All lines of a series: percentiles and maximum, or what else is known.
pub(crate) fn series_lines(series: &TimeSeries, most_points: usize) -> Vec<ChartLine> {
    if let Some(lines) = percentile_lines(series, most_points) {
        return lines;
    }
    let series = series.shortened(most_points);
    let mean = line(&series);
    if !series.has_means {
        return vec![mean];
    }
    let direction = series.kind().name();
    if !series.has_maxima {
        return vec![ChartLine { name: format!("{direction} mean"), ..mean }];
    }
    let highest = ChartLine {
        name: format!("{direction} max"),
        colour: colour_of(series.kind(), Metric::PERCENTILES.len()),
        y: series.filled().map(|(_, bin)| rounded(bin.max)).collect(),
        low: Vec::new(),
        high: Vec::new(),
        ..mean.clone()
    };
    vec![ChartLine { name: format!("{direction} mean"), low: Vec::new(), high: Vec::new(), ..mean }, highest]
}

/// A line for each job, where there are few enough: of its mean, or its maximum if only this is known.
fn single_lines(
    jobs: &[&JobResult],
    kind: LatencyKind,
    direction: DataDirection,
    most_points: usize,
) -> Vec<ChartLine> {
    let all = of_jobs(jobs, Quantity::Latency(kind), direction);
    if all.len() > MOST_LINES {
        return Vec::new();
    }
    let of_job = |(rank, (job, series)): (usize, (&JobResult, &TimeSeries))| {
        let line = line(&series.shortened(most_points));
        let what = if series.has_means { " mean" } else { "" };
        ChartLine { name: format!("{}: {}{what}", job.name, line.name), colour: colour_of_rank(rank), ..line }
    };
    all.into_iter().enumerate().map(of_job).collect()
}

/// Lines of the percentiles of a latency over time, and of its slowest I/Os; `None`: it has no distribution. All are of the same
/// intervals, which are so long that a usual one has I/Os enough for each percentile, if the run has.
pub(crate) fn percentile_lines(series: &TimeSeries, most_points: usize) -> Option<Vec<ChartLine>> {
    let mut columns = series.heat.as_ref()?.columns.clone();
    columns.shorten(most_points.min(MOST_INTERVALS));
    while columns.len() > FEWEST_INTERVALS && usual_number(&columns) < ENOUGH_IOS {
        columns.double();
    }
    let highest = maxima(series, &columns);
    let gaps = columns.gaps();
    let line_of = |shade: usize, name: &str, value: &dyn Fn(usize, &LatencyCounts) -> Option<f64>| {
        let mut line = ChartLine::new(format!("{} {name}", series.kind().name()), colour_of(series.kind(), shade));
        let mut last = None;
        let mut lengths_ns = Vec::new();
        for (index, column) in columns.all().iter().enumerate() {
            let Some(value) = value(index, &column.figures) else { continue };
            // An interval without I/Os enough is no part of the line.
            if last.is_some_and(|last| last + 1 != index || gaps.contains(&index)) {
                line.breaks.push(line.x.len());
            }
            line.x.push(rounded_time(column.middle_ns()));
            line.y.push(rounded(value));
            lengths_ns.push(column.length_ns());
            last = Some(index);
        }
        line.widths = widths(lengths_ns.into_iter());
        line
    };
    let mut lines = Vec::new();
    for (shade, metric) in Metric::PERCENTILES.into_iter().enumerate() {
        // The middle of a bucket may be above the slowest I/O in it.
        let value = |index: usize, counts: &LatencyCounts| {
            counts
                .percentile(metric.percent()?)
                .map(|value_ns| (value_ns as f64).min(highest[index].unwrap_or(f64::MAX)))
        };
        let line = line_of(shade, metric.name(), &value);
        if !line.x.is_empty() {
            lines.push(line);
        }
    }
    lines.push(line_of(Metric::PERCENTILES.len(), Metric::Max.name(), &|index, _| highest[index]));
    Some(lines)
}

/// The number of I/Os of a usual column: the median.
fn usual_number(columns: &TimeIntervals<LatencyCounts>) -> u64 {
    let mut numbers: Vec<u64> = columns.all().iter().map(|column| column.figures.n_ios()).collect();
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// The slowest I/O of each column, as it is and not as its bucket.
fn maxima(series: &TimeSeries, columns: &TimeIntervals<LatencyCounts>) -> Vec<Option<f64>> {
    let mut found = vec![None; columns.len()];
    let mut index = 0;
    for interval in series.intervals.all() {
        let middle_ns = interval.middle_ns();
        while index + 1 < columns.len() && columns.all()[index].end_ns <= middle_ns {
            index += 1;
        }
        let TimeInterval { figures: TimeBin { max, .. }, .. } = interval;
        if let Some(highest) = found.get_mut(index) {
            *highest = Some(highest.map_or(*max, |known: f64| known.max(*max)));
        }
    }
    found
}

/// The text with a large first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
