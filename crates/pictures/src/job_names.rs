//! The names of several jobs as one text.
//!
//! Must not know: charts, pages.

use ferrio_formats::JobResult;

/// The names of some jobs, each once; of many only the first ones, and the number of the others.
pub(crate) fn job_names(jobs: &[&JobResult]) -> String {
    const MOST: usize = 3;
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.dedup();
    match names.len().checked_sub(MOST) {
        None | Some(0) => names.join(", "),
        Some(others) => format!("{} and {others} more", names[..MOST].join(", ")),
    }
}
