//! A recipe: the loads of a program as jobs, limits with their sources, and what a trace of the real program shows.
//!
//! Must not know: how loads are run. Start reading at [`Recipe::parse`].

use crate::fit::error::{FitLimitFault, RecipeFault};
use crate::fit::runs::{MOST_RUNS, MOST_TAIL_RUNS, N_RUNS};
use crate::fit::tail::FEWEST_TO_FIT;
use crate::fit::{FitBound, FitError, IosTogether, LimitSource, scale};
use ferrio_formats::IoKind;
use ferrio_stats::{FigureSubject, Metric, MetricUnit};
use serde::{Deserialize, Serialize};

/// Longest file of a recipe, bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// Limits of the length of a load, seconds.
const SECONDS: std::ops::RangeInclusive<u32> = 4..=86_400;

/// Most I/Os of a kind that are put together.
pub(super) const MOST_TOGETHER: u32 = 1_000;

/// What a program does to storage, and what it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Its name, as `ferrio fit` takes it.
    pub name: String,
    /// The program, in one line.
    pub title: String,
    /// What the program does to storage.
    pub about: String,
    /// The loads, at least one.
    #[serde(rename = "load")]
    pub loads: Vec<FitLoad>,
    /// The limits; none where no source has one.
    #[serde(rename = "limit", default)]
    pub limits: Vec<FitLimit>,
    /// Traces of the real program.
    #[serde(rename = "trace", default)]
    pub traces: Vec<FitTrace>,
}

/// Jobs that do what the program does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitLoad {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Time of four runs together, seconds: a run takes a quarter of it.
    pub seconds: u32,
    /// A job file, without targets and runtime.
    pub jobs: String,
    /// Options whose values are multiplied to find out how much more load there may be.
    #[serde(default)]
    pub scale: Vec<String>,
}

/// A limit of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitLimit {
    /// The load.
    pub load: String,
    /// The job.
    pub job: String,
    /// The figure: `sync.p99`.
    pub figure: String,
    /// The limit is about so many I/Os, of which the program does one after the other and waits for all; `None`: about single ones.
    pub together: Option<IosTogether>,
    /// It must not be above: a latency with its unit.
    pub most: Option<String>,
    /// It must not be below: I/Os per second, or bytes per second with a unit.
    pub least: Option<String>,
    /// What happens to the program where it does not hold.
    pub means: String,
    /// Where the limit comes from.
    pub source: LimitSource,
}

/// What a trace of the real program shows, beside what the load does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitTrace {
    /// The program with its version.
    pub program: String,
    /// The load that does the same.
    pub load: String,
    /// How the program was driven and traced.
    pub how: String,
    /// Figures of both.
    #[serde(rename = "figure", default)]
    pub figures: Vec<TracedFigure>,
    /// Where both differ.
    #[serde(rename = "difference", default)]
    pub differences: Vec<TracedDifference>,
}

/// A figure of a trace and of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracedFigure {
    /// What it is, with its unit.
    pub name: String,
    /// In the trace.
    pub traced: f64,
    /// In the load.
    pub recipe: f64,
}

/// A difference between the program and the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracedDifference {
    /// In words.
    pub text: String,
}

impl Recipe {
    /// Reads a recipe. `place`: where it comes from, for errors.
    ///
    /// # Errors
    /// It is none; the reason names the part.
    pub fn parse(text: &str, place: &str) -> Result<Self, FitError> {
        let no_recipe = |fault: RecipeFault| FitError::Recipe { place: place.to_owned(), fault };
        let recipe: Self = toml::from_str(text).map_err(|error| no_recipe(error.into()))?;
        recipe.check().map_err(no_recipe)?;
        Ok(recipe)
    }

    fn check(&self) -> Result<(), RecipeFault> {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            return Err(RecipeFault::Name(self.name.clone()));
        }
        if self.loads.is_empty() {
            return Err(RecipeFault::NoLoad);
        }
        for (index, load) in self.loads.iter().enumerate() {
            if self.loads[..index].iter().any(|other| other.name == load.name) {
                return Err(RecipeFault::LoadTwice(load.name.clone()));
            }
            if !SECONDS.contains(&load.seconds) {
                return Err(RecipeFault::Seconds { load: load.name.clone(), seconds: load.seconds });
            }
            scale::check(&load.scale).map_err(|fault| RecipeFault::Scale { load: load.name.clone(), fault })?;
        }
        for limit in &self.limits {
            let of = |fault| RecipeFault::Limit {
                limit: format!("{} of {} in {}", limit.figure, limit.job, limit.load),
                fault,
            };
            if !self.loads.iter().any(|load| load.name == limit.load) {
                return Err(of(FitLimitFault::Load));
            }
            limit.subject().and_then(|_| limit.bound()).map_err(of)?;
            limit.check_together().map_err(of)?;
        }
        Ok(())
    }

    /// The limits of a load.
    pub fn limits_of<'a>(&'a self, load: &'a FitLoad) -> impl Iterator<Item = (usize, &'a FitLimit)> {
        self.limits.iter().enumerate().filter(|(_, limit)| limit.load == load.name)
    }

    /// Fewest runs of a load after which storage may fit: those of a percentile are more.
    pub fn fewest_runs(&self, load: &FitLoad) -> u32 {
        if self.limits_of(load).any(|(_, limit)| limit.percent().is_some()) { FEWEST_TO_FIT } else { N_RUNS }
    }

    /// Most runs of a load where they do not decide.
    pub fn most_runs(&self, load: &FitLoad) -> u32 {
        if self.fewest_runs(load) > N_RUNS { MOST_TAIL_RUNS } else { MOST_RUNS }
    }

    /// Time of the fewest runs of a load that decide, seconds.
    pub fn seconds_of(&self, load: &FitLoad) -> u32 {
        load.seconds * self.fewest_runs(load) / N_RUNS
    }

    /// Time of the fewest runs of all loads, seconds.
    pub fn seconds(&self) -> u32 {
        self.loads.iter().map(|load| self.seconds_of(load)).sum()
    }
}

