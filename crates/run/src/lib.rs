//! From [`ferrio_job::spec::RunSpec`] to a finished run: plan, file layout, groups, job processes and threads, the
//! loops, accounting, events.
//!
//! Must not know: option strings, output formats.
//! Start reading at [`supervisor`] (a run from start to end), then [`worker`] (what one job process does).
#![forbid(unsafe_code)]

pub mod after_crash;
pub mod error;
pub mod events;
pub mod files;
mod locks;
pub mod logs;
pub mod plan;
mod provenance;
mod replay;
pub mod supervisor;
pub mod trace;
pub mod worker;
mod wrapped;
mod zones;

pub use error::{JobError, RunError};
pub use events::{BandwidthSample, JobSummary, RunEvent, RunObserver, Stream};
pub use supervisor::{
    ControlSettings, EtaSettings, IdleDetail, RunOutcome, RunSettings, Trigger, calibrate_idle, merge_only, run,
    simulate, without_jobs,
};
pub use trace::TraceSettings;
