//! Several results side by side.
//!
//! Must not know: other kinds. Start reading at [`picture`].

use super::PlotError;
use super::bars::{JobGroup, kinds, notes, panels};
use super::entries::result_name;
use super::spread::BarJobs;
use crate::job_names::job_names;
use crate::panel::Picture;
use ferrio_formats::{IoKind, JobResult, RunResult};
use std::collections::BTreeSet;

/// Results that can be told apart by colours; of more, each has rows of its own.
const MOST_COLOURS: usize = 7;

const SEVERAL: &str = "Where several jobs are one bar, the rates of those that ran at the same moment are added.";
/// Why a result has several bars.
const APART: &str = "Jobs that ran one after the other, and jobs of which the result does not say when they ran, have bars of their own.";

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
    if groups.iter().any(|group| group.members.iter().any(|bar| bar.jobs.len() > 1)) {
        notes.push(SEVERAL.to_owned());
    }
    if results.iter().any(|result| sets_of(result, &result.jobs.iter().collect::<Vec<_>>()).len() > 1) {
        notes.push(APART.to_owned());
    }
    Ok(Picture { title: "Comparison of results".to_owned(), notes, panels })
}

/// True if all results have the same jobs, several ones, so that each job can be compared.
fn has_same_jobs(results: &[RunResult]) -> bool {
    let names = |result: &RunResult| result.jobs.iter().map(|job| job.name.clone()).collect::<BTreeSet<_>>();
    let Some(first) = results.first().map(names) else { return false };
    first.len() > 1
        && results.iter().all(|result| names(result) == first)
        && results.len() * kinds(&results.iter().flat_map(|result| &result.jobs)).len() <= MOST_COLOURS
}

/// The jobs in sets that ran at the same time.
fn sets_of<'a>(result: &'a RunResult, jobs: &[&'a JobResult]) -> Vec<BarJobs<'a>> {
    result.ran_together(jobs).into_iter().map(|jobs| BarJobs { result, jobs }).collect()
}

/// The jobs of a name, in sets that ran at the same time.
fn of_name<'a>(result: &'a RunResult, name: &str) -> Vec<BarJobs<'a>> {
    sets_of(result, &result.jobs.iter().filter(|job| job.name == name).collect::<Vec<_>>())
}

/// A row for each name of a job, and in it a bar for each result. Jobs of one name that ran apart have rows of their own.
fn by_job(results: &[RunResult]) -> (Vec<String>, Vec<JobGroup<'_>>) {
    let mut names: Vec<&str> = Vec::new();
    for job in results.iter().take(1).flat_map(|result| &result.jobs) {
        if !names.contains(&job.name.as_str()) {
            names.push(&job.name);
        }
    }
    let most_sets = |name: &str| results.iter().map(|result| of_name(result, name).len()).max().unwrap_or_default();
    let mut rows: Vec<(&str, usize)> = Vec::new();
    let mut classes = Vec::new();
    for name in names {
        let n_sets = most_sets(name);
        rows.extend((0..n_sets).map(|index| (name, index)));
        classes
            .extend((1..=n_sets).map(|number| if n_sets > 1 { format!("{name} #{number}") } else { name.to_owned() }));
    }
    let kinds = kinds(&results.iter().flat_map(|result| &result.jobs));
    let mut groups = Vec::new();
    for result in results {
        for kind in &kinds {
            let kind_name = if kinds.len() > 1 { format!(", {}", kind.name()) } else { String::new() };
            let of_row = |(name, index): &(&str, usize)| {
                let set = of_name(result, name).into_iter().nth(*index);
                set.unwrap_or_else(|| BarJobs { result, jobs: Vec::new() })
            };
            groups.push(JobGroup {
                name: format!("{}{kind_name}", result_name(result)),
                kind: *kind,
                members: rows.iter().map(of_row).collect(),
            });
        }
    }
    (classes, groups)
}

/// A row for each result, or for each set of its jobs that ran at the same time, and in it a bar for each kind of I/O.
fn by_result(results: &[RunResult]) -> (Vec<String>, Vec<JobGroup<'_>>) {
    let rows = || results.iter().flat_map(|result| sets_of(result, &result.jobs.iter().collect::<Vec<_>>()));
    let class = |bar: BarJobs<'_>| {
        let name = result_name(bar.result);
        if bar.jobs.len() == bar.result.jobs.len() {
            name.to_owned()
        } else {
            format!("{name}: {}", job_names(&bar.jobs))
        }
    };
    let group = |kind: IoKind| JobGroup { name: kind.name().to_owned(), kind, members: rows().collect() };
    let kinds = kinds(&results.iter().flat_map(|result| &result.jobs));
    (rows().map(class).collect(), kinds.into_iter().map(group).collect())
}
