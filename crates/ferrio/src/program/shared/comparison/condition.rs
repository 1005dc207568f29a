//! Conditions of `--fail-if` about a comparison.
//!
//! Must not know: files, tables. Start reading at [`Condition::parse`], then [`Condition::judge`].
//!
//! A condition is made of terms joined by `and` and `or`; `and` binds closer. A term is `[JOB:][DIRECTION.]FIGURE OPERATOR VALUE`,
//! such as `read.iops < -5%` or `p99 > 200us`, or `[JOB:][DIRECTION.]FIGURE is VERDICT`.

mod value;

use anyhow::anyhow;
use ferrio_insight::compare::{ComparedFigure, ComparedJob, Comparison, ComparisonVerdict};
use ferrio_stats::{FigureSubject, Metric, NoFigure};
use serde::Serialize;
use value::Bound;

const VERDICTS: [(&str, ComparisonVerdict); 5] = [
    ("differs", ComparisonVerdict::Differs),
    ("same", ComparisonVerdict::Same),
    ("faster", ComparisonVerdict::Faster),
    ("slower", ComparisonVerdict::Slower),
    ("unknown", ComparisonVerdict::Unknown),
];

/// A condition, as it was given and as it is judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    text: String,
    /// It is met if all terms of one of these lists are.
    alternatives: Vec<Vec<Term>>,
}

/// A part of a condition.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    subject: FigureSubject,
    /// The figure; `None`: any.
    metric: Option<Metric>,
    test: TermTest,
}

#[derive(Debug, Clone, PartialEq)]
enum TermTest {
    /// The whole interval of the change is beyond this.
    Change(Bound),
    Verdict(ComparisonVerdict),
}

/// What the results tell of a condition. Of alternatives the highest counts, of terms that must all be met the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ConditionOutcome {
    NotMet,
    /// The results do not decide it: the interval reaches to both sides of the bound, or there is none.
    Undecided,
    Met,
}

/// What became of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ConditionResult {
    pub(super) condition: String,
    pub(super) outcome: ConditionOutcome,
    pub(super) jobs: Vec<String>,
    /// Figures that it asks for and that the results do not decide.
    pub(super) unknown: Vec<String>,
}

impl Condition {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let alternative = |part: &str| split(part, "and").iter().map(|term| Term::parse(term)).collect();
        let alternatives = split(text, "or").iter().map(|part| alternative(part)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.trim().to_owned(), alternatives })
    }

    /// Judges it over all jobs of the comparisons: it is met if it is in one of them.
    ///
    /// # Errors
    /// A figure that it asks for is in none of them.
    pub(super) fn judge(&self, comparisons: &[Comparison]) -> anyhow::Result<ConditionResult> {
        let jobs: Vec<&ComparedJob> = comparisons.iter().flat_map(|comparison| &comparison.jobs).collect();
        for term in self.alternatives.iter().flatten() {
            if !jobs.iter().any(|job| term.figures(job).next().is_some()) {
                return Err(anyhow!("--fail-if {:?}: no job has such a figure on both sides", self.text));
            }
        }
        let outcome = |job: &&ComparedJob| {
            let of_all = |terms: &Vec<Term>| terms.iter().map(|term| term.judge(&jobs, job)).min();
            self.alternatives.iter().filter_map(of_all).max().unwrap_or(ConditionOutcome::NotMet)
        };
        let outcomes: Vec<(&ComparedJob, ConditionOutcome)> = jobs.iter().map(|job| (*job, outcome(job))).collect();
        let met = outcomes.iter().filter(|(_, outcome)| *outcome == ConditionOutcome::Met);
        let mut holding: Vec<String> = met.map(|(job, _)| job.name.clone()).collect();
        holding.dedup();
        let outcome = outcomes.iter().map(|(_, outcome)| *outcome).max().unwrap_or(ConditionOutcome::NotMet);
        let mut unknown: Vec<String> = Vec::new();
        for (term, job) in self.alternatives.iter().flatten().flat_map(|term| jobs.iter().map(move |job| (term, job))) {
            let names =
                term.undecided(job).map(|figure| format!("{} {}.{}", job.name, figure.direction, figure.metric.name()));
            unknown.extend(names);
        }
        unknown.dedup();
        Ok(ConditionResult { condition: self.text.clone(), outcome, jobs: holding, unknown })
    }
}

