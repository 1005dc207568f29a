//! Whole runs: on virtual time with a simulated device, where every figure is known in advance, and as real processes
//! and threads.
#![expect(clippy::unwrap_used, reason = "all of this is test code")]

mod batches;
mod blocks;
mod builder;
mod child;
mod control;
mod faults;
mod files;
mod flow;
mod groups;
mod handover;
mod latency_limits;
mod limits;
mod logs;
mod memory_logs;
mod native;
mod offload;
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
mod serialize;
mod several_runs;
mod sprandom;
mod statistics;
mod steady;
mod steering;
mod stretches;
mod syncs;
mod together;
mod verify;
mod verify_async;
mod verify_backlog;
mod verify_clean;
mod verify_flows;
mod verify_replay;
mod verify_trims;
mod windows;
