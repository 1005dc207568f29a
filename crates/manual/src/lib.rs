//! The manual of ferrio, from the tables of the program: words of the field, manual pages, completions of shells.
//!
//! Documents are pure functions of the option table, the switches, the topics and the descriptions of native commands, so
//! that the program, the packages and the documents of the repository have one source. Must not know: terminals, files,
//! what a command does. Start reading at [`topics`], [`man`] and [`completion`].
#![forbid(unsafe_code)]

pub mod completion;
pub mod man;
pub mod outputs;
pub mod sections;
pub mod terse;
pub mod text;
pub mod topics;
