//! Rates and latencies over time.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::entries::{Entry, entries};
use super::panel::{AxisScale, LinePanel, LineWeight, Panel, PanelContent, Picture, PlotAxis, PlotLine};
use crate::chart::{AxisUnit, ChartLine};
use crate::charts::latency::{capitalised, percentile_lines};
use crate::charts::rates::line;
use crate::charts::together::shortened;
use ferrio_results::{LatencyKind, Quantity, RunResult, TimeBin, TimeSeries};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// Most points of a line: about as many as a picture has pixels in a row.
const MOST_POINTS: usize = 1000;
/// Lines that can be told apart. Of more, single ones are pale, and what they have in common stands out.
const MOST_LINES: usize = 12;
/// Bands that can be told apart.
const MOST_BANDS: usize = 4;
/// Latencies whose highest value is so many times the lowest have a logarithmic axis.
const WIDE: f64 = 20.0;

/// Points of percentiles: each needs many I/Os.
const MOST_PERCENTILES: usize = 200;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_SEC: f64 = 1e9;

/// The quantities in the order of their panels.
const RATES: [Quantity; 2] = [Quantity::Bandwidth, Quantity::Iops];
/// The latencies, of which the first one that is there has a panel.
const LATENCIES: [LatencyKind; 3] = [LatencyKind::Completion, LatencyKind::Total, LatencyKind::Submission];

/// The picture.
pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let entries = entries(results);
    let mut panels: Vec<Panel> = RATES.into_iter().flat_map(|quantity| panels_of(&entries, quantity)).collect();
    let latencies = LATENCIES.map(|kind| panels_of(&entries, Quantity::Latency(kind))).into_iter();
    let latencies: Vec<Vec<Panel>> = latencies.filter(|panels| !panels.is_empty()).collect();
    let n_latencies = latencies.len();
    panels.extend(latencies.into_iter().next().unwrap_or_default());
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
    } else if lines().any(|line| !line.band.is_empty()) {
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
    let mut found: Vec<(String, TimeSeries)> = Vec::new();
    for direction in DataDirection::ALL {
        for (name, series) in entries.iter().flat_map(|entry| series_of(entry, quantity, direction)) {
            found.push((name, shortened(series, MOST_POINTS)));
        }
    }
    // A single job has percentiles, and a panel for each direction.
    let is_alone =
        |series: &TimeSeries| found.iter().filter(|(_, other)| other.direction == series.direction).count() == 1;
    if entries.len() == 1 && found.iter().all(|(_, series)| series.heat.is_some() && is_alone(series)) {
        let of_direction = |(_, series): &(String, TimeSeries)| {
            let lines =
                percentile_lines(&shortened(series, MOST_PERCENTILES), MOST_PERCENTILES)?.into_iter().enumerate();
            let lines = lines.map(|(look, line)| plot_line(line.name.clone(), line, look, false)).collect();
            Some(panel(quantity, &format!(", {}", series.direction.name()), lines))
        };
        return found.iter().filter_map(of_direction).collect();
    }
    match found.len() {
        0 => Vec::new(),
        1..=MOST_LINES => vec![panel(quantity, "", separate(&found))],
        _ => vec![panel(quantity, "", crowd(&found))],
    }
}

/// The series of a job: of a group of jobs, one for each log.
fn series_of<'a>(entry: &'a Entry<'_>, quantity: Quantity, direction: DataDirection) -> Vec<(String, &'a TimeSeries)> {
    let is_wanted =
        |series: &&TimeSeries| series.quantity == quantity && series.direction == direction && !series.bins.is_empty();
    let all: Vec<&TimeSeries> = entry.job.series.iter().filter(is_wanted).collect();
    let number = |index: usize| {
        if all.len() > 1 { format!("{} #{}", direction.name(), index + 1) } else { direction.name().to_owned() }
    };
    all.iter().enumerate().map(|(index, series)| (entry.with(&number(index)), *series)).collect()
}

