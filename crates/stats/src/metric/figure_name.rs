//! The name of a figure: `[JOB:][KIND.]METRIC`, such as `log:sync.p99`.
//!
//! Must not know: values, limits. Start reading at [`FigureName::parse`].

use super::Metric;
use crate::IoKind;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no figure: there are {names}", names = Metric::names(|_| true))]
pub struct NoFigure {
    pub word: String,
}

/// All jobs and kinds of I/O, or some.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FigureSubject {
    /// Name of the job; `None`: any.
    pub job: Option<String>,
    /// Kind of I/O; `None`: any.
    pub kind: Option<IoKind>,
}

/// Figures of one metric: of all jobs and kinds of I/O, or of some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureName {
    /// The jobs and kinds of I/O.
    pub subject: FigureSubject,
    pub metric: Metric,
}

impl FigureSubject {
    /// Takes the job and the kind of I/O off a name, and returns the word behind them.
    pub fn split(text: &str) -> (Self, &str) {
        let (job, figure) = text.rsplit_once(':').map_or((None, text), |(job, rest)| (Some(job.trim()), rest));
        let figure = figure.trim();
        let of = |kind: IoKind| Some((kind, figure.strip_prefix(kind.name())?.strip_prefix('.')?));
        let found = IoKind::ALL.into_iter().find_map(of);
        let subject = Self { job: job.map(str::to_owned), kind: found.map(|(kind, _)| kind) };
        (subject, found.map_or(figure, |(_, word)| word))
    }

    /// True if it is about this job and kind of I/O.
    pub fn is_about(&self, job: &str, kind: IoKind) -> bool {
        self.job.as_ref().is_none_or(|name| name == job) && self.kind.is_none_or(|wanted| wanted == kind)
    }
}

impl FigureName {
    pub fn parse(text: &str) -> Result<Self, NoFigure> {
        let (subject, word) = FigureSubject::split(text);
        let metric = Metric::named(word).ok_or_else(|| NoFigure { word: word.to_owned() })?;
        Ok(Self { subject, metric })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_and_a_kind_may_stand_before_a_figure() {
        let name = |job: Option<&str>, kind, metric| {
            Ok(FigureName { subject: FigureSubject { job: job.map(str::to_owned), kind }, metric })
        };
        for (text, expected) in [
            (" p99.9 ", name(None, None, Metric::P999)),
            ("sync.p99", name(None, Some(IoKind::Sync), Metric::P99)),
            ("a:b: read.bw", name(Some("a:b"), Some(IoKind::Read), Metric::Bandwidth)),
            ("fsync.p99", Err(NoFigure { word: "fsync.p99".to_owned() })),
            ("read.", Err(NoFigure { word: String::new() })),
        ] {
            assert_eq!(FigureName::parse(text), expected, "{text}");
        }
        let subject = FigureSubject::split("a:read.iops").0;
        assert!(subject.is_about("a", IoKind::Read) && !subject.is_about("a", IoKind::Write));
        assert!(!subject.is_about("b", IoKind::Read) && FigureSubject::default().is_about("b", IoKind::Sync));
    }
}
