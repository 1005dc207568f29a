//! `--until`: runs at a point are repeated until a figure is known well enough.
//!
//! Must not know: folders, how intervals are made. Start reading at [`UntilKnown::parse`].

use ferrio_insight::repeats::{RepeatedFigure, RepeatedRuns};
use ferrio_stats::{FigureName, NoFigure};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Fewest runs: an interval of a few is too often narrow by chance when it is looked at again and again. Of stops after three or four runs, 58 % had the truth.
pub const FEWEST_RUNS: u32 = 6;

/// A text is no aim of `--until`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {fault}; expected is something like 'read.iops ± 2 %'")]
pub struct UntilError {
    text: String,
    /// What is wrong with it.
    #[source]
    fault: UntilFault,
}

/// What is wrong with an aim of `--until`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum UntilFault {
    #[error("it has no ±")]
    NoSign,
    #[error("it has no %")]
    NoUnit,
    #[error("the percentage is no number above 0 and below 100")]
    Percentage,
    #[error(transparent)]
    Figure(#[from] NoFigure),
}

/// A figure, and the largest half of its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UntilKnown {
    text: String,
    figure: FigureName,
    percent: f64,
}

impl UntilKnown {
    /// Parses `[JOB:][KIND.]FIGURE ± PERCENT %`; `+-` may stand for `±`.
    ///
    /// # Errors
    /// It has no such form.
    pub fn parse(text: &str) -> Result<Self, UntilError> {
        let bad = |fault| UntilError { text: text.to_owned(), fault };
        let (figure, percent) =
            text.split_once('±').or_else(|| text.split_once("+-")).ok_or_else(|| bad(UntilFault::NoSign))?;
        let percent = percent.trim().strip_suffix('%').ok_or_else(|| bad(UntilFault::NoUnit))?.trim();
        let percent = percent.parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0);
        let percent = percent.ok_or_else(|| bad(UntilFault::Percentage))?;
        let figure = FigureName::parse(figure).map_err(|error| bad(error.into()))?;
        Ok(Self { text: text.trim().to_owned(), figure, percent })
    }

    /// True if all figures that it is about are known well enough.
    pub fn is_met(&self, repeats: &RepeatedRuns) -> bool {
        let mut figures = repeats.figures.iter().filter(|figure| self.is_about(figure)).peekable();
        let is_known = |figure: &RepeatedFigure| figure.half_width_percent().is_some_and(|half| half <= self.percent);
        repeats.n_runs >= FEWEST_RUNS as usize && figures.peek().is_some() && figures.all(is_known)
    }

    /// True if further runs do not tell more: the figures are known well enough, or the jobs have none of them.
    pub fn is_decided(&self, repeats: &RepeatedRuns) -> bool {
        let has_none = repeats.n_runs >= FEWEST_RUNS as usize && !self.is_about_one_of(&repeats.figures);
        has_none || self.is_met(repeats)
    }

    /// True if one of the figures is meant.
    pub fn is_about_one_of(&self, figures: &[RepeatedFigure]) -> bool {
        figures.iter().any(|figure| self.is_about(figure))
    }

    fn is_about(&self, figure: &RepeatedFigure) -> bool {
        self.figure.metric == figure.metric && self.figure.subject.is_about(&figure.job, figure.kind)
    }
}

impl fmt::Display for UntilKnown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl TryFrom<String> for UntilKnown {
    type Error = UntilError;

    fn try_from(text: String) -> Result<Self, UntilError> {
        Self::parse(&text)
    }
}

impl From<UntilKnown> for String {
    fn from(until: UntilKnown) -> Self {
        until.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::IoKind;
    use ferrio_stats::Metric;

    fn figure(job: &str, kind: IoKind, half_percent: f64) -> RepeatedFigure {
        RepeatedFigure {
            job_index: 0,
            job: job.to_owned(),
            kind,
            metric: Metric::Iops,
            values: vec![100.0; 6],
            mean: 100.0,
            interval: Some([100.0 - half_percent, 100.0 + half_percent]),
            unknown: None,
            between_percent: None,
            within_percent: None,
            is_doubtful: false,
            kinds: None,
        }
    }

    #[test]
    fn all_figures_that_are_named_must_be_known() {
        let figures =
            vec![figure("a", IoKind::Read, 1.0), figure("b", IoKind::Read, 3.0), figure("b", IoKind::Write, 9.0)];
        let repeats = RepeatedRuns { n_runs: 6, figures, outliers: Vec::new() };
        let is_met = |text: &str| UntilKnown::parse(text).expect(text).is_met(&repeats);
        assert!(is_met("a:read.iops ± 1 %") && is_met("a:iops±2%") && is_met("read.iops +- 3 %"));
        assert!(
            !is_met("read.iops ± 2 %")
                && !is_met("iops ± 5 %")
                && !is_met("trim.iops ± 50 %")
                && !is_met("a:p99 ± 5 %")
        );
        let few = RepeatedRuns { n_runs: 5, ..repeats.clone() };
        assert!(!UntilKnown::parse("a:iops ± 5 %").expect("one").is_met(&few));
        // A figure that the jobs do not have is known after no number of runs.
        let is_decided = |text: &str, runs: &RepeatedRuns| UntilKnown::parse(text).expect(text).is_decided(runs);
        assert!(is_decided("a:iops ± 2 %", &repeats) && is_decided("trim.iops ± 50 %", &repeats));
        assert!(!is_decided("b:iops ± 2 %", &repeats) && !is_decided("trim.iops ± 50 %", &few));
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in ["", "iops", "iops ± 2", "iops ± x %", "iops ± 0 %", "iops ± nan %", "speed ± 2 %", "read. ± 2 %"]
        {
            assert!(UntilKnown::parse(text).is_err(), "{text}");
        }
    }
}
