//! Whether results differ.
//!
//! Must not know: how verdicts are found. Start reading at [`compare`].

use crate::{ComparisonVerdict, Measurement};
use ferrio_formats::RunResult;
use ferrio_insight::compare::{ComparedFigure, FigureChange};

/// How a figure of a job differs between two sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChangedFigure {
    /// Name of the job in the base.
    pub job: String,
    /// `read`, `write`, `trim` or `sync`.
    pub direction: &'static str,
    /// Which figure: `iops`, `bw`, `mean`, `p50`, `p95`, `p99`, `p99.9`, `p99.99` or `max`.
    pub metric: &'static str,
    /// Its value in the base: I/Os per second, bytes per second or nanoseconds; of several results their mean. `None`: the base does not
    /// have it.
    pub base: Option<f64>,
    /// Its new value.
    pub new: Option<f64>,
    /// The change in percent of the base, if it has a meaning.
    pub percent: Option<f64>,
    /// Ends of the interval of the change, percent, that covers the true one with a probability of 95 %.
    pub interval_percent: Option<[f64; 2]>,
    /// The verdict.
    pub verdict: ComparisonVerdict,
    /// What the verdict rests on, or why there is none: a sentence without its period.
    pub reason: String,
    /// Ids of findings according to which the figure is wrong.
    pub contradicted_by: Vec<String>,
}

/// Compares new results with those of a base, as `ferrio compare` does. Several results of a side are repeats of the same run, and only
/// repeats can tell that something became faster or slower; one run on each side tells at most that these two differ. Changes that are
/// certainly below `threshold_percent` count as none.
///
/// ```
/// use ferrio::{Job, Runner, compare};
///
/// # fn main() -> Result<(), ferrio::Error> {
/// let measure = || {
///     let mut runner = Runner::new();
///     runner.add(&Job::new("a").option("ioengine", "null").option("size", "4m"))?;
///     runner.run()
/// };
/// let (base, new) = ([measure()?, measure()?], [measure()?, measure()?]);
/// for change in compare(&base, &new, 1.0) {
///     println!("{} {} {}: {} ({})", change.job, change.direction, change.metric, change.verdict.words(), change.reason);
/// }
/// # assert!(compare(&base, &new, 1.0).iter().any(|change| change.direction == "read"));
/// # Ok(())
/// # }
/// ```
pub fn compare(base: &[Measurement], new: &[Measurement], threshold_percent: f64) -> Vec<ChangedFigure> {
    let results = |side: &[Measurement]| side.iter().map(Measurement::to_result).collect::<Vec<RunResult>>();
    let comparison = ferrio_insight::compare::compare(&results(base), &results(new), threshold_percent);
    let changes = |job: ferrio_insight::compare::ComparedJob| {
        let name = job.name;
        job.figures.into_iter().map(move |figure| change(&name, figure))
    };
    comparison.jobs.into_iter().flat_map(changes).collect()
}

fn change(job: &str, figure: ComparedFigure) -> ChangedFigure {
    let change: Option<FigureChange> = figure.change;
    ChangedFigure {
        job: job.to_owned(),
        direction: figure.direction,
        metric: figure.metric.name(),
        base: figure.base,
        new: figure.new,
        percent: change.map(|change| change.percent),
        interval_percent: change.and_then(|change| change.interval_percent),
        verdict: figure.verdict,
        reason: figure.reason,
        contradicted_by: figure.contradicted_by,
    }
}
