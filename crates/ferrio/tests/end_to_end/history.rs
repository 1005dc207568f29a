//! `--keep` and `ferrio history`: a run that is said to be kept is there, whatever happens.
//!
//! Start reading at [`kept_runs_are_listed_and_shown`].

use crate::support::{Finished, Program, Run, Scratch, has_programs, is_root, send, skip, tool, unmount};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

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
        assert_eq!((refused.code, &*refused.stdout), (Some(2), ""), "{word}");
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
    assert_eq!(run(&scratch, "report ./history:1").code, Some(2), "with a path it is a file");
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
    // A run on a file is remembered without waiting for the disk, so that the changes stay beside the database.
    run(&scratch, "run --name=j --filename=f --ioengine=psync --rw=read --size=64k").succeeded();
    let beside = ["state/ferrio/history.sqlite-wal", "state/ferrio/history.sqlite-shm"];
    assert_eq!(beside.map(mode), [Some(0o600); 2]);
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
    assert_eq!((refused.code, &*refused.stdout), (Some(2), ""), "nothing runs");
    assert_eq!(refused.stderr, format!("ferrio run: the run cannot be kept: {place}"));
    let both = prepared(&scratch, &format!("run {JOB}")).env("FERRIO_KEEP", "1").env("FERRIO_STATE", "off");
    assert_eq!(both.finish().succeeded().stderr, "", "without a history nothing is kept");
    let off = prepared(&scratch, &format!("{JOB} --keep")).env("FERRIO_STATE", "off").finish();
    assert_eq!(
        (off.code, &*off.stderr),
        (Some(1), "fio: the run cannot be kept: FERRIO_STATE=off switches the history off\n")
    );
}

/// The number that a line `kept as N` tells.
fn kept_as(text: &str) -> Option<u64> {
    let rest = text.split_once("kept as ")?.1;
    // A line that has no end was cut off.
    rest.split_once('\n')?.0.split_whitespace().next()?.parse().ok()
}

/// True if the database is whole, as another program sees it.
fn is_whole(scratch: &Scratch, database: &str) -> bool {
    let database = scratch.join(database).display().to_string();
    let checked = std::process::Command::new("sqlite3").args([&database, "PRAGMA integrity_check"]).output();
    checked.is_ok_and(|output| String::from_utf8_lossy(&output.stdout) == "ok\n")
}

#[test]
fn two_writers_lose_nothing() {
    let scratch = Scratch::new("history-writers");
    let script = "for run in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \"$0\" \"$@\" || exit 1; done";
    let writers = ["a", "b"].map(|name| {
        let run = prepared(&scratch, &format!("run --keep={name} {JOB} --output={name}"));
        run.in_shell(script).start()
    });
    let told = writers.map(|writer| writer.finish().succeeded().stderr);
    let mut kept: Vec<u64> =
        told.iter().flat_map(|text| text.lines()).filter_map(|line| kept_as(&format!("{line}\n"))).collect();
    kept.sort_unstable();
    assert_eq!(kept, (1..=40).collect::<Vec<_>>(), "{told:?}");
    for name in ["a", "b"] {
        let list = run(&scratch, &format!("history list --name {name}")).succeeded().stdout;
        assert_eq!(numbers(&list).len(), 20, "{list}");
    }
}

