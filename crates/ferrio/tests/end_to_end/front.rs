//! The page shown without a job: native commands first, then the use in place of fio. Under the name `fio`, fio's page.
//!
//! Start reading at [`run_as`].

use crate::support::Scratch;
use ferrio_testing::{skip_part, this_test};
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
    assert_eq!((code, page.as_str()), (Some(2), ""));
    assert_eq!(said, "ferrio: qick is neither a command nor a job file; did you mean ferrio quick?\n");
    let (code, page, said) = run_as("ferrio", &["help", "qick"]);
    assert_eq!((code, page.as_str()), (Some(2), ""));
    assert!(
        said.starts_with("ferrio help: there is no command, topic, option or finding qick; did you mean"),
        "{said}"
    );
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
fn words_of_reports_have_help() {
    for word in
        ["slat", "clat", "lat", "iops", "bandwidth", "percentile", "precision", "findings", "steady-state", "csv"]
    {
        let (code, text, said) = run_as("ferrio", &["help", word]);
        assert_eq!((code, said.as_str()), (Some(0), ""), "{word}");
        assert!(text.starts_with(&format!("{word}: ")), "{text}");
    }
    assert_eq!(run_as("ferrio", &["help", "steady", "state"]), run_as("ferrio", &["help", "steady-state"]));
    assert!(run_as("ferrio", &["help", "iodepth"]).1.contains("iodepth: "));
}

