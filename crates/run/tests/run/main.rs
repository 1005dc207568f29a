//! Whole runs: on virtual time with a simulated device, where every figure is known beforehand, and as real processes and
//! threads.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "all of this is test code")]

mod batches;
mod blocks;
mod builder;
mod child;
mod control;
mod faults;
mod files;
mod flow;
mod groups;
mod latency_limits;
mod limits;
mod logs;
mod memory_logs;
mod order;
mod plain_lists;
mod priorities;
mod probe;
mod processes;
mod properties;
mod rates;
mod replay;
mod response;
mod scratch;
mod statistics;
mod steady;
mod stretches;
mod syncs;
mod verify;
mod windows;
