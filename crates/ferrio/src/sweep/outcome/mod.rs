//! What a sweep has found: the figures of each point from all its runs, and its findings, those of all points once.
//!
//! The records of one point at a time are in memory. Must not know: how it is shown. Start reading at [`SweepOutcome::read`].

mod changes;
mod findings;
mod knees;
mod scaling;
#[cfg(feature = "cli")]
mod shown;
mod table;

pub use findings::SweepFinding;
pub use knees::SweptKnee;
pub use scaling::SweptScaling;
#[cfg(feature = "cli")]
pub use shown::both_loops;

use crate::sweep::limit::LimitAnswer;
use crate::sweep::space::{SweepAxis, SweepPoint};
use crate::sweep::{OpenLoop, SweepError, SweepFolder, UntilKnown};
use ferrio_formats::{IoKind, RunResult, of_record};
use ferrio_insight::repeats::{Outlier, RepeatedFigure, RepeatedRuns, repeats};
use ferrio_stats::{Metric, RunRecord, Severity};
use serde::{Serialize, Serializer};
use serde_json::json;

/// The outcome of a sweep, or of the part of it that was made.
#[derive(Debug, Clone, Serialize)]
pub struct SweepOutcome {
    /// Its parameters.
    #[serde(rename = "parameters", serialize_with = "axes")]
    pub axes: Vec<SweepAxis>,
    /// Number of runs at each point.
    pub n_repeats: u32,
    /// The figure until which runs were repeated (`--until`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilKnown>,
    /// Number of runs that were not made yet.
    pub n_missing: usize,
    /// Its points, in their order.
    pub points: Vec<PointOutcome>,
    /// The answer of a search for a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitAnswer>,
    /// Where latency begins to grow faster than throughput.
    pub knees: Vec<SweptKnee>,
    /// How throughput grows with the number of hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scalings: Vec<SweptScaling>,
    /// Findings, those that stand at most points first.
    pub findings: Vec<SweepFinding>,
    /// The open loop beside the points, as far as it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoopOutcome>,
}

/// What was found in an open loop beside the points of a sweep.
#[derive(Debug, Clone, Serialize)]
pub struct OpenLoopOutcome {
    /// The closed points beside which it stands.
    #[serde(skip)]
    pub beside: OpenLoop,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Box<SweepOutcome>,
}

/// What was found at a point.
#[derive(Debug, Clone, Serialize)]
pub struct PointOutcome {
    /// Its number, from 1: that of its records.
    pub number: usize,
    /// Its options.
    #[serde(rename = "options", serialize_with = "settings")]
    pub point: SweepPoint,
    /// Number of its runs.
    pub n_runs: usize,
    /// Number of its runs in which a job failed.
    pub n_failed: usize,
    /// The figure of `--until` is known so well; `None`: nothing was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_known: Option<bool>,
    /// Its figures.
    pub figures: Vec<RepeatedFigure>,
    /// Runs that are far from the others.
    pub outliers: Vec<Outlier>,
    /// Indexes of its findings.
    #[serde(skip)]
    pub findings: Vec<usize>,
    /// The worst of its findings that is more than a remark.
    pub worst: Option<Severity>,
}

impl PointOutcome {
    /// False where a finding contradicts a figure, or a job failed: a reader must not believe the figures.
    pub fn is_believable(&self) -> bool {
        self.n_failed == 0 && self.worst != Some(Severity::Wrong)
    }

    /// A figure of a job by the job's index.
    pub fn figure(&self, job_index: usize, kind: IoKind, metric: Metric) -> Option<&RepeatedFigure> {
        let is_it = |one: &&RepeatedFigure| one.job_index == job_index && one.kind == kind && one.metric == metric;
        self.figures.iter().find(is_it)
    }
}

