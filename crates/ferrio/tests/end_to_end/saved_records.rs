//! `--record=FILE` keeps a run, and `ferrio report` shows it again: to the byte, in every format.
//!
//! Start reading at [`reports_are_those_of_the_run`].

use crate::support::{Finished, Program, Run, Scratch, is_root, skip, tool, unmount};

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

/// Arguments, and the exit code of the run.
const JOBS: &[(&str, i32)] = &[
    ("--name=a --ioengine=null --size=1m --rw=randrw --iodepth=4", 0),
    ("--name=a --size=256k --rw=write --numjobs=3 --group_reporting --description=d --fsync=8", 0),
    (
        "--ioengine=null --size=1m --rw=randrw --name=a --unified_rw_reporting=mixed --name=b --stonewall --unified_rw_reporting=both",
        0,
    ),
    ("--ioengine=null --size=64k --name=a --stats=0 --name=b --prio=3 --lat_percentiles=1 --kb_base=1000", 0),
    ("--rw=write --size=64k --filename=/dev/full --name=a --name=b --continue_on_error=write", 2),
    ("--name=a --ioengine=null --size=64k --rw=write --iodepth=8 --thread --idle-prof=percpu", 0),
    ("--name=a --rw=read --size=64k --filename=/dev/null/x", 1),
    ("--name=a --ioengine=nothing", 1),
];

#[test]
fn reports_are_those_of_the_run() {
    for (job, code) in JOBS {
        for format in
            ["terse", "terse --terse-version=5", "json", "json+", "jsonl", "json,terse", "normal", "jsonl,json+"]
        {
            let scratch = Scratch::new("saved");
            let finished = run(&scratch, &format!("{job} --record=kept --output-format={format}"));
            assert_eq!(finished.code, Some(*code), "{}", finished.all());
            if job.contains("nothing") {
                // No job ran, so there is no record to keep.
                assert_eq!(scratch.names(), [""; 0], "{}", finished.all());
                continue;
            }
            let again = run(&scratch, &format!("report kept --output-format={format}")).succeeded();
            // Lines before a report for people or of fields are no part of it.
            let is_alone = !format.contains("normal") && !format.starts_with("terse");
            let shown = if is_alone { &finished.stdout[..] } else { tail(&finished.stdout, &again.stdout) };
            assert_eq!(again.stdout, shown, "{job} {format}\n{}", finished.all());
            assert!(!again.stdout.trim().is_empty(), "{job} {format}");
            let names = scratch.names();
            assert!(names.iter().all(|name| !name.contains(".tmp")), "{names:?}");
        }
    }
}

/// The end of a text, as long as another one.
fn tail<'a>(text: &'a str, other: &str) -> &'a str {
    text.get(text.len().saturating_sub(other.len())..).unwrap_or(text)
}

#[test]
fn a_record_is_shown_in_formats_that_the_run_had_not() {
    let scratch = Scratch::new("saved");
    let job = "--name=a --size=64k --rw=write --iodepth=8 --record=kept";
    run(&scratch, &format!("{job} --output-format=normal,json --output=shown")).succeeded();
    let shown = scratch.read("shown");
    let document = &shown[shown.find("\n{\n").expect("a document") + 1..shown.find("\n}\n").expect("its end") + 3];
    // Together with text for people, a document contains no messages.
    assert_eq!(run(&scratch, "report --output-format=json,normal kept").succeeded().stdout.find(document), Some(0));
    let alone = run(&scratch, "report --output-format=json kept").succeeded().stdout;
    assert!(alone.contains("\"messages\"") && alone.contains("synchronous I/O engine"), "{alone}");
    run(&scratch, "report --output-format=json --output=file kept").succeeded().quiet();
    assert_eq!(scratch.read("file"), alone);
    let refused = run(&scratch, "report --output-format=jsonl kept");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.starts_with("ferrio report: kept: it holds no intervals for jsonl"), "{}", refused.stderr);
}

#[test]
fn what_is_no_record_is_refused_with_the_reason() {
    let scratch = Scratch::new("saved");
    run(&scratch, "--name=a --ioengine=null --size=64k --record=kept --output-format=json --output=document")
        .succeeded();
    let kept = std::fs::read(scratch.join("kept")).expect("it was written");
    scratch.write("half", &kept[..kept.len() / 2]);
    scratch.write("other", String::from_utf8_lossy(b"ferrio record 99\n\0\0").as_bytes());
    scratch.write("empty", "");
    scratch.write("damaged", [&kept[..kept.len() - 1], b"\xa5"].concat());
    let form = kept.iter().skip("ferrio record ".len()).take_while(|byte| byte.is_ascii_digit());
    let form = String::from_utf8(form.copied().collect()).expect("digits");
    let other = format!("it is a record of form 99, and this version of ferrio reads forms 6 to {form}");
    let half = format!("it is truncated: {} bytes of {}", kept.len() / 2, kept.len());
    let whole = [
        ("half", half.as_str()),
        ("other", other.as_str()),
        ("empty", "it is no record of ferrio: it does not begin with `ferrio record`"),
        ("damaged", "it is damaged: its checksum is wrong"),
        ("document", "it is a JSON document, not a record: records are what --record writes"),
        ("absent", "it cannot be opened: No such file or directory"),
        (".", "it is no regular file: results are read from files alone"),
    ];
    let refuses = |arguments: &str, name: &str, reason: &str| {
        let refused = run(&scratch, &format!("report {arguments} {name}"));
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{name}");
        assert_eq!(refused.stderr, format!("ferrio report: {name}: {reason}\n"));
    };
    for (name, reason) in whole {
        refuses("--output-format=normal", name, reason);
    }
    // Without a format of fio, the results of other programs are shown too.
    scratch.write("cut", "{ \"fio version\" : \"fio-3.41\", ");
    let cut = "it is JSON without the key \"jobs\": no report of fio or ferrio";
    scratch.write("other.json", "{ \"a\" : 1 }");
    let table = [
        ("half", half.as_str()),
        ("other", other.as_str()),
        ("damaged", "it is damaged: its checksum is wrong"),
        ("empty", "it is empty"),
        ("absent", "it cannot be read: No such file or directory"),
        (".", "it is no regular file: results are read from files alone"),
        ("other.json", cut),
    ];
    for (name, reason) in table {
        refuses("", name, reason);
    }
    let truncated = run(&scratch, "report cut");
    assert!(
        truncated.code == Some(2) && truncated.stderr.contains("cut:1: its JSON cannot be read"),
        "{}",
        truncated.stderr
    );
}

