//! The model of the results of a run, independent of the program that measured them and of the form of the file.
//!
//! Must not know: files, formats. Start reading at [`RunResult`].

use crate::series::{TimeBase, TimeSeries};
use ferrio_stats::{Finding, JobPrecision, Provenance};
use ferrio_units::{DataDirection, PerDirection};

/// The results of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunResult {
    /// A short name: that of the file, without its folder.
    pub name: String,
    /// The program that measured, with its version; empty: unknown.
    pub program: String,
    /// Number that tells its series from those of other runs that were read with it.
    pub number: u32,
    /// Wall clock time of the report, milliseconds since 1970.
    pub timestamp_ms: Option<u64>,
    /// Wall clock time that the clock of the run counts from, milliseconds since 1970.
    pub start_ms: Option<u64>,
    /// Options given for all jobs.
    pub global_options: Vec<(String, String)>,
    /// The jobs in the order of the report; with group reporting a group is one of them.
    pub jobs: Vec<JobResult>,
    /// The disks.
    pub disks: Vec<DiskFigures>,
    /// Findings about the figures, the worst first; `None`: nobody has looked for any.
    pub findings: Option<Vec<Finding>>,
    /// How exact the figures are; empty: unknown.
    pub precision: Vec<JobPrecision>,
    /// Where the figures come from, if ferrio has measured them.
    pub provenance: Option<Box<Provenance>>,
    /// What a reader of the result has to know about the reading, in sentences.
    pub remarks: Vec<String>,
}

impl RunResult {
    /// Gives the run another number, and its series with it.
    pub fn renumber(&mut self, number: u32) {
        self.number = number;
        for series in self.jobs.iter_mut().flat_map(|job| &mut job.series) {
            series.base = match series.base {
                TimeBase::Run(_) => TimeBase::Run(number),
                TimeBase::Start { together, .. } => TimeBase::Start { run: number, together },
                base => base,
            };
        }
    }
}

/// The results of a job, or of a group of jobs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobResult {
    /// Its name.
    pub name: String,
    /// Its description; empty: it has none.
    pub description: String,
    /// Number of its group.
    pub group_index: u32,
    /// Its error, an errno; 0: none.
    pub error: i32,
    /// I/Os that failed and did not end it (`continue_on_error`).
    pub n_tolerated: u64,
    /// Start and end of its I/O on the clock of the run, nanoseconds; `None`: unknown.
    pub reach_ns: Option<(u64, u64)>,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// Figures of each direction; `None`: no I/O.
    pub directions: PerDirection<Option<DirectionResult>>,
    /// Its use of the CPU.
    pub cpu: CpuFigures,
    /// Shares of its I/Os by the number in flight.
    pub depths: Shares,
    /// Shares of its I/Os in all directions by their latency, ascending; empty: unknown.
    pub latency_classes: Vec<LatencyClass>,
    /// Figures over time.
    pub series: Vec<TimeSeries>,
}

impl JobResult {
    /// The directions with I/O.
    pub fn active(&self) -> impl Iterator<Item = (DataDirection, &DirectionResult)> {
        self.directions.iter().filter_map(|(direction, figures)| Some((direction, figures.as_ref()?)))
    }

    /// Time of its I/O, nanoseconds: that of its longest direction.
    pub fn runtime_ns(&self) -> u64 {
        self.active().map(|(_, figures)| figures.runtime_ns).max().unwrap_or_default()
    }

    /// The value of an option, its own or one of all jobs.
    pub fn option<'a>(&'a self, global: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let is_it = |(option, _): &&(String, String)| option == name;
        self.options.iter().chain(global).find(is_it).map(|(_, value)| value.as_str())
    }
}