/// The moments come from a seed; the number of rounds and the seed can be set by hand.
#[test]
fn no_run_that_is_said_to_be_kept_is_lost_by_a_kill() {
    let test = "no_run_that_is_said_to_be_kept_is_lost_by_a_kill";
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (n_rounds, mut state) = (number("FERRIO_KILLS", 10), number("FERRIO_SEED", 1));
    let scratch = Scratch::new("history-killed");
    // Runs one after the other until the kill, which ends the program and the shell.
    let script = "while :; do \"$0\" \"$@\" 2>> told || exit 1; done";
    for _ in 0..n_rounds {
        let before = scratch.read("told").len();
        let mut running = prepared(&scratch, &format!("run --keep {JOB} --output=report")).in_shell(script).start();
        // However slow the machine is, the first run of a round is kept.
        running.wait_until("kept as", |_| scratch.read("told")[before..].contains("kept as"));
        // A generator of Knuth; the upper bits are used.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((state >> 33) % 200_000));
        let processes = [vec![running.pid()], running.jobs()].concat();
        for pid in processes {
            send(pid, rustix::process::Signal::KILL);
        }
        assert_eq!(running.finish().signal, Some(9));
    }
    let told: Vec<u64> = scratch.read("told").split_inclusive('\n').filter_map(kept_as).collect();
    let list = run(&scratch, "history list").succeeded().stdout;
    let there = numbers(&list);
    let missing: Vec<&u64> = told.iter().filter(|number| !there.contains(number)).collect();
    assert!(missing.is_empty() && !told.is_empty(), "{missing:?} of {told:?}");
    for number in &told {
        let shown = run(&scratch, &format!("history show {number}")).succeeded().stdout;
        assert!(shown.starts_with(&format!("Run {number}\n")) && shown.contains("read"), "{shown}");
    }
    if has_programs(&format!("{test} (its integrity)"), &["sqlite3"]) {
        assert!(is_whole(&scratch, "state/ferrio/history.sqlite"));
    }
    eprintln!("{n_rounds} kills, {} runs said to be kept, {} there", told.len(), there.len());
}

#[test]
fn a_disk_that_fills_up_leaves_a_whole_history() {
    let test = "a_disk_that_fills_up_leaves_a_whole_history";
    if !is_root(test) || !has_programs(test, &["sqlite3"]) {
        return;
    }
    let scratch = Scratch::new("history-full");
    let state = scratch.join("state");
    std::fs::create_dir(&state).expect("a directory");
    if tool(&format!("mount -t tmpfs -o size=400k tmpfs {}", state.display())).is_none() {
        return skip(test, "tmpfs cannot be mounted");
    }
    let (mut told, mut refused) = (Vec::new(), None);
    for _ in 0..400 {
        let finished = run(&scratch, &format!("run --keep {JOB}"));
        if finished.code == Some(0) {
            told.extend(kept_as(&finished.stderr));
        } else {
            refused = Some(finished);
            break;
        }
    }
    let set = prepared(&scratch, &format!("run {JOB}")).env("FERRIO_KEEP", "1").finish();
    let list = run(&scratch, "history list");
    let is_whole = is_whole(&scratch, "state/ferrio/history.sqlite");
    // Room for a change, and the oldest runs go.
    let pruned = tool(&format!("mount -o remount,size=800k {}", state.display()))
        .map(|_| (run(&scratch, "history prune --keep=3"), run(&scratch, &format!("run --keep {JOB}"))));
    let unmounted = unmount(&state);
    assert!(unmounted.is_some() && is_whole);
    let refused = refused.expect("400 runs do not fit into 400 KiB");
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    let reason = "no space left on its file system; the history is whole, and as it was\n";
    assert!(refused.stderr.ends_with(reason) && refused.stderr.lines().count() == 1, "{}", refused.all());
    let is_reported = refused.stdout.contains("MB/s") || refused.stderr.contains("cannot be kept");
    assert!(is_reported, "the report is there, or nothing has run: {}", refused.all());
    assert!(set.stdout.contains("MB/s"), "{}", set.all());
    assert!(set.succeeded().stderr.ends_with(reason));
    told.reverse();
    assert_eq!(numbers(&list.succeeded().stdout), told);
    let (pruned, kept) = pruned.expect("it can be made larger");
    assert!(pruned.succeeded().stdout.contains(&format!("\n{} runs removed.\n", told.len() - 3)));
    assert!(kept.succeeded().stderr.contains("kept as "));
}

