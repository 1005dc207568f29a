//! What the program `ferrio` does: the only place that prints or exits.
//!
//! With fio's arguments, or under the name `fio`, ferrio is a drop-in for fio; with the name of a native command, it
//! runs that command. Start reading at [`main`], then [`drop_in`] and [`COMMANDS`].
#![forbid(unsafe_code)]

mod commands;
mod shared;
mod ui;

use crate::ui::exit::Exit;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// A native command.
struct Command {
    name: &'static str,
    /// Its line of arguments.
    usage: &'static str,
    /// Its purpose, in a few words.
    summary: &'static str,
    /// Its description, from which help, manual page and completions are made.
    describe: fn() -> clap::Command,
    /// Runs the command; gets the arguments from the command's name on.
    run: fn(&[OsString]) -> ExitCode,
}

/// The native commands. A job file of such a name is given with its path (`./quick`).
const COMMANDS: &[Command] = &[
    Command {
        name: "quick",
        usage: "ferrio quick [DIR]",
        summary: "measure the storage under a directory",
        describe: commands::quick::describe,
        run: commands::quick::run,
    },
    Command {
        name: "run",
        usage: "ferrio run JOBFILE|OPTIONS...",
        summary: "run fio's jobs, and audit the figures",
        describe: commands::native::describe::run,
        run: run_once_or_often,
    },
    Command {
        name: "check",
        usage: "ferrio check JOBFILE|OPTIONS...",
        summary: "find wrong figures before a run",
        describe: commands::native::describe::check,
        run: commands::native::check::run,
    },
    Command {
        name: "fleet",
        usage: "ferrio fleet --hosts=A,B,C JOBFILE",
        summary: "run jobs on many hosts at once",
        describe: commands::native::fleet::describe,
        run: run_fleet,
    },
    Command {
        name: "sweep",
        usage: "ferrio sweep JOBFILE|OPTIONS --over ...",
        summary: "run jobs with many values of options",
        describe: commands::sweep::describe,
        run: commands::sweep::run,
    },
    Command {
        name: "fit",
        usage: "ferrio fit NAME [PATH]",
        summary: "is this storage good enough for NAME?",
        describe: commands::fit::describe,
        run: commands::fit::run,
    },
    Command {
        name: "profile",
        usage: "ferrio profile DIR|DEVICE [-o PAGE]",
        summary: "what storage can do, in one report",
        describe: commands::profile::describe,
        run: commands::profile::run,
    },
    Command {
        name: "precondition",
        usage: "ferrio precondition DEVICE [OPTIONS]",
        summary: "fill storage until its figures stay",
        describe: commands::precondition::describe,
        run: commands::precondition::run,
    },
    Command {
        name: "engines",
        usage: "ferrio engines [PATH|URL|DEVICE]",
        summary: "show which engines work here",
        describe: commands::engines::describe,
        run: commands::engines::run,
    },
    Command {
        name: "verify",
        usage: "ferrio verify --after-crash JOBFILE",
        summary: "find synced writes that a crash lost",
        describe: commands::after_crash::describe,
        run: commands::after_crash::run,
    },
    Command {
        name: "report",
        usage: "ferrio report RESULT... -o PAGE",
        summary: "show results as a page with charts",
        describe: commands::report::describe,
        run: commands::report::run,
    },
    Command {
        name: "compare",
        usage: "ferrio compare BASE NEW...",
        summary: "compare results: same, faster, slower",
        describe: commands::compare::describe,
        run: commands::compare::run,
    },
    Command {
        name: "history",
        usage: "ferrio history list|show|...",
        summary: "list, show and compare kept runs",
        describe: commands::history::describe,
        run: commands::history::run,
    },
    Command {
        name: "plot",
        usage: "ferrio plot LOG|RESULT...",
        summary: "draw results and logs as SVG or PNG",
        describe: commands::plot::describe,
        run: commands::plot::run,
    },
    Command {
        name: "verify-state",
        usage: "ferrio verify-state FILE...",
        summary: "show the states of verified jobs",
        describe: commands::verify_state::describe,
        run: commands::verify_state::run,
    },
    Command {
        name: "genzipf",
        usage: "ferrio genzipf [-t DISTRIBUTION]",
        summary: "show how often each block is hit",
        describe: commands::genzipf::describe,
        run: commands::genzipf::run,
    },
    Command {
        name: "dedupe",
        usage: "ferrio dedupe FILE|DEVICE",
        summary: "show how much repeats or compresses",
        describe: commands::dedupe::describe,
        run: commands::dedupe::run,
    },
    Command {
        name: "btrace",
        usage: "ferrio btrace FILE... [-o JOBFILE]",
        summary: "make a job file from a block trace",
        describe: commands::btrace::describe,
        run: commands::btrace::run,
    },
    Command {
        name: "genjob",
        usage: "ferrio genjob [-o JOBFILE]",
        summary: "make a job file by options or questions",
        describe: commands::genjob::describe,
        run: commands::genjob::run,
    },
    Command {
        name: "completions",
        usage: "ferrio completions SHELL",
        summary: "print completions for bash, zsh, fish",
        describe: commands::completions::describe,
        run: commands::completions::run,
    },
    Command {
        name: "man",
        usage: "ferrio man [COMMAND]",
        summary: "print a manual page",
        describe: commands::man::describe,
        run: commands::man::run,
    },
    Command {
        name: "help",
        usage: "ferrio help [COMMAND|TOPIC]",
        summary: "explain a command, a word, an option",
        describe: commands::front::describe,
        run: commands::front::help,
    },
];

