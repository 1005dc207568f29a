//! `ferrio run`, `ferrio check` and `ferrio.findings`: figures that are wrong, made for real, each beside a control that differs in one
//! thing.
//!
//! Start reading at [`findings_of`].

use crate::support::{Finished, Program, Run, Scratch, skip};
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The document of `ferrio run --json`.
pub(crate) fn document(directory: &Path, arguments: &str) -> Value {
    let finished = Run::new(Program::Ferrio, directory, &format!("run --json {arguments}")).finish().succeeded();
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {}", finished.all()))
}

/// Names of the rules with findings about a run.
pub(crate) fn findings_of(directory: &Path, arguments: &str) -> Vec<String> {
    ids(&document(directory, arguments)["findings"])
}

pub(crate) fn ids(findings: &Value) -> Vec<String> {
    let all = findings.as_array().expect("a list");
    all.iter().map(|finding| finding["id"].as_str().expect("a name").to_owned()).collect()
}

pub(crate) fn has(findings: &[String], id: &str) -> bool {
    findings.iter().any(|found| found == id)
}

/// Makes a file that is allocated and unwritten. False: the file system of this directory cannot, or does not tell.
pub(crate) fn allocates(directory: &Path, name: &str) -> bool {
    let made = std::process::Command::new("fallocate").args(["-l", "16m"]).arg(directory.join(name)).status();
    let arguments = format!("check --json --name=a --filename={name} --rw=read --direct=1");
    let finished = Run::new(Program::Ferrio, directory, &arguments).finish();
    made.is_ok_and(|status| status.success()) && finished.stdout.contains("reads-of-unwritten-extents")
}

/// The disk under the files is known, so that its work can be compared.
pub(crate) fn knows_disk(document: &Value) -> bool {
    document["provenance"]["devices"].as_array().is_some_and(|devices| !devices.is_empty())
}

#[test]
fn reads_that_never_reach_the_device_are_told() {
    let test = "reads_that_never_reach_the_device_are_told";
    let scratch = Scratch::new("findings-reads");
    let directory = scratch.path();
    Run::new(Program::Ferrio, directory, "--name=w --filename=f --rw=write --bs=1m --size=32m --end_fsync=1")
        .finish()
        .succeeded();
    let job = "--name=r --filename=f --rw=randread --size=32m --ioengine=psync";
    // With `invalidate=0` the pages of the file stay in the cache.
    Run::new(Program::Ferrio, directory, &format!("{job} --invalidate=0")).finish().succeeded();
    let cached = document(directory, &format!("{job} --invalidate=0"));
    if !knows_disk(&cached) {
        skip(test, "no disk is known under the directory of the tests");
        return;
    }
    let finding = &cached["findings"][0];
    assert_eq!(
        (finding["id"].as_str(), finding["severity"].as_str()),
        (Some("device-did-less"), Some("wrong")),
        "{finding}"
    );
    assert_eq!(finding["evidence"][0]["value"], 33_554_432.0, "{finding}");
    // The control: the same reads, past the page cache.
    let direct = findings_of(directory, &format!("{job} --direct=1"));
    assert!(!has(&direct, "device-did-less") && !has(&direct, "reads-of-unwritten-extents"), "{direct:?}");
}

/// Threads of one process: one reads from the page cache, the other past it.
#[test]
fn jobs_that_are_threads_are_judged_each_by_its_own_reads() {
    let test = "jobs_that_are_threads_are_judged_each_by_its_own_reads";
    let scratch = Scratch::new("findings-threads");
    let directory = scratch.path();
    for name in ["c", "d"] {
        let job = format!("--name=w --filename={name} --rw=write --bs=1m --size=16m --end_fsync=1");
        Run::new(Program::Ferrio, directory, &job).finish().succeeded();
    }
    let warm = "--name=r --filename=c --rw=read --bs=1m --size=16m --ioengine=psync --invalidate=0";
    Run::new(Program::Ferrio, directory, warm).finish().succeeded();
    let jobs = "--thread=1 --ioengine=libaio --iodepth=4 --rw=randread --size=16m --name=cached --filename=c --invalidate=0 \
                --name=direct --filename=d --invalidate=1 --direct=1";
    let document = document(directory, jobs);
    if !knows_disk(&document) {
        skip(test, "no disk is known under the directory of the tests");
        return;
    }
    let findings = document["findings"].as_array().expect("a list");
    let told = findings.iter().find(|finding| finding["id"] == "device-did-less").expect("it is told");
    assert_eq!(told["jobs"], serde_json::json!(["cached"]), "{told}");
}

