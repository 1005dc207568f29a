//! Figures that changed in the course of a sweep: the device did.
//!
//! Must not know: what is a change. Start reading at [`SweepOutcome::find_changes`].

use super::{PointOutcome, SweepFinding, SweepOutcome};
use crate::sweep::SweepPlan;
use ferrio_formats::IoKind;
use ferrio_insight::repeats::{OrderedFigure, WATCHED, change};
use ferrio_stats::{Finding, Metric};
use std::collections::HashMap;

impl SweepOutcome {
    /// Adds the changes, by the order in which the plan makes the runs. A search makes all runs of a point before it knows the next one, and measures again instead.
    pub(super) fn find_changes(&mut self, plan: &SweepPlan) {
        let mut found: Vec<Finding> = self.limit.iter().filter_map(|answer| answer.change.clone()).collect();
        if plan.limit.is_none() {
            let points: HashMap<usize, &PointOutcome> = self.points.iter().map(|point| (point.number, point)).collect();
            for (job_index, job, kind) in self.jobs() {
                let of_metric = |metric| {
                    let values = in_order(plan, &points, (job_index, kind, metric));
                    change(&OrderedFigure { job: job.clone(), kind, metric, values })
                };
                found.extend(WATCHED.into_iter().find_map(of_metric));
            }
        }
        for finding in found {
            self.add_finding_of_all(finding);
        }
    }

    /// Adds a finding about all points together.
    fn add_finding_of_all(&mut self, finding: Finding) {
        let (index, severity) = (self.findings.len(), finding.severity);
        let mut n_runs = 0;
        for point in &mut self.points {
            n_runs += point.n_runs;
            point.findings.push(index);
            point.worst = Some(point.worst.map_or(severity, |worst| worst.min(severity)));
        }
        let points = self.points.iter().map(|point| point.number).collect();
        self.findings.push(SweepFinding { finding, points, n_runs, is_of_all: true });
    }
}

/// A figure in the order of the runs, each with the number of its point.
fn in_order(
    plan: &SweepPlan,
    points: &HashMap<usize, &PointOutcome>,
    (job_index, kind, metric): (usize, IoKind, Metric),
) -> Vec<(usize, f64)> {
    let value = |(point_index, repeat_index): (usize, u32)| {
        let point = points.get(&(point_index + 1))?;
        let figure = point.figure(job_index, kind, metric).filter(|figure| figure.values.len() == point.n_runs)?;
        figure.values.get(repeat_index as usize).map(|value| (point.number, *value))
    };
    plan.steps().into_iter().filter_map(|step| value((step.point_index, step.repeat_index))).collect()
}
