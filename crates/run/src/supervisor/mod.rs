//! A run from start to end: plan, layout, launch, watch, collect.
//!
//! Must not know: what workers do in their loops, formats.
//! Start reading at [`Run`]; then the watch in `watch`, the workers in `crew` and `launch`, the result in `outcome`.

mod agenda;
mod announce;
mod attended;
mod bandwidth;
mod companions;
mod crew;
mod desk;
mod eta;
mod groups;
mod handle;
mod launch;
mod outcome;
mod prepare;
mod record;
mod reports;
mod run;
mod scene;
mod steady;
mod stretches;
mod time;
mod told;
mod trigger;
mod turns;
mod watch;

use crate::error::RunError;
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::link::trace::TraceSettings;
use crate::logs;
use crate::replay::merge::merge_traces;
use ferrio_spec::{ControlSettings, RunSpec};
use ferrio_stats::{LogSink, RunRecord};
use std::time::Duration;

pub use crate::probe::calibrate_idle;
pub use handle::Handle;
pub use outcome::without_jobs;
pub use run::{PreparedRun, Run, Start};

/// How a run is done, apart from its jobs.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// Version string of the outputs.
    pub version: String,
    /// No file may be made or changed.
    pub readonly: bool,
    /// What is traced.
    pub trace: TraceSettings,
    /// Time between two snapshots of the running state, which the ETA line shows; `None`: there are none.
    pub snapshot_interval: Option<Duration>,
    /// Makes the sink that takes the rows of performance logs; called once, and only if a job logs something.
    pub open_logs: fn() -> Box<dyn LogSink>,
    /// What asks for reports while the run goes on.
    pub control: ControlSettings,
    /// The words of the command line, for the record.
    pub command_line: Vec<String>,
    /// Length of the intervals of which the observer is told; `None`: it wants to hear of none.
    pub record_interval: Option<Duration>,
    /// The run is on virtual time, which moves by simulated devices (`sim`) and waits alone: exact, repeatable, and as fast as the loops are.
    /// All jobs are threads of this process then. With other engines time stands still.
    pub is_virtual: bool,
}

/// A run that nobody looks at while it goes on. Rows of performance logs are lost, which the outcome says.
impl Default for RunSettings {
    fn default() -> Self {
        Self {
            version: concat!("ferrio-", env!("CARGO_PKG_VERSION")).to_owned(),
            readonly: false,
            trace: TraceSettings::default(),
            snapshot_interval: None,
            open_logs: || Box::new(logs::NoSink),
            control: ControlSettings::default(),
            command_line: Vec::new(),
            record_interval: None,
            is_virtual: false,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct RunOutcome {
    /// What was measured and said.
    pub record: RunRecord,
    /// Workers that failed or were killed.
    pub n_failed: u32,
    /// Somebody stopped it early.
    pub is_stopped: bool,
    /// Performance logs that could not be written to their end.
    pub n_logs_lost: u32,
}

/// Merges the traces of the jobs that want it, and does nothing else (`--merge-blktrace-only`).
pub fn merge_only(mut spec: RunSpec, handle: &Handle, observer: &mut dyn RunObserver) -> Result<(), RunError> {
    let mut tell = |line: String| observer.event(RunEvent::Message(MessageStream::Error, line.into()));
    match merge_traces(&mut spec, &mut tell, &|| handle.is_stopping())? {
        0 => {
            Err(RunError::Merge("fio: --merge-blktrace-only: no job has read_iolog and merge_blktrace_file".to_owned()))
        }
        _ => Ok(()),
    }
}
