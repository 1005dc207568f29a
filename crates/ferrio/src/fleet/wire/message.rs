//! The messages. A field that an older version does not know has a default.

use super::log::LogPart;
use ferrio_spec::RunSpec;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::wire::{self, WireError};
use ferrio_stats::{HostPlaces, IntervalStats, JobEnd, MessageStream, Note, Provenance, RunRecord};
use serde::{Deserialize, Serialize};

/// Version of the messages; both ends must have the same.
pub const PROTOCOL: u32 = 3;

/// Memory that an order may take, bytes: one for 100,000 jobs takes less.
const MOST_ORDER_MEMORY_BYTES: u64 = 1 << 30;
/// Memory that a report may take, bytes.
const MOST_REPORT_MEMORY_BYTES: u64 = 1 << 30;
/// Memory that an introduction may take, bytes.
const MOST_HELLO_MEMORY_BYTES: u64 = 1 << 16;
/// Length of a host's name, bytes.
const MOST_NAME_BYTES: usize = 255;

/// A value that comes as bytes that are not trusted.
pub(super) trait FromOtherEnd: Sized {
    /// # Errors
    /// The bytes are none, or take more memory than they may.
    fn received(bytes: Vec<u8>) -> Result<Self, WireError>;
}

impl FromOtherEnd for FleetOrder {
    fn received(bytes: Vec<u8>) -> Result<Self, WireError> {
        wire::from_bytes_within(&bytes, MOST_ORDER_MEMORY_BYTES)
    }
}

/// A report as it came: the coordinator reads it when its turn comes, so that reports that wait take no more memory than they took on their
/// way.
#[derive(Debug)]
pub(crate) struct SentReport(Vec<u8>);

impl FromOtherEnd for SentReport {
    fn received(bytes: Vec<u8>) -> Result<Self, WireError> {
        Ok(Self(bytes))
    }
}

impl SentReport {
    pub(crate) fn n_bytes(&self) -> usize {
        self.0.len()
    }

    /// The report.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn read(&self) -> Result<FleetReport, WireError> {
        wire::from_bytes_within(&self.0, MOST_REPORT_MEMORY_BYTES)
    }

    /// The introduction that it is, of a host whose name can be shown.
    pub(crate) fn read_hello(&self) -> Option<Hello> {
        let report = wire::from_bytes_within(&self.0, MOST_HELLO_MEMORY_BYTES).ok()?;
        let FleetReport::Hello(hello) = report else { return None };
        let is_shown = hello.host.len() <= MOST_NAME_BYTES && !hello.host.chars().any(char::is_control);
        is_shown.then_some(hello)
    }
}

/// Name of a host.
pub type HostName = String;

/// From a worker to the coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub enum FleetReport {
    /// The first message of a worker.
    Hello(Hello),
    /// The worker's clock was looked at.
    Clock {
        /// The coordinator's clock when it asked, as in [`FleetOrder::ReadClock`].
        asked_ns: u64,
        /// `CLOCK_MONOTONIC` of the worker.
        read_ns: u64,
    },
    /// The places that its jobs will use. Nothing was changed yet.
    Places(Box<HostPlaces>),
    /// Files are laid out, and the jobs that begin first wait for the start.
    Ready,
    /// The run has begun.
    Began {
        /// `CLOCK_MONOTONIC` of the worker.
        at_ns: u64,
    },
    /// All jobs before a stonewall have ended; those behind it wait. Stages count from 1.
    AtStage(u32),
    /// A message for the user.
    Message(MessageStream, Note),
    /// Facts about the machine and the jobs, before the start; only of a run whose course is told.
    Facts(Box<Provenance>),
    /// Figures of a job's clone for one interval.
    Interval(Box<IntervalStats>),
    /// A job's clone has ended; only of a run whose course is told.
    JobEnded(Box<JobEnd>),
    /// A part of a performance log; only of job files of clients.
    Log(LogPart),
    /// The state of the run, for the line of progress; only where a client shows one.
    Eta(Box<EtaSnapshot>),
    /// The figures so far (`--status-interval`); only of job files of clients.
    Status(Box<RunRecord>),
    /// The run is over; nothing follows.
    Over(Box<MeasuredHost>),
    /// Nothing was run, for this reason; nothing follows.
    Refused(String),
    /// The thread that watches over the jobs has not moved for so long, milliseconds; nothing follows.
    Hangs(u64),
}

