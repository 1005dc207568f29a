//! The model of the results of a run, independent of the program that measured them and of the form of the file.
//!
//! Must not know: files, formats. Start reading at [`RunResult`].

use crate::results::series::{TimeBase, TimeSeries};
use ferrio_stats::{Audit, Figures, Finding, IoKind, JobPrecision, Provenance};
use ferrio_units::{DataDirection, PerDirection};

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
    pub global_options: Vec<(String, String)>,
    /// The jobs in the order of the report; with group reporting a group is one of them.
    pub jobs: Vec<JobResult>,
    pub disks: Vec<DiskFigures>,
    /// Findings about the figures, and what could not be examined; `None`: nobody has looked.
    pub audit: Option<Audit>,
    /// How exact the figures are; empty: unknown.
    pub precision: Vec<JobPrecision>,
    /// The searches for a steady state, one for each job or group that had one.
    pub steady: Vec<SteadyOutcome>,
    /// Where the figures come from, if ferrio has measured them.
    pub provenance: Option<Box<Provenance>>,
    /// What a reader of the result has to know about the reading, in sentences.
    pub remarks: Vec<String>,
    /// The hosts of a run on several, by rank; empty: there was one.
    pub hosts: Vec<HostResult>,
    /// What its file does not tell, or tells in a way that nobody can mean.
    pub gaps: ReportGaps,
}

/// What a report of another program does not tell, or tells in a way that nobody can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportGaps {
    /// The options of the jobs are not there, or only those of the lines that fio prints at the start of a run.
    pub lacks_options: bool,
    /// Extremes of latencies are whole microseconds, rounded down.
    pub has_whole_us: bool,
    /// Number of figures that are `nan` or `inf`; they are read as 0.
    pub n_no_numbers: u32,
}

/// A host of a run on several.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostResult {
    pub name: String,
    /// Start of its run after that of the first host, nanoseconds; `None`: it has not begun.
    pub start_ns: Option<u64>,
    /// Why it was lost, if it was: its figures are then those of its intervals until that.
    pub lost: Option<String>,
    /// What it has measured.
    pub result: RunResult,
}

impl RunResult {
    /// All findings, the worst first. None at all also means that nobody has looked.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.audit.iter().flat_map(|audit| &audit.findings)
    }

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
        self.hosts.iter_mut().for_each(|host| host.result.renumber(number));
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobResult {
    pub name: String,
    /// Its description; empty: it has none.
    pub description: String,
    pub group_index: u32,
    /// Its error, an errno; 0: none.
    pub error: i32,
    /// Start and end of its I/O on the clock of the run, nanoseconds; `None`: unknown.
    pub reach_ns: Option<(u64, u64)>,
    pub options: Vec<(String, String)>,
    /// Its clones one by one, without their distributions, where its figures are those of several; empty: it has none, or the source does
    /// not tell them.
    pub clones: Vec<JobResult>,
    /// Figures of each direction; `None`: no I/O.
    pub directions: PerDirection<Option<Figures>>,
    /// Figures of the syncs between the writes; `None`: none, or the source does not say.
    pub syncs: Option<Figures>,
    /// Number of errors that the job went on after, in all directions.
    pub n_errors: u64,
    /// Its use of the CPU; `None`: the source does not say.
    pub cpu: Option<CpuFigures>,
    /// Shares of its I/Os by the number in flight.
    pub depths: Shares,
    /// Shares of its I/Os in all directions by their latency, ascending; empty: unknown.
    pub latency_classes: Vec<LatencyClass>,
    /// Figures over time.
    pub series: Vec<TimeSeries>,
    /// Number of jobs whose figures these are together; `None`: the source does not say.
    pub n_members: Option<u32>,
}

impl JobResult {
    pub fn active(&self) -> impl Iterator<Item = (DataDirection, &Figures)> {
        self.directions.iter().filter_map(|(direction, figures)| Some((direction, figures.as_ref()?)))
    }

    /// Time of its I/O, nanoseconds: that of its longest direction.
    pub fn runtime_ns(&self) -> u64 {
        self.active().map(|(_, figures)| figures.runtime_ns).max().unwrap_or_default()
    }

    pub fn option<'a>(&'a self, global: &'a [(String, String)], name: &str) -> Option<&'a str> {
        let is_it = |(option, _): &&(String, String)| option == name;
        self.options.iter().chain(global).find(is_it).map(|(_, value)| value.as_str())
    }

    pub fn get(&self, kind: IoKind) -> Option<&Figures> {
        kind.direction().map_or(self.syncs.as_ref(), |direction| self.directions[direction].as_ref())
    }

    /// The kinds of I/O that the job has done, syncs among them.
    pub fn kinds(&self) -> impl Iterator<Item = (IoKind, &Figures)> {
        IoKind::ALL.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }
}

/// The outcome of a search for a steady state (`steadystate`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SteadyOutcome {
    /// Name of the job, or of the first job of its group.
    pub job: String,
    /// What was looked for, as in the option: `iops:10%`.
    pub criterion: String,
    pub window_secs: u64,
    /// A window has met the criterion.
    pub is_attained: bool,
    /// The figure of the last window, in the unit of the criterion: `2.3%`.
    pub measured: String,
    /// Mean rate of the last window, I/Os a second; `None`: the source does not say.
    pub mean_ios_per_sec: Option<f64>,
}

impl SteadyOutcome {
    /// The outcome of a criterion and a figure as reports write them, with six decimals.
    pub(crate) fn of_texts(job: &str, texts: &(String, String), window_secs: u64, is_attained: bool) -> Self {
        let (criterion, measured) = (without_zeroes(&texts.0), without_zeroes(&texts.1));
        Self { job: job.to_owned(), criterion, window_secs, is_attained, measured, mean_ios_per_sec: None }
    }
}

/// `iops:10.000000%` as `iops:10%`.
fn without_zeroes(text: &str) -> String {
    let (number, percent) = text.strip_suffix('%').map_or((text, ""), |number| (number, "%"));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{percent}")
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuFigures {
    /// Time in user mode, percent of the runtime.
    pub user_percent: f64,
    /// Time in the kernel, percent of the runtime.
    pub system_percent: f64,
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
    pub percent: f64,
}

/// Counters of a disk over the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiskFigures {
    pub name: String,
    pub n_reads: u64,
    pub n_writes: u64,
    /// Reads that the kernel has put together with others; they are not in `n_reads`.
    pub merged_reads: u64,
    pub merged_writes: u64,
    /// Bytes read; `None`: the report does not say (fio before 3.36).
    pub read_bytes: Option<u64>,
    pub written_bytes: Option<u64>,
    /// Time with I/O in flight, percent.
    pub busy_percent: f64,
}
