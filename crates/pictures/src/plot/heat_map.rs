//! A table of iodepth and numjobs: in each cell the figure of the runs with these two options.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::bars::kinds;
use super::entries::result_name;
use super::spread::{BarFigure, BarJobs, spread};
use crate::charts::latency::capitalised;
use crate::panel::{GridPanel, Panel, PanelContent, Picture};
use crate::scale::AxisScale;
use ferrio_formats::{IoKind, JobResult, RunResult};
use std::collections::{BTreeMap, BTreeSet};

/// Options that may differ besides the two: they do not make a run another one.
const NAMES: [&str; 4] = ["name", "filename", "directory", "description"];
/// Most rows and columns.
const MOST_VALUES: usize = 64;

/// The place of a cell: iodepth and numjobs.
type CellPlace = (u64, u64);

/// True if the results are a series in which both options vary.
pub(super) fn fits(results: &[RunResult]) -> bool {
    let Ok(cells) = cells(results) else { return false };
    let depths: BTreeSet<u64> = cells.keys().map(|(depth, _)| *depth).collect();
    let numbers: BTreeSet<u64> = cells.keys().map(|(_, number)| *number).collect();
    // A table of which half is empty is none.
    depths.len() > 1 && numbers.len() > 1 && cells.len() * 2 > depths.len() * numbers.len()
}

pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let cells = cells(results)?;
    if cells.len() < 2 {
        return Err(PlotError::Lacking(
            "a heat map needs results of several runs that differ in iodepth or numjobs: here all have the same"
                .to_owned(),
        ));
    }
    let depths: Vec<u64> = cells.keys().map(|(depth, _)| *depth).collect::<BTreeSet<_>>().into_iter().collect();
    let numbers: Vec<u64> = cells.keys().map(|(_, number)| *number).collect::<BTreeSet<_>>().into_iter().collect();
    if depths.len().max(numbers.len()) > MOST_VALUES {
        return Err(PlotError::Lacking(format!(
            "a heat map has at most {MOST_VALUES} values of iodepth and of numjobs"
        )));
    }
    let kinds = kinds(&cells.values().flat_map(|cell| cell.jobs.iter().copied()));
    let mut panels = Vec::new();
    for figure in BarFigure::ALL.into_iter().filter(|figure| figure.is_usual()) {
        for kind in &kinds {
            panels.extend(panel(&cells, (&depths, &numbers), figure, *kind, kinds.len() > 1));
        }
    }
    if panels.is_empty() {
        return Err(PlotError::Lacking("no job has done any I/O: there are no figures to show".to_owned()));
    }
    let notes =
        vec!["Rates are those of all jobs of a run together; latencies are averages of all their I/Os.".to_owned()];
    Ok(Picture { title: "iodepth and numjobs".to_owned(), notes, panels })
}

fn panel(
    cells: &BTreeMap<CellPlace, BarJobs<'_>>,
    (depths, numbers): (&[u64], &[u64]),
    figure: BarFigure,
    kind: IoKind,
    has_name: bool,
) -> Option<Panel> {
    let value = |place| spread(cells.get(&place)?, kind, figure).map(|spread| spread.mean);
    let row = |number: &u64| depths.iter().map(|depth| value((*depth, *number))).collect::<Vec<_>>();
    let rows: Vec<Vec<Option<f64>>> = numbers.iter().map(row).collect();
    rows.iter().flatten().any(Option::is_some).then_some(())?;
    let name = match figure {
        BarFigure::LATENCY => "Average latency".to_owned(),
        BarFigure::IOPS => figure.label(),
        _ => capitalised(&figure.label()),
    };
    let title = if has_name { format!("{name}, {}", kind.name()) } else { name };
    let content = GridPanel {
        x_label: "iodepth".to_owned(),
        y_label: "numjobs".to_owned(),
        columns: depths.iter().map(u64::to_string).collect(),
        rows: numbers.iter().map(u64::to_string).collect(),
        cells: rows,
        unit: figure.unit(),
        shades: AxisScale::Linear,
        doubtful: Vec::new(),
    };
    Some(Panel { title, content: PanelContent::Grid(content) })
}

/// The jobs by their iodepth and numjobs.
fn cells(results: &[RunResult]) -> Result<BTreeMap<CellPlace, BarJobs<'_>>, PlotError> {
    let mut cells: BTreeMap<CellPlace, BarJobs<'_>> = BTreeMap::new();
    for result in results {
        for job in &result.jobs {
            let place = (number(result, job, "iodepth")?, number(result, job, "numjobs")?);
            let cell = cells.entry(place).or_insert_with(|| BarJobs { result, jobs: Vec::new() });
            // Clones of a job and jobs of one run belong together.
            if !std::ptr::eq(cell.result, result) || cell.jobs.first().is_some_and(|first| first.name != job.name) {
                return Err(twice(place, (cell.result, cell.jobs.first().copied().unwrap_or(job)), (result, job)));
            }
            cell.jobs.push(job);
        }
    }
    Ok(cells)
}

/// The error of two runs for one cell.
fn twice(
    (depth, number): CellPlace,
    (first, first_job): (&RunResult, &JobResult),
    (second, second_job): (&RunResult, &JobResult),
) -> PlotError {
    let options = |result: &RunResult, job: &JobResult| {
        let all = result.global_options.iter().chain(&job.options).cloned().collect::<BTreeMap<String, String>>();
        all.into_iter().filter(|(name, _)| !NAMES.contains(&name.as_str())).collect::<BTreeSet<_>>()
    };
    let (one, other) = (options(first, first_job), options(second, second_job));
    let differing: BTreeSet<&str> = one.symmetric_difference(&other).map(|(name, _)| name.as_str()).collect();
    let differing: Vec<&str> = differing.into_iter().collect();
    let why = if differing.is_empty() {
        "give one result for each".to_owned()
    } else {
        format!("they differ in {}: draw a heat map for each value", differing.join(", "))
    };
    let name = |result: &RunResult, job: &JobResult| format!("{} (job {})", result_name(result), job.name);
    PlotError::Lacking(format!(
        "a heat map has one run for each iodepth and numjobs, and {} and {} both have iodepth={depth} and numjobs={number}; {why}",
        name(first, first_job),
        name(second, second_job)
    ))
}

/// A whole number of the job's options or of the global ones; 1 is the default of both options.
fn number(result: &RunResult, job: &JobResult, name: &str) -> Result<u64, PlotError> {
    let options = job.options.iter().rev().chain(result.global_options.iter().rev());
    let text = options.into_iter().find(|(option, _)| option == name).map_or("1", |(_, value)| value.as_str());
    text.trim().parse().map_err(|_| {
        PlotError::Lacking(format!(
            "{}: {name} of job {} is {text:?}, and a whole number is expected",
            result.name, job.name
        ))
    })
}
