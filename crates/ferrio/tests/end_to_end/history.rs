//! `--keep` and `ferrio history`: a run that is said to be kept is there, whatever happens.
//!
//! Start reading at [`kept_runs_are_listed_and_shown`].

use crate::support::{Finished, Program, Run, Scratch};
use std::os::unix::fs::PermissionsExt;

/// A job that takes no time.
const JOB: &str = "--name=j --ioengine=null --size=1m --rw=randread";

/// A run whose state is in the scratch directory.
fn prepared(scratch: &Scratch, arguments: &str) -> Run {
    let run = Run::new(Program::Ferrio, scratch.path(), arguments).without_env("FERRIO_STATE");
    run.env("XDG_STATE_HOME", &scratch.join("state").display().to_string())
}

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    prepared(scratch, arguments).finish()
}

/// The numbers in the first column of a list.
fn numbers(list: &str) -> Vec<u64> {
    list.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

#[test]
fn kept_runs_are_listed_and_shown() {
    let scratch = Scratch::new("history");
    assert_eq!(run(&scratch, "history list").succeeded().stdout, "No run is kept.\n");
    assert!(scratch.names().is_empty(), "a list makes no database");
    let first = run(&scratch, &format!("run --keep {JOB}")).succeeded();
    assert_eq!(first.stderr, "ferrio run: kept as 1\n");
    let second = run(&scratch, &format!("--keep=nightly {JOB} --output-format=terse")).succeeded();
    assert_eq!(second.stderr, "fio: kept as 2 (nightly)\n");
    let list = run(&scratch, "history list").succeeded().quiet().stdout;
    assert_eq!(numbers(&list), [2, 1], "{list}");
    assert!(list.lines().nth(1).is_some_and(|line| line.contains("nightly") && line.contains("read")), "{list}");
    // The report is that of the run.
    let shown = run(&scratch, "history show 1").succeeded().quiet().stdout;
    assert!(shown.starts_with("Run 1\n") && shown.ends_with(&first.stdout), "{shown}\n{}", first.stdout);
    for run_word in ["2", "nightly", "last"] {
        let shown = run(&scratch, &format!("history show {run_word}")).succeeded().stdout;
        assert!(shown.starts_with("Run 2, nightly\n") && shown.contains("--keep=nightly"), "{shown}");
    }
    assert!(run(&scratch, "history show last-1").succeeded().stdout.starts_with("Run 1\n"));
    for (word, shown) in
        [("3", "3"), ("last-2", "last-2"), ("weekly", "weekly"), ("99999999999999999999", "9223372036854775807")]
    {
        let refused = run(&scratch, &format!("history show {word}"));
        assert_eq!((refused.code, &*refused.stdout), (Some(1), ""), "{word}");
        assert_eq!(refused.stderr, format!("ferrio history: no run {shown} is kept\n"));
    }
}

/// The formats of fio come from a kept run as from the record of `--record`.
#[test]
fn a_kept_run_is_a_result_like_a_file() {
    let scratch = Scratch::new("history-result");
    run(&scratch, &format!("{JOB} --keep=a --record=a.record --output-format=json")).succeeded();
    for arguments in ["report --output-format=json", "report --output-format=normal,terse", "report"] {
        let shown = |result: &str| run(&scratch, &format!("{arguments} {result}")).succeeded().stdout;
        assert_eq!(shown("history:a"), shown("a.record"), "{arguments}");
    }
    run(&scratch, "report history:last -o page.html").succeeded().quiet();
    assert!(scratch.read("page.html").contains("</html>"));
    run(&scratch, "plot history:1 -o picture.svg").succeeded().quiet();
    assert!(scratch.read("picture.svg").contains("</svg>"));
    let compared = run(&scratch, "compare history:1 a.record").succeeded().stdout;
    assert!(compared.starts_with("Comparison of history:1 (base) and a.record (new)\n"), "{compared}");
    let refused = run(&scratch, "compare history:2 a.record");
    assert_eq!((refused.code, &*refused.stderr), (Some(2), "ferrio compare: no run 2 is kept\n"));
    scratch.write("history:1", "{");
    assert_eq!(run(&scratch, "report ./history:1").code, Some(1), "with a path it is a file");
}

#[test]
fn the_database_is_the_users_alone() {
    let scratch = Scratch::new("history-mode");
    run(&scratch, &format!("run --keep {JOB}")).succeeded();
    let mode = |name: &str| std::fs::metadata(scratch.join(name)).map(|facts| facts.permissions().mode() & 0o7777).ok();
    assert_eq!((mode("state/ferrio"), mode("state/ferrio/history.sqlite")), (Some(0o700), Some(0o600)));
    std::fs::set_permissions(scratch.join("state/ferrio/history.sqlite"), std::fs::Permissions::from_mode(0o644))
        .unwrap();
    run(&scratch, "history list").succeeded();
    assert_eq!(mode("state/ferrio/history.sqlite"), Some(0o600));
}

/// The setting keeps each run, and changes nothing of what fio would show.
#[test]
fn the_setting_keeps_runs_silently_in_place_of_fio() {
    let scratch = Scratch::new("history-setting");
    let set =
        |value: &str, arguments: &str| prepared(&scratch, arguments).env("FERRIO_KEEP", value).finish().succeeded();
    assert_eq!(set("1", &format!("{JOB} --output-format=terse")).stderr, "");
    assert_eq!(set("ci", &format!("run {JOB}")).stderr, "ferrio run: kept as 2 (ci)\n");
    assert_eq!(set("off", &format!("run {JOB}")).stderr, "");
    assert_eq!(run(&scratch, &format!("run {JOB}")).stderr, "");
    assert_eq!(numbers(&run(&scratch, "history list").stdout), [2, 1]);
    // A run that cannot be kept is as good as any other, unless it was asked for.
    let nowhere = |arguments: &str| {
        let run = prepared(&scratch, arguments).env("FERRIO_KEEP", "1").env("XDG_STATE_HOME", "/dev/null");
        run.finish()
    };
    let place = "/dev/null/ferrio is no directory of this user\n";
    let kept = nowhere(&format!("{JOB} --output-format=terse")).succeeded();
    assert_eq!(kept.stderr, format!("fio: the run is not kept: {place}"));
    assert!(kept.stdout.starts_with("3;fio-3"));
    let refused = nowhere(&format!("run --keep {JOB}"));
    assert_eq!((refused.code, &*refused.stdout), (Some(1), ""), "nothing runs");
    assert_eq!(refused.stderr, format!("ferrio run: the run cannot be kept: {place}"));
    let off = prepared(&scratch, &format!("{JOB} --keep")).env("FERRIO_STATE", "off").finish();
    assert_eq!(
        (off.code, &*off.stderr),
        (Some(1), "fio: the run cannot be kept: FERRIO_STATE=off switches the history off\n")
    );
}
