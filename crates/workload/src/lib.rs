//! The next I/O to issue: file, direction, offset, block size, sync points, buffer contents. Pure and seeded: the same
//! plan gives the same I/Os on every machine.
//!
//! Must not know: system calls, engines, clocks. From `sys` this crate uses only CPU instructions, such as checksums
//! and prefetches.
//! Start reading at [`workload`], then `io_stream`, then `stream`, which calls the other modules in the order of their decisions.
//! Oddities of fio are in `compat`; streams of native runs have none.
#![forbid(unsafe_code)]

mod block_size;
mod choice;
pub mod command_priority;
mod common;
mod compat;
pub mod contents;
mod cursor;
pub mod debug_trace;
mod direction;
mod file_pick;
mod gathered;
mod interleaved;
mod io_stream;
mod next;
mod offset;
mod pace;
mod paced;
mod parted;
mod permuted;
mod plain;
mod plan;
mod position;
pub mod replay;
mod sequence;
pub mod shape;
pub mod sprandom;
mod stream;
mod streams;
mod strided;
mod sync_points;
mod turns;
pub mod verify;
mod whole_files;
pub mod workload;
mod zone_table;
mod zones;
mod zoning;

pub use next::{IssuedTotals, Next, NextIo, OffsetState};
pub use pace::Pace;
pub use plan::{FileRange, Rounds, SequentialPlan, SyncIntervals, WorkForm, WorkLimits, WorkloadError, WorkloadPlan};
pub use position::{BlockCounter, CommonPosition};
pub use workload::Workload;
pub use zone_table::Awaited;
pub use zone_table::{FailedBlock, ZoneActivity, ZoneLayout, ZoneLimits, ZoneShape, ZoneShapes, ZoneState, ZoneTable};
pub use zoning::{AwaitedRelease, CompletedIo, IoFailure, SharedZoning, ZoneRepair, ZoningFailure, ZoningFailureKind};
