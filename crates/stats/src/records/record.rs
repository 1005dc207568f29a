//! The record of a run (finished, or a snapshot of a running one): all figures and messages, separately for each
//! worker.
//!
//! No value is summed, styled or left out here; formats do that.
//! Must not know: formats. Start reading at [`RunRecord`].

use crate::{
    Audit, CpuIdleness, DiskRecord, EndedBy, Evidence, Failure, HostPart, JobPrecision, JobSeries, JobTargets,
    LoggedEvent, Provenance, ReportSettings, RunMessages, SteadyState, StorageLayer, ThreadStats,
};
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Version of the record's form; it grows with every change that a reader has to know. Older forms are still read: a new field of any type
/// in a record is `#[serde(default)]`.
pub const RECORD_FORMAT: u32 = 7;

/// Where the figures of a record come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum RecordOrigin {
    #[default]
    Measured,
    /// Measured on several hosts: the parts of each that are not in the record of all.
    Hosts(Vec<HostPart>),
    /// A report, of a program with this name and version: it tells options, figures and counters of disks, and nothing else.
    Report(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub format: u32,
    /// Version string of the outputs, `fio-3.42-...`.
    pub version: String,
    /// Wall clock time of the record, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Time since the start of the run.
    pub elapsed_ns: u64,
    /// Estimated seconds left, if known.
    pub eta_secs: Option<u64>,
    pub global_options: Vec<(String, String)>,
    /// The workers, in the order of their numbers.
    pub workers: Vec<WorkerRecord>,
    /// Figures of the probes.
    #[serde(default)]
    pub evidence: Evidence,
    pub messages: RunMessages,
    /// Events of the run in order, if its intervals were recorded.
    pub course: Vec<LoggedEvent>,
    /// Provenance of the figures, if it was recorded.
    pub provenance: Option<Box<Provenance>>,
    /// Outcome of the audit; `None`: not examined.
    #[serde(default)]
    pub audit: Option<Audit>,
    /// The course of each job with I/O, by job, if its intervals were recorded.
    #[serde(default)]
    pub series: Vec<JobSeries>,
    /// How exact the figures of each job and direction are; `None`: not examined.
    #[serde(default)]
    pub precision: Option<Vec<JobPrecision>>,
    /// Where its figures come from.
    #[serde(default)]
    pub origin: RecordOrigin,
}

impl Default for RunRecord {
    fn default() -> Self {
        Self {
            format: RECORD_FORMAT,
            version: String::new(),
            timestamp_ms: 0,
            elapsed_ns: 0,
            eta_secs: None,
            global_options: Vec::new(),
            workers: Vec::new(),
            evidence: Evidence::default(),
            messages: RunMessages::default(),
            course: Vec::new(),
            provenance: None,
            audit: None,
            series: Vec::new(),
            precision: None,
            origin: RecordOrigin::Measured,
        }
    }
}

impl RunRecord {
    /// Figures of the devices; `None`: they were not wanted.
    pub fn disks(&self) -> Option<&[DiskRecord]> {
        self.evidence.disks.as_deref()
    }

    /// The figures of all workers in one.
    pub fn total(&self) -> ThreadStats {
        let mut workers = self.workers.iter();
        let mut total = workers.next().map_or_else(ThreadStats::default, |first| ThreadStats::clone(&first.stats));
        workers.for_each(|worker| total.merge(&worker.stats));
        total
    }

    /// Targets of the jobs, by job; empty: no job had files, or targets were not examined.
    pub fn targets(&self) -> &[JobTargets] {
        self.evidence.targets.as_deref().unwrap_or_default()
    }

    /// Layers of storage below the targets; empty: they were not looked for.
    pub fn storage_layers(&self) -> &[StorageLayer] {
        self.evidence.stacks.as_deref().unwrap_or_default()
    }

    /// Idleness of the CPUs, if it was measured.
    pub fn idleness(&self) -> Option<&CpuIdleness> {
        self.evidence.cpu_idleness.as_ref()
    }
}

/// One worker: a clone of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkerRecord {
    pub name: String,
    pub description: Option<String>,
    pub job_index: u32,
    /// Number of the clone: 0 for the first.
    pub clone_index: u32,
    /// Number of the worker in the run, from 1.
    pub number: u32,
    pub group_index: u32,
    /// Process id, or thread id of a thread; 0: it was never started.
    pub pid: u32,
    pub given_options: Vec<(String, String)>,
    pub settings: ReportSettings,
    pub directions: PerDirection<bool>,
    pub iodepth: u32,
    /// Number of its files that were made or made longer before it began; `None`: the layout was not over then.
    #[serde(default)]
    pub n_laid_out: Option<u64>,
    pub priority: WorkerPriority,
    pub stats: Box<ThreadStats>,
    /// Its part in a search for a steady state.
    pub steady: Option<SteadyPart>,
    /// Its start and end.
    pub fate: WorkerFate,
}

impl WorkerRecord {
    /// The search for a steady state, if this worker is the first of its group.
    pub fn steady_state(&self) -> Option<&SteadyState> {
        match &self.steady {
            Some(SteadyPart::Leads(state)) => Some(state),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerPriority {
    /// Priority of the worker, in the form of `ioprio_set(2)`.
    pub ioprio: u16,
    /// Some of its I/Os have a priority of their own (`cmdprio_percentage` and its family).
    pub is_by_io: bool,
}

/// The part of a worker in a search for a steady state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SteadyPart {
    /// The worker is the first of its group; the state of the group.
    Leads(Box<SteadyState>),
    /// The worker belongs to the group of the worker with this index.
    Follows(u32),
}

/// Start and end of a worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkerFate {
    /// It was allowed to start its I/O.
    pub was_let_go: bool,
    /// It has ended, or will never start.
    pub has_ended: bool,
    /// The failure, if there was one.
    pub failure: Option<Failure>,
    pub killed_by: Option<i32>,
    /// The signal came before it had sent its results: the figures cover only a part of its work.
    pub is_cut_short: bool,
    /// What has ended it before it was done, other than an error or a signal to it; `None`: nothing.
    #[serde(default)]
    pub ended_by: Option<EndedBy>,
}
