//! What a list shows of a run, so that the whole result need not be read for it.
//!
//! Must not know: the database. Start reading at [`RunSummary`].

use ferrio_formats::{IoKind, JobResult, RunResult};
use ferrio_stats::{Audit, JobTargets, Metric, RunRecord, Severity};
use serde::{Deserialize, Serialize};

/// Most figures of a run that lists have: a run may have thousands of jobs.
const MAX_FIGURES: usize = 64;
/// Most names of jobs or targets that lists have.
const MAX_NAMES: usize = 64;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSummary {
    /// Start of the run, milliseconds since 1970; `None`: unknown.
    pub began_ms: Option<i64>,
    /// Length of the run, nanoseconds.
    pub duration_ns: i64,
    /// Name of the host; empty: unknown.
    pub host: String,
    /// The program that measured, with its version.
    pub program: String,
    /// Names of the jobs.
    pub jobs: Vec<String>,
    /// The targets.
    pub targets: Vec<String>,
    /// The words of the command line; empty: unknown.
    pub command_line: Vec<String>,
    /// Headline figures of each job and direction.
    pub figures: Vec<KeptFigures>,
    /// The worst finding.
    pub verdict: KeptVerdict,
}

/// Headline figures of one job and direction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KeptFigures {
    /// The job.
    pub job: String,
    /// `read`, `write`, `trim` or `sync`.
    pub direction: String,
    /// Number of I/Os.
    pub n_ios: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    /// I/Os a second.
    pub ios_per_sec: f64,
    /// Bytes a second.
    pub bytes_per_sec: f64,
    /// Mean latency, nanoseconds; `None`: not measured.
    pub mean_ns: Option<f64>,
    /// Median latency, nanoseconds.
    pub p50_ns: Option<u64>,
    /// 99th percentile of the latency, nanoseconds.
    pub p99_ns: Option<u64>,
    /// Fewer than ten I/Os took longer than that.
    pub is_p99_doubtful: bool,
}

impl KeptFigures {
    /// A figure; `None`: it was not measured, or is not kept. Syncs move no data.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Iops => Some(self.ios_per_sec),
            Metric::Bandwidth => Some(self.bytes_per_sec).filter(|_| self.direction != IoKind::Sync.name()),
            Metric::MeanLatency => self.mean_ns,
            Metric::P50 => self.p50_ns.map(|value_ns| value_ns as f64),
            Metric::P99 => self.p99_ns.map(|value_ns| value_ns as f64),
            Metric::P95 | Metric::P999 | Metric::P9999 | Metric::Max => None,
        }
    }
}

/// The worst finding about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeptVerdict {
    /// A finding of this severity.
    Found(Severity),
    /// Nothing was found.
    Nothing,
    /// Nobody has looked.
    #[default]
    NotExamined,
}

impl KeptVerdict {
    /// The word for it in lists, in JSON and in the database.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Found(severity) => severity.word(),
            Self::Nothing => "nothing",
            Self::NotExamined => "not examined",
        }
    }

    /// The verdict of a word; one that this version does not know says nothing.
    pub(crate) fn of_word(word: &str) -> Self {
        let found = Severity::ALL.into_iter().find(|severity| severity.word() == word).map(Self::Found);
        found.unwrap_or(if word == Self::Nothing.word() { Self::Nothing } else { Self::NotExamined })
    }
}

impl RunSummary {
    /// That of a run of ferrio.
    pub fn of_record(record: &RunRecord) -> Self {
        let summary = Self::of_result(&ferrio_formats::of_record(record));
        let targets = names(record.targets().iter().flat_map(targets));
        let targets = if targets.is_empty() { summary.targets } else { targets };
        Self { targets, duration_ns: to_i64(record.elapsed_ns), ..summary }
    }

