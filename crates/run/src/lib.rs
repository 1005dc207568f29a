//! From [`ferrio_spec::RunSpec`] to a finished run: plan, file layout, groups, job processes and threads, the
//! loops, accounting, events.
//!
//! Must not know: option strings, output formats.
//! Start reading at [`supervisor`] (a run from start to end), then [`work`] (one job process). Oddities of fio are in
//! `compat`; native runs have none.
#![forbid(unsafe_code)]

mod compat;
pub mod crash;
mod engine_notes;
pub mod error;
pub mod events;
mod evidence;
pub mod files;
mod layout;
pub mod link;
pub mod logs;
pub mod places;
pub mod plan;
mod probed;
pub mod repeats;
mod replay;
pub mod supervisor;
mod survey;
pub mod worker;
mod wrapped;
mod zones;

pub use error::{Failure, RunError, TooManyJobs};
pub use events::{BandwidthSample, JobSummary, MessageStream, RunEvent, RunObserver};
pub use evidence::calibrate_idle;
pub use files::protected::protected_files;
pub use link::trace::TraceSettings;
pub use logs::LogOpener;
pub use supervisor::{Handle, PreparedRun, Run, RunOutcome, RunSettings, Start, merge_only, without_jobs};
pub use survey::survey;