#[test]
fn runs_are_compared_with_their_baseline() {
    let scratch = Scratch::new("history-baseline");
    for (name, iops) in [("nightly", "100.0"), ("nightly", "50.0"), ("other", "25.0")] {
        scratch.write("report.json", REPORT.replace("100.0", iops));
        run(&scratch, &format!("history import report.json --name={name}")).succeeded();
    }
    let none = run(&scratch, "history compare baseline 2");
    assert_eq!((none.code, &*none.stdout), (Some(2), ""));
    assert!(none.stderr.starts_with("ferrio history: run 2 has no baseline: "), "{}", none.stderr);
    assert_eq!(run(&scratch, "history baseline show").succeeded().stdout, "No run is a baseline.\n");
    let set = run(&scratch, "history baseline set 1").succeeded().stdout;
    assert_eq!(set, "Run 1 is the baseline of runs with the name nightly or the same jobs and targets.\n");
    assert_eq!(numbers(&run(&scratch, "history baseline show 2").succeeded().stdout), [1]);
    for (arguments, base, new, change) in [
        ("baseline 2", 1, 2, -50.0),
        ("baseline", 1, 3, -75.0),
        ("2 last", 2, 3, -50.0),
        ("last-1", 2, 3, -50.0),
        ("nightly 1", 2, 1, 100.0),
    ] {
        let compared = run(&scratch, &format!("history compare {arguments} --json")).succeeded().stdout;
        let document: Value = serde_json::from_str(&compared).expect("JSON");
        let comparison = &document["comparisons"][0];
        assert!(
            compared.contains(&format!("history:{base}")) && compared.contains(&format!("history:{new}")),
            "{compared}"
        );
        let iops = &comparison["jobs"][0]["figures"][0];
        assert_eq!(iops["metric"], "iops", "{iops}");
        assert_eq!(iops["change"]["percent"], change, "{arguments} {iops}");
    }
    // Exit codes are those of the comparison: one result on each side has no interval.
    let undecided = prepared(&scratch, "history compare baseline 2");
    let undecided = undecided.in_shell("exec \"$0\" \"$@\" --fail-if 'iops < -40%'").finish();
    assert_eq!(undecided.code, Some(3), "{}", undecided.all());
    // Baselines stay.
    let pruned = run(&scratch, "history prune --name=nightly --dry-run").succeeded().stdout;
    assert_eq!(numbers(&pruned), [2, 1], "the run, and the number of runs: {pruned}");
    assert!(pruned.contains("1 run would be removed.\nRun 1 stays, because it is a baseline"), "{pruned}");
    assert_eq!(numbers(&run(&scratch, "history list").stdout), [3, 2, 1]);
    run(&scratch, "history prune --name=nightly").succeeded();
    assert_eq!(numbers(&run(&scratch, "history list").stdout), [3, 1]);
    assert_eq!(run(&scratch, "history baseline clear 1").succeeded().stdout, "Run 1 is no baseline any more.\n");
    run(&scratch, "history prune 1 last").succeeded();
    assert_eq!(run(&scratch, "history list").stdout, "No run is kept.\n");
    assert_eq!(run(&scratch, "history prune").code, Some(2), "it has to be said what is removed");
}

/// A report of fio 3.41: 100 reads of 4 KiB in a second.
const REPORT: &str = r#"{ "fio version": "fio-3.41", "timestamp": 1795177401, "timestamp_ms": 1795177401000, "jobs": [ {
    "jobname": "j", "groupid": 0, "job options": { "rw": "read", "bs": "4k", "filename": "/data/f" },
    "read": { "io_bytes": 409600, "bw_bytes": 409600, "iops": 100.0, "runtime": 1000, "total_ios": 100,
    "clat_ns": { "min": 100, "max": 900, "mean": 500.0, "N": 100, "percentile": { "50.000000": 500, "99.000000": 900 } } } } ] }"#;

