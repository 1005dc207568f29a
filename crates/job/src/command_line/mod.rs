//! The command line: switches, options of jobs, job files.
//!
//! Must not know: what options mean. Start reading at [`parse::parse`]; [`getopt`] is the grammar, [`switches`] the
//! table.

pub mod control;
pub mod getopt;

pub mod parse;
mod profile;
pub mod remote;
pub mod settings;
pub mod switches;
