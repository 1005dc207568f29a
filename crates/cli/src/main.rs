//! The `ferrio` program: the only place that prints or exits.
//!
//! Called with fio's arguments, or under the name `fio`, it is a drop-in for fio; with the name of a native command it
//! does that. Start reading at [`main`], then [`drop_in`] and [`COMMANDS`].
#![forbid(unsafe_code)]

mod after_crash;
mod console;
mod drop_in;
mod inflate_log;
mod progress;
mod quick;
mod records;
mod reporter;
mod version;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Does a native command; gets the arguments from the command's name on.
type Command = fn(&[OsString]) -> ExitCode;

/// The native commands. A job file of such a name is given with its path (`./quick`).
const COMMANDS: &[(&str, Command)] = &[("quick", quick::run), ("verify", after_crash::run)];

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match native_command(&arguments) {
        Some(command) => command(&arguments[1..]),
        None => drop_in::run(&arguments),
    }
}

/// The native command that the first argument names. Under the name `fio` there is none.
fn native_command(arguments: &[OsString]) -> Option<Command> {
    let program = Path::new(arguments.first()?).file_name();
    let wanted = arguments.get(1)?;
    if program == Some("fio".as_ref()) {
        return None;
    }
    COMMANDS.iter().find(|(name, _)| wanted == name).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_command_is_the_first_argument_and_never_under_the_name_of_fio() {
        let table: [(&[&str], bool); 7] = [
            (&["ferrio", "quick"], true),
            (&["/usr/bin/ferrio", "quick", "/mnt"], true),
            (&["fio", "quick"], false),
            (&["/usr/bin/fio", "quick"], false),
            (&["ferrio", "./quick"], false),
            (&["ferrio", "--name=x", "quick"], false),
            (&["ferrio"], false),
        ];
        for (words, is_native) in table {
            let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(native_command(&arguments).is_some(), is_native, "{words:?}");
        }
        assert!(native_command(&[]).is_none());
    }
}
