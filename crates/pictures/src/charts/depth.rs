//! Queue depths: shares of the I/Os by the number in flight.
//!
//! Must not know: other charts. Start reading at [`shares`].

use crate::chart::{AxisUnit, Bars, Chart, ChartAxis, ChartContent};
use ferrio_formats::JobResult;

/// Most jobs with bars of their own.
const MOST_GROUPS: usize = 4;

/// Shares of the I/Os by depth, for each of a few jobs.
pub(super) fn shares(jobs: &[&JobResult], _most_points: usize) -> Vec<Chart> {
    chart(jobs).into_iter().collect()
}

fn chart(jobs: &[&JobResult]) -> Option<Chart> {
    let told: Vec<&&JobResult> = jobs.iter().filter(|job| job.depths.iter().any(|(_, share)| *share > 0.0)).collect();
    let classes: Vec<String> = told.first()?.depths.iter().map(|(class, _)| class.clone()).collect();
    let is_alike = |job: &&&JobResult| job.depths.iter().map(|(class, _)| class).eq(&classes);
    if told.len() > MOST_GROUPS || !told.iter().all(is_alike) {
        return None;
    }
    let groups = told.iter().map(|job| (job.name.clone(), job.depths.iter().map(|(_, share)| *share).collect()));
    Some(Chart {
        id: "depth",
        title: "I/Os in flight at each submission".to_owned(),
        note: "A class reaches from its number to the one before the next.".to_owned(),
        x: ChartAxis::linear("depth", AxisUnit::Count),
        y: ChartAxis::linear("share of the I/Os", AxisUnit::Percent),
        content: ChartContent::Bars(Bars { classes, groups: groups.collect() }),
    })
}