fn descriptions() -> Vec<clap::Command> {
    COMMANDS.iter().map(|command| (command.describe)()).collect()
}

/// The program, with the arguments of this process; returns its exit code.
fn main() -> ExitCode {
    // First of all: an inherited setting to ignore signals is undone, so that from now on a signal ends the program or,
    // once a run has begun, the run. If the system call fails, the setting remains.
    let _ = ferrio_sys::signals::stop_ignoring();
    // Jobs that are processes share more of this program's memory.
    ferrio_sys::heap::join_free_blocks_at_once();
    ferrio_sys::heap::share_one_heap();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if is_called_fio(&arguments) {
        return commands::drop_in::run(&arguments, "");
    }
    if commands::version::is_asked_for(&arguments) {
        return commands::version::run();
    }
    if let Some(command) = native_command(&arguments) {
        return (command.run)(&arguments[1..]);
    }
    if let Some(complaint) = commands::front::no_command(&arguments) {
        ui::console::Console::standard().error(&complaint);
        return Exit::Failed.into();
    }
    commands::drop_in::run(&arguments, &commands::front::page())
}

/// `ferrio run`: one run, or with `--repeat` and `--until` several; with `--hosts`, a run on several hosts.
fn run_once_or_often(arguments: &[OsString]) -> ExitCode {
    if commands::sweep::repeated::is_wanted(arguments) {
        commands::sweep::repeated::run(arguments)
    } else if commands::native::fleet::has_hosts(arguments) {
        commands::native::fleet::run(arguments)
    } else {
        commands::native::run::run(arguments)
    }
}

/// `ferrio fleet`: one run, or with `--scale` one for each number of hosts.
fn run_fleet(arguments: &[OsString]) -> ExitCode {
    if commands::sweep::scaled::is_wanted(arguments) {
        commands::sweep::scaled::run(arguments)
    } else {
        commands::native::fleet::run(arguments)
    }
}

/// Under the name `fio` there are no native commands, and nothing is said of them.
fn is_called_fio(arguments: &[OsString]) -> bool {
    arguments.first().and_then(|program| Path::new(program).file_name()) == Some("fio".as_ref())
}

/// The native command that the first argument names.
fn native_command(arguments: &[OsString]) -> Option<&'static Command> {
    let wanted = arguments.get(1)?;
    COMMANDS.iter().find(|command| wanted == command.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_native_command_is_the_first_argument() {
        let table: [(&[&str], Option<&str>); 6] = [
            (&["ferrio", "quick"], Some("quick")),
            (&["/usr/bin/ferrio", "help", "/mnt"], Some("help")),
            (&["ferrio", "./quick"], None),
            (&["ferrio", "--name=x", "quick"], None),
            (&["ferrio"], None),
            (&[], None),
        ];
        for (arguments, name) in table {
            assert_eq!(native_command(&words(arguments)).map(|command| command.name), name, "{arguments:?}");
        }
    }

    #[test]
    fn the_name_of_fio_is_known_with_and_without_a_path() {
        for (program, is_fio) in [("fio", true), ("/usr/bin/fio", true), ("ferrio", false), ("fio-3.42", false)] {
            assert_eq!(is_called_fio(&words(&[program, "quick"])), is_fio, "{program}");
        }
        assert!(!is_called_fio(&[]));
    }
}
