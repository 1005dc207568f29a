//! Rates and latencies over time.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::entries::{Entry, entries};
use crate::chart::{AxisUnit, ChartAxis, ChartLine, LineWeight};
use crate::charts::latency::{capitalised, series_lines};
use crate::charts::rates::line;
use crate::panel::{LinePanel, Panel, PanelContent, Picture};
use crate::scale::AxisScale;
use ferrio_formats::{LatencyKind, Quantity, RunResult, TimeBase, TimeSeries, average};
use ferrio_units::DataDirection;

/// Most points of a line: about as many as a picture has pixels in a row.
const MOST_POINTS: usize = 1000;
/// Lines that can be told apart. Of more, single ones are pale, and what they have in common stands out.
const MOST_LINES: usize = 12;
/// Latencies whose highest value is so many times the lowest have a logarithmic axis.
const WIDE: f64 = 20.0;

/// Points of percentiles: each needs many I/Os.
const MOST_PERCENTILES: usize = 200;

/// The quantities in the order of their panels.
const RATES: [Quantity; 3] = [Quantity::Bandwidth, Quantity::Iops, Quantity::Syncs];
/// The latencies, of which the first one that is there has a panel.
const LATENCIES: [LatencyKind; 3] = [LatencyKind::Completion, LatencyKind::Total, LatencyKind::Submission];

pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let entries = entries(results);
    let mut panels: Vec<Panel> = RATES.into_iter().flat_map(|quantity| panels_of(&entries, quantity)).collect();
    let latencies = LATENCIES.map(|kind| panels_of(&entries, Quantity::Latency(kind))).into_iter();
    let latencies: Vec<Vec<Panel>> = latencies.filter(|panels| !panels.is_empty()).collect();
    let n_latencies = latencies.len();
    panels.extend(latencies.into_iter().next().unwrap_or_default());
    panels.extend(panels_of(&entries, Quantity::SyncLatency));
    let Some(first) = panels.first() else {
        return Err(PlotError::Lacking(
            "there are no figures over time: give the logs of write_bw_log, write_iops_log or write_lat_log, or ferrio's lines of JSON (--output-format=jsonl)"
                .to_owned(),
        ));
    };
    let title = if panels.len() == 1 { first.title.clone() } else { "Figures over time".to_owned() };
    let has_one = panels.len() == 1;
    let lines = || {
        panels
            .iter()
            .filter_map(|panel| match &panel.content {
                PanelContent::Lines(panel) => Some(&panel.lines),
                _ => None,
            })
            .flatten()
    };
    let mut notes = Vec::new();
    if lines().any(|line| line.weight == LineWeight::Faint) {
        notes.push("Thin lines: single jobs. Thick lines: the average of the jobs; bands: from the lowest to the highest value of any of them.".to_owned());
    } else if lines().any(|line| !line.low.is_empty()) {
        notes.push("Lines: the average of each interval; bands: from its lowest to its highest value.".to_owned());
    }
    if n_latencies > 1 {
        notes.push("There are other latencies too: a picture of the files of one of them shows it.".to_owned());
    }
    let panels = panels.into_iter().map(|panel| if has_one { Panel { title: String::new(), ..panel } } else { panel });
    Ok(Picture { title, notes, panels: panels.collect() })
}

/// The panels of a quantity; none: no job has it.
fn panels_of(entries: &[Entry<'_>], quantity: Quantity) -> Vec<Panel> {
    let mut found: Vec<(String, &TimeSeries)> = Vec::new();
    for direction in DataDirection::ALL {
        found.extend(entries.iter().flat_map(|entry| series_of(entry, quantity, direction)));
    }
    let start = start_words(&found);
    let of = |words: &str, lines| panel(quantity, words, start, lines);
    // A single job has percentiles, and a panel for each direction.
    let is_alone =
        |series: &TimeSeries| found.iter().filter(|(_, other)| other.direction == series.direction).count() == 1;
    if entries.len() == 1 && !quantity.is_rate() && found.iter().all(|(_, series)| is_alone(series)) {
        let of_direction = |(_, series): &(String, &TimeSeries)| {
            let most = if series.heat.is_some() { MOST_PERCENTILES } else { MOST_POINTS };
            let lines = series_lines(series, most).into_iter().enumerate();
            let lines = lines.map(|(colour, line)| ChartLine { colour, ..line }).collect();
            of(&format!(", {}", series.kind().name()), lines)
        };
        return found.iter().map(of_direction).collect();
    }
    match found.len() {
        0 => Vec::new(),
        1..=MOST_LINES => vec![of("", separate(&found))],
        _ => vec![of("", crowd(&found))],
    }
}

fn start_words(found: &[(String, &TimeSeries)]) -> &'static str {
    let all_of = |is_it: fn(TimeBase) -> bool| found.iter().all(|(_, series)| is_it(series.base));
    if all_of(|base| matches!(base, TimeBase::Run(_))) {
        "time since the start of the run"
    } else if all_of(|base| base == TimeBase::Wall) {
        "time of the clock"
    } else {
        "time since the start of the job"
    }
}

