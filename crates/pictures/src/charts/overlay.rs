//! Several runs on one chart, a line each: rates and latencies over time, and shares of the I/Os by latency.
//!
//! Times count from the start of each run, so that nothing of different runs is put together. Must not know: single jobs. Start reading at
//! [`overlay`].

use super::distribution::sums;
use super::latency::{capitalised, percentile_lines};
use super::rates::{MAXIMA, line};
use super::together::{distribution, pooled, summed};
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, ChartLine, colour_of_rank, rounded};
use ferrio_formats::{JobResult, LatencyKind, NotTogether, Quantity, RunResult};
use ferrio_units::DataDirection;

/// Lines that can be told apart.
const MOST_LINES: usize = 12;
/// The percentile of the latencies over time.
const TAIL: &str = "p99";
/// The word behind the name of a line that is the mean.
const MEAN: &str = "mean";
const UNKNOWN_TAIL: &str = "Where p99 is unknown, the line is the mean.";

/// The lines of a chart, and what a reader has to know about them.
#[derive(Default)]
struct Overlaid {
    lines: Vec<ChartLine>,
    notes: Vec<String>,
}

/// The charts of all runs together.
pub(crate) fn overlay(results: &[RunResult], most_points: usize) -> Vec<Chart> {
    let rate = |quantity, id, title: &str, label, unit| {
        let found = of_runs(results, |jobs, direction| {
            let series = summed(jobs, quantity, direction, most_points)?;
            let note = if series.has_means { String::new() } else { MAXIMA.to_owned() };
            // The bands of several runs would hide each other.
            Ok((ChartLine { low: Vec::new(), high: Vec::new(), ..line(&series) }, note))
        });
        chart(id, title.to_owned(), ChartAxis::TIME, ChartAxis::linear(label, unit), found)
    };
    let mut kind = LatencyKind::Completion;
    let latencies = of_runs(results, |jobs, direction| {
        let (found, series) = pooled(jobs, direction, usize::MAX)?;
        kind = found;
        let tail = percentile_lines(&series, most_points).into_iter().flatten();
        let tail = tail.into_iter().find(|line| line.name.ends_with(TAIL));
        Ok(tail.map_or_else(
            || (ChartLine { name: MEAN.to_owned(), ..line(&series.shortened(most_points)) }, UNKNOWN_TAIL.to_owned()),
            |line| (line, String::new()),
        ))
    });
    let is_mean = |line: &ChartLine| line.name.ends_with(MEAN);
    let what = if latencies.lines.iter().all(is_mean) { "Mean" } else { TAIL };
    let title = format!("{what} of the {} over time", kind.words());
    let over_time = ChartAxis::log("latency", AxisUnit::Nanoseconds);
    let shares = of_runs(results, |jobs, direction| {
        let (_, bins) = distribution(jobs, direction);
        if bins.is_empty() {
            return Err(NotTogether::Nothing);
        }
        let (x, y) = sums(&bins).into_iter().map(|(x, y)| (rounded(x), rounded(y))).unzip();
        Ok((ChartLine { x, y, is_stepped: true, ..ChartLine::new(String::new(), 0) }, String::new()))
    });
    let all = [
        rate(Quantity::Iops, "iops", "IOPS over time", "I/Os per second", AxisUnit::IosPerSecond),
        rate(Quantity::Bandwidth, "bandwidth", "Bandwidth over time", "bandwidth", AxisUnit::BytesPerSecond),
        chart("latency", title, ChartAxis::TIME, over_time, latencies),
        chart(
            "cumulative",
            format!("{}: share of the I/Os that took no longer", capitalised(kind.words())),
            ChartAxis::log("latency", AxisUnit::Nanoseconds),
            ChartAxis::linear("share of the I/Os", AxisUnit::Percent),
            shares,
        ),
    ];
    all.into_iter().flatten().collect()
}

fn chart(id: &'static str, title: String, x: ChartAxis, y: ChartAxis, found: Overlaid) -> Option<Chart> {
    let (mut lines, mut notes) = (found.lines, found.notes);
    if lines.len() > MOST_LINES {
        notes.push(format!("The first {MOST_LINES} of {} lines are drawn.", lines.len()));
        lines.truncate(MOST_LINES);
    }
    notes.retain(|note| !note.is_empty());
    notes.dedup();
    let content = ChartContent::Lines(lines);
    let has_lines = matches!(&content, ChartContent::Lines(lines) if !lines.is_empty());
    has_lines.then(|| Chart { id, title, note: notes.join(" "), x, y, content })
}

