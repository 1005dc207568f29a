//! `ferrio verify-state`: what the state files of verified jobs say.
//!
//! Must not know: the encoding of the files, the layout of the text. Start reading at [`run`].

mod shown;

use crate::ui::arguments;
use crate::ui::exit;
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio_stats::note::StateFault;
use ferrio_sys::file::open_regular;
use ferrio_units::error_text;
use ferrio_workload::verify::state::{MAX_STATE_BYTES, StateError, StateHead, VerifyState};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const PROGRAM: &str = "ferrio verify-state";

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio verify-state",
    bin_name = "ferrio verify-state",
    about = "Show the state files of verified jobs",
    long_about = LONG_ABOUT,
    after_help = "Exit code: 0; 2 if a file cannot be read or is no state.",
)]
struct Request {
    /// State files, such as local-JOB-0-verify.state
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print the states as JSON
    #[arg(long)]
    json: bool,
}

const LONG_ABOUT: &str = "\
Show the state files of verified jobs.

A job that writes and verifies leaves such a file at its end; with it, a later \
job that reads (verify_state_load=1) knows where to stop. The text is that of \
fio's fio-verify-state. Files of fio 3.33, 3.41 and 3.42 are read.";

/// A state with its file and head.
struct ReadState<'a> {
    file: &'a Path,
    head: StateHead,
    state: VerifyState,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::answer(PROGRAM, arguments, |request: &Request, console| {
        let mut states = Vec::new();
        for file in &request.files {
            match read(file) {
                Ok(state) => states.push(state),
                Err(why) => console.error(&format!("{PROGRAM}: {}: {why}\n", file.display())),
            }
        }
        let is_complete = states.len() == request.files.len();
        if request.json {
            console.report(&format!("{:#}\n", shown::document(&states)));
        } else {
            console.report(&text(&states, request.files.len() > 1));
        }
        Ok(exit::at_end(!is_complete || console.has_failed))
    })
}

/// The states one after another, each below the name of its file if there are several.
fn text(states: &[ReadState<'_>], has_names: bool) -> String {
    let mut text = String::new();
    for state in states {
        if has_names {
            // A string takes everything.
            let _ = writeln!(text, "{}:", state.file.display());
        }
        text += &shown::text(state);
    }
    text
}

/// Reads a file, at most one byte more than the largest state has.
fn read(path: &Path) -> anyhow::Result<ReadState<'_>> {
    let unreadable = |error: io::Error| anyhow!("it cannot be read: {}", error_text(&error));
    let file = open_regular(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_STATE_BYTES as u64 + 25).read_to_end(&mut bytes).map_err(unreadable)?;
    let decoded = StateHead::split(&bytes)
        .and_then(|(head, rest)| Ok((head, rest.len() as u64, VerifyState::decode(&bytes, usize::MAX)?)));
    let (head, n_rest, state) = decoded.map_err(|StateError(fault)| anyhow!(broken(fault, &bytes)))?;
    if n_rest > head.size_bytes {
        return Err(anyhow!("it is longer than its head announces ({} bytes)", head.size_bytes));
    }
    Ok(ReadState { file: path, head, state })
}

/// The reason why bytes are no state.
fn broken(fault: StateFault, bytes: &[u8]) -> String {
    match fault {
        StateFault::NoHeader if bytes.is_empty() => "it is empty".to_owned(),
        StateFault::NoHeader => format!("it has {} bytes; the head of a state has 24", bytes.len()),
        StateFault::Version(version) => {
            format!("it is no state that is known: its version is {version}; known are 3, 5 and 7")
        }
        StateFault::Length { wanted, .. } if wanted > MAX_STATE_BYTES as u64 => {
            format!("its head announces {wanted} bytes; a state has at most {MAX_STATE_BYTES}")
        }
        StateFault::Length { found, wanted } => {
            format!("it is cut: its head announces {wanted} bytes, and {found} are there")
        }
        StateFault::Corrupt => "it is damaged: its checksum is wrong, or its parts contradict each other".to_owned(),
    }
}