impl SweepOutcome {
    /// Reads the records of a sweep.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn read(folder: &SweepFolder) -> Result<Self, SweepError> {
        let plan = &folder.plan;
        let mut outcome = Self { until: plan.until.clone(), ..Self::empty(plan.axes.clone(), plan.n_repeats) };
        for (point_index, point) in plan.points.iter().enumerate() {
            let records = folder.records(point_index).collect::<Result<Vec<_>, _>>()?;
            if !records.is_empty() {
                outcome.add(point_index, point, &records);
            }
        }
        outcome.n_missing = folder.missing().len();
        outcome.limit = LimitAnswer::of(folder)?;
        outcome.find_changes(plan);
        outcome.finish();
        // By its own plan: a closed point that was made again may be the fastest now.
        if let Some(folder) = folder.open_loop()?
            && let Some(beside) = OpenLoop::of_points(&outcome, &folder.plan.points)
        {
            let figures = Box::new(Self::read(&folder)?);
            outcome.open_loop = Some(OpenLoopOutcome { beside, figures });
        }
        Ok(outcome)
    }

    /// An outcome without points.
    pub fn empty(axes: Vec<SweepAxis>, n_repeats: u32) -> Self {
        Self {
            axes,
            n_repeats,
            until: None,
            n_missing: 0,
            points: Vec::new(),
            limit: None,
            knees: Vec::new(),
            scalings: Vec::new(),
            findings: Vec::new(),
            open_loop: None,
        }
    }

    /// Adds the runs of a point.
    pub fn add(&mut self, point_index: usize, point: &SweepPoint, records: &[RunRecord]) {
        let named = |(index, record): (usize, &RunRecord)| RunResult {
            name: format!("run {}", index + 1),
            ..of_record(record)
        };
        let results: Vec<RunResult> = records.iter().enumerate().map(named).collect();
        let repeated = repeats(&results);
        let is_known = self.until.as_ref().map(|until| until.is_met(&repeated));
        let RepeatedRuns { n_runs, figures, outliers } = repeated;
        let has_failed = |result: &&RunResult| result.jobs.iter().any(|job| job.error != 0);
        let findings = self.add_findings(point_index + 1, &results);
        let worst = findings.iter().map(|index| self.findings[*index].finding.severity).min();
        self.points.push(PointOutcome {
            number: point_index + 1,
            point: point.clone(),
            n_runs,
            n_failed: results.iter().filter(has_failed).count(),
            is_known,
            figures,
            outliers,
            findings,
            worst: worst.filter(|severity| *severity != Severity::Note),
        });
    }

    /// True unless a figure of `--until` is known less well than was asked, at any point.
    pub fn is_known(&self) -> bool {
        self.points.iter().all(|point| point.is_known != Some(false))
    }

    /// Sorts the findings, and finds the knees and the growth with hosts, when all points are there.
    pub fn finish(&mut self) {
        self.sort_findings();
        self.find_knees();
        self.find_scalings();
    }

    /// The jobs with their kinds of I/O, in the order of the first point that has them.
    pub fn jobs(&self) -> Vec<(usize, String, IoKind)> {
        let mut jobs: Vec<(usize, String, IoKind)> = Vec::new();
        for figure in self.points.iter().flat_map(|point| &point.figures) {
            if !jobs.iter().any(|(index, _, kind)| (*index, *kind) == (figure.job_index, figure.kind)) {
                jobs.push((figure.job_index, figure.job.clone(), figure.kind));
            }
        }
        jobs.sort_by_key(|(index, _, kind)| (*index, *kind));
        jobs
    }
}

fn axes<S: Serializer>(axes: &[SweepAxis], serializer: S) -> Result<S::Ok, S::Error> {
    let values = |axis: &SweepAxis| (0..axis.values.len()).map(|index| axis.value_text(index)).collect::<Vec<_>>();
    serializer.collect_seq(axes.iter().map(|axis| json!({ "options": axis.name(), "values": values(axis) })))
}

fn settings<S: Serializer>(point: &SweepPoint, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(point.settings.iter().map(|(option, value)| (option.to_string(), value)))
}
