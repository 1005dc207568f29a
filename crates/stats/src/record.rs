//! The record of a run (finished, or a snapshot of a running one): all that was measured and said, as each worker gave it.
//!
//! Nothing is summed, styled or left out here: what a format makes of it is the affair of the format.
//! Must not know: formats. Start reading at [`RunRecord`].

use crate::{
    CourseEvent, CpuIdleness, DiskRecord, Evidence, Failure, Provenance, ReportSettings, RunMessages, SteadyState,
    ThreadStats,
};
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Form of the record: it grows with every change that a reader has to know.
pub const RECORD_FORMAT: u32 = 2;

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Form of the record, [`RECORD_FORMAT`].
    pub format: u32,
    /// Version string of the outputs, `fio-3.42-...`.
    pub version: String,
    /// Wall clock when the record was made, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Time since the start of the run.
    pub elapsed_ns: u64,
    /// Seconds left, if that was known.
    pub eta_secs: Option<u64>,
    /// Options given for all jobs.
    pub global_options: Vec<(String, String)>,
    /// The workers in the order of their numbers.
    pub workers: Vec<WorkerRecord>,
    /// What was measured beside the jobs, in the order of the probes.
    pub evidence: Vec<Evidence>,
    /// What the run had to say.
    pub messages: RunMessages,
    /// The course of the run in order, where its intervals were recorded.
    pub course: Vec<CourseEvent>,
    /// Where the figures come from, if that was recorded.
    pub provenance: Option<Box<Provenance>>,
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
            evidence: Vec::new(),
            messages: RunMessages::default(),
            course: Vec::new(),
            provenance: None,
        }
    }
}

impl RunRecord {
    /// What the devices did; `None`: nobody wanted to know.
    pub fn disks(&self) -> Option<&[DiskRecord]> {
        self.evidence.iter().find_map(|evidence| match evidence {
            Evidence::Disks(disks) => Some(&disks[..]),
            _ => None,
        })
    }

    /// The figures of all workers in one.
    pub fn total(&self) -> ThreadStats {
        let mut workers = self.workers.iter();
        let mut total = workers.next().map_or_else(ThreadStats::default, |first| ThreadStats::clone(&first.stats));
        workers.for_each(|worker| total.merge(&worker.stats));
        total
    }

    /// How idle the CPUs were, if that was measured.
    pub fn idleness(&self) -> Option<&CpuIdleness> {
        self.evidence.iter().find_map(|evidence| match evidence {
            Evidence::CpuIdleness(idleness) => Some(idleness),
            _ => None,
        })
    }
}

/// One worker: a clone of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Name of its job.
    pub name: String,
    /// Description of its job.
    pub description: Option<String>,
    /// Position of its job in the run.
    pub job_index: u32,
    /// Number of the clone: 0 for the first.
    pub clone_index: u32,
    /// Number of the worker in the run, from 1.
    pub number: u32,
    /// Group number.
    pub group_index: u32,
    /// Process id, or thread id of a thread; 0: it was never there.
    pub pid: u32,
    /// Its options as they were given.
    pub given_options: Vec<(String, String)>,
    /// How it wants to be shown.
    pub settings: ReportSettings,
    /// The directions in which it does I/O.
    pub directions: PerDirection<bool>,
    /// `iodepth`.
    pub iodepth: u32,
    /// Its priority.
    pub priority: WorkerPriority,
    /// What it counted.
    pub stats: Box<ThreadStats>,
    /// Its part in a search for a steady state.
    pub steady: Option<SteadyPart>,
    /// How it began and ended.
    pub fate: WorkerFate,
}

impl WorkerRecord {
    /// The search for a steady state that it is the first of.
    pub fn steady_state(&self) -> Option<&SteadyState> {
        match &self.steady {
            Some(SteadyPart::Leads(state)) => Some(state),
            _ => None,
        }
    }
}

/// The priority of the I/Os of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerPriority {
    /// That of the worker, in the form of `ioprio_set(2)`.
    pub ioprio: u16,
    /// Some of its I/Os have one of their own (`cmdprio_percentage` and its kin).
    pub is_by_io: bool,
}

/// What a worker has to do with a search for a steady state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SteadyPart {
    /// It is the first of those that are judged together; what is known of them all.
    Leads(Box<SteadyState>),
    /// It is judged with the worker at this position, which is the first.
    Follows(u32),
}

/// How a worker began and ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkerFate {
    /// It was let go to do its I/O.
    pub was_let_go: bool,
    /// It has ended, or will never start.
    pub has_ended: bool,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// The signal that killed it.
    pub killed_by: Option<i32>,
    /// That was before it had handed over its results: the figures are those of a part of its work.
    pub is_cut_short: bool,
}
