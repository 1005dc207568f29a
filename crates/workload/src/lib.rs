//! What to issue next: file, direction, offset, block size, sync points, buffer contents. Pure and seeded: the same
//! plan gives the same I/Os on every machine.
//!
//! Must not know: system calls, engines, clocks.
//! Start reading at [`stream`], which asks the other modules in the order in which they decide.
#![forbid(unsafe_code)]

mod block_size;
pub mod contents;
mod cursor;
mod direction;
mod file_pick;
mod offset;
mod plan;
pub mod stream;
mod sync_points;

pub use plan::{FileRange, WorkloadError, WorkloadPlan};
pub use stream::{Next, NextIo, Workload};
