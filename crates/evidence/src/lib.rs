//! Evidence of a run: measurements beside its jobs, and facts about the machine, the storage and the jobs.
//!
//! A run hands over its workers as [`ProbedWorker`]s, and asks for the figures whenever it makes a report. Must not know: plans,
//! loops, how jobs are run, conclusions from the figures, formats. Start reading at [`ProbedWorker`], then at [`Probes`] (what changes
//! during the run) and [`provenance`] (what does not).
#![forbid(unsafe_code)]

mod probe;
pub mod provenance;
mod worker;

pub use probe::{Probes, Site, calibrate_idle, memory_copy, own_read_bytes, read_samples, targets_without_run};
pub use worker::{ProbedWorker, TargetPaths};
