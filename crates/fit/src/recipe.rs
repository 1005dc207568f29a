//! A recipe: the loads of a program as jobs, limits with their sources, and what a trace of the real program shows.
//!
//! Must not know: how loads are run. Start reading at [`Recipe::parse`].

use crate::{FitBound, FitError, scale};
use ferrio_insight::compare::ComparedMetric;
use ferrio_results::FiguresOf;
use serde::{Deserialize, Serialize};

/// Longest file of a recipe, bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// Limits of the length of a load, seconds.
const SECONDS: std::ops::RangeInclusive<u32> = 4..=86_400;

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
    /// Time of all its runs together, seconds.
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
    /// It must not be above: a latency with its unit.
    pub most: Option<String>,
    /// It must not be below: I/Os per second, or bytes per second with a unit.
    pub least: Option<String>,
    /// What happens to the program where it does not hold.
    pub means: String,
    /// Where the limit comes from.
    pub source: LimitSource,
}

/// Where a limit comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSource {
    /// Title of the page.
    pub title: String,
    /// Its address.
    pub url: String,
    /// When it said so.
    pub year: u32,
    /// What it says, in other words.
    pub says: String,
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
        let no_recipe = |reason: String| FitError::Recipe { place: place.to_owned(), reason };
        let recipe: Self = toml::from_str(text).map_err(|error| no_recipe(error.to_string()))?;
        recipe.check().map_err(no_recipe)?;
        Ok(recipe)
    }

    fn check(&self) -> Result<(), String> {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            return Err(format!("name = {:?}: a name has lower-case letters, digits and -", self.name));
        }
        if self.loads.is_empty() {
            return Err("it has no load".to_owned());
        }
        for (index, load) in self.loads.iter().enumerate() {
            if self.loads[..index].iter().any(|other| other.name == load.name) {
                return Err(format!("load {} is there twice", load.name));
            }
            if !SECONDS.contains(&load.seconds) {
                return Err(format!("load {}: seconds = {} is not between 4 and 86400", load.name, load.seconds));
            }
            scale::check(&load.scale).map_err(|reason| format!("load {}: {reason}", load.name))?;
        }
        for limit in &self.limits {
            let of = format!("limit of {} of {} in {}", limit.figure, limit.job, limit.load);
            if !self.loads.iter().any(|load| load.name == limit.load) {
                return Err(format!("{of}: there is no such load"));
            }
            limit.subject().and_then(|_| limit.bound()).map_err(|reason| format!("{of}: {reason}"))?;
        }
        Ok(())
    }

    /// The limits of a load.
    pub fn limits_of<'a>(&'a self, load: &'a FitLoad) -> impl Iterator<Item = (usize, &'a FitLimit)> {
        self.limits.iter().enumerate().filter(|(_, limit)| limit.load == load.name)
    }

    /// Time of all runs of the loads, seconds.
    pub fn seconds(&self) -> u32 {
        self.loads.iter().map(|load| load.seconds).sum()
    }
}

impl FitLimit {
    /// The figure that it is about.
    ///
    /// # Errors
    /// In words: there is none of this name.
    pub fn subject(&self) -> Result<(FiguresOf, ComparedMetric), String> {
        let (kind, metric) = self.figure.split_once('.').ok_or("a figure is a kind and a metric, such as sync.p99")?;
        let kind = FiguresOf::ALL
            .into_iter()
            .find(|known| known.name() == kind)
            .ok_or("its kind is read, write, trim or sync")?;
        let metric = ComparedMetric::ALL.into_iter().find(|known| known.name() == metric);
        Ok((kind, metric.ok_or("its metric is iops, bw, mean, p50, p95, p99, p99.9, p99.99 or max")?))
    }

    /// The limit as a value.
    ///
    /// # Errors
    /// In words: there is none, or its unit is not that of the figure.
    pub fn bound(&self) -> Result<FitBound, String> {
        let (_, metric) = self.subject()?;
        let value = |text: &str| {
            let units: &[(&str, f64)] = match metric {
                ComparedMetric::Iops => &[("", 1.0)],
                ComparedMetric::Bandwidth => &[("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)],
                _ => &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)],
            };
            let found = units.iter().find_map(|(unit, factor)| {
                let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
                Some(number * factor)
            });
            let found = found.filter(|value| value.is_finite() && *value > 0.0);
            found.ok_or_else(|| format!("{text:?} is no value of this figure (10ms; 500; 50MB/s)"))
        };
        match (&self.most, &self.least) {
            (Some(most), None) => value(most).map(FitBound::Most),
            (None, Some(least)) => value(least).map(FitBound::Least),
            _ => Err("it has either most or least".to_owned()),
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
        assert_eq!(recipe.limits[0].subject(), Ok((FiguresOf::Sync, ComparedMetric::P99)));
        assert_eq!((recipe.seconds(), recipe.limits_of(&recipe.loads[0]).count()), (20, 1));
    }

    #[test]
    fn what_is_no_recipe_is_refused_with_the_part() {
        for (from, to, reason) in [
            ("name = \"log\"", "name = \"Log!\"", "lower-case"),
            ("name = \"log\"", "nme = \"log\"", "unknown field"),
            ("seconds = 20", "seconds = 1", "between 4 and"),
            ("load = \"wal\"", "load = \"other\"", "no such load"),
            ("sync.p99", "sync.speed", "its metric is"),
            ("sync.p99", "fsync.p99", "its kind is"),
            ("most = \"10ms\"", "most = \"10\"", "no value"),
            ("most = \"10ms\"", "most = \"10ms\"\nleast = \"5ms\"", "either most or least"),
            ("most = \"10ms\"", "most = \"nan ms\"", "no value"),
            ("scale = [\"rate_iops\"]", "scale = [\"bs\"]", "bs"),
            ("year = 2024", "year = \"soon\"", "invalid type"),
        ] {
            let text = TEXT.replacen(from, to, 1);
            assert_ne!(text, TEXT, "{from}");
            let error = Recipe::parse(&text, "log.toml").expect_err(to).to_string();
            assert!(error.starts_with("log.toml: it is no recipe: ") && error.contains(reason), "{to}: {error}");
        }
    }
}