#[test]
fn a_place_that_takes_no_record_is_known_before_the_run() {
    let scratch = Scratch::new("saved");
    scratch.write("before", "what was there");
    let job = "--name=a --size=64k --rw=write --output-format=terse";
    for (path, reason) in [("none/kept", "No such file or directory"), ("/", "Is a directory")] {
        let refused = run(&scratch, &format!("{job} --record={path}"));
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
        assert_eq!(refused.stderr, format!("fio: cannot write a record to {path}: {reason}\n"));
        assert_eq!(scratch.names(), ["before"], "nothing was laid out");
    }
    // The record replaces an existing file.
    run(&scratch, &format!("{job} --record=before")).succeeded();
    run(&scratch, "report before").succeeded();
}

#[test]
fn a_record_without_room_counts_and_leaves_what_was_there() {
    let test = "a_record_without_room_counts_and_leaves_what_was_there";
    if !is_root(test) {
        return;
    }
    let scratch = Scratch::new("saved");
    let full = scratch.join("full");
    std::fs::create_dir(&full).expect("a directory");
    if tool(&format!("mount -t tmpfs -o size=4k tmpfs {}", full.display())).is_none() {
        return skip(test, "tmpfs cannot be mounted");
    }
    // Uses up the only page of the file system.
    std::fs::write(full.join("kept"), "what was there").expect("there is a page");
    let finished = run(&scratch, "--name=a --ioengine=null --size=64k --output-format=terse --record=full/kept");
    let there = std::fs::read_to_string(full.join("kept"));
    let names = std::fs::read_dir(&full).map(Iterator::count);
    let unmounted = unmount(&full);
    assert!(unmounted.is_some() && there.is_ok_and(|text| text == "what was there"));
    assert_eq!(names.ok(), Some(1), "nothing beside it is left");
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert_eq!(finished.stderr, "fio: cannot write the record: No space left on device\n");
    assert!(finished.stdout.starts_with("3;fio-3"), "the report is there: {}", finished.stdout);
}

/// `ferrio run --record` keeps the run, and its own report stays as it is without the option.
#[test]
fn a_native_run_has_a_record_too() {
    let scratch = Scratch::new("saved");
    let job = "--name=a --ioengine=null --size=1m --rw=randrw --iodepth=4";
    let plain = run(&scratch, &format!("run {job} --json")).succeeded().stdout;
    let beside = run(&scratch, &format!("run {job} --json --record=kept")).succeeded().stdout;
    let keys = |text: &str| {
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        document.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(&plain), keys(&beside));
    let (shown, told): (serde_json::Value, serde_json::Value) = (
        serde_json::from_str(&run(&scratch, "report --output-format=json kept").succeeded().stdout).unwrap(),
        serde_json::from_str(&beside).unwrap(),
    );
    assert_eq!(shown["jobs"][0]["read"]["total_ios"], told["jobs"][0]["n_ios"], "{shown:#}\n{told:#}");
    // The lines of a run that wrote lines are in it.
    let lines = run(&scratch, &format!("run {job} --output-format=jsonl --record=lines")).succeeded().stdout;
    let again = run(&scratch, "report --output-format=jsonl lines").succeeded().stdout;
    let of_kind = |text: &str, kind: &str| -> Vec<String> {
        let mark = format!("{{\"record\":\"{kind}\"");
        text.lines().filter(|line| line.starts_with(&mark)).map(str::to_owned).collect()
    };
    for kind in ["interval", "job", "end"] {
        assert_eq!((of_kind(&lines, kind), of_kind(&again, kind).is_empty()), (of_kind(&again, kind), false), "{kind}");
    }
    let refused = run(&scratch, &format!("run {job} --record=/nowhere/kept"));
    assert_eq!(refused.code, Some(2));
    assert_eq!(refused.stderr, "ferrio run: cannot write the record /nowhere/kept: No such file or directory\n");
    assert_eq!(refused.stdout, "", "nothing ran");
}
