//! The page shown without a job: native commands first, then the use in place of fio. Under the name `fio`, fio's page.
//!
//! Start reading at [`run_as`].

use crate::support::Scratch;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Exit code, standard output, standard error of a run under a name.
fn run_as(name: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let scratch = Scratch::new("front");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrio"));
    let output = command.arg0(name).args(arguments).current_dir(scratch.path()).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn native_commands_come_first() {
    for (arguments, code) in [(&[][..], 1), (&["help"], 0), (&["--help"], 0), (&["--eta=never", "--help"], 0)] {
        let (actual, page, said) = run_as("ferrio", arguments);
        assert_eq!(actual, Some(code), "{arguments:?}: {said}");
        assert_eq!(said.is_empty(), code == 0, "{said}");
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{arguments:?}: no {text}: {page}"));
        assert!(place("ferrio quick") < place("ferrio JOBFILE"), "{page}");
        assert_eq!(page.contains("\nfio [options]"), arguments.contains(&"--help"), "{page}");
    }
}

#[test]
fn the_nearest_command_is_named() {
    let (code, page, said) = run_as("ferrio", &["qick"]);
    assert_eq!((code, page.as_str()), (Some(1), ""));
    assert_eq!(said, "ferrio: qick is neither a command nor a job file; did you mean ferrio quick?\n");
    let (code, page, said) = run_as("ferrio", &["help", "qick"]);
    assert_eq!((code, page.as_str()), (Some(1), ""));
    assert!(said.starts_with("ferrio help: there is no command qick\n"), "{said}");
}

#[test]
fn commands_have_help() {
    for command in ["quick", "verify", "report"] {
        let (code, page, said) = run_as("ferrio", &["help", command]);
        assert_eq!((code, said.as_str()), (Some(0), ""));
        assert!(page.contains(&format!("ferrio {command}")), "{page}");
        assert_eq!(run_as("ferrio", &[command, "--help"]), (code, page, said));
    }
}

#[test]
fn under_the_name_of_fio_all_is_as_with_fio() {
    for name in ["fio", "/usr/bin/fio"] {
        let (code, page, said) = run_as(name, &[]);
        assert_eq!((code, said.as_str()), (Some(1), "No job(s) defined\n\n"));
        assert!(page.starts_with("fio-3") && !page.contains("ferrio quick"), "{page}");
        let (code, help, said) = run_as(name, &["--help"]);
        assert_eq!((code, help, said.as_str()), (Some(0), page, ""));
        for word in ["help", "qick", "quick"] {
            let (code, page, said) = run_as(name, &[word]);
            assert_eq!((code, page.as_str()), (Some(1), ""));
            assert!(said.starts_with(&format!("fio: unable to open '{word}' job file\n")), "{said}");
        }
    }
}
