//! A run from start to end: plan, layout, launch, watch, collect.
//!
//! Must not know: loops of workers, formats.
//! Start reading at [`Run`]; then `watch` for the course of a run, `workers` and `launch` for the workers, `outcome` for
//! the result.

mod announce;
mod bandwidth;
mod debug_trace;
mod eta;
mod groups;
mod handle;
mod interruptible;
mod launch;
mod no_io_jobs;
mod outcome;
mod prepare;
mod record;
mod reports;
mod requests;
mod run;
mod scene;
mod schedulers;
mod series;
mod start_order;
mod steady;
mod steady_group;
mod stops;
mod stretches;
mod time;
mod timed_requests;
mod trigger;
mod watch;
mod worker_handle;
mod workers;

use crate::error::RunError;
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::link::trace::TraceSettings;
use crate::logs::LogOpener;
use crate::replay::merge::merge_traces;
use ferrio_engine::own::Storages;
use ferrio_spec::{ControlSettings, RunSpec};
use ferrio_stats::RunRecord;
use ferrio_stats::note::{MergeNote, ReplayNote};
use std::path::PathBuf;
use std::time::Duration;

pub use handle::Handle;
pub use outcome::without_jobs;
pub use run::{PreparedRun, Run, Start};

/// Settings of a run, apart from its jobs.
#[derive(Debug, Clone)]
pub struct RunSettings {
    pub version: String,
    /// No file may be made or changed.
    pub readonly: bool,
    /// The groups of `--debug` that are traced.
    pub trace: TraceSettings,
    /// Time between two snapshots of the running state for the ETA line; `None`: there are none.
    pub snapshot_interval: Option<Duration>,
    /// Where rows of performance logs go.
    pub open_logs: LogOpener,
    /// Settings for reports during the run, and for its trigger.
    pub control: ControlSettings,
    /// Files that were read for the specification of the run, such as job files: no output of a job replaces them.
    pub inputs: Vec<PathBuf>,
    /// The words of the command line, for the record.
    pub command_line: Vec<String>,
    /// Length of the intervals whose figures the observer receives; `None`: no intervals.
    pub record_interval: Option<Duration>,
    /// The record has the course of each job, in the intervals above, or in intervals whose length the run chooses.
    pub keeps_series: bool,
    /// The observer receives the intervals of the course as well, where `keeps_series` is set and there is no `record_interval`.
    pub tells_series: bool,
    /// The run is on virtual time, which advances only by simulated devices (`sim`) and waits: its figures are exact
    /// and repeatable, and it takes only as long as the loops need. All jobs are threads of this process then. With
    /// other engines time stands still.
    pub is_virtual: bool,
    /// Jobs behind a stonewall wait until [`Handle::open_stonewall`] lets them begin; the observer is told when they could
    /// ([`RunEvent::AtStonewall`]). So runs on several hosts pass their stonewalls together.
    pub waits_at_stonewalls: bool,
    /// Several hosts make the files together, part behind part: it is no news that a job makes one longer which holds data.
    pub grows_shared_files: bool,
    /// Storages of the program around the run, for jobs of the engine `own`.
    pub storages: Storages,
}

/// Settings of a run without an observer. Rows of performance logs are lost, which the outcome reports.
impl Default for RunSettings {
    fn default() -> Self {
        Self {
            version: concat!("ferrio-", env!("CARGO_PKG_VERSION")).to_owned(),
            readonly: false,
            trace: TraceSettings::default(),
            snapshot_interval: None,
            open_logs: LogOpener::default(),
            inputs: Vec::new(),
            control: ControlSettings::default(),
            command_line: Vec::new(),
            record_interval: None,
            keeps_series: false,
            tells_series: false,
            is_virtual: false,
            waits_at_stonewalls: false,
            grows_shared_files: false,
            storages: Storages::default(),
        }
    }
}

/// The end of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// Figures, failures and messages.
    pub record: RunRecord,
    /// Number of workers that failed or were killed.
    pub n_failed: u32,
    /// The run was stopped early.
    pub is_stopped: bool,
    /// Number of performance logs that are not complete.
    pub n_logs_lost: u32,
}

/// Merges the traces of the jobs that want it, and does nothing else (`--merge-blktrace-only`).
pub fn merge_only(
    mut spec: RunSpec,
    inputs: &[PathBuf],
    handle: &Handle,
    observer: &mut dyn RunObserver,
) -> Result<(), RunError> {
    let mut tell = |note: ReplayNote| observer.event(RunEvent::Message(MessageStream::Error, note.into()));
    match merge_traces(&mut spec, inputs, &mut tell, &|| handle.is_stopping())? {
        0 => Err(RunError::Merge(MergeNote::NothingToMerge)),
        _ => Ok(()),
    }
}