    /// That of any result. The length of a run of another program reaches from the start of its first job to the end of the last one, or
    /// is that of its longest job where it does not tell when jobs began.
    pub fn of_result(result: &RunResult) -> Self {
        let duration_ns = duration_ns(&result.jobs);
        let before_end = |end_ms: u64| end_ms.saturating_sub(duration_ns / 1_000_000);
        let provenance = result.provenance.as_deref();
        let targets = result.jobs.iter().filter_map(|job| job.option(&result.global_options, "filename"));
        let worst = |audit: &Audit| {
            let severities = || audit.findings.iter().map(|finding| finding.severity);
            let worst = Severity::ALL.into_iter().find(|severity| severities().any(|found| found == *severity));
            worst.map_or(KeptVerdict::Nothing, KeptVerdict::Found)
        };
        Self {
            began_ms: result.start_ms.or(result.timestamp_ms.map(before_end)).map(to_i64),
            duration_ns: to_i64(duration_ns),
            host: provenance.map(|provenance| provenance.host_name.clone()).unwrap_or_default(),
            program: result.program.clone(),
            jobs: names(result.jobs.iter().map(|job| job.name.as_str())),
            targets: names(targets),
            command_line: provenance.map(|provenance| provenance.command_line.clone()).unwrap_or_default(),
            figures: result.jobs.iter().flat_map(figures).take(MAX_FIGURES).collect(),
            verdict: result.audit.as_ref().map_or(KeptVerdict::NotExamined, worst),
        }
    }
}

fn duration_ns(jobs: &[JobResult]) -> u64 {
    let reaches: Option<Vec<(u64, u64)>> = jobs.iter().map(|job| job.reach_ns).collect();
    let whole = reaches.and_then(|all| all.into_iter().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))));
    let longest_ns = || jobs.iter().map(JobResult::runtime_ns).max().unwrap_or_default();
    whole.map_or_else(longest_ns, |(start_ns, end_ns)| end_ns.saturating_sub(start_ns))
}

fn targets(job: &JobTargets) -> impl Iterator<Item = &str> {
    job.places.iter().map(|place| place.path.as_str())
}

/// Different names, in the order of their first places.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if names.len() < MAX_NAMES && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn figures(job: &JobResult) -> impl Iterator<Item = KeptFigures> {
    job.kinds().map(|(kind, figures)| {
        let latency = figures.latency().map(|(_, latency)| latency).filter(|latency| latency.n_samples > 0);
        let percentile = |percent: f64| latency.and_then(|latency| latency.percentile(percent));
        let (median, tail) = (percentile(50.0), percentile(99.0));
        KeptFigures {
            job: job.name.clone(),
            direction: IoKind::name(kind).to_owned(),
            n_ios: figures.n_ios,
            bytes: figures.bytes,
            ios_per_sec: figures.ios_per_sec,
            bytes_per_sec: figures.bytes_per_sec,
            mean_ns: latency.map(|latency| latency.mean_ns),
            p50_ns: median.map(|found| found.latency_ns),
            p99_ns: tail.map(|found| found.latency_ns),
            is_p99_doubtful: tail.is_some_and(|found| found.is_doubtful),
        }
    })
}

/// The numbers of a database have a sign.
fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::Figures;
    use ferrio_units::PerDirection;

    #[test]
    fn verdicts_have_words() {
        let found = Severity::ALL.map(KeptVerdict::Found);
        for verdict in found.into_iter().chain([KeptVerdict::Nothing, KeptVerdict::NotExamined]) {
            assert_eq!(KeptVerdict::of_word(verdict.word()), verdict);
        }
        assert_eq!(KeptVerdict::of_word("a word of a later version"), KeptVerdict::NotExamined);
    }

    #[test]
    fn a_run_of_jobs_one_after_the_other_is_as_long_as_all_of_them() {
        let read = Figures { n_ios: 1, runtime_ns: 5_000_000_000, ..Figures::default() };
        let job = |reach_ns| {
            let directions = PerDirection([Some(read.clone()), None, None]);
            JobResult { reach_ns, directions, ..JobResult::default() }
        };
        let summary = |reaches: [Option<(u64, u64)>; 2]| {
            let jobs = reaches.map(job).into();
            let result = RunResult { jobs, timestamp_ms: Some(20_000), ..RunResult::default() };
            let summary = RunSummary::of_result(&result);
            (summary.duration_ns, summary.began_ms)
        };
        let after = [Some((0, 5_000_000_000)), Some((7_000_000_000, 12_000_000_000))];
        assert_eq!(summary(after), (12_000_000_000, Some(8_000)));
        // A report of an old fio does not say when they began.
        assert_eq!(summary([None, Some((0, 5_000_000_000))]), (5_000_000_000, Some(15_000)));
    }

    #[test]
    fn names_are_there_once() {
        assert_eq!(names(["b", "a", "b"].into_iter()), ["b", "a"]);
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(names(many.iter().map(String::as_str)).len(), MAX_NAMES);
    }
}
