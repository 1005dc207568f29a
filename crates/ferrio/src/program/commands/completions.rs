//! `ferrio completions`: the completion script of a shell.
//!
//! Must not know: shells, options. Start reading at [`run`].

use crate::ui::arguments;
use crate::ui::exit;
use clap::{CommandFactory, Parser};
use ferrio_manual::completion::{CalledName, Shell, completion};
use std::ffi::OsString;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio completions";

const LONG_ABOUT: &str = "\
Print the completion script of a shell, for commands, options and their words.

bash: ferrio completions bash > ~/.local/share/bash-completion/completions/ferrio
zsh:  ferrio completions zsh > DIR/_ferrio, where DIR is in fpath
fish: ferrio completions fish > ~/.config/fish/completions/ferrio.fish";

/// The parsed arguments.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = PROGRAM,
    bin_name = PROGRAM,
    about = "Print the completion script of a shell",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
    /// Completion for the program under this name
    #[arg(long, value_name = "NAME", default_value = "ferrio")]
    name: CalledName,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        console.report(&completion(request.shell, request.name, &crate::descriptions()));
        Ok(())
    })
}
