//! From arguments and job files to [`spec::JobSpec`]: the option table, the parsers, the lowering.
//!
//! Must not know: engines' code, output formats.
//! Start reading at [`spec`] (what comes out), then the option table.
#![forbid(unsafe_code)]

pub mod spec;
