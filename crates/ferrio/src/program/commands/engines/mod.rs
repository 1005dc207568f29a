//! `ferrio engines`: which engines work here, and what a path, a device or a server can do; what does not work has its cure.
//!
//! All answers come from the kernel or the server, by calls that change nothing. Must not know: jobs.
//! Start reading at [`run`], then `shared/engine_checks.rs`, `place` and `server`.

mod place;
mod server;

use crate::shared::engine_checks::{self, Answer};
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit;
use clap::{CommandFactory, Parser};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio engines";

const NAME_COLUMNS: usize = 23;

const TEXT_COLUMNS: usize = 80;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio engines",
    bin_name = "ferrio engines",
    about = "Show which engines work here, and what a file, device or server can do",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// File, directory, device or URL (nbd://, http://, https://, nfs://, iscsi://)
    #[arg(value_name = "PATH|URL|DEVICE")]
    target: Option<String>,
    /// Print the answers as JSON
    #[arg(long)]
    json: bool,
}

const LONG_ABOUT: &str = "\
Show which engines work here, and what a file, device or server can do.

Without an argument: each engine, whether it works on this machine, and if not \
why, and what to do about it. With a path or device: direct I/O and its \
alignment, registered buffers, flags of reads, polling, atomic writes, holes, \
discards, zones, placement, commands past the block layer. With a URL: what the \
server offers (sizes, blocks, trims, permissions, space, TLS, protocols). Each \
answer is the kernel's or the server's own; nothing is written.

  ferrio engines
  ferrio engines /dev/nvme0n1
  ferrio engines --json nbd://localhost/disk";

/// An answer as lines of the text.
fn text(answer: &Answer) -> String {
    let indent = " ".repeat(NAME_COLUMNS + 2);
    let value = answer.value();
    let lines = textwrap::wrap(&value, TEXT_COLUMNS - NAME_COLUMNS - 2);
    format!("{:<NAME_COLUMNS$}  {}\n", answer.name, lines.join(&format!("\n{indent}")))
}

fn document(answer: &Answer) -> Value {
    let some = |text: &String| (!text.is_empty()).then(|| text.clone());
    json!({ "name": answer.name, "state": answer.state.word(), "why": some(&answer.why), "cure": some(&answer.cure) })
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console: &mut Console| {
        let answers = match &request.target {
            None => engine_checks::answers(),
            Some(target) if target.contains("://") => server::answers(target)?,
            Some(target) => place::answers(target.as_ref())?,
        };
        let shown = if request.json {
            let of = request.target.clone();
            let answers: Vec<Value> = answers.iter().map(document).collect();
            format!("{:#}\n", json!({ "ferrio engines version": 1, "target": of, "answers": answers }))
        } else {
            let mut lines = String::new();
            for answer in &answers {
                // Infallible: writing to a String never fails.
                let _ = write!(lines, "{}", text(answer));
            }
            lines
        };
        console.report(&shown);
        Ok(())
    })
}
