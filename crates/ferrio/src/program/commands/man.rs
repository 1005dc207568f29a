//! `ferrio man`: the manual pages.
//!
//! Must not know: roff, options. Start reading at [`run`].

use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit;
use anyhow::anyhow;
use clap::{CommandFactory, Parser, ValueHint};
use ferrio_job::suggest::did_you_mean;
use ferrio_manual::man::{ManPage, pages};
use ferrio_sys::output::AtomicFile;
use std::ffi::OsString;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;

const PROGRAM: &str = "ferrio man";

const LONG_ABOUT: &str = "\
Show the manual page of ferrio, or of one of its commands, with the program man. Where the standard output is no terminal, \
or there is no man, the page is printed as it is, in roff.";

/// The parsed arguments.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = PROGRAM,
    bin_name = PROGRAM,
    about = "Show the manual page",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// The command, such as run, or history list; without it, the page of ferrio
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write all pages into a directory, as files NAME.1
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "command")]
    write: Option<PathBuf>,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    let names: Vec<&str> = crate::COMMANDS.iter().map(|command| command.name).collect();
    // What a shell may offer.
    Request::command().mut_arg("command", |argument| argument.value_parser(names).hide_possible_values(true))
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        let pages = pages(&crate::descriptions(), env!("CARGO_PKG_VERSION"));
        match &request.write {
            Some(directory) => write_all(&pages, directory),
            None => page(&pages, &request.command).map(|page| show(page, console)),
        }
    })
}

/// The page of a command.
///
/// # Errors
/// There is no such command; the text names the nearest one.
fn page<'a>(pages: &'a [ManPage], command: &[String]) -> anyhow::Result<&'a ManPage> {
    let wanted = [&["ferrio".to_owned()], command].concat().join("-");
    pages.iter().find(|page| page.name == wanted).ok_or_else(|| {
        let words = |name: &str| name.trim_start_matches("ferrio-").replace('-', " ");
        let near = did_you_mean(&wanted, pages.iter().map(|page| page.name.as_str())).map(words);
        let near = near.map_or_else(String::new, |near| format!("; did you mean {PROGRAM} {near}?"));
        anyhow!("there is no command {}{near}", command.join(" "))
    })
}

/// Shows the page with `man` on a terminal; elsewhere prints it.
fn show(page: &ManPage, console: &mut Console) {
    let is_terminal = std::io::stdout().is_terminal();
    if is_terminal && read_with_man(page) {
        return;
    }
    console.report(&page.text);
    if is_terminal {
        console.error(&format!(
            "{PROGRAM}: the page is in roff, for the program man, which is not here (Debian: man-db)\n"
        ));
    }
}

/// False if there is no `man`.
fn read_with_man(page: &ManPage) -> bool {
    let Ok(mut man) = std::process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn() else {
        return false;
    };
    if let Some(mut input) = man.stdin.take() {
        // A reader that is closed early has seen enough.
        let _ = input.write_all(page.text.as_bytes());
    }
    man.wait().is_ok_and(|status| status.success())
}

/// Writes each page to its file.
fn write_all(pages: &[ManPage], directory: &Path) -> anyhow::Result<()> {
    let failed = |path: &Path, error: &std::io::Error| {
        anyhow!("cannot write {}: {}", path.display(), ferrio_units::error_text(error))
    };
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    let kept = Arc::default();
    for page in pages {
        let path = directory.join(format!("{}.1", page.name));
        let written = AtomicFile::create(&path, &kept).and_then(|file| file.write(page.text.as_bytes()));
        written.map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}
