//! The hosts of a run on several, side by side: what each did over time, and how long its I/Os took.
//!
//! Must not know: other charts. Start reading at [`over_time`] and [`percentiles`].

use super::rates::rounded_time;
use super::together::summed;
use crate::chart::{AxisUnit, Chart, ChartAxis, ChartContent, HeatMap, ShadedTable, rounded};
use crate::scale::AxisScale;
use ferrio_formats::{HostResult, IoKind, JobResult, LatencyFigures, NotTogether, Quantity, RunResult, TimeSeries};
use ferrio_units::DataDirection;

/// Most columns of time.
const MOST_COLUMNS: u64 = 120;
/// Least part of a column's time in which a host was measured.
const LEAST_PART: f64 = 0.2;
/// Columns of the table of latencies.
const PERCENTS: [f64; 10] = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// All charts of hosts for some jobs of a run; none: the run was one of a single host.
pub(crate) fn charts(run: &RunResult, jobs: &[&JobResult]) -> Vec<Chart> {
    if run.hosts.is_empty() {
        return Vec::new();
    }
    let hosts: Vec<(&HostResult, Vec<&JobResult>)> =
        run.hosts.iter().map(|host| (host, of_host(run, jobs, &host.result))).collect();
    over_time(&hosts).into_iter().chain(percentiles(run, jobs, &hosts)).collect()
}

/// The same jobs on a host: those of a name have the same order everywhere.
fn of_host<'a>(run: &RunResult, jobs: &[&JobResult], host: &'a RunResult) -> Vec<&'a JobResult> {
    let same = |job: &&JobResult| {
        let mut of_name = run.jobs.iter().filter(|one| one.name == job.name);
        let place = of_name.position(|one| std::ptr::eq(one, *job))?;
        host.jobs.iter().filter(|one| one.name == job.name).nth(place)
    };
    jobs.iter().filter_map(same).collect()
}

/// What a host did at a time: start and end on the clock of the first host, and the rate.
type HostSpan = (u64, u64, f64);

/// I/Os a second of each host over time, the first host on top.
fn over_time(hosts: &[(&HostResult, Vec<&JobResult>)]) -> Option<Chart> {
    let spans: Vec<Vec<HostSpan>> = hosts.iter().map(|(host, jobs)| spans(host, jobs)).collect();
    let all = || spans.iter().flatten();
    let (first_ns, end_ns) = (all().map(|span| span.0).min()?, all().map(|span| span.1).max()?);
    let usual_ns = median(all().map(|span| span.1 - span.0).collect()).max(1);
    let mut column_ns = usual_ns;
    while (end_ns - first_ns).div_ceil(column_ns) > MOST_COLUMNS {
        column_ns = column_ns.saturating_mul(2);
    }
    let n_columns = (end_ns - first_ns).div_ceil(column_ns);
    let edges: Vec<(u64, u64)> =
        (0..n_columns).map(|index| (first_ns + index * column_ns, first_ns + (index + 1) * column_ns)).collect();
    let mut cells = Vec::new();
    for (column, (start_ns, end_ns)) in edges.iter().enumerate() {
        for (row, spans) in spans.iter().rev().enumerate() {
            if let Some(rate) = rate_in(spans, *start_ns, *end_ns) {
                cells.push((column, row, rate.round() as u64));
            }
        }
    }
    let name = |(host, _): &(&HostResult, Vec<&JobResult>)| match host.lost {
        Some(_) => format!("{} (lost)", host.name),
        None => host.name.clone(),
    };
    let heat = HeatMap {
        columns: edges.iter().map(|(start_ns, end_ns)| (rounded_time(*start_ns), rounded_time(*end_ns))).collect(),
        edges: (0..=hosts.len()).map(|index| index as f64).collect(),
        rows: hosts.iter().rev().map(name).collect(),
        cells,
        counted: "I/Os a second",
        meaning: "more I/Os a second the host did; where there is none, nothing was measured",
        shades: AxisScale::Linear,
    };
    Some(Chart {
        id: "hosts",
        title: "I/Os a second of each host, over time".to_owned(),
        note: String::new(),
        x: ChartAxis::TIME,
        y: ChartAxis::linear("host", AxisUnit::Count),
        content: ChartContent::Heat(heat),
    })
}

fn median(mut values: Vec<u64>) -> u64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

/// What some jobs of a host did, in all directions.
fn spans(host: &HostResult, jobs: &[&JobResult]) -> Vec<HostSpan> {
    let later_ns = host.start_ns.unwrap_or_default();
    let of_series = |series: TimeSeries| {
        let spans = series.intervals.all().iter().map(|interval| {
            let rate = interval.figures.mean().unwrap_or_default();
            (interval.start_ns.saturating_add(later_ns), interval.end_ns.saturating_add(later_ns), rate)
        });
        spans.collect::<Vec<HostSpan>>()
    };
    let of_direction =
        |direction| -> Result<TimeSeries, NotTogether> { summed(jobs, Quantity::Iops, direction, usize::MAX) };
    DataDirection::ALL.into_iter().filter_map(|direction| of_direction(direction).ok()).flat_map(of_series).collect()
}

