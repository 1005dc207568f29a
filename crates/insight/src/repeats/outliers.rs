//! Runs that differ from their repeats by far more than these differ from each other.
//!
//! The distance is the modified z-score: from the median, in medians of the distances. Source: Iglewicz and Hoaglin, How to Detect and
//! Handle Outliers, 1993, whose limit is 3.5. Must not know: how figures are measured. Start reading at [`of`].

use super::RepeatedFigure;
use crate::compare::surroundings;
use ferrio_formats::{IoKind, RunResult};
use ferrio_stats::Finding;
use serde::Serialize;

/// Limit of the modified z-score.
const LIMIT: f64 = 3.5;
/// The median of the distances of a normal distribution is so many standard deviations.
const NORMAL: f64 = 0.6745;
/// Fewest runs among which one is odd.
const FEWEST: usize = 5;
/// A run that is nearer than this share of the median is none, however equal the others are.
const LEAST_DISTANCE: f64 = 0.03;

/// A run that is far from its repeats.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    pub run_index: usize,
    pub run: String,
    /// The job whose figure is far from the others.
    pub job: String,
    #[serde(rename = "of")]
    pub kind: IoKind,
    /// The first figure that is far: a rate, or else a latency.
    pub metric: ferrio_stats::Metric,
    /// Distance from the median of the runs, percent of it.
    pub percent: f64,
    pub score: f64,
    /// Findings that this run has, and less than half of the others.
    pub findings: Vec<String>,
    /// Facts of machine and storage that this run alone has: `fact: value, not value of the others`.
    pub facts: Vec<String>,
}

/// The outliers, in the order of the runs.
pub(super) fn of(results: &[&RunResult], figures: &[RepeatedFigure]) -> Vec<Outlier> {
    if results.len() < FEWEST {
        return Vec::new();
    }
    let of_run = |run_index| {
        let scores = figures.iter().filter(|figure| figure.values.len() == results.len() && figure.metric.is_of_all());
        // A rate comes first: latencies follow from it.
        let mut far = scores.filter_map(|figure| Some((figure, score(&figure.values, run_index)?)));
        let (figure, (score, percent)) = far.next()?;
        let (findings, facts) = differences(results, run_index);
        Some(Outlier {
            run_index,
            run: results[run_index].name.clone(),
            job: figure.job.clone(),
            kind: figure.kind,
            metric: figure.metric,
            percent,
            score,
            findings,
            facts,
        })
    };
    (0..results.len()).filter_map(of_run).collect()
}

/// The modified z-score of a value, and its distance from the median in percent; `None`: it is no outlier.
fn score(values: &[f64], index: usize) -> Option<(f64, f64)> {
    let center = median(values.to_vec());
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let usual = median(distances.clone());
    let share = distances[index] / center;
    let score = if usual > 0.0 { NORMAL * distances[index] / usual } else { f64::MAX };
    let is_outlier = share.is_finite() && share > LEAST_DISTANCE && score > LIMIT;
    is_outlier.then(|| (score, 100.0 * (values[index] - center) / center))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[middle - 1], values[middle]) } else { values[middle] }
}

/// Findings and facts that one run has and the others have not.
fn differences(results: &[&RunResult], run_index: usize) -> (Vec<String>, Vec<String>) {
    let run = results[run_index];
    let others: Vec<&RunResult> =
        results.iter().enumerate().filter(|(index, _)| *index != run_index).map(|(_, result)| *result).collect();
    let has = |result: &RunResult, id: &str| result.findings().any(|finding| finding.id == id);
    let is_rare = |finding: &&Finding| {
        let n_others = others.iter().filter(|other| has(other, &finding.id)).count();
        2 * n_others < others.len()
    };
    let mut findings: Vec<String> = run.findings().filter(is_rare).map(|finding| finding.id.clone()).collect();
    findings.dedup();
    let facts = surroundings::differences(&others, &[run]).differ.into_iter().filter_map(|fact| {
        let (usual, own) = fact.base.zip(fact.new)?;
        Some(format!("{}: {own}, not {usual}", fact.what))
    });
    (findings, facts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_from_the_median() {
        let values = [10.0, 11.0, 12.0, 13.0, 30.0];
        // Median 12, median of the distances 1.
        let (score_of_last, percent) = score(&values, 4).expect("an outlier");
        assert!((score_of_last - 0.6745 * 18.0).abs() < 1e-9 && (percent - 150.0).abs() < 1e-9);
        assert_eq!(score(&values, 3), None);
        assert_eq!(score(&[100.0, 100.0, 100.0, 100.0, 100.5], 4), None);
        assert!(score(&[100.0, 100.0, 100.0, 100.0, 104.0], 4).is_some());
        assert!((median(vec![4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < 1e-12);
    }
}
