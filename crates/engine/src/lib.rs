//! I/O engines: the contract between the loops and the kernel, and one file per engine.
//!
//! Must not know: job files, reports, threads. Unsafe code only in the modules that name it.
//! Start reading at [`contract`], then [`registry`].
#![deny(unsafe_code)]

mod commands;
mod compat;
pub mod contract;
mod file_system;
mod files;
pub mod fuzzing;
mod mix;
mod program;
mod registry;
mod servers;
pub mod sim;
mod without_data;

#[cfg(test)]
mod testing;

pub use contract::kind::{EngineKind, EngineWork};
pub use contract::options;
pub use contract::options::EngineOptions;
pub use contract::parts::{
    BlockTraits, Complaint, Connection, DeviceCommands, FailureDetails, Server, TagMismatch, WriteContent,
};
pub use contract::turns::{EndsWith, EngineRemark, NoIoEngine, PrepareTurns, PreparedTurns, Rhythm, TurnsSetup};
pub use contract::{
    CallStamps, Cancellation, CommandFacts, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit,
    JobFacts, JobSyncs, OpenTarget, Outcome, Prepare, Prepared, Queued, TargetFacts,
};
pub use files::libaio::takes_requests_of_system;
pub use files::offload;
pub use program::{external, own};
pub use registry::{all, find, open_library_of};
pub use servers::inquire;
