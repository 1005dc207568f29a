//! The arguments of native commands: parsed, or help or an error shown.
//!
//! Must not know: any command. Start reading at [`parse`].

use crate::console::Console;
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// The arguments (the command's name first) as the command's type. `program` is the prefix of its errors.
///
/// # Errors
/// The exit code after help (0) or a complaint (1) was shown.
pub(crate) fn parse<Request: Parser>(program: &'static str, arguments: &[OsString]) -> Result<Request, ExitCode> {
    Request::try_parse_from(arguments).map_err(|error| {
        let mut console = Console::of_command(program);
        if error.use_stderr() {
            console.error(&error.to_string());
            return ExitCode::FAILURE;
        }
        console.report(&error.to_string());
        ExitCode::SUCCESS
    })
}