#[test]
fn files_without_data_and_first_writes_are_told() {
    let test = "files_without_data_and_first_writes_are_told";
    let scratch = Scratch::new("findings-extents");
    let directory = scratch.path();
    if !allocates(directory, "g") {
        skip(test, "this file system does not tell unwritten extents");
        return;
    }
    let write = "--name=w --filename=f --rw=write --bs=64k --size=16m --direct=1 --ioengine=psync";
    let first = findings_of(directory, write);
    assert!(has(&first, "new-files-written") && !has(&first, "first-writes"), "{first:?}");
    let second = findings_of(directory, write);
    assert!(!has(&second, "new-files-written") && !has(&second, "first-writes"), "{second:?}");
    // At random, and of blocks that a file has already: a database that overwrites has other figures.
    let at_random = findings_of(directory, &write.replace("--filename=f --rw=write", "--filename=h --rw=randwrite"));
    assert!(has(&at_random, "first-writes"), "{at_random:?}");
    assert!(allocates(directory, "i"));
    let preallocated = findings_of(directory, &write.replace("--filename=f", "--filename=i"));
    assert!(has(&preallocated, "first-writes"), "{preallocated:?}");
    let read = "--rw=randread --bs=4k --direct=1 --ioengine=psync --size=16m";
    let empty = document(directory, &format!("--name=r --filename=g {read}"));
    if !knows_disk(&empty) {
        skip(test, "no disk is known under the directory of the tests");
        return;
    }
    // Other tests may use the disk at the same time, which is a finding as well.
    let empty = ids(&empty["findings"]);
    assert!(has(&empty, "reads-of-unwritten-extents") && !has(&empty, "device-did-less"), "{empty:?}");
    let written = findings_of(directory, &format!("--name=r --filename=f {read}"));
    assert!(!has(&written, "reads-of-unwritten-extents") && !has(&written, "device-did-less"), "{written:?}");
}

#[test]
fn writes_that_stay_in_memory_are_told() {
    let test = "writes_that_stay_in_memory_are_told";
    let scratch = Scratch::new("findings-dirty");
    let job = "--name=w --rw=write --bs=1m --size=32m --ioengine=psync";
    let document = document(scratch.path(), job);
    if !knows_disk(&document) {
        skip(test, "no disk is known under the directory of the tests");
        return;
    }
    let left = ids(&document["findings"]);
    assert!(has(&left, "writes-still-dirty"), "{left:?}");
    let synced = findings_of(scratch.path(), &format!("{job} --end_fsync=1"));
    assert!(!has(&synced, "writes-still-dirty") && !has(&synced, "device-did-less"), "{synced:?}");
}

#[test]
fn memory_is_no_disk() {
    let directory = Path::new("/dev/shm");
    if !directory.is_dir() {
        skip("memory_is_no_disk", "no /dev/shm");
        return;
    }
    let scratch = Scratch::new("findings-memory");
    let name = format!("ferrio-findings-{}", std::process::id());
    let job = format!("--name=a --filename=/dev/shm/{name} --rw=write --size=1m --ioengine=psync --unlink=1");
    let found = findings_of(scratch.path(), &job);
    assert_eq!(found.first().map(String::as_str), Some("target-in-memory"), "{found:?}");
    let found = findings_of(scratch.path(), "--name=a --rw=write --size=1m --ioengine=psync --end_fsync=1");
    assert!(!has(&found, "target-in-memory"), "{found:?}");
}

/// A path need not be text. Its options are examined as any others.
#[test]
fn a_directory_that_is_no_text_is_examined() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        skip("a_directory_that_is_no_text_is_examined", "no /dev/shm");
        return;
    }
    let scratch = Scratch::new("findings-bytes");
    let made = memory.join(format!("ferrio-bytes-{}", std::process::id()));
    let directory = made.join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir_all(&directory).expect("a directory");
    let script = format!("d=\"{}/$(printf '\\377')\"; \"$0\" \"$@\" --directory=\"$d\"", made.display());
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).in_shell(&script).finish();
    let job = "--name=a --rw=write --size=1m --ioengine=psync";
    let shown = run(&format!("run {job}"));
    assert!(shown.stdout.contains("[target-in-memory]"), "{}", shown.all());
    assert!(!shown.stdout.contains("Nothing speaks against"), "{}", shown.all());
    let document: Value = serde_json::from_str(&run(&format!("run --json {job}")).stdout).expect("JSON");
    let found = &document["provenance"]["jobs"][0]["options"]["target"]["directories"][0];
    let bytes: Vec<u8> = serde_json::from_value(found.clone()).expect("bytes");
    assert_eq!(bytes, directory.as_os_str().as_bytes());
    // The record and its page say the same.
    run(&format!("--record=kept {job}")).succeeded();
    let page = Run::new(Program::Ferrio, scratch.path(), "report kept -o page.html").finish().succeeded();
    let page =
        std::fs::read_to_string(scratch.join("page.html")).unwrap_or_else(|error| panic!("{error}: {}", page.all()));
    assert!(!page.contains("Nothing speaks against"), "the record lost its options");
    std::fs::remove_dir_all(&made).expect("it is removed");
}

