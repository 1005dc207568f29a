//! The name of a figure: `[JOB:][KIND.]METRIC`, such as `log:sync.p99`.
//!
//! Must not know: values, limits. Start reading at [`FigureName::parse`].

use ferrio_formats::IoKind;
use ferrio_insight::compare::ComparedMetric;

/// A word names no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no figure: there are {names}", names = ComparedMetric::ALL.iter().map(|metric| metric.name()).collect::<Vec<_>>().join(", "))]
pub struct NoFigure(String);

/// Figures of one metric: of all jobs and kinds of I/O, or of some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FigureName {
    /// Name of the job; `None`: any.
    job: Option<String>,
    /// Kind of I/O; `None`: any.
    kind: Option<IoKind>,
    /// Which figure.
    pub(crate) metric: ComparedMetric,
}

impl FigureName {
    /// Parses a name.
    pub(crate) fn parse(text: &str) -> Result<Self, NoFigure> {
        let (job, figure) = text.rsplit_once(':').map_or((None, text), |(job, rest)| (Some(job.trim()), rest));
        let figure = figure.trim();
        let of = |kind: &IoKind| figure.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix('.'));
        let kind = IoKind::ALL.into_iter().find(|kind| of(kind).is_some());
        let name = kind.and_then(|kind| of(&kind)).unwrap_or(figure);
        let metric = ComparedMetric::ALL.into_iter().find(|metric| metric.name() == name);
        let metric = metric.ok_or_else(|| NoFigure(name.to_owned()))?;
        Ok(Self { job: job.map(str::to_owned), kind, metric })
    }

    /// True if it is about this job and kind of I/O.
    pub(crate) fn is_about(&self, job: &str, kind: IoKind) -> bool {
        self.job.as_ref().is_none_or(|name| name == job) && self.kind.is_none_or(|wanted| wanted == kind)
    }
}
