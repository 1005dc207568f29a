//! What a run tells while it runs. Who listens prints it, draws it, or throws it away.
//!
//! Must not know: how anything looks. Start reading at [`RunEvent`].

use ferrio_spec::JobSpec;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::{JobEnd, Note, Provenance, RunRecord, Stretch};
use ferrio_units::PerDirection;
use std::sync::Arc;
use std::time::Duration;

/// Where a message belongs: information, or errors and warnings.
pub use ferrio_stats::MessageStream;

/// A job before it starts.
#[derive(Debug, Clone)]
pub struct JobSummary {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// Group of its first clone.
    pub group_index: u32,
}

/// Bandwidth of all jobs together since the last sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BandwidthSample {
    /// When it was taken, milliseconds since the start of the run.
    pub time_ms: u64,
    /// KiB a second by direction; 0 where nothing moved.
    pub kib_per_sec: PerDirection<u64>,
}

/// Something that happened.
#[derive(Debug)]
pub enum RunEvent {
    /// The run begins.
    Starting {
        /// The jobs, clones counted once.
        jobs: Vec<JobSummary>,
        /// Workers that are threads.
        n_threads: u32,
        /// Workers that are processes.
        n_processes: u32,
    },
    /// Files of a job are laid out now.
    LayingOut {
        /// Name of the job.
        job_name: String,
        /// Files to lay out.
        n_files: u64,
        /// Their size in sum, bytes.
        total_bytes: u64,
    },
    /// Somebody wants the run to end; told for each such wish that is heard.
    Stopping,
    /// Something was said.
    Message(MessageStream, Note),
    /// Lines of `--debug`, without the newline at the end.
    Trace(String),
    /// State of the run, about once a second.
    Eta(EtaSnapshot),
    /// Records of intervals are kept from now on; the first event of a run of which they are wanted.
    Recording {
        /// Where the figures will come from.
        provenance: Box<Provenance>,
        /// The run's start, milliseconds since 1970.
        run_epoch_ms: u64,
        /// Length of an interval.
        interval: Duration,
    },
    /// What a worker did in an interval.
    Interval(Box<Stretch>),
    /// A worker has ended, or will never start; once for each whose records are kept.
    JobEnded(Box<JobEnd>),
    /// A report was asked for while the run goes on.
    Status(Box<RunRecord>),
    /// A sample of the bandwidth, where somebody wants them.
    Bandwidth(BandwidthSample),
}

/// Takes events in the order in which they happen, always on the thread that called `run`.
pub trait RunObserver {
    /// One event.
    fn event(&mut self, event: RunEvent);
}

impl<F: FnMut(RunEvent)> RunObserver for F {
    fn event(&mut self, event: RunEvent) {
        self(event);
    }
}
