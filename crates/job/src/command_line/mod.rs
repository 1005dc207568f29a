//! The command line: switches, options of jobs, job files.
//!
//! Must not know: what options mean. Start reading at [`session::parse`]; [`getopt`] is the grammar, [`switches`] the
//! table.

pub mod control;
pub mod getopt;
mod profile;
pub mod session;
pub mod settings;
pub mod switches;
