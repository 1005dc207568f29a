//! What was asked of a run and what was done, by option, by second and by its end.
//!
//! An account is complete: each option that was given is in it, and the parts of a time add up to it. Must not know: how accounts are made, how they
//! are shown. Start reading at [`Accounts`].

use crate::counters::counts::add_to;
use serde::{Deserialize, Serialize};

/// The accounts of a run. JSON documents contain them with these keys.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Accounts {
    /// How the run has ended.
    pub ending: RunEnding,
    /// The accounts of each job, in the order of the jobs.
    pub jobs: Vec<JobAccount>,
}

impl Accounts {
    /// Adds the accounts of another host with the same jobs. An option is as asked where it is on all of them; the first reason stays.
    pub fn add(&mut self, other: &Self) {
        if self.ending == RunEnding::AsAsked {
            self.ending = other.ending.clone();
        }
        for (mine, theirs) in self.jobs.iter_mut().zip(&other.jobs) {
            for (option, its) in mine.options.iter_mut().zip(&theirs.options) {
                if its.outcome.rank() > option.outcome.rank() {
                    option.outcome = its.outcome.clone();
                }
            }
            mine.time = match (mine.time, theirs.time) {
                (Some(one), Some(other)) => Some(one.plus(&other)),
                (one, other) => one.or(other),
            };
            // Devices are those of one host each.
            mine.bytes.clear();
        }
    }
}

/// The accounts of a job, all clones together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JobAccount {
    pub job: String,
    /// Number of its clones (`numjobs`); 0: an older version did not tell.
    #[serde(default)]
    pub n_clones: u32,
    /// The options that were given, in their order.
    pub options: Vec<OptionAccount>,
    /// What options mean where their words are often misread, a sentence each: shares that count I/Os, a size that files divide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meanings: Vec<String>,
    /// Where the time of its clones went, their sum; `None`: it did not run, or an older version has measured it.
    #[serde(default)]
    pub time: Option<TimeAccount>,
    /// Bytes that it has read and written, and what each level below has moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes: Vec<BytesAccount>,
}

/// An option that was given, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionAccount {
    /// Its canonical name.
    pub option: String,
    /// Its value as it was given; empty: it was given without one.
    pub asked: String,
    #[serde(flatten)]
    pub outcome: OptionOutcome,
}

impl OptionAccount {
    /// The option as it was given, such as `bs=4k`.
    pub fn given(&self) -> String {
        if self.asked.is_empty() { self.option.clone() } else { format!("{}={}", self.option, self.asked) }
    }
}

/// What became of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "because", rename_all = "snake_case")]
pub enum OptionOutcome {
    /// Figures or the system show that it was done as it was asked.
    AsAsked,
    /// It had no effect, or another one: both values, or the reason, in a few words.
    NotAsAsked(String),
    /// Nothing that was measured tells: the reason, in a few words.
    NotSeen(String),
    /// It names or arranges something, and asks for nothing that a run can miss.
    Structure,
}

/// Bytes of a job in one direction, on their way to the devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BytesAccount {
    /// `read` or `write`.
    pub direction: String,
    /// I/Os that the job has done.
    pub n_ios: u64,
    /// Bytes that it has moved by them.
    pub bytes: u64,
    /// Bytes that the kernel has read or written for its processes, or will write; `None`: not known of all of them.
    pub kernel_bytes: Option<u64>,
    /// Levels of devices from the top, as far as they are counted.
    pub levels: Vec<LevelBytes>,
    /// The reason why no level is seen; `None`: a level is seen.
    pub unseen: Option<String>,
}

/// Bytes that a level of devices has moved during the run, for the jobs and for all others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelBytes {
    /// The devices that hold all data of the job together.
    pub devices: Vec<String>,
    pub bytes: u64,
    /// Requests; `None`: not counted.
    pub n_requests: Option<u64>,
    /// Other jobs of the run have moved some of them.
    pub is_shared: bool,
}

/// Where the time of a job went, nanoseconds of its clones' threads; the parts add up to `whole_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimeAccount {
    /// From the start of I/O to the end of the job, of all clones together.
    pub whole_ns: u64,
    /// Waiting for I/Os and syncs, asleep.
    pub storage_ns: u64,
    /// In the kernel on a CPU: submission, completion, copies.
    pub kernel_ns: u64,
    /// In the program on a CPU: buffers, checksums, the loop, its engine.
    pub computing_ns: u64,
    /// Pauses that were asked for: rates, `thinktime`, times of a trace.
    pub pausing_ns: u64,
    /// Waiting for other jobs of its flow.
    pub flow_ns: u64,
    /// Ready to run, and others had the CPU.
    pub cpu_wait_ns: u64,
    /// Stopped by a signal.
    pub stopped_ns: u64,
    /// Syncs at the end of a pass (`end_fsync`, `fsync_on_close`), and their kernel time.
    pub closing_syncs_ns: u64,
    /// Removing and making of files between passes (`unlink_each_loop`).
    pub set_up_ns: u64,
    /// Waiting until logs were written.
    pub logs_ns: u64,
    /// Asleep, and none of the above: the kernel does not tell why.
    pub unknown_ns: u64,
}