/// The words that bash offers for a line of which the last word is to be completed.
fn offered_by_bash(script: &str, words: &[&str]) -> Vec<String> {
    let line = format!(
        "COMP_WORDS=({}) COMP_CWORD={} COMP_WORDBREAKS=' ='; _ferrio; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
        words.len() - 1
    );
    let output = Command::new("bash").args(["-c", &format!("{script}\n{line}")]).output().expect("bash starts");
    assert!(output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_and_words() {
    let (code, script, said) = run_as("ferrio", &["completions", "bash"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    for (words, expected) in [
        (&["ferrio", "qui"][..], &["quick"][..]),
        (&["ferrio", "--rw", "=", "randr"], &["randread", "randrw"]),
        (&["ferrio", "--rw=randr"], &["--rw=randread", "--rw=randrw"]),
        (&["ferrio", "run", "--rw", "=", "randw"], &["randwrite"]),
        (&["ferrio", "run", "--web-"], &["--web-token="]),
        (&["ferrio", "history", "sho"], &["show"]),
        (&["ferrio", "help", "cla"], &["clat"]),
        (&["ferrio", "help", "device-did"], &["device-did-less"]),
        (&["ferrio", "man", "qui"], &["quick"]),
        // There is a directory src where the tests run, and no file is in the place of a word.
        (&["ferrio", "history", "s"], &["show"]),
        (&["ferrio", "sr"], &["src"]),
        (&["ferrio", "quick", "--sec"], &["--seconds="]),
        (&["ferrio", "quick", "--rw"], &[""]),
    ] {
        assert_eq!(offered_by_bash(&script, words), expected, "{words:?}");
    }
    // The drop-in has no commands.
    let (_, script, _) = run_as("ferrio", &["completions", "bash", "--name=fio"]);
    assert!(script.contains("complete -o bashdefault -o default -F _fio fio\n") && !script.contains("genzipf"));
}

/// That the scripts are ones, for the shells that this machine has.
#[test]
fn completions_are_scripts_of_their_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let scratch = Scratch::new("completions");
        for name in ["ferrio", "fio"] {
            let (code, script, _) = run_as("ferrio", &["completions", shell, &format!("--name={name}")]);
            assert_eq!(code, Some(0), "{shell}");
            assert!(script.contains("randread") && script.contains(name), "{script}");
            let path = scratch.path().join(shell);
            std::fs::write(&path, script).expect("it is written");
            match Command::new(shell).arg("-n").arg(&path).output() {
                Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}"),
                Err(_) => skip_part!(this_test(), "no {shell}"),
            }
        }
    }
    assert_eq!(run_as("ferrio", &["completions", "tcsh"]).0, Some(2));
}

#[test]
fn manual_pages_are_read_without_a_warning() {
    let scratch = Scratch::new("man");
    let folder = scratch.path().join("man");
    let (code, _, said) = run_as("ferrio", &["man", "--write", &folder.display().to_string()]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let mut names: Vec<_> =
        std::fs::read_dir(&folder).expect("it is there").map(|file| file.expect("a file").path()).collect();
    names.sort();
    for name in ["ferrio.1", "ferrio-run.1", "ferrio-quick.1", "ferrio-history-list.1", "ferrio-help.1"] {
        assert!(names.contains(&folder.join(name)), "{name}: {names:?}");
    }
    let page = std::fs::read_to_string(folder.join("ferrio.1")).expect("it is text");
    assert_eq!(run_as("ferrio", &["man"]).1, page);
    let (code, page, said) = run_as("ferrio", &["man", "history", "lst"]);
    assert_eq!((code, page.as_str()), (Some(2), ""));
    assert_eq!(said, "ferrio man: there is no command history lst; did you mean ferrio man history list?\n");
    for name in names {
        match Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(&name).output() {
            Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{name:?}: {output:?}"),
            Err(_) => skip_part!(this_test(), "no groff"),
        }
    }
}

#[test]
fn the_version_says_what_works_here() {
    let (code, text, said) = run_as("ferrio", &["--version", "--verbose"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("Linux has it");
    assert!(text.contains(&format!("Linux {} on ", release.trim())), "{text}");
    assert!(text.starts_with(&format!("ferrio         {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    // In the place of fio, as with fio.
    assert_eq!(run_as("ferrio", &["--version"]).1, run_as("fio", &["--version"]).1);
    assert_eq!(run_as("fio", &["--version", "--verbose"]), run_as("fio", &["--version"]));
}

/// A finding has the text of its page.
#[test]
fn findings_are_explained() {
    let (code, text, said) = run_as("ferrio", &["help", "fits-in-memory"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(text.starts_with("fits-in-memory: The page cache can hold") && text.contains("\nWhat to do:\n"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

/// Of jobs that fail: what a user reads has none of fio's marks, and a cure where one is known.
#[test]
fn native_commands_have_no_marks_of_fio() {
    for (arguments, cure) in [
        ("run --name=a --ioengine=null", "To do: say how much"),
        ("run --name=a --rw=write --filename=/dev/full --size=64k", "To do: free some space"),
        ("run --name=a --ioengine=null --size=64k --time_based", "To do: give the seconds"),
        ("run --name=a --ioengine=null --size=64k --bs=0", "(such as 100)"),
        ("run --name=a --ioengine=foo --size=64k", ""),
        // Whatever a job names, it does not steer the terminal.
        ("run --name=a --ioengine=null --size=64k --rw=\u{1b}[31m", "\\x1b[31m"),
        ("run missing.job", ""),
        ("run --name=a --size=64k --filename=/dev/null/x", ""),
        ("run --json --name=a --rw=write --filename=/dev/full --size=64k", "To do: free some space"),
        ("run --output=out --name=a --rw=write --filename=/dev/full --size=64k", ""),
        ("check --name=a --ioengine=foo --size=64k", ""),
        ("check --name=a --ioengine=null --size=64k --bs=0", "(such as 100)"),
    ] {
        let (_, page, said) = run_as("ferrio", &arguments.split(' ').collect::<Vec<_>>());
        let all = page + &said;
        assert!(all.contains(cure), "{arguments}: {all}");
        for mark in ["fio: ", "(opt=", ".rs:", "func=", "\u{1b}"] {
            assert!(!all.contains(mark), "{arguments}: {all}");
        }
    }
}

#[test]
fn figures_are_a_table_with_a_header() {
    let job = ["run", "--csv", "--name=a", "--ioengine=null", "--rw=randrw", "--size=1m", "--numjobs=2"];
    let (code, table, said) = run_as("ferrio", &job);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column =
        |name: &str| lines[0].iter().position(|known| *known == name).unwrap_or_else(|| panic!("no {name}: {table}"));
    // Clones are one job.
    assert_eq!(lines.len(), 3, "{table}");
    let n_ios: u64 = lines[1..].iter().map(|line| line[column("ios")].parse::<u64>().expect("a number")).sum();
    assert_eq!(n_ios, 512);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{table}");
    assert_eq!(run_as("ferrio", &["run", "--csv", "--json", "--name=a"]).0, Some(2));
}

/// Not fio's page of options, which is no help there.
#[test]
fn commands_of_ferrio_say_in_a_line_that_there_are_no_jobs() {
    for words in [&["run", "--json"][..], &["fleet", "--hosts=a"], &["check", "--json"]] {
        let (code, page, said) = run_as("ferrio", words);
        assert_eq!((code, page.as_str()), (Some(2), ""), "{words:?}");
        assert_eq!(said, "There are no jobs: name a job file, or give options of jobs\n", "{words:?}");
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