#[test]
fn results_of_fio_are_imported_and_compared() {
    let scratch = Scratch::new("history-import");
    scratch.write("fio_bw.log", format!("fio: a note above the report\n{REPORT}\n"));
    run(&scratch, &format!("{JOB} --record=own.record --output-format=terse")).succeeded();
    run(&scratch, &format!("{JOB} --output-format=json --output=own.json")).succeeded();
    let imported = run(&scratch, "history import fio_bw.log own.record own.json --name imported").succeeded().quiet();
    assert_eq!(imported.stdout, "fio_bw.log: kept as 1\nown.record: kept as 2\nown.json: kept as 3\n");
    run(&scratch, &format!("run --keep {JOB}")).succeeded();
    let shown = run(&scratch, "history show 1").succeeded().stdout;
    for part in ["Run 1, imported\n", "fio-3.41", "/data/f", "fio_bw.log on ", "2026-11-20", "0.41", "not examined"] {
        assert!(shown.to_lowercase().contains(&part.to_lowercase()), "{part}: {shown}");
    }
    let compared = run(&scratch, "history compare 1 4").succeeded().stdout;
    assert!(compared.contains("\nread  iops ") && compared.contains("history:4 (new)"), "{compared}");
    // The text is kept as it was.
    for (number, file) in [(1, "fio_bw.log"), (2, "own.record"), (3, "own.json")] {
        run(&scratch, &format!("history export {number} --original -o back")).succeeded();
        assert!(std::fs::read(scratch.join("back")).unwrap() == std::fs::read(scratch.join(file)).unwrap(), "{file}");
    }
    let csv = run(&scratch, "history export 1 --csv").succeeded().stdout;
    let began_ms = 1_795_177_400_000_u64;
    let row = format!("1,imported,{began_ms},1000000000,,fio-3.41,");
    let figures = ",j,read,100,409600,409600.000,100.000,500.000,500,900";
    assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with(&row) && line.ends_with(figures)), "{csv}");
    let json = run(&scratch, "history export --json").succeeded().stdout;
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let of_runs =
        |key: &str| document["runs"].as_array().into_iter().flatten().map(|run| run[key].clone()).collect::<Vec<_>>();
    assert_eq!(of_runs("run"), [4, 3, 2, 1]);
    assert_eq!(of_runs("form"), ["record", "report", "record", "report"]);
    // What is no result of a run.
    scratch.write("a_bw.1.log", "500, 1000, 0, 0, 0\n");
    for (file, reason) in [
        ("absent", "it cannot be read: No such file or directory"),
        (".", "it is no regular file: results are read from files alone"),
        ("a_bw.1.log", ""),
    ] {
        let refused = run(&scratch, &format!("history import {file}"));
        assert_eq!((refused.code, &*refused.stdout), (Some(2), ""), "{file}");
        assert!(refused.stderr.starts_with(&format!("ferrio history: {file}: {reason}")), "{}", refused.stderr);
    }
    let over = run(&scratch, "history export --csv -o state/ferrio/history.sqlite");
    assert_eq!(over.code, Some(2), "no output replaces the history: {}", over.all());
}

#[test]
fn names_that_would_mean_something_else_are_refused() {
    let scratch = Scratch::new("history-names");
    for name in ["12", "last", "last-1", "baseline", "../x", "-x"] {
        let refused = run(&scratch, &format!("run --keep={name} {JOB}"));
        assert_eq!((refused.code, &*refused.stdout), (Some(2), ""), "{name}");
        let start = format!("ferrio run: the run cannot be kept: {name:?} is no name for it: ");
        assert!(refused.stderr.starts_with(&start), "{}", refused.stderr);
    }
    let hostile = prepared(&scratch, &format!("run {JOB}"))
        .in_shell("exec \"$0\" \"$@\" \"--keep=$(printf 'a\\033[2Jb')\"")
        .finish();
    assert_eq!(hostile.code, Some(2));
    assert!(hostile.stderr.contains("a\\\\x1b[2Jb") && !hostile.stderr.contains('\u{1b}'), "{}", hostile.stderr);
    // A name is a text, whatever it says in another language.
    let name = "'; DROP TABLE runs; --";
    let run_named =
        prepared(&scratch, &format!("run {JOB}")).in_shell(&format!("exec \"$0\" \"$@\" \"--keep={name}\"")).finish();
    assert_eq!(run_named.succeeded().stderr, format!("ferrio run: kept as 1 ({name})\n"));
    assert!(run(&scratch, "history list").succeeded().stdout.contains(&name[..17]));
}

/// The paths of all keys of a document, each once.
fn keys(document: &Value, path: &str, found: &mut BTreeSet<String>) {
    match document {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            found.insert(format!("{path}/{key}"));
            keys(value, &format!("{path}/{key}"), found);
        }),
        Value::Array(values) => values.iter().for_each(|value| keys(value, path, found)),
        _ => {}
    }
}

