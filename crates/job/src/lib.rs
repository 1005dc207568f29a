//! From arguments and job files to [`spec::JobSpec`]: the option table, the parsers, the lowering.
//!
//! Must not know: engines' code, output formats.
//! Start reading at [`spec`] (what comes out), then the option table.
#![forbid(unsafe_code)]

pub mod draft;
pub mod environment;
pub mod error;
pub mod job_file;
pub mod message;
pub mod options;
pub mod origin;
pub mod spec;
pub mod suggest;
#[cfg(test)]
mod testing;
pub mod value;
