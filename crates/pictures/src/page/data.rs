//! The data of the charts, for the page's script.
//!
//! Must not know: markup. Start reading at [`views`]. The number of points shrinks with the number of jobs, so that a page of
//! 1,000 jobs opens as smoothly as one of a single job.

use crate::chart::Chart;
use crate::charts::overlay::overlay;
use crate::charts::{MOST_POINTS, charts, hosts};
use ferrio_formats::{JobResult, RunResult};
use std::collections::BTreeMap;

/// Fewest points of a line.
const FEWEST_POINTS: usize = 60;
/// Jobs that have all points.
const N_DETAILED: usize = 16;
const MOST_VIEWS: usize = 1200;

/// Charts that are seen together.
pub(super) struct View {
    pub(super) name: String,
    charts: Vec<Chart>,
}

/// Jobs that are shown together.
struct ViewSubject<'a> {
    name: String,
    result: &'a RunResult,
    jobs: Vec<&'a JobResult>,
}

/// Jobs that are shown together, with the name of their view: all of a result, each group of several jobs, each job.
fn subjects(results: &[RunResult]) -> Vec<ViewSubject<'_>> {
    let mut all = Vec::new();
    for result in results {
        let name = if results.len() > 1 { format!("{}: ", result.name) } else { String::new() };
        let on_all = if result.hosts.is_empty() { "" } else { "all hosts: " };
        all.extend(subjects_of(result, &format!("{name}{on_all}")));
        for host in &result.hosts {
            all.extend(subjects_of(&host.result, &format!("{name}{}: ", host.name)));
        }
    }
    all.truncate(MOST_VIEWS);
    all
}

/// The same of one result.
fn subjects_of<'a>(result: &'a RunResult, prefix: &str) -> Vec<ViewSubject<'a>> {
    let mut all: Vec<(String, Vec<&JobResult>)> = Vec::new();
    if result.jobs.len() != 1 {
        all.push((format!("{prefix}all {} jobs together", result.jobs.len()), result.jobs.iter().collect()));
    }
    let groups = groups(&result.jobs);
    if groups.len() > 1 {
        let several = groups.into_iter().filter(|(_, jobs)| jobs.len() > 1);
        all.extend(several.map(|(group, jobs)| (format!("{prefix}group {group}: {} jobs together", jobs.len()), jobs)));
    }
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for job in &result.jobs {
        let number = seen.entry(&job.name).or_default();
        *number += 1;
        // Clones have the same name.
        let again = if *number > 1 { format!(" ({number})") } else { String::new() };
        all.push((format!("{prefix}{}{again}", job.name), vec![job]));
    }
    all.into_iter().map(|(name, jobs)| ViewSubject { name, result, jobs }).collect()
}

fn groups(jobs: &[JobResult]) -> BTreeMap<u32, Vec<&JobResult>> {
    let mut groups: BTreeMap<u32, Vec<&JobResult>> = BTreeMap::new();
    for job in jobs {
        groups.entry(job.group_index).or_default().push(job);
    }
    groups
}

pub(super) fn views(results: &[RunResult]) -> Vec<View> {
    let mut views = Vec::new();
    if results.len() > 1 {
        views.push(View {
            name: format!("all {} results overlaid", results.len()),
            charts: overlay(results, MOST_POINTS),
        });
    }
    let subjects = subjects(results);
    let subjects_are_few = results.iter().all(|result| result.hosts.is_empty());
    let fewer = (MOST_POINTS * N_DETAILED / subjects.len().max(N_DETAILED)).max(FEWEST_POINTS);
    let of_subject = |ViewSubject { name, result, jobs }: ViewSubject<'_>| {
        let most_points = if jobs.len() > 1 && subjects_are_few { MOST_POINTS } else { fewer };
        let mut all = hosts::charts(result, &jobs);
        all.extend(charts(&jobs, most_points));
        View { name, charts: all }
    };
    views.extend(subjects.into_iter().map(of_subject));
    views.retain(|view| !view.charts.is_empty());
    views
}

/// The charts of each view as JSON. A `<` is escaped, so that no text in it can end the element that holds it.
pub(super) fn json(views: &[View]) -> String {
    let charts: Vec<&[Chart]> = views.iter().map(|view| &view.charts[..]).collect();
    // Texts and finite numbers under names: that has a form in JSON.
    serde_json::to_string(&charts).unwrap_or_default().replace('<', "\\u003c")
}