#[test]
fn the_setting_changes_no_report_of_fio() {
    let scratch = Scratch::new("history-reports");
    let shown = |format: &str, setting: &str| {
        let run = prepared(&scratch, &format!("{JOB} --output-format={format}")).env("FERRIO_KEEP", setting);
        run.finish().succeeded().quiet().stdout
    };
    let keys_of = |text: &str| {
        let mut found = BTreeSet::new();
        keys(&serde_json::from_str(text).expect("JSON"), "", &mut found);
        // What the machine did meanwhile is another thing in each run: the rules find more or less, and so do the probes.
        let of_machine = ["/ferrio/findings/", "/ferrio/probes/", "/ferrio/unexamined/"];
        found.retain(|key| !of_machine.iter().any(|start| key.starts_with(start)));
        found
    };
    assert_eq!(keys_of(&shown("json", "1")), keys_of(&shown("json", "")));
    let n_fields = |text: &str| (text.lines().count(), text.matches(';').count());
    assert_eq!(n_fields(&shown("terse", "1")), n_fields(&shown("terse", "")));
    let parts = |text: &str| -> Vec<String> {
        let is_part = |line: &&str| line.starts_with("  cpu") || !line.starts_with(' ');
        let word = |line: &str| line.split([':', '=', ' ']).next().unwrap_or_default().to_owned();
        text.lines().filter(is_part).map(word).collect()
    };
    assert_eq!(parts(&shown("normal", "1")), parts(&shown("normal", "")));
    assert_eq!(numbers(&run(&scratch, "history list").stdout), [3, 2, 1]);
    // Each has its figures and findings: two of 256 reads lie beyond the 99th percentile.
    for number in 1..=3 {
        let shown = run(&scratch, &format!("history show {number}")).succeeded().stdout;
        assert!(shown.contains("\nj    read  ") && shown.contains("[few-samples]"), "{shown}");
    }
}

/// What is no history is an error, and never replaced.
#[test]
fn a_damaged_history_is_told_and_left_alone() {
    let scratch = Scratch::new("history-damaged");
    run(&scratch, &format!("run --keep {JOB}")).succeeded();
    let whole = std::fs::read(scratch.join("state/ferrio/history.sqlite")).expect("it was written");
    for (content, reason) in [
        (&whole[..whole.len() / 2], "is damaged, and is left as it is"),
        (b"other things", "is no history of ferrio, and is left as it is: it is no database"),
    ] {
        scratch.write("state/ferrio/history.sqlite", content);
        for arguments in ["history list", "history show 1", &format!("run --keep {JOB}"), "compare history:1 history:1"]
        {
            let refused = run(&scratch, arguments);
            assert!(refused.code != Some(0) && refused.stderr.contains(reason), "{}", refused.all());
        }
        // Without --keep, runs are as they are without a history.
        assert_eq!(run(&scratch, &format!("run {JOB} --filename=f --ioengine=psync")).succeeded().stderr, "");
        assert!(std::fs::read(scratch.join("state/ferrio/history.sqlite")).unwrap() == content);
    }
}

/// A start that does not need the history does not touch it.
#[test]
fn only_what_uses_the_history_opens_it() {
    let test = "only_what_uses_the_history_opens_it";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let scratch = Scratch::new("history-untouched");
    run(&scratch, &format!("run --keep {JOB}")).succeeded();
    let opens = |arguments: &str| {
        let run = prepared(&scratch, arguments).under("strace -f -e trace=file -o trace").finish();
        assert_eq!(run.code, Some(0), "{}", run.all());
        scratch.read("trace").contains("history.sqlite")
    };
    assert!(opens("history list"));
    for arguments in
        [&format!("{JOB} --output-format=json"), "--version", "--help", "help", "genzipf -g 1", "--cmdhelp=rw"]
    {
        assert!(!opens(arguments), "{arguments}: {}", scratch.read("trace"));
    }
}

/// Under `--readonly` a run leaves no trace in the user's state either.
#[test]
fn a_readonly_run_is_not_remembered() {
    let scratch = Scratch::new("history-readonly");
    scratch.write("data", [7; 4096]);
    let job = "--name=a --filename=data --size=4k --ioengine=psync";
    run(&scratch, &format!("run --readonly {job}")).succeeded();
    assert!(!scratch.join("state").exists());
    run(&scratch, &format!("run {job}")).succeeded();
    assert!(scratch.join("state/ferrio").exists());
}
