//! The findings of all points of a sweep: each once, with the points at which it stands.
//!
//! Must not know: rules. Start reading at [`SweepFinding`].

use super::SweepOutcome;
use ferrio_formats::RunResult;
use ferrio_stats::Finding;
use serde::Serialize;

/// A finding of a sweep.
#[derive(Debug, Clone, Serialize)]
pub struct SweepFinding {
    /// The finding, with the evidence of the first run that has it.
    pub finding: Finding,
    /// Numbers of the points in whose runs it stands, ascending.
    pub points: Vec<usize>,
    /// Number of the runs in which it stands.
    pub n_runs: usize,
    /// It stands at each point of the sweep.
    pub is_of_all: bool,
}

impl SweepOutcome {
    /// Adds the findings of the runs of a point; their indexes.
    pub(super) fn add_findings(&mut self, number: usize, results: &[RunResult]) -> Vec<usize> {
        let mut of_point = Vec::new();
        for finding in results.iter().flat_map(RunResult::findings) {
            let is_it = |known: &SweepFinding| known.finding.is_as(finding);
            let index = self.findings.iter().position(is_it).unwrap_or_else(|| {
                let new = SweepFinding { finding: finding.clone(), points: Vec::new(), n_runs: 0, is_of_all: false };
                self.findings.push(new);
                self.findings.len() - 1
            });
            let known = &mut self.findings[index];
            known.n_runs += 1;
            if known.points.last() != Some(&number) {
                known.points.push(number);
            }
            if !of_point.contains(&index) {
                of_point.push(index);
            }
        }
        of_point
    }

    /// Sorts the findings when all points are there: the worst first, then those of most points.
    pub(super) fn sort_findings(&mut self) {
        let n_points = self.points.len();
        for finding in &mut self.findings {
            finding.is_of_all = finding.points.len() == n_points;
        }
        let mut order: Vec<usize> = (0..self.findings.len()).collect();
        let key = |index: usize| {
            let SweepFinding { finding, points, .. } = &self.findings[index];
            (finding.severity, usize::MAX - points.len(), index)
        };
        order.sort_by_key(|index| key(*index));
        let mut places = vec![0; order.len()];
        for (place, index) in order.iter().enumerate() {
            places[*index] = place;
        }
        self.findings = order.into_iter().map(|index| self.findings[index].clone()).collect();
        for point in &mut self.points {
            for index in &mut point.findings {
                *index = places[*index];
            }
            point.findings.sort_unstable();
        }
    }
}