/// Figures of one direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DirectionResult {
    /// I/Os that completed.
    pub n_ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time of the I/O, nanoseconds.
    pub runtime_ns: u64,
    /// I/Os per second.
    pub ios_per_sec: f64,
    /// Bytes per second.
    pub bytes_per_sec: f64,
    /// I/Os per second as sampled in intervals.
    pub sampled_ios_per_sec: Option<SampledRate>,
    /// Bytes per second as sampled in intervals.
    pub sampled_bytes_per_sec: Option<SampledRate>,
    /// Submission latency.
    pub slat: Option<LatencyFigures>,
    /// Completion latency.
    pub clat: Option<LatencyFigures>,
    /// Total latency.
    pub lat: Option<LatencyFigures>,
}

impl DirectionResult {
    /// The latency that a reader wants: of completion, or the total one if that was not measured.
    pub fn latency(&self) -> Option<(LatencyKind, &LatencyFigures)> {
        let completion = self.clat.as_ref().map(|clat| (LatencyKind::Completion, clat));
        completion.or_else(|| self.lat.as_ref().map(|lat| (LatencyKind::Total, lat)))
    }
}

/// Which part of an I/O's time a latency is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LatencyKind {
    /// From the decision to issue the I/O to its submission (fio: slat).
    Submission,
    /// From submission to completion (fio: clat).
    Completion,
    /// All of it (fio: lat).
    Total,
}

impl LatencyKind {
    /// The words for it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Submission => "submission latency",
            Self::Completion => "completion latency",
            Self::Total => "total latency",
        }
    }
}

/// A rate as sampled in intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampledRate {
    /// The lowest interval.
    pub min: f64,
    /// The highest interval.
    pub max: f64,
    /// Mean of the intervals.
    pub mean: f64,
    /// Standard deviation of the intervals.
    pub stddev: f64,
    /// Number of intervals.
    pub n_samples: u64,
}

/// A latency, nanoseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LatencyFigures {
    /// Number of I/Os.
    pub n_samples: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stddev_ns: f64,
    /// Percentiles that the report has, ascending: percent and nanoseconds.
    pub percentiles: Vec<(f64, u64)>,
    /// The whole distribution, if the report has it: latencies ascending, each with its number of I/Os.
    pub bins: Vec<(u64, u64)>,
}

impl LatencyFigures {
    /// A percentile: from the report, or computed from the distribution; `None`: neither has it.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let told = self.percentiles.iter().find(|(told, _)| (told - percent).abs() < 1e-9);
        // The middle of the last bucket may be above the slowest I/O.
        told.map(|(_, value_ns)| *value_ns).or_else(|| self.of_bins(percent)).map(|value_ns| value_ns.min(self.max_ns))
    }

    fn of_bins(&self, percent: f64) -> Option<u64> {
        let total: u64 = self.bins.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count));
        let rank = percent / 100.0 * total as f64;
        let mut sum = 0_u64;
        let found = self.bins.iter().find(|(_, count)| {
            sum = sum.saturating_add(*count);
            sum as f64 >= rank
        });
        found.map(|(value_ns, _)| *value_ns)
    }
}

/// Use of the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuFigures {
    /// Time in user mode, percent of the runtime.
    pub user_percent: f64,
    /// Time in the kernel, percent of the runtime.
    pub system_percent: f64,
    /// Context switches.
    pub n_switches: u64,
    /// Page faults that read from a disk.
    pub n_major_faults: u64,
    /// Page faults that did not.
    pub n_minor_faults: u64,
}

/// Shares of classes, percent, each with the word for its class, in the order of the report.
pub type Shares = Vec<(String, f64)>;

/// The share of the I/Os with latencies from the end of the class before up to the end of this one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyClass {
    /// The highest latency, nanoseconds; `None`: the last class, of all that are longer.
    pub up_to_ns: Option<u64>,
    /// Percent of the I/Os.
    pub percent: f64,
}

/// Counters of a disk over the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiskFigures {
    /// Its name.
    pub name: String,
    /// Reads that it served.
    pub n_reads: u64,
    /// Writes that it served.
    pub n_writes: u64,
    /// Bytes read; `None`: the report does not say (fio before 3.36).
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub written_bytes: Option<u64>,
    /// Time with I/O in flight, percent.
    pub busy_percent: f64,
}