fn panel(quantity: Quantity, words: &str, lines: Vec<PlotLine>) -> Panel {
    let (name, unit) = match quantity {
        Quantity::Bandwidth => ("bandwidth", AxisUnit::BytesPerSecond),
        Quantity::Iops => ("I/Os per second", AxisUnit::IosPerSecond),
        Quantity::Latency(kind) => (kind.words(), AxisUnit::Nanoseconds),
    };
    let title = if quantity == Quantity::Iops { "IOPS".to_owned() } else { capitalised(name) };
    let scale = if unit == AxisUnit::Nanoseconds && is_wide(&lines) { AxisScale::Log } else { AxisScale::Linear };
    let x = PlotAxis::new("time since the start of the job", AxisUnit::Seconds, AxisScale::Linear);
    let content = LinePanel { x, y: PlotAxis::new(name, unit, scale), lines };
    Panel { title: format!("{title} over time{words}"), content: PanelContent::Lines(content) }
}

fn is_wide(lines: &[PlotLine]) -> bool {
    let values = lines.iter().flat_map(|line| {
        line.points.iter().map(|(_, value)| *value).chain(line.band.iter().flat_map(|(low, high)| [*low, *high]))
    });
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    high > low * WIDE
}

/// A line for each job and direction.
fn separate(found: &[(String, TimeSeries)]) -> Vec<PlotLine> {
    let has_bands = found.len() <= MOST_BANDS;
    let lines = found.iter().enumerate();
    lines.map(|(look, (name, series))| plot_line(name.clone(), line(series), look, has_bands)).collect()
}

fn plot_line(name: String, line: ChartLine, look: usize, has_band: bool) -> PlotLine {
    let band = if has_band { line.low.into_iter().zip(line.high).collect() } else { Vec::new() };
    let points = line.x.into_iter().zip(line.y).collect();
    PlotLine { name, look, points, band, ..PlotLine::default() }
}

/// Pale lines of all jobs, and above them for each direction their average and the band of all their values.
fn crowd(found: &[(String, TimeSeries)]) -> Vec<PlotLine> {
    let mut lines = Vec::new();
    for direction in DataDirection::ALL {
        let of_direction = || found.iter().filter(|(_, series)| series.direction == direction);
        let (n_jobs, look) = (of_direction().count(), direction.index());
        if n_jobs == 0 {
            continue;
        }
        for (_, series) in of_direction() {
            let pale = plot_line(String::new(), line(series), look, false);
            lines.push(PlotLine { weight: LineWeight::Faint, ..pale });
        }
        let (points, band) = average(of_direction().map(|(_, series)| series));
        let name = format!("{}, average of {n_jobs} jobs", direction.name());
        lines.push(PlotLine { name, look, weight: LineWeight::Bold, points, band, is_stepped: false });
    }
    // Averages lie above all single lines.
    lines.sort_by_key(|line| line.weight == LineWeight::Bold);
    lines
}

/// Pairs of numbers: points, or edges of a band.
type Pairs = Vec<(f64, f64)>;

/// The average of several series, and the lowest and highest value of any. Logs of jobs differ by milliseconds: values within the
/// usual distance of two values of a job belong together.
fn average<'a>(all: impl Iterator<Item = &'a TimeSeries> + Clone) -> (Pairs, Pairs) {
    let distance = |series: &TimeSeries| {
        let (first_ns, last_ns) = (series.filled().next()?.0, series.filled().last()?.0);
        (last_ns - first_ns).checked_div(series.filled().count() as u64 - 1)
    };
    let mut distances: Vec<u64> = all.clone().filter_map(distance).collect();
    distances.sort_unstable();
    let distance_ns = distances.get(distances.len() / 2).copied().unwrap_or(NS_PER_MS).max(NS_PER_MS);
    let mut bins: BTreeMap<u64, TimeBin> = BTreeMap::new();
    for (middle_ns, bin) in all.flat_map(TimeSeries::filled) {
        bins.entry(middle_ns.saturating_add(distance_ns / 2) / distance_ns).or_default().merge(bin);
    }
    let of_bin = |(number, bin): (u64, TimeBin)| {
        ((number as f64 * distance_ns as f64 / NS_PER_SEC, bin.mean().unwrap_or_default()), (bin.min, bin.max))
    };
    bins.into_iter().map(of_bin).unzip()
}
