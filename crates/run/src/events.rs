//! Events during a run. The receiver prints or draws them, or ignores them.
//!
//! Must not know: how events are shown. Start reading at [`RunEvent`].

use ferrio_spec::JobSpec;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::{IntervalStats, JobEnd, Note, Provenance, RunRecord};
use ferrio_units::PerDirection;
use std::sync::Arc;
use std::time::Duration;

/// Kind of a message: information, or errors and warnings.
pub use ferrio_stats::MessageStream;

/// A job, before it starts.
#[derive(Debug, Clone)]
pub struct JobSummary {
    pub spec: Arc<JobSpec>,
    /// Group index of its first clone.
    pub group_index: u32,
}

/// Bandwidth of all jobs together since the last sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BandwidthSample {
    /// Time of the sample, milliseconds since the start of the run.
    pub time_ms: u64,
    pub kib_per_sec: PerDirection<u64>,
}

#[derive(Debug)]
pub enum RunEvent {
    Starting {
        /// The jobs, without further clones.
        jobs: Vec<JobSummary>,
        n_threads: u32,
        n_processes: u32,
    },
    /// The workers that begin with the run were let go.
    Began {
        /// Time at which the gate was opened for them (`CLOCK_MONOTONIC`), ns: on a busy machine it is told much later.
        at_ns: u64,
    },
    /// All jobs before this stonewall have ended, and those behind it wait for [`crate::Handle::open_stonewall`]. The first stonewall is 1.
    AtStonewall(u32),
    /// The files of a job are being laid out.
    LayingOut {
        job_name: String,
        n_files: u64,
        /// Total size of these files, bytes.
        total_bytes: u64,
    },
    /// The run was asked to end; sent for each such request.
    Stopping,
    Message(MessageStream, Note),
    /// Lines of `--debug`, without the newline at the end.
    Trace(String),
    /// State of the run, about once a second.
    Eta(EtaSnapshot),
    /// Records of intervals begin. This is the first event of a run for which they were asked.
    Recording {
        /// Facts about the machine, the storage and the jobs.
        provenance: Box<Provenance>,
        /// Start of the run, milliseconds since 1970.
        run_epoch_ms: u64,
        interval: Duration,
    },
    /// Figures of a worker for one interval.
    Interval(Box<IntervalStats>),
    /// A worker has ended, or will never start; sent once for each, if records of intervals are kept.
    JobEnded(Box<JobEnd>),
    /// A report that was requested during the run.
    Status(Box<RunRecord>),
    /// A sample of the bandwidth, if a log of it is wanted.
    Bandwidth(BandwidthSample),
}

/// Receives events in the order in which they happen, always in the thread that called `run`.
pub trait RunObserver {
    fn event(&mut self, event: RunEvent);
}

impl<F: FnMut(RunEvent)> RunObserver for F {
    fn event(&mut self, event: RunEvent) {
        self(event);
    }
}