/// A line for each run and direction, or why it has none.
fn of_runs(
    results: &[RunResult],
    mut line: impl FnMut(&[&JobResult], DataDirection) -> Result<(ChartLine, String), NotTogether>,
) -> Overlaid {
    let mut all = Overlaid::default();
    for result in results {
        let jobs: Vec<&JobResult> = result.jobs.iter().collect();
        for direction in DataDirection::ALL {
            match line(&jobs, direction) {
                Ok((line, note)) => {
                    let rank = all.lines.len();
                    let mean = if line.name == MEAN { " mean" } else { "" };
                    let name = format!("{}: {}{mean}", result.name, direction.name());
                    all.lines.push(ChartLine { name, colour: colour_of_rank(rank), ..line });
                    all.notes.push(note);
                }
                Err(NotTogether::Nothing) => {}
                Err(reason) => {
                    all.notes.push(format!("{} has no line: its jobs are not put together: {reason}.", result.name));
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{LatencyHeat, TimeBase, TimeSeries};

    const MS: u64 = 1_000_000;

    /// A run of a job with this rate for a second, and 2,000 I/Os of this latency.
    fn run(number: u32, ios_per_sec: f64, latency_ns: u64) -> RunResult {
        let mut rates = TimeSeries::new(Quantity::Iops, DataDirection::Read, 100 * MS);
        (0..10).for_each(|index| rates.add_rate(index * 100 * MS, (index + 1) * 100 * MS, ios_per_sec, 100));
        let mut latencies = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), DataDirection::Read, 100 * MS);
        latencies.add(0, latency_ns as f64, 100);
        let mut heat = LatencyHeat::new(100 * MS);
        heat.add(0, latency_ns, 2000, 100);
        latencies.heat = Some(heat);
        let mut series = vec![rates, latencies];
        for one in &mut series {
            one.base = TimeBase::Run(number);
        }
        let job = JobResult { name: "j".to_owned(), series, ..JobResult::default() };
        RunResult { name: format!("run-{number}"), number, jobs: vec![job], ..RunResult::default() }
    }

    fn lines(chart: &Chart) -> Vec<(&str, f64)> {
        let ChartContent::Lines(lines) = &chart.content else { panic!("no lines") };
        lines.iter().map(|line| (line.name.as_str(), line.y[0])).collect()
    }

    #[test]
    fn each_run_has_a_line_and_nothing_is_added() {
        let charts = overlay(&[run(0, 1000.0, 10), run(1, 3000.0, 60)], 100);
        assert_eq!(charts.iter().map(|chart| chart.id).collect::<Vec<_>>(), ["iops", "latency", "cumulative"]);
        assert_eq!(lines(&charts[0]), [("run-0: read", 1000.0), ("run-1: read", 3000.0)]);
        assert_eq!(lines(&charts[1]), [("run-0: read", 10.0), ("run-1: read", 60.0)]);
        assert_eq!(lines(&charts[2]), [("run-0: read", 100.0), ("run-1: read", 100.0)]);
        let ChartContent::Lines(rates) = &charts[0].content else { panic!("no lines") };
        assert!(rates[0].colour != rates[1].colour && rates[0].x == rates[1].x);
    }

    /// A log of means has no percentile: its line is not called one.
    #[test]
    fn a_line_of_means_says_so() {
        let mut means = run(1, 3000.0, 60);
        means.jobs[0].series[1].heat = None;
        let title = |charts: &[Chart]| charts[1].title.clone();
        let mixed = overlay(&[run(0, 1000.0, 10), means.clone()], 100);
        assert_eq!(lines(&mixed[1]), [("run-0: read", 10.0), ("run-1: read mean", 60.0)]);
        assert_eq!(title(&mixed), "p99 of the completion latency over time");
        let alone = overlay(&[means.clone(), RunResult { name: "other".to_owned(), ..means }], 100);
        assert_eq!(lines(&alone[1]), [("run-1: read mean", 60.0), ("other: read mean", 60.0)]);
        assert_eq!(title(&alone), "Mean of the completion latency over time");
    }

    #[test]
    fn a_run_whose_jobs_have_no_common_clock_is_named() {
        let mut unknown = run(1, 1.0, 1);
        let mut other = unknown.jobs[0].clone();
        other.series.iter_mut().for_each(|series| series.base = TimeBase::Unknown);
        unknown.jobs.push(other);
        let charts = overlay(&[run(0, 1000.0, 10), unknown], 100);
        assert!(charts[0].note.starts_with("run-1 has no line"), "{}", charts[0].note);
        assert_eq!(lines(&charts[0]).len(), 1);
    }
}