/// A worker introduces itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Version of ferrio.
    pub version: String,
    /// Proof that it was launched for this run.
    pub token: Vec<u8>,
    /// Its rank, from 0.
    pub rank: u32,
    /// Its host, as the kernel has it.
    pub host: HostName,
}

/// The outcome of a worker's run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredHost {
    /// Its record, audited on its host.
    pub record: RunRecord,
    /// Number of jobs' clones that failed.
    pub n_failed: u32,
    /// It was stopped early.
    pub is_stopped: bool,
    /// Number of performance logs that are not complete.
    pub n_logs_lost: u32,
    /// Intervals that were not sent, because the coordinator was too slow.
    #[serde(default)]
    pub n_intervals_lost: u64,
}

/// From the coordinator to a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum FleetOrder {
    /// Tell the places that this work uses.
    Prepare(Box<HostWork>),
    /// Make ready: lay out files, start the jobs that begin first.
    LayOut,
    /// Look at the clock.
    ReadClock {
        /// The coordinator's clock.
        asked_ns: u64,
    },
    /// Begin at this time of the worker's `CLOCK_MONOTONIC`.
    Begin {
        /// The time.
        at_ns: u64,
    },
    /// Go on behind this stonewall.
    BeginStage(u32),
    /// End the jobs, and run the command that the work has for that.
    Trigger,
    /// End in order.
    Stop,
    /// The run does not take place, or its coordinator has all that it wants: end at once.
    Dismiss {
        /// Why the worker was refused; empty: it was not.
        refused: String,
    },
}

/// The jobs of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum HostJobs {
    /// `$rank`, `$host` and `$hosts` in their texts are replaced on the host.
    Spec(RunSpec),
    /// Job files that the host reads.
    Files(ClientJobs),
}

impl HostJobs {
    /// The jobs, where they are known before the host has read them.
    pub fn spec(&self) -> Option<&RunSpec> {
        match self {
            Self::Spec(spec) => Some(spec),
            Self::Files(_) => None,
        }
    }
}

/// What a client wants a server to run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClientJobs {
    /// In the order in which they are read.
    pub files: Vec<SentJobFile>,
    /// Switches of fio that are the server's.
    pub switches: Vec<String>,
    /// Command that is run when a trigger ends the jobs.
    pub trigger: Option<String>,
    /// Reports show what probes saw.
    pub shows_evidence: bool,
    /// The record is kept: it has the course of each job.
    pub is_recorded: bool,
    /// Time between two states of the run for the line of progress, milliseconds; `None`: there is no line.
    pub eta_interval_ms: Option<u64>,
}

/// A job file for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SentJobFile {
    /// With its text.
    Here {
        /// Its name, for messages.
        name: String,
        /// Its bytes.
        text: Vec<u8>,
    },
    /// A file of the server.
    There(String),
}

/// The work of a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostWork {
    /// The jobs, or the files that hold them.
    pub jobs: HostJobs,
    /// The host's name, as the coordinator knows it.
    pub host: HostName,
    /// Number of hosts.
    pub n_hosts: u32,
    /// Nothing is opened for writing.
    pub is_readonly: bool,
    /// Each host has its part of the jobs' files, of so many; `None`: all of them.
    #[serde(default)]
    pub n_parts: Option<u32>,
    /// Words of the command, for the record.
    pub words: Vec<String>,
    /// Least length of the intervals whose figures are sent, milliseconds.
    pub interval_ms: u64,
    /// Only the outcome is audited, not jobs that prepare others.
    pub is_audited: bool,
    /// Facts and ends of clones are sent too.
    #[serde(default)]
    pub tells_course: bool,
}