impl FitLimit {
    /// The percentage of the percentile that it is about, whose limit is a latency; `None`: it is about another figure.
    pub fn percent(&self) -> Option<f64> {
        self.subject().ok()?.1.percent().filter(|_| self.most.is_some())
    }

    fn check_together(&self) -> Result<(), FitLimitFault> {
        let Some(ios) = self.together else { return Ok(()) };
        let is_of_syncs = self.subject().is_ok_and(|(kind, _)| kind == IoKind::Sync) && self.percent().is_some();
        if !is_of_syncs || !(1..=MOST_TOGETHER).contains(&ios.syncs) || ios.writes > MOST_TOGETHER {
            return Err(FitLimitFault::Together);
        }
        Ok(())
    }

    /// The figure that it is about.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn subject(&self) -> Result<(IoKind, Metric), FitLimitFault> {
        if !self.figure.contains('.') {
            return Err(FitLimitFault::Figure);
        }
        let (subject, metric) = FigureSubject::split(&self.figure);
        let kind = subject.kind.filter(|_| subject.job.is_none()).ok_or(FitLimitFault::Kind)?;
        Ok((kind, Metric::named(metric).ok_or(FitLimitFault::Metric)?))
    }

    /// The limit as a value.
    ///
    /// # Errors
    /// There is none, or its unit is not that of the figure.
    pub fn bound(&self) -> Result<FitBound, FitLimitFault> {
        let (_, metric) = self.subject()?;
        let value = |text: &str| {
            let found = match metric.unit() {
                MetricUnit::IosPerSecond => text.trim().parse::<f64>().ok(),
                unit => MetricUnit::parse(text).ok().filter(|(given, _)| *given == unit).map(|(_, value)| value),
            };
            let found = found.filter(|value| value.is_finite() && *value > 0.0);
            found.ok_or_else(|| FitLimitFault::Value(text.to_owned()))
        };
        match (&self.most, &self.least) {
            (Some(most), None) => value(most).map(FitBound::Most),
            (None, Some(least)) => value(least).map(FitBound::Least),
            _ => Err(FitLimitFault::Bounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
name = "log"
title = "A log"
about = "It writes."
[[load]]
name = "wal"
about = "Appends."
seconds = 20
jobs = "[wal]\nrw=write\nsize=1m\nfdatasync=1\nrate_iops=100\n"
scale = ["rate_iops"]
[[limit]]
load = "wal"
job = "wal"
figure = "sync.p99"
most = "10ms"
means = "It is slow."
source = { title = "Book", url = "https://example.org", year = 2024, says = "So." }
"#;

    #[test]
    fn a_recipe_is_read() {
        let recipe = Recipe::parse(TEXT, "log.toml").expect("a recipe");
        assert_eq!(recipe.limits[0].bound(), Ok(FitBound::Most(10e6)));
        assert_eq!(recipe.limits[0].subject(), Ok((IoKind::Sync, Metric::P99)));
        // Four runs are 20 s, and a percentile takes twelve.
        assert_eq!((recipe.seconds(), recipe.limits_of(&recipe.loads[0]).count()), (60, 1));
        let commits = TEXT.replace("most = ", "together = { syncs = 2, writes = 14 }\nmost = ");
        let together = Recipe::parse(&commits, "log.toml").expect("a recipe").limits[0].together;
        assert_eq!(together, Some(IosTogether { syncs: 2, writes: 14 }));
    }

    #[test]
    fn what_is_no_recipe_is_refused_with_the_part() {
        for (from, to, reason) in [
            ("name = \"log\"", "name = \"Log!\"", "lower-case"),
            ("name = \"log\"", "nme = \"log\"", "unknown field"),
            ("seconds = 20", "seconds = 1", "between 4 and"),
            ("load = \"wal\"", "load = \"other\"", "no such load"),
            ("sync.p99", "sync.speed", "its metric is none of iops, bw, "),
            ("sync.p99", "fsync.p99", "its kind is"),
            ("most = \"10ms\"", "most = \"10\"", "no value"),
            ("most = \"10ms\"", "most = \"10ms\"\nleast = \"5ms\"", "either most or least"),
            ("most = \"10ms\"", "most = \"nan ms\"", "no value"),
            ("scale = [\"rate_iops\"]", "scale = [\"bs\"]", "bs"),
            ("most = ", "together = { syncs = 0 }\nmost = ", "1 to 1000 syncs"),
            ("figure = \"sync.p99\"", "together = { syncs = 2 }\nfigure = \"write.p99\"", "a percentile of syncs"),
            ("year = 2024", "year = \"soon\"", "invalid type"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            assert_ne!(text, TEXT, "{from}");
            let error = Recipe::parse(&text, "log.toml").expect_err(to).to_string();
            assert!(error.starts_with("log.toml: it is no recipe: ") && error.contains(reason), "{to}: {error}");
        }
    }
}
