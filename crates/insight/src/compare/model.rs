//! A comparison as values, for text, JSON and pages.
//!
//! Must not know: how it is made, how it is shown. Start reading at [`Comparison`].

use super::ComparisonVerdict;
use ferrio_stats::{Finding, Metric};
use serde::Serialize;

/// A comparison of new results with those of a base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Probability with which an interval covers the true change, percent.
    pub confidence_percent: f64,
    /// Changes certainly below this count as none, percent.
    pub threshold_percent: f64,
    pub base: ComparedSide,
    pub new: ComparedSide,
    /// Differences of machine, storage and program.
    pub surroundings: Vec<ComparedFact>,
    /// Facts about machine, storage and program that only the base tells.
    pub known_of_base: Vec<String>,
    /// Those that only the new results tell.
    pub known_of_new: Vec<String>,
    /// Differences of the options of jobs.
    pub options: Vec<ComparedOption>,
    /// Findings that speak against figures.
    pub findings: Vec<ComparedFinding>,
    /// The jobs that both sides have.
    pub jobs: Vec<ComparedJob>,
    /// Names of jobs that only the base has.
    pub only_in_base: Vec<String>,
    /// Names of jobs that only the new results have.
    pub only_in_new: Vec<String>,
    /// What a reader has to know about the comparison, in sentences.
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedSide {
    pub results: Vec<String>,
    /// True if all of them were audited, which only ferrio does.
    pub is_audited: bool,
}

/// A fact about machine, storage or program that differs; `None`: unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedFact {
    /// Which one, in a few words.
    pub what: String,
    pub base: Option<String>,
    pub new: Option<String>,
}

/// An option that differs; `None`: not given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedOption {
    pub jobs: Vec<String>,
    pub option: String,
    /// Its value in the base; those of several results with other values one after the other.
    pub base: Option<String>,
    pub new: Option<String>,
    /// The results of the base have different values of it.
    pub differs_in_base: bool,
    /// The new results have different values of it.
    pub differs_in_new: bool,
    /// True if the jobs do other I/O with it, so that their figures measure something else.
    pub changes_work: bool,
}

/// A finding that speaks against figures of a side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedFinding {
    pub in_base: bool,
    pub in_new: bool,
    #[serde(flatten)]
    pub finding: Finding,
}

/// A job, or a group of jobs, that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedJob {
    pub name: String,
    /// Its new name, if it is another one.
    pub new_name: Option<String>,
    pub group: u32,
    pub only_in_base: Vec<&'static str>,
    /// Directions that only the new results have.
    pub only_in_new: Vec<&'static str>,
    /// Its figures, by direction and metric.
    pub figures: Vec<ComparedFigure>,
}

/// A figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// `read`, `write`, `trim` or `sync`.
    pub direction: &'static str,
    pub metric: Metric,
    /// Which latency it is: `completion latency`, `total latency` or `response latency`; `None`: it is a rate.
    pub latency: Option<&'static str>,
    /// Its value in the base: I/Os per second, bytes per second or nanoseconds; of several results their mean.
    pub base: Option<f64>,
    pub new: Option<f64>,
    /// The change, if it has a meaning.
    pub change: Option<FigureChange>,
    /// Number of results of the base and of the new side that have the figure.
    pub n: [usize; 2],
    /// Number of intervals in the courses of both runs; `None`: there is not one run on each side, or it is not told by interval.
    pub n_intervals: Option<[usize; 2]>,
    /// Probability with which chance alone makes a change as large as this one, 0 to 1; `None`: the results do not tell.
    pub p: Option<f64>,
    pub verdict: ComparisonVerdict,
    /// What the verdict rests on.
    pub basis: ComparisonBasis,
    /// What the verdict rests on, or why there is none, in a sentence without its period.
    pub reason: String,
    /// Short names of findings according to which the figure is wrong.
    pub contradicted_by: Vec<String>,
}

/// How much a figure has changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FigureChange {
    pub percent: f64,
    pub absolute: f64,
    pub interval_percent: Option<[f64; 2]>,
    /// The same in the unit of the figure.
    pub interval_absolute: Option<[f64; 2]>,
    /// The change lies within these, percent: the ends of the interval, or what is left of a change that is beyond all noise.
    pub bounds_percent: Option<[f64; 2]>,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonBasis {
    /// Repeated runs: how much they differ from each other is known.
    Repeats,
    /// The course of one run on each side.
    Course,
    /// The size of the change alone.
    Size,
    /// Both sides are the same result.
    SameResult,
    /// Nothing: the results do not tell.
    Nothing,
}
