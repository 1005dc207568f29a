//! A run put together once: options, run, audit, memory of earlier runs, and several observers. Every command that runs jobs, looks at
//! them before a run, or examines a result starts here.
//!
//! Must not know: terminals, signals, arguments of native commands. Start reading at [`Session`]; [`adopted`] is for results of other
//! programs.

pub mod adopted;
#[cfg_attr(not(feature = "history"), path = "no_last_runs.rs")]
mod last_runs;
mod observers;
mod run_session;
pub mod runs;
mod start_lines;
mod survey;

/// Version of the outputs and of `--version`: parsers look for `fio-3`, people for the program that ran.
pub const VERSION: &str = concat!("fio-3.42-ferrio-", env!("CARGO_PKG_VERSION"));

pub use observers::{Observer, Subscription};
pub use run_session::{PreparedSession, Session, SessionOutcome, audit};
pub use start_lines::start_jobs;
pub use survey::survey;
