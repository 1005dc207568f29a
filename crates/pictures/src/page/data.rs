//! The data of the charts, for the page's script.
//!
//! Must not know: markup. Start reading at [`json`]. The number of points shrinks with the number of jobs, so that a page of
//! 1,000 jobs opens as smoothly as one of a single job.

use crate::chart::Chart;
use crate::charts::{MOST_POINTS, charts};
use ferrio_results::{JobResult, RunResult};
use serde::Serialize;

/// Fewest points of a line.
const FEWEST_POINTS: usize = 60;
/// Jobs that have all points.
const N_DETAILED: usize = 16;
/// Most jobs with charts of their own.
const MOST_JOBS: usize = 1000;

/// Charts that are seen together.
#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    charts: Vec<Chart>,
}

/// Jobs that are shown together, with the name of their view.
fn subjects(results: &[RunResult]) -> Vec<(String, Vec<&JobResult>)> {
    let mut all = Vec::new();
    for result in results {
        let prefix = if results.len() > 1 { format!("{}: ", result.name) } else { String::new() };
        if result.jobs.len() != 1 {
            all.push((format!("{prefix}all {} jobs together", result.jobs.len()), result.jobs.iter().collect()));
        }
        for job in &result.jobs {
            all.push((format!("{prefix}{}", job.name), vec![job]));
        }
    }
    all.truncate(MOST_JOBS + 1);
    all
}

fn views(results: &[RunResult]) -> Vec<(String, Vec<Chart>)> {
    let subjects = subjects(results);
    let fewer = (MOST_POINTS * N_DETAILED / subjects.len().max(N_DETAILED)).max(FEWEST_POINTS);
    let of_subject = |(name, jobs): (String, Vec<&JobResult>)| {
        let most_points = if jobs.len() > 1 { MOST_POINTS } else { fewer };
        (name, charts(&jobs, most_points))
    };
    subjects.into_iter().map(of_subject).filter(|(_, charts)| !charts.is_empty()).collect()
}

/// The names of the views that have charts.
pub(super) fn view_names(results: &[RunResult]) -> Vec<String> {
    views(results).into_iter().map(|(name, _)| name).collect()
}

/// The data as JSON. A `<` is escaped, so that no text in it can end the element that holds it.
pub(super) fn json(results: &[RunResult]) -> String {
    let views = views(results);
    let views: Vec<View<'_>> = views.into_iter().map(|(_, charts)| View { name: "", charts }).collect();
    // Texts and finite numbers under names: that has a form in JSON.
    serde_json::to_string(&views).unwrap_or_default().replace('<', "\\u003c")
}
