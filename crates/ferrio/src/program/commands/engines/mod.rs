//! `ferrio engines`: which engines work here, and what a path, a device or a server can do; what does not work has its cure.
//!
//! All answers come from the kernel or the server, by calls that change nothing. Must not know: jobs.
//! Start reading at [`run`], then `machine`, `place` and `server`.

pub(crate) mod machine;
mod place;
mod server;

use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit;
use clap::{CommandFactory, Parser};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio engines";

/// Columns of the names in the text.
const NAME_COLUMNS: usize = 23;

/// Columns of the text.
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

/// The state of an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ability {
    /// It works.
    Works,
    /// It does not work here.
    Fails,
    /// ferrio does not have it.
    NotBuilt,
    /// It cannot be found out.
    Unknown,
}

impl Ability {
    /// The word in both outputs.
    const fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Fails => "does not work here",
            Self::NotBuilt => "not built",
            Self::Unknown => "unknown",
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What the answer is about.
    pub(crate) name: String,
    /// The state.
    pub(crate) state: Ability,
    /// Details, or the reason.
    pub(crate) why: String,
    /// What can be done about it; empty: nothing.
    pub(crate) cure: String,
}

impl Answer {
    pub(crate) fn new(name: impl Into<String>, state: Ability, why: impl Into<String>) -> Self {
        Self { name: name.into(), state, why: why.into(), cure: String::new() }
    }

    pub(crate) fn works(name: impl Into<String>, details: impl Into<String>) -> Self {
        Self::new(name, Ability::Works, details)
    }

    pub(crate) fn fails(name: impl Into<String>, why: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { cure: cure.into(), ..Self::new(name, Ability::Fails, why) }
    }

    /// Ability, reason and cure on one line.
    pub(crate) fn value(&self) -> String {
        let mut value = self.state.word().to_owned();
        if !self.why.is_empty() {
            value = format!("{value}: {}", self.why);
        }
        if !self.cure.is_empty() {
            value = format!("{value}; {}", self.cure);
        }
        value
    }

    fn text(&self) -> String {
        let value = self.value();
        let indent = " ".repeat(NAME_COLUMNS + 2);
        let lines = textwrap::wrap(&value, TEXT_COLUMNS - NAME_COLUMNS - 2);
        format!("{:<NAME_COLUMNS$}  {}\n", self.name, lines.join(&format!("\n{indent}")))
    }

    fn document(&self) -> Value {
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        json!({ "name": self.name, "state": self.state.word(), "why": some(&self.why), "cure": some(&self.cure) })
    }
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console: &mut Console| {
        let answers = match &request.target {
            None => machine::answers(),
            Some(target) if target.contains("://") => server::answers(target)?,
            Some(target) => place::answers(target.as_ref())?,
        };
        let text = if request.json {
            let of = request.target.clone();
            let answers: Vec<Value> = answers.iter().map(Answer::document).collect();
            format!("{:#}\n", json!({ "ferrio engines version": 1, "target": of, "answers": answers }))
        } else {
            let mut text = String::new();
            for answer in &answers {
                // Infallible: writing to a String never fails.
                let _ = write!(text, "{}", answer.text());
            }
            text
        };
        console.report(&text);
        Ok(())
    })
}
