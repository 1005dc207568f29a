//! What pages and pictures read of the outcome of many runs, which they show as it is.
//!
//! Must not know: how runs are made, pages. Start reading at [`ShownOutcome`].

use ferrio_formats::IoKind;
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::Metric;

/// The outcome of runs at some points.
pub trait ShownOutcome {
    /// The parameters, each with its values.
    fn parameters(&self) -> Vec<ShownParameter>;

    /// Number of runs at each point; `None`: it differs.
    fn n_repeats(&self) -> Option<u32>;

    fn points(&self) -> Vec<&dyn ShownPoint>;

    /// True if the point of this number certainly is the knee of the I/O of a job.
    fn is_knee(&self, number: usize, job: &str, kind: IoKind) -> bool;

    /// The open loop beside the points.
    fn loops(&self) -> Option<ShownLoops<'_>>;
}

pub trait ShownPoint {
    /// Its number, from 1.
    fn number(&self) -> usize;

    /// Index of the value of each parameter.
    fn places(&self) -> &[usize];

    /// No finding contradicts its figures, and no job failed.
    fn is_believable(&self) -> bool;

    fn figures(&self) -> &[RepeatedFigure];
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownParameter {
    pub name: String,
    pub values: Vec<String>,
}

/// A closed loop and an open one beside it.
#[derive(Clone)]
pub struct ShownLoops<'a> {
    /// The other options that both have; empty: there are none.
    pub at: String,
    /// Points of the closed loop, in the order of its load, each with its load in words.
    pub closed: Vec<(String, &'a dyn ShownPoint)>,
    /// Points of the open loop, each with its share of the rate of the closed one.
    pub open: Vec<(String, &'a dyn ShownPoint)>,
}

/// A job and a kind of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShownSubject<'a> {
    pub(crate) job_index: usize,
    pub(crate) job: &'a str,
    pub(crate) kind: IoKind,
}

impl<'a> ShownSubject<'a> {
    /// The jobs with their kinds of I/O that some points have.
    pub(crate) fn of_points(points: impl Iterator<Item = &'a dyn ShownPoint>) -> Vec<Self> {
        let mut subjects: Vec<Self> = Vec::new();
        for figure in points.flat_map(ShownPoint::figures) {
            let subject = Self { job_index: figure.job_index, job: &figure.job, kind: figure.kind };
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        subjects.sort_by_key(|subject| (subject.job_index, subject.kind));
        subjects
    }

    pub(crate) fn figure(self, point: &dyn ShownPoint, metric: Metric) -> Option<&RepeatedFigure> {
        let is_it =
            |one: &&RepeatedFigure| one.job_index == self.job_index && one.kind == self.kind && one.metric == metric;
        point.figures().iter().find(is_it)
    }
}