impl OptionOutcome {
    /// Which outcome stands for several hosts: the larger one.
    const fn rank(&self) -> u8 {
        match self {
            Self::Structure => 0,
            Self::AsAsked => 1,
            Self::NotSeen(_) => 2,
            Self::NotAsAsked(_) => 3,
        }
    }
}

impl TimeAccount {
    /// The sum of two times.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |one: u64, other: u64| one.saturating_add(other);
        Self {
            whole_ns: sum(self.whole_ns, other.whole_ns),
            storage_ns: sum(self.storage_ns, other.storage_ns),
            kernel_ns: sum(self.kernel_ns, other.kernel_ns),
            computing_ns: sum(self.computing_ns, other.computing_ns),
            pausing_ns: sum(self.pausing_ns, other.pausing_ns),
            flow_ns: sum(self.flow_ns, other.flow_ns),
            cpu_wait_ns: sum(self.cpu_wait_ns, other.cpu_wait_ns),
            stopped_ns: sum(self.stopped_ns, other.stopped_ns),
            closing_syncs_ns: sum(self.closing_syncs_ns, other.closing_syncs_ns),
            set_up_ns: sum(self.set_up_ns, other.set_up_ns),
            logs_ns: sum(self.logs_ns, other.logs_ns),
            unknown_ns: sum(self.unknown_ns, other.unknown_ns),
        }
    }

    /// The parts with their names, the longest name of a time first in the order of the fields.
    pub fn parts(&self) -> [(TimePart, u64); 11] {
        [
            (TimePart::Storage, self.storage_ns),
            (TimePart::Kernel, self.kernel_ns),
            (TimePart::Computing, self.computing_ns),
            (TimePart::Pausing, self.pausing_ns),
            (TimePart::Flow, self.flow_ns),
            (TimePart::CpuWait, self.cpu_wait_ns),
            (TimePart::Stopped, self.stopped_ns),
            (TimePart::ClosingSyncs, self.closing_syncs_ns),
            (TimePart::SetUp, self.set_up_ns),
            (TimePart::Logs, self.logs_ns),
            (TimePart::Unknown, self.unknown_ns),
        ]
    }

    /// A part as a share of the whole; 0 without time.
    pub fn share(&self, part_ns: u64) -> f64 {
        if self.whole_ns == 0 { 0.0 } else { part_ns as f64 / self.whole_ns as f64 }
    }
}

/// A part of a job's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimePart {
    Storage,
    Kernel,
    Computing,
    Pausing,
    Flow,
    CpuWait,
    Stopped,
    ClosingSyncs,
    SetUp,
    Logs,
    Unknown,
}

impl TimePart {
    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Kernel => "kernel",
            Self::Computing => "computing",
            Self::Pausing => "pauses as asked",
            Self::Flow => "other jobs",
            Self::CpuWait => "waiting for a CPU",
            Self::Stopped => "stopped",
            Self::ClosingSyncs => "closing syncs",
            Self::SetUp => "files between passes",
            Self::Logs => "logs",
            Self::Unknown => "not known",
        }
    }
}

/// How a run has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum RunEnding {
    /// All jobs have done what was asked of them.
    #[default]
    AsAsked,
    /// Jobs were ended before that.
    Early {
        /// Why, the first reason.
        by: EndedBy,
        /// Names of the jobs that were ended; empty: all of them.
        jobs: Vec<String>,
    },
}

/// What has ended a run or a job before its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum EndedBy {
    /// A signal to the program, such as that of Ctrl-C, or the program that has started the run.
    Request {
        /// The number of the signal; `None`: it was none, or is not known.
        signal: Option<i32>,
    },
    /// A trigger (`--trigger-file`, `--trigger-timeout`).
    Trigger,
    /// `exitall` or `exitall_on_error` of this job.
    ExitAll { job: String },
    /// A host of several was lost, with its jobs.
    LostHost { host: String },
    /// An error of the jobs.
    Error,
    /// A signal to a worker.
    Killed { signal: i32 },
}

/// Times of a worker that only some jobs have, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeCounts {
    /// Pauses that were asked for, from their beginning to the next I/O, with nothing in flight.
    pub paused_ns: u64,
    /// Part of the pauses and of the waits for a flow that was spent on a CPU.
    pub spun_ns: u64,
    /// Waits for other jobs of its flow.
    pub flow_ns: u64,
    /// Syncs at the ends of passes, and of files that are closed (`fsync_on_close`).
    pub closing_syncs_ns: u64,
    /// CPU time of these syncs.
    pub closing_cpu_ns: u64,
    /// Removing and making of files between passes (`unlink_each_loop`).
    pub set_up_ns: u64,
    /// CPU time of that.
    pub set_up_cpu_ns: u64,
    /// Stopped by a signal, as far as the supervisor has seen it.
    pub stopped_ns: u64,
}

impl TimeCounts {
    /// Adds the times of another worker.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.paused_ns, other.paused_ns);
        add_to(&mut self.spun_ns, other.spun_ns);
        add_to(&mut self.flow_ns, other.flow_ns);
        add_to(&mut self.closing_syncs_ns, other.closing_syncs_ns);
        add_to(&mut self.closing_cpu_ns, other.closing_cpu_ns);
        add_to(&mut self.set_up_ns, other.set_up_ns);
        add_to(&mut self.set_up_cpu_ns, other.set_up_cpu_ns);
        add_to(&mut self.stopped_ns, other.stopped_ns);
    }
}
