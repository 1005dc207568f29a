//! The arguments of native commands: parsed, or help or an error shown.
//!
//! Must not know: any command. Start reading at [`parse`].

use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use anyhow::anyhow;
use clap::{Command, Parser};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Columns of help where the standard output is no terminal, and the most on a terminal.
const HELP_COLUMNS: usize = 80;

/// The whole help of a command.
pub(crate) fn help_text(command: Command) -> String {
    with_columns(command).render_long_help().to_string()
}

/// A share as an argument, 0 to 100.
pub(crate) fn percent(text: &str) -> anyhow::Result<f64> {
    let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.ok_or_else(|| anyhow!("a number from 0 to 100 is wanted"))
}

/// The arguments (the command's name first) as the command's type.
///
/// # Errors
/// The error contains the text to show: a refusal, or the help if the arguments ask for it.
pub(crate) fn read<Request: Parser>(arguments: &[OsString]) -> Result<Request, clap::Error> {
    with_columns(Request::command())
        .try_get_matches_from(arguments)
        .and_then(|mut matches| Request::from_arg_matches_mut(&mut matches))
}

/// Help as wide as the terminal, and never wider than texts are read well.
fn with_columns(command: Command) -> Command {
    if std::io::stdout().is_terminal() {
        command.max_term_width(HELP_COLUMNS)
    } else {
        command.term_width(HELP_COLUMNS)
    }
}

/// The arguments (the command's name first) as the command's type. `program` is the prefix of its errors.
pub(crate) fn parse<Request: Parser>(program: &'static str, arguments: &[OsString]) -> Result<Request, ExitCode> {
    read(arguments).map_err(|error| {
        let mut console = Console::of_command(program);
        if error.use_stderr() {
            let text = error.to_string();
            console.error(&format!("{program}: {}", text.strip_prefix("error: ").unwrap_or(&text)));
            return Exit::Failed.into();
        }
        console.report(&error.to_string());
        ExitCode::SUCCESS
    })
}

/// A command that does one thing or says why not: reads the arguments (the command's name first), does its work, and shows the reason
/// of a failure behind the command's name, `program`.
pub(crate) fn run<Request: Parser>(
    program: &'static str,
    arguments: &[OsString],
    work: impl FnOnce(&Request, &mut Console) -> anyhow::Result<()>,
) -> ExitCode {
    answer(program, arguments, |request, console| work(request, console).map(|()| exit::at_end(console.has_failed)))
}

/// The same for a command whose work has an exit code.
pub(crate) fn answer<Request: Parser>(
    program: &'static str,
    arguments: &[OsString],
    work: impl FnOnce(&Request, &mut Console) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    let request: Request = match parse(program, arguments) {
        Ok(request) => request,
        Err(code) => return code,
    };
    let mut console = Console::of_command(program);
    work(&request, &mut console).unwrap_or_else(|reason| {
        console.error(&format!("{program}: {reason}\n"));
        Exit::Failed.into()
    })
}