/// The rate within a time: I/Os in the part of it in which the host was measured; `None`: that part is too small.
fn rate_in(spans: &[HostSpan], start_ns: u64, end_ns: u64) -> Option<f64> {
    let within = |(from, to, rate): &HostSpan| (*from.max(&start_ns), *to.min(&end_ns), *rate);
    let mut parts: Vec<HostSpan> = spans.iter().map(within).filter(|(from, to, _)| from < to).collect();
    parts.sort_by_key(|(from, ..)| *from);
    let (mut measured_ns, mut until_ns, mut n_ios) = (0, start_ns, 0.0);
    for (from, to, rate) in parts {
        // Directions run at the same time.
        measured_ns += to.max(until_ns) - from.max(until_ns);
        until_ns = until_ns.max(to);
        n_ios += rate * (to - from) as f64;
    }
    (measured_ns as f64 >= LEAST_PART * (end_ns - start_ns) as f64).then(|| n_ios / measured_ns as f64)
}

/// Latencies of each host: a table for each kind of I/O, that with the most I/Os first.
fn percentiles(run: &RunResult, jobs: &[&JobResult], hosts: &[(&HostResult, Vec<&JobResult>)]) -> Vec<Chart> {
    let mut found: Vec<(u64, IoKind, ShadedTable)> =
        IoKind::ALL.into_iter().filter_map(|kind| table(run, jobs, hosts, kind)).collect();
    found.sort_by_key(|(n_ios, ..)| std::cmp::Reverse(*n_ios));
    let chart = |(_, kind, table): (u64, IoKind, ShadedTable)| Chart {
        id: id_of(kind),
        title: format!("Latency of each {}, by host", kind.name()),
        note:
            "Percentiles of the I/Os of each host. The shade of a cell is its place between the lowest and the highest \
               host of its column; where they hardly differ, all stay pale."
                .to_owned(),
        x: ChartAxis::linear("host", AxisUnit::Count),
        y: ChartAxis::log("latency", AxisUnit::Nanoseconds),
        content: ChartContent::Shades(table),
    };
    found.into_iter().map(chart).collect()
}

fn id_of(kind: IoKind) -> &'static str {
    match kind {
        IoKind::Read => "hosts-read",
        IoKind::Write => "hosts-write",
        IoKind::Trim => "hosts-trim",
        IoKind::Sync => "hosts-sync",
    }
}

/// Number of I/Os of a kind, and their latencies by host; `None`: there were none, or latencies were not measured.
fn table(
    run: &RunResult,
    jobs: &[&JobResult],
    hosts: &[(&HostResult, Vec<&JobResult>)],
    kind: IoKind,
) -> Option<(u64, IoKind, ShadedTable)> {
    let all = run.figures_together(jobs, kind).ok()??;
    let (_, latency) = all.latency()?;
    let mut rows = vec![("all hosts".to_owned(), values(Some(latency)))];
    for (host, jobs) in hosts {
        let own = host.result.figures_together(jobs, kind).ok().flatten();
        rows.push((host.name.clone(), values(own.as_ref().and_then(|own| own.latency()).map(|(_, latency)| latency))));
    }
    let columns = PERCENTS.iter().map(|percent| format!("p{percent}")).chain(["max".to_owned()]).collect();
    Some((all.n_ios, kind, ShadedTable { columns, rows }))
}

fn values(latency: Option<&LatencyFigures>) -> Vec<Option<f64>> {
    let percentile = |percent: &f64| Some(rounded(latency?.percentile(*percent)?.latency_ns as f64));
    let max = latency.filter(|latency| latency.n_samples > 0).map(|latency| rounded(latency.max_ns as f64));
    PERCENTS.iter().map(percentile).chain([max]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn host(name: &str, start_ns: u64, rates: &[f64]) -> HostResult {
        let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Read, SECOND);
        series.base = ferrio_formats::TimeBase::Run(0);
        for (index, rate) in (0..).zip(rates) {
            series.add_rate(index * SECOND, (index + 1) * SECOND, *rate, usize::MAX);
        }
        let job = JobResult { name: "r".to_owned(), series: vec![series], ..JobResult::default() };
        let result = RunResult { name: name.to_owned(), jobs: vec![job], ..RunResult::default() };
        HostResult { name: name.to_owned(), start_ns: Some(start_ns), result, ..HostResult::default() }
    }

    #[test]
    fn each_host_has_a_row_on_one_clock() {
        let job = JobResult { name: "r".to_owned(), ..JobResult::default() };
        let lost = HostResult { lost: Some("gone".to_owned()), ..host("b", SECOND, &[30.0]) };
        let hosts = vec![host("a", 0, &[10.0, 20.0, 0.0]), lost];
        let run = RunResult { jobs: vec![job], hosts, ..RunResult::default() };
        let jobs: Vec<&JobResult> = run.jobs.iter().collect();
        let charts = charts(&run, &jobs);
        let [Chart { content: ChartContent::Heat(heat), .. }] = &charts[..] else { panic!("{charts:?}") };
        assert_eq!(heat.rows, ["b (lost)", "a"]);
        // A host without I/Os is not one of which nothing is known.
        assert_eq!(heat.cells, [(0, 1, 10), (1, 0, 30), (1, 1, 20), (2, 1, 0)]);
        assert_eq!(heat.columns.len(), 3);
        let one = RunResult { hosts: Vec::new(), ..run.clone() };
        assert!(super::charts(&one, &one.jobs.iter().collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn parts_of_a_column_are_not_counted_twice() {
        let spans = [(0, 50, 100.0), (0, 50, 10.0), (50, 80, 30.0)];
        let rate = rate_in(&spans, 0, 100).expect("a rate");
        assert!((rate - (50.0 * 110.0 + 30.0 * 30.0) / 80.0).abs() < 1e-9, "{rate}");
        assert_eq!(rate_in(&spans, 70, 200), None);
    }
}
