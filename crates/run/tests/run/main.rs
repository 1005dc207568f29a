//! Whole runs: on virtual time with a simulated device, where every figure is known beforehand, and as real processes and
//! threads.
#![expect(clippy::unwrap_used, reason = "all of this is test code")]

mod batches;
mod builder;
mod faults;
mod groups;
mod limits;
mod probe;
mod properties;
mod scratch;
mod statistics;
mod syncs;
mod windows;