/// What no rule could look at is named in all outputs.
#[test]
fn what_could_not_be_examined_is_said() {
    let scratch = Scratch::new("findings-unexamined");
    let job = "--name=a --ioengine=null --size=64m --bs=4k";
    let record = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --output-format=json")).finish().succeeded();
    let document: Value = serde_json::from_str(&record.stdout).expect("JSON");
    assert!(document["ferrio"]["n_rules"].as_u64() > Some(50), "{}", record.all());
    // As fio, no file is opened and no interval kept that fio does not need.
    let reads = "--name=r --rw=randread --size=1m --ioengine=psync --direct=1 --output-format=json";
    let reads = Run::new(Program::Ferrio, scratch.path(), reads).finish().succeeded();
    let document: Value = serde_json::from_str(&reads.stdout).expect("JSON");
    let unexamined = document["ferrio"]["unexamined"].as_array().cloned().unwrap_or_default();
    let rules: Vec<&str> = unexamined
        .iter()
        .flat_map(|part| part["rules"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    for rule in ["stalls", "rate-fell", "files-hold-zeroes", "same-blocks-again"] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
    // What is missing on a machine in each run, such as heat without sensors, has no line of its own.
    let shown = Run::new(Program::Ferrio, scratch.path(), &format!("run {job}")).finish().succeeded();
    assert!(!shown.stdout.contains("Not examined: heat"), "{}", shown.all());
    let is_whole = shown.stdout.contains(" All ") && !shown.stdout.contains("Not examined: ");
    let is_part = shown.stdout.contains("as far as they were examined") && shown.stdout.contains("Not examined: ");
    assert!(is_whole || is_part, "{}", shown.all());
}

pub(super) fn check(directory: &Path, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, directory, &format!("check {arguments}")).finish()
}

#[test]
fn a_check_runs_nothing_and_says_by_its_exit_code() {
    let scratch = Scratch::new("findings-check");
    let wrong = check(scratch.path(), "--name=a --filename=/dev/no-such-disk --rw=randwrite --size=1g --direct=1");
    assert_eq!(wrong.code, Some(1), "{}", wrong.all());
    assert!(wrong.stdout.starts_with("WRONG: The target is a plain file under /dev (a)\n"), "{}", wrong.all());
    assert!(!Path::new("/dev/no-such-disk").exists(), "nothing is made");
    let misleading = check(scratch.path(), "--name=a --rw=randread --size=1m --ioengine=libaio --iodepth=8");
    assert!(
        misleading.code == Some(0) && misleading.stdout.contains("[asynchronous-without-direct]"),
        "{}",
        misleading.all()
    );
    let fine = check(scratch.path(), "--name=a --rw=randread --size=8m --ioengine=psync --direct=1");
    assert_eq!(
        (fine.code, fine.stdout.as_str()),
        (
            Some(0),
            "Nothing found before the run: no rule speaks against the jobs and their targets.\nferrio run examines the figures after the run.\n"
        )
    );
    let none = check(scratch.path(), "--json --name=a --rw=randread --size=8m --ioengine=psync --direct=1");
    let none: Value = serde_json::from_str(&none.stdout).expect("JSON");
    assert_eq!((&none["findings"], &none["unexamined"]), (&serde_json::json!([]), &serde_json::json!([])));
    assert!(none["n_rules"].as_u64() > Some(50), "{none}");
    assert_eq!(std::fs::read_dir(scratch.path()).expect("a directory").count(), 0, "nothing is made");
}

#[test]
fn what_the_commands_cannot_do_is_said() {
    let scratch = Scratch::new("findings-bad");
    for (arguments, words) in [
        ("run", "Usage: ferrio run"),
        ("check", "Usage: ferrio check"),
        ("run --output-format=json --name=a", "--output-format belongs to the reports of fio"),
        ("check no-such-file.fio", "no-such-file.fio"),
        ("run --name=a --ioengine=null --size=1m --bandwidth-log=b", "--bandwidth-log has no effect here"),
        ("check --name=a --ioengine=null --size=1m --record=kept", "--record has no effect here"),
        ("run --name=a --rw=sideways", "rw=sideways"),
        ("run --name=a --no_such_option=1", "no_such_option"),
        ("run --json --name=a --ioengine=null --size=1m --output=/no/such/directory/file", "cannot open output file"),
    ] {
        let finished = Run::new(Program::Ferrio, scratch.path(), arguments).finish();
        assert_eq!(finished.code, Some(2), "{arguments}: {}", finished.all());
        assert!(finished.all().contains(words), "{arguments}: {}", finished.all());
    }
}

#[test]
fn in_the_place_of_fio_findings_are_a_key_of_json_alone() {
    let scratch = Scratch::new("findings-as-fio");
    let job = "--name=a --ioengine=psync --iodepth=4 --rw=write --size=1m";
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --output-format=normal,json")).finish();
    let text = finished.succeeded().stdout;
    let (report, document) = text.split_once("\n{\n").expect("a document behind the report");
    assert!(!report.contains("WRONG") && !report.contains("depth-of-synchronous-engine"), "{report}");
    let document: Value = serde_json::from_str(&format!("{{\n{document}"))
        .or_else(|_| {
            let begin = text.find("{\n").expect("a document");
            serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>().next().expect("a document")
        })
        .expect("JSON");
    assert!(has(&ids(&document["ferrio"]["findings"]), "depth-of-synchronous-engine"), "{document}");
}

#[test]
fn the_report_of_a_run_is_a_table_and_what_speaks_against_it() {
    let scratch = Scratch::new("findings-table");
    let job =
        "run --name=first --ioengine=null --size=64m --bs=4k --name=second --ioengine=null --size=64m --rw=randwrite";
    let finished = Run::new(Program::Ferrio, scratch.path(), job).finish().succeeded();
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert!(lines[0].starts_with("job ") && lines[0].ends_with("CPU/I/O"), "{}", finished.all());
    assert!(lines[2].starts_with("first   read ") && lines[3].starts_with("second  write "), "{}", finished.all());
    assert!(finished.stdout.contains("\nNothing speaks against these figures"), "{}", finished.all());
    let short = Run::new(
        Program::Ferrio,
        scratch.path(),
        "run --name=a --ioengine=null --number_ios=10 --size=1m --runtime=60",
    );
    assert!(short.finish().succeeded().stdout.contains("[few-samples]"));
}

/// A tenth of a mix is read: too few for a 99th percentile, while the writes have enough.
#[test]
fn the_direction_of_a_finding_is_told_everywhere() {
    let scratch = Scratch::new("findings-direction");
    let job = "--name=a --ioengine=null --size=64m --rw=randrw --rwmixread=10 --number_ios=4000";
    let few = |findings: &Value| {
        let all = findings.as_array().expect("a list");
        let directions: Vec<Value> =
            all.iter().filter(|found| found["id"] == "few-samples").map(|found| found["direction"].clone()).collect();
        directions
    };
    let own = document(scratch.path(), &format!("--html=page.html {job}"));
    assert_eq!(few(&own["findings"]), ["read"]);
    let title = "The 99th percentile rests on few I/Os (a: read)";
    assert!(scratch.read("page.html").contains(title));
    let text = Run::new(Program::Ferrio, scratch.path(), &format!("run {job}")).finish().succeeded().stdout;
    assert!(text.contains(&format!("NOTE: {title}\n")), "{text}");
    let as_fio = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --output-format=json")).finish();
    let as_fio: Value = serde_json::from_str(&as_fio.succeeded().stdout).expect("JSON");
    assert_eq!(few(&as_fio["ferrio"]["findings"]), ["read"]);
    // A job as a whole is no direction.
    let whole = document(scratch.path(), "--name=a --ioengine=psync --iodepth=4 --rw=randrw --size=1m");
    let depth = whole["findings"].as_array().expect("a list").iter();
    let depth: Vec<&Value> = depth.filter(|found| found["id"] == "depth-of-synchronous-engine").collect();
    assert_eq!((depth.len(), &depth[0]["direction"]), (1, &Value::from("none")));
}

#[test]
fn a_run_without_figures_has_nothing_to_be_judged() {
    let scratch = Scratch::new("findings-none");
    let failed = Run::new(Program::Ferrio, scratch.path(), "run --name=a --ioengine=null --size=0").finish();
    assert!(failed.code == Some(1) && failed.stdout.ends_with("No job has done any I/O.\n"), "{}", failed.all());
    let whole =
        Run::new(Program::Ferrio, scratch.path(), "run --name=a --ioengine=null --size=64m").finish().succeeded();
    assert!(whole.stdout.contains("\nNothing speaks against these figures"), "{}", whole.all());
}
