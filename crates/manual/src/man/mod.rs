//! Manual pages: `ferrio(1)`, and one page for each native command.
//!
//! Must not know: what a command does. Start reading at [`pages`].

mod command;
mod main_page;
mod roff;

/// The identifier of the operand, in the description of a native command, that stands for fio's job files and options.
pub const JOB_WORDS: &str = "jobs";

/// A manual page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManPage {
    /// Its name, `ferrio` or `ferrio-run`; its file is `NAME.1`.
    pub name: String,
    pub text: String,
}

/// All pages: first that of the program, then those of its native commands and of their commands. `version` is that of
/// ferrio.
pub fn pages(commands: &[clap::Command], version: &str) -> Vec<ManPage> {
    let mut pages = vec![ManPage { name: "ferrio".to_owned(), text: main_page::text(commands, version) }];
    for command in commands {
        command::push(&mut pages, command, version);
    }
    pages
}