/// The series of a job: of a group of jobs, one for each log, with the name of its file.
fn series_of<'a>(entry: &'a Entry<'_>, quantity: Quantity, direction: DataDirection) -> Vec<(String, &'a TimeSeries)> {
    let is_wanted = |series: &&TimeSeries| {
        series.quantity == quantity && series.direction == direction && !series.intervals.is_empty()
    };
    let all: Vec<&TimeSeries> = entry.job.series.iter().filter(is_wanted).collect();
    let name = |series: &TimeSeries| {
        let kind = series.kind().name();
        let what = if series.has_means { kind.to_owned() } else { format!("{kind} max") };
        match series.source.as_str() {
            file if all.len() > 1 && !file.is_empty() => entry.with(&format!("{file}: {what}")),
            _ => entry.with(&what),
        }
    };
    all.iter().map(|series| (name(series), *series)).collect()
}

fn panel(quantity: Quantity, words: &str, start: &'static str, lines: Vec<ChartLine>) -> Panel {
    let (name, unit) = match quantity {
        Quantity::Bandwidth => ("bandwidth", AxisUnit::BytesPerSecond),
        Quantity::Iops => ("I/Os per second", AxisUnit::IosPerSecond),
        Quantity::Latency(kind) => (kind.words(), AxisUnit::Nanoseconds),
        Quantity::Syncs => ("syncs per second", AxisUnit::IosPerSecond),
        Quantity::SyncLatency => ("latency of syncs", AxisUnit::Nanoseconds),
    };
    let title = if quantity == Quantity::Iops { "IOPS".to_owned() } else { capitalised(name) };
    let scale = if unit == AxisUnit::Nanoseconds && is_wide(&lines) { AxisScale::Log } else { AxisScale::Linear };
    let x = ChartAxis::new(start, AxisUnit::Seconds, AxisScale::Linear);
    let content = LinePanel { x, y: ChartAxis::new(name, unit, scale), lines };
    Panel { title: format!("{title} over time{words}"), content: PanelContent::Lines(content) }
}

fn is_wide(lines: &[ChartLine]) -> bool {
    let values = lines.iter().flat_map(|line| line.y.iter().chain(&line.low).chain(&line.high).copied());
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    high > low * WIDE
}

/// A line for each job and direction.
fn separate(found: &[(String, &TimeSeries)]) -> Vec<ChartLine> {
    let lines = found.iter().enumerate();
    let line = |(colour, (name, series)): (usize, &(String, &TimeSeries))| ChartLine {
        name: name.clone(),
        colour,
        ..line(&series.shortened(MOST_POINTS))
    };
    lines.map(line).collect()
}

/// Pale lines of all jobs, and above them for each direction their average and the band of all their values.
fn crowd(found: &[(String, &TimeSeries)]) -> Vec<ChartLine> {
    let mut lines = Vec::new();
    for direction in DataDirection::ALL {
        let of_direction: Vec<&TimeSeries> =
            found.iter().filter(|(_, series)| series.direction == direction).map(|(_, series)| *series).collect();
        let (n_jobs, look) = (of_direction.len(), direction.index());
        for series in &of_direction {
            lines.push(ChartLine {
                name: String::new(),
                colour: look,
                weight: LineWeight::Faint,
                low: Vec::new(),
                high: Vec::new(),
                ..line(&series.shortened(MOST_POINTS))
            });
        }
        if let Some(series) = average_of(&of_direction) {
            let name = format!("{}, average of {n_jobs} jobs", series.kind().name());
            // The band is that of all jobs, also where an interval has one value.
            let (low, high) = series.filled().map(|(_, bin)| (bin.min, bin.max)).unzip();
            lines.push(ChartLine { name, colour: look, weight: LineWeight::Bold, low, high, ..line(&series) });
        }
    }
    // Averages lie above all single lines.
    lines.sort_by_key(|line| line.weight == LineWeight::Bold);
    lines
}

/// The average of several jobs. Where nobody knows when they began, it is that of equal times since the start of each, as the axis says.
fn average_of(all: &[&TimeSeries]) -> Option<TimeSeries> {
    if let Ok(series) = average(all, MOST_POINTS) {
        return Some(series);
    }
    let from_start =
        |series: &&TimeSeries| TimeSeries { base: TimeBase::Start { run: 0, together: 0 }, ..(*series).clone() };
    let all: Vec<TimeSeries> = all.iter().map(from_start).collect();
    average(&all.iter().collect::<Vec<_>>(), MOST_POINTS).ok()
}
