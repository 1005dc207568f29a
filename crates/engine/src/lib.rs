//! I/O engines: the contract between the loops and the kernel, and one file per engine.
//!
//! Must not know: job files, reports, threads. Unsafe code only in the modules that name it.
//! Start reading at [`contract`], then [`registry`].
#![deny(unsafe_code)]

mod clients;
mod compat;
pub mod contract;
mod control;
mod cpuio;
mod dev_dax;
mod dircreate;
mod dirdelete;
mod dirstat;
mod e4defrag;
mod error;
mod exec;
pub mod external;
mod falloc;
mod fd_table;
mod filecreate;
mod filedelete;
mod filestat;
mod ftruncate;
pub mod fuzzing;
mod http;
mod inline;
pub mod inquire;
mod io_uring;
mod io_uring_cmd;
mod kind;
mod libaio;
mod libblkio;
mod libiscsi;
mod libpmem;
mod libzbc;
mod mix;
mod mmap;
mod mtd;
mod nbd;
mod net;
mod nfs;
mod null;
pub mod offload;
mod open_op;
pub mod options;
mod outcome;
pub mod own;
mod page_fault;
mod payloads;
mod pmem;
mod posixaio;
mod protection;
mod psync;
mod pvsync;
mod pvsync2;
mod rdma;
mod registry;
mod remote;
mod rw_flags;
mod scsi;
mod server_facts;
mod sg;
pub mod sim;
mod splice;
mod sync;
mod turns;
mod vsync;

#[cfg(test)]
mod testing;

pub use contract::parts::{
    BlockTraits, Complaint, Connection, DeviceCommands, FailureDetails, GuardedField, Server, TagMismatch, WriteContent,
};
pub use contract::{
    CallStamps, Cancellation, CommandFacts, Completion, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit,
    JobFacts, JobSyncs, OpenTarget, Outcome, Prepare, Prepared, Queued, TargetFacts,
};
pub use kind::{EngineKind, EngineWork};
pub use options::EngineOptions;
pub use registry::{all, find, open_library_of};
pub use turns::{EndsWith, EngineRemark, NoIoEngine, PrepareTurns, PreparedTurns, Rhythm, TurnsSetup};