/// The parts between words.
fn split<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let lower = text.to_ascii_lowercase();
    let separator = format!(" {word} ");
    while let Some(at) = lower[start..].find(&separator) {
        parts.push(&text[start..start + at]);
        start += at + separator.len();
    }
    parts.push(&text[start..]);
    parts
}

impl Term {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let text = text.trim();
        let bad = |reason: &str| {
            anyhow!("{text:?}: {reason}; expected is something like read.iops < -5%, p99 > 200us, or bw is slower")
        };
        let (subject, asked) = if let Some((subject, word)) = text.rsplit_once(" is ") {
            let found = VERDICTS.iter().find(|(name, _)| *name == word.trim());
            let (_, verdict) = found.ok_or_else(|| bad("a verdict is same, faster, slower, differs or unknown"))?;
            (subject, TermTest::Verdict(*verdict))
        } else {
            let at = text.find(['<', '>']).ok_or_else(|| bad("it has no <, <=, >, >= or is"))?;
            (&text[..at], TermTest::Change(Bound::parse(&text[at..]).map_err(|reason| bad(&reason.to_string()))?))
        };
        let (subject, word) = FigureSubject::split(subject);
        let word = word.strip_prefix("any.").unwrap_or(word);
        let metric = Metric::named(word);
        if metric.is_none() && word != "any" {
            return Err(bad(&format!("{} and any", NoFigure { word: word.to_owned() })));
        }
        if let (Some(metric), TermTest::Change(bound)) = (metric, &asked)
            && !bound.fits(metric)
        {
            return Err(bad("the unit is not that of the figure"));
        }
        if let (None, TermTest::Change(bound)) = (metric, &asked)
            && !bound.is_percentage()
        {
            return Err(bad("any figure has a change in percent alone"));
        }
        Ok(Self { subject, metric, test: asked })
    }

    fn figures<'a>(&'a self, job: &'a ComparedJob) -> impl Iterator<Item = &'a ComparedFigure> {
        let is_it = move |figure: &&ComparedFigure| {
            let FigureSubject { job: name, kind } = &self.subject;
            name.as_ref().is_none_or(|name| *name == job.name)
                && kind.is_none_or(|kind| kind.name() == figure.direction)
                && self.metric.is_none_or(|metric| metric == figure.metric)
        };
        job.figures.iter().filter(is_it)
    }

    /// Judges it in a job; a term with the name of a job is about that one wherever the others are met.
    fn judge(&self, jobs: &[&ComparedJob], job: &ComparedJob) -> ConditionOutcome {
        let of_job = |job: &ComparedJob| self.figures(job).map(|figure| self.test.judge(figure)).max();
        let found =
            if self.subject.job.is_some() { jobs.iter().filter_map(|job| of_job(job)).max() } else { of_job(job) };
        found.unwrap_or(ConditionOutcome::NotMet)
    }

    /// The figures of a job for which the results do not decide it.
    fn undecided<'a>(&'a self, job: &'a ComparedJob) -> impl Iterator<Item = &'a ComparedFigure> {
        self.figures(job).filter(move |figure| self.test.judge(figure) == ConditionOutcome::Undecided)
    }
}

impl TermTest {
    fn judge(&self, figure: &ComparedFigure) -> ConditionOutcome {
        match self {
            Self::Verdict(asked) => of_verdicts(*asked, figure.verdict),
            Self::Change(bound) => {
                let bounds = figure.change.and_then(|change| change.bounds_percent);
                match bounds.map(|ends| ends.map(|percent| bound.is_passed(percent, figure.base))) {
                    Some([true, true]) => ConditionOutcome::Met,
                    Some([false, false]) => ConditionOutcome::NotMet,
                    _ => ConditionOutcome::Undecided,
                }
            }
        }
    }
}

/// Whether a verdict is the one that is asked for. Two runs that differ may be faster or slower, and are not the same.
fn of_verdicts(asked: ComparisonVerdict, found: ComparisonVerdict) -> ConditionOutcome {
    use ComparisonVerdict::{Differs, Faster, Same, Slower, Unknown};
    let is_met = match (asked, found) {
        (Unknown, found) => found == Unknown,
        (_, Unknown) | (Faster | Slower, Differs) => return ConditionOutcome::Undecided,
        (Differs, found) => found != Same,
        (asked, found) => asked == found,
    };
    if is_met { ConditionOutcome::Met } else { ConditionOutcome::NotMet }
}

#[cfg(test)]
mod tests;
