//! The jobs of one or several results, a bar each.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::bars::{JobGroup, kinds, notes, panels};
use super::entries::entries;
use super::spread::BarJobs;
use crate::panel::Picture;
use ferrio_formats::{IoKind, RunResult};

pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    let entries = entries(results);
    let classes: Vec<String> = entries
        .iter()
        .map(|entry| if entry.name.is_empty() { entry.job.name.clone() } else { entry.name.clone() })
        .collect();
    let group = |kind: IoKind| JobGroup {
        name: kind.name().to_owned(),
        kind,
        members: entries.iter().map(|entry| BarJobs { result: entry.result, jobs: vec![entry.job] }).collect(),
    };
    let groups: Vec<JobGroup<'_>> = kinds(&entries.iter().map(|entry| entry.job)).into_iter().map(group).collect();
    let panels = panels(&classes, &groups);
    if panels.is_empty() {
        return Err(PlotError::Lacking("no job has done any I/O: there are no figures to show".to_owned()));
    }
    let notes = notes(&panels);
    Ok(Picture { title: "Figures by job".to_owned(), notes, panels })
}
