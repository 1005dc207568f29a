//! Several results side by side.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::bars::{JobGroup, directions, notes, panels};
use super::entries::result_name;
use super::panel::Picture;
use ferrio_results::{JobResult, RunResult};
use std::collections::BTreeSet;

/// Results that can be told apart by colours; of more, each has rows of its own.
const MOST_COLOURS: usize = 7;

/// The picture.
pub(super) fn picture(results: &[RunResult]) -> Result<Picture, PlotError> {
    if results.len() < 2 {
        return Err(PlotError::Lacking(
            "a comparison needs at least two results: give more files, or use --kind by-job".to_owned(),
        ));
    }
    let (classes, groups) = if has_same_jobs(results) { by_job(results) } else { by_result(results) };
    let panels = panels(&classes, &groups);
    if panels.is_empty() {
        return Err(PlotError::Lacking("no job has done any I/O: there are no figures to compare".to_owned()));
    }
    let mut notes = notes(&panels);
    if groups.iter().any(|group| group.members.iter().any(|jobs| jobs.len() > 1)) {
        notes.push("Where several jobs are one bar, their rates are added up.".to_owned());
    }
    Ok(Picture { title: "Comparison of results".to_owned(), notes, panels })
}

/// True if all results have the same jobs, several ones, so that each job can be compared.
fn has_same_jobs(results: &[RunResult]) -> bool {
    let names = |result: &RunResult| result.jobs.iter().map(|job| job.name.clone()).collect::<BTreeSet<_>>();
    let Some(first) = results.first().map(names) else { return false };
    first.len() > 1
        && results.iter().all(|result| names(result) == first)
        && results.len() * directions(&results.iter().flat_map(|result| &result.jobs)).len() <= MOST_COLOURS
}

/// A row for each name of a job, and in it a bar for each result.
fn by_job(results: &[RunResult]) -> (Vec<String>, Vec<JobGroup<'_>>) {
    let mut classes: Vec<String> = Vec::new();
    for job in results.iter().take(1).flat_map(|result| &result.jobs) {
        if !classes.contains(&job.name) {
            classes.push(job.name.clone());
        }
    }
    let directions = directions(&results.iter().flat_map(|result| &result.jobs));
    let mut groups = Vec::new();
    for result in results {
        for direction in &directions {
            let direction_name = if directions.len() > 1 { format!(", {}", direction.name()) } else { String::new() };
            let of_class = |class: &String| result.jobs.iter().filter(|job| job.name == *class).collect();
            groups.push(JobGroup {
                name: format!("{}{direction_name}", result_name(result)),
                direction: *direction,
                members: classes.iter().map(of_class).collect(),
            });
        }
    }
    (classes, groups)
}

/// A row for each result, and in it a bar for each direction.
fn by_result(results: &[RunResult]) -> (Vec<String>, Vec<JobGroup<'_>>) {
    let classes = results.iter().map(|result| result_name(result).to_owned()).collect();
    let members = || -> Vec<Vec<&JobResult>> { results.iter().map(|result| result.jobs.iter().collect()).collect() };
    let directions = directions(&results.iter().flat_map(|result| &result.jobs)).into_iter();
    let group = |direction: ferrio_units::DataDirection| JobGroup {
        name: direction.name().to_owned(),
        direction,
        members: members(),
    };
    (classes, directions.map(group).collect())
}
