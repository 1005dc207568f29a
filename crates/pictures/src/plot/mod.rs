//! Results as files of pictures, SVG and PNG: one file a kind of picture, one table of them.
//!
//! Must not know: how results are read, where files are written. Start reading at [`KINDS`], then [`picture_file`].

mod bars;
mod by_job;
mod compare;
mod entries;
mod heat_map;
mod histogram;
mod over_time;
mod percentiles;
mod size;
mod spread;

pub use crate::panel::Picture;
pub use size::PictureSize;

use crate::chart::AxisUnit;
use crate::panel::{Panel, PanelContent};
use ferrio_formats::RunResult;

pub struct PlotKind {
    pub name: &'static str,
    /// What it shows, in a few words.
    pub summary: &'static str,
    make: fn(&[RunResult]) -> Result<Picture, PlotError>,
}

pub const KINDS: &[PlotKind] = &[
    PlotKind { name: "over-time", summary: "IOPS, bandwidth and latency over time", make: over_time::picture },
    PlotKind { name: "by-job", summary: "average, lowest and highest of each job", make: by_job::picture },
    PlotKind { name: "compare", summary: "several results side by side", make: compare::picture },
    PlotKind { name: "heat-map", summary: "a table of iodepth and numjobs", make: heat_map::picture },
    PlotKind { name: "histogram", summary: "how many I/Os took how long", make: histogram::picture },
    PlotKind { name: "percentiles", summary: "latency by percentile", make: percentiles::picture },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlotError {
    /// The results do not have the figures of this kind of picture: a sentence that says what is missing.
    #[error("{0}")]
    Lacking(String),
    /// The size is too small for the words.
    #[error(
        "for what it shows, the picture has to be at least {least} pixels high: give --size a greater height, or leave it away"
    )]
    TooSmall {
        /// The least height, pixels.
        least: u32,
    },
    #[error("the picture would be more than {} pixels high: give fewer jobs or results", PictureSize::MOST)]
    TooMuch,
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
}

/// The kind of picture that fits some results best.
pub fn fitting(results: &[RunResult]) -> &'static PlotKind {
    let jobs = || results.iter().flat_map(|result| &result.jobs);
    let has_figures = jobs().any(|job| job.active().next().is_some());
    let has_series = jobs().any(|job| !job.series.is_empty());
    let name = match results {
        _ if !has_figures => {
            if has_series {
                "over-time"
            } else {
                "by-job"
            }
        }
        _ if heat_map::fits(results) => "heat-map",
        [_, _, ..] => "compare",
        _ if has_series => "over-time",
        [result] if result.jobs.len() > 1 => "by-job",
        _ => "percentiles",
    };
    KINDS.iter().find(|kind| kind.name == name).unwrap_or(&KINDS[0])
}

/// The picture of some results.
///
/// # Errors
/// The results do not have what this kind of picture needs.
pub fn picture(kind: &PlotKind, results: &[RunResult], title: Option<&str>) -> Result<Picture, PlotError> {
    let mut picture = (kind.make)(results)?;
    if let Some(title) = title {
        title.clone_into(&mut picture.title);
    }
    picture.notes.extend(units(&picture));
    picture.notes.extend(sources(results));
    Ok(picture)
}

/// The file of a picture; without a size, the picture has that of its content.
///
/// # Errors
/// The size is too small for the content.
pub fn picture_file(picture: &Picture, size: Option<PictureSize>, format: PictureFormat) -> Result<Vec<u8>, PlotError> {
    crate::draw::file(picture, size, format)
}

/// The programs that have measured, and what a reader has to know about the results.
fn sources(results: &[RunResult]) -> Vec<String> {
    const MOST_REMARKS: usize = 3;
    let mut programs: Vec<&str> = results.iter().map(|result| result.program.as_str()).collect();
    programs.sort_unstable();
    programs.dedup();
    programs.retain(|program| !program.is_empty());
    let measured = (!programs.is_empty()).then(|| format!("Measured by {}.", programs.join(", ")));
    let mut remarks: Vec<String> = results.iter().flat_map(|result| &result.remarks).cloned().collect();
    remarks.dedup();
    remarks.truncate(MOST_REMARKS);
    let origins = results.iter().filter_map(|result| origin(result, results.len() > 1)).take(MOST_ORIGINS);
    remarks.into_iter().chain(origins).chain(measured).collect()
}

/// Most results whose workload is written below a picture.
const MOST_ORIGINS: usize = 6;
/// Options that say what a job does.
const OF_WORKLOAD: [&str; 10] =
    ["rw", "readwrite", "bs", "blocksize", "iodepth", "numjobs", "ioengine", "direct", "rate_iops", "rwmixread"];

/// Workload, host and date of a result; `None`: it tells none of them.
fn origin(result: &RunResult, has_name: bool) -> Option<String> {
    let first = result.jobs.first();
    let told = OF_WORKLOAD.into_iter().filter_map(|name| {
        let value = first.and_then(|job| job.option(&result.global_options, name))?;
        Some(format!("{name}={value}"))
    });
    let workload = told.collect::<Vec<_>>().join(" ");
    let others = match result.jobs.len() {
        n_jobs @ 2.. if !workload.is_empty() => format!(" (the first of {n_jobs} jobs)"),
        _ => String::new(),
    };
    let mut parts = vec![workload + &others];
    parts.extend(result.provenance.as_ref().map(|provenance| format!("host {}", provenance.host_name)));
    let time = result.timestamp_ms.and_then(|ms| i64::try_from(ms).ok());
    let time = time.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    parts.extend(time.map(|time| format!("{} UTC", time.strftime("%Y-%m-%d %H:%M"))));
    parts.retain(|part| !part.is_empty() && part != "host ");
    let name = if has_name { format!("{}: ", entries::result_name(result)) } else { String::new() };
    (!parts.is_empty()).then(|| format!("{name}{}.", parts.join(", ")))
}

fn units(picture: &Picture) -> Option<String> {
    let has_bytes = |panel: &Panel| match &panel.content {
        PanelContent::Lines(lines) => lines.y.unit == AxisUnit::BytesPerSecond,
        PanelContent::Bars(bars) => bars.value.unit == AxisUnit::BytesPerSecond,
        PanelContent::Grid(grid) => grid.unit == AxisUnit::BytesPerSecond,
    };
    let words = "kB, MB and GB are 1,000, 1,000,000 and 1,000,000,000 bytes.";
    picture.panels.iter().any(has_bytes).then(|| words.to_owned())
}

#[cfg(test)]
mod tests;
