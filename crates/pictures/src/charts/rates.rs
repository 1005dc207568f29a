//! IOPS and bandwidth over time.
//!
//! Must not know: latencies. Start reading at [`iops`].

use super::together::{of_jobs, summed};
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, ChartLine, colour_of, colour_of_rank, rounded};
use ferrio_formats::{JobResult, NotTogether, Quantity, TimeBin, TimeInterval, TimeSeries};
use ferrio_units::DataDirection;

const NS_PER_SEC: f64 = 1e9;
/// Lines of single jobs that can be told apart.
pub(super) const MOST_LINES: usize = 12;

/// I/Os per second over time.
pub(super) fn iops(jobs: &[&JobResult], most_points: usize) -> Vec<Chart> {
    let axis = ChartAxis::linear("I/Os per second", AxisUnit::IosPerSecond);
    rate(jobs, Quantity::Iops, "iops", "IOPS over time", axis, most_points)
}

/// Bytes per second over time.
pub(super) fn bandwidth(jobs: &[&JobResult], most_points: usize) -> Vec<Chart> {
    let axis = ChartAxis::linear("bandwidth", AxisUnit::BytesPerSecond);
    rate(jobs, Quantity::Bandwidth, "bandwidth", "Bandwidth over time", axis, most_points)
}

pub(super) fn rate(
    jobs: &[&JobResult],
    quantity: Quantity,
    id: &'static str,
    title: &str,
    y: ChartAxis,
    most_points: usize,
) -> Vec<Chart> {
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    for direction in DataDirection::ALL {
        match summed(jobs, quantity, direction, most_points) {
            Ok(series) => {
                if !series.has_means {
                    notes.push(MAXIMA.to_owned());
                }
                lines.push(line(&series));
            }
            Err(NotTogether::Nothing) => {}
            Err(reason) => {
                lines.extend(single_lines(jobs, quantity, direction, most_points));
                notes.push(apart(reason));
            }
        }
    }
    if lines.iter().any(|line| !line.low.is_empty()) {
        notes.push(
            "The line is the mean of each interval, the band reaches from its lowest to its highest value.".to_owned(),
        );
    }
    notes.dedup();
    let chart = Chart {
        id,
        title: title.to_owned(),
        note: notes.join(" "),
        x: ChartAxis::TIME,
        y,
        content: ChartContent::Lines(lines),
    };
    let has_lines = matches!(&chart.content, ChartContent::Lines(lines) if !lines.is_empty());
    let has_something = has_lines || !chart.note.is_empty();
    has_something.then_some(chart).into_iter().collect()
}

/// What a line of maxima is.
pub(super) const MAXIMA: &str =
    "Each value is the highest of its interval (log_window_value=max); the means are unknown.";

/// Why jobs have lines of their own instead of one together.
pub(super) fn apart(reason: NotTogether) -> String {
    let cure = match reason {
        NotTogether::UnknownStart => " Give the report (JSON) with the logs, or log with log_unix_epoch=1.",
        _ => "",
    };
    format!("The jobs are not put together: {reason}. Each has a line of its own, from its own start.{cure}")
}

/// A line for each job, where there are few enough.
fn single_lines(
    jobs: &[&JobResult],
    quantity: Quantity,
    direction: DataDirection,
    most_points: usize,
) -> Vec<ChartLine> {
    let all = of_jobs(jobs, quantity, direction);
    if all.len() > MOST_LINES {
        return Vec::new();
    }
    let of_job = |(rank, (job, series)): (usize, (&JobResult, &TimeSeries))| {
        let line = line(&series.shortened(most_points));
        ChartLine { name: format!("{}: {}", job.name, line.name), colour: colour_of_rank(rank), ..line }
    };
    all.into_iter().enumerate().map(of_job).collect()
}

/// The means of a series, with a band where an interval has several values. Where only maxima are known, these.
pub(crate) fn line(series: &TimeSeries) -> ChartLine {
    let has_band = series.has_means && series.filled().any(|(_, bin)| bin.min < bin.max);
    let name = if series.has_means { series.kind().name().to_owned() } else { format!("{} max", series.kind().name()) };
    let mut line = ChartLine::new(name, colour_of(series.kind(), 0));
    for (_, bin) in series.filled() {
        let value = if series.has_means { bin.mean().unwrap_or_default() } else { bin.max };
        line.y.push(rounded(value));
        if has_band {
            line.low.push(rounded(bin.min));
            line.high.push(rounded(bin.max));
        }
    }
    place(&mut line, series.intervals.all(), &series.intervals.gaps());
    line
}

/// Puts the points of a line into the middles of their intervals.
pub(crate) fn place(line: &mut ChartLine, intervals: &[TimeInterval<TimeBin>], gaps: &[usize]) {
    line.x = intervals.iter().map(|interval| rounded_time(interval.middle_ns())).collect();
    line.breaks = gaps.to_vec();
    line.widths = widths(intervals.iter().map(TimeInterval::length_ns));
}

/// The widths of intervals, seconds; one for all if they hardly differ.
pub(crate) fn widths(lengths_ns: impl Iterator<Item = u64>) -> Vec<f64> {
    let mut widths: Vec<f64> = lengths_ns.map(|length_ns| rounded(length_ns as f64 / NS_PER_SEC)).collect();
    let (least, most) =
        widths.iter().fold((f64::MAX, 0.0_f64), |(least, most), width| (least.min(*width), most.max(*width)));
    if least > most * 0.95 {
        widths.truncate(1);
    }
    widths
}

/// A time in seconds, to the microsecond: of a long run, five digits would not tell its intervals apart.
pub(crate) fn rounded_time(time_ns: u64) -> f64 {
    (time_ns / 1_000) as f64 / 1e6
}
