//! I/O engines: the contract between the loops and the kernel, and one file per engine.
//!
//! Must not know: job files, reports, threads. Unsafe code only in the modules that name it.
//! Start reading at [`contract`], then [`registry`].
#![deny(unsafe_code)]

pub mod contract;
mod control;
mod descriptor;
mod inline;
pub mod io_uring;
pub mod libaio;
pub mod mmap;
pub mod null;
pub mod offload;
pub mod options;
pub mod posixaio;
pub mod psync;
pub mod pvsync;
pub mod pvsync2;
pub mod registry;
mod rw_flags;
pub mod sim;
pub mod sync;
pub mod vsync;

#[cfg(test)]
mod testing;

pub use contract::{CallStamps, Completion, Engine, EngineError, EngineFile, EngineInfo, EngineSetup, IoUnit, Queued};
pub use options::{EngineOptions, OptionValue};
pub use registry::{ENGINES, find};
