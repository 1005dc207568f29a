//! Evidence of a run: measurements beside its jobs, and facts about the machine, the storage and the jobs.
//!
//! A run hands over its workers as [`ProbedWorker`]s, and asks for the figures whenever it makes a report. Must not know: plans,
//! loops, how jobs are run, conclusions from the figures, formats. Start reading at [`ProbedWorker`], then at [`Probes`] (what changes
//! during the run) and [`provenance`] (what does not).

mod probe;
pub(crate) mod provenance;
mod worker;

pub use probe::calibrate_idle;
pub(crate) use probe::{Probes, Site, memory_copy, own_read_bytes, read_samples, targets_without_run};
pub(crate) use worker::{ProbedWorker, TargetPaths};
