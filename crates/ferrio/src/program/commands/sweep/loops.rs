//! The open loop beside the points of a sweep, as text.
//!
//! Must not know: how it is run. Start reading at [`text`].

use super::table::{cells, headings, mark, missing, place};
use ferrio::sweep::OpenLoop;
use ferrio::sweep::outcome::{OpenLoopOutcome, SweepFinding, SweepOutcome};
use ferrio_formats::native::{aligned, wrap};
use ferrio_stats::{Finding, Metric};
use std::fmt::Write as _;

/// The rows of the open loop, in the order of its rates.
pub(super) fn text(closed: &SweepOutcome, open: &OpenLoopOutcome, width: usize) -> String {
    let best = &closed.points[open.beside.at];
    let mut text = String::from("\n");
    text.push_str(&wrap(
        &format!(
            "Open loop at {}: users come at random times, at shares of the {} IOPS of point #{}, and a latency begins when the user comes.",
            best.point,
            Metric::Iops.cell(OpenLoop::iops(best)),
            best.number
        ),
        "",
        width,
    ));
    let jobs = open.figures.jobs();
    let has_names = jobs.iter().any(|(index, ..)| *index != jobs[0].0);
    let mut heads = vec!["share".to_owned()];
    heads.extend(has_names.then(|| "job".to_owned()));
    heads.push(String::new());
    heads.extend(headings());
    let mut rows = vec![heads];
    for point in &open.figures.points {
        for (job_index, job, kind) in &jobs {
            let mut row = vec![format!("{}{}", OpenLoop::share_of(point), mark(point))];
            row.extend(has_names.then(|| job.clone()));
            row.push(kind.name().to_owned());
            row.extend(cells(point, *job_index, *kind));
            rows.push(row);
        }
    }
    text.push_str(&aligned(&rows, 2 + usize::from(has_names)));
    if let Some(line) = missing(&open.figures) {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The findings of the open loop that the closed one does not have, each with the words for its points.
pub(super) fn findings(closed: &SweepOutcome) -> Vec<(String, &Finding)> {
    let is_new = |one: &&SweepFinding| !closed.findings.iter().any(|known| known.finding.is_as(&one.finding));
    closed
        .open_loop
        .iter()
        .flat_map(|open| {
            open.figures
                .findings
                .iter()
                .filter(is_new)
                .map(|one| (format!("Open loop. {}", place(one, &open.figures)), &one.finding))
        })
        .collect()
}
