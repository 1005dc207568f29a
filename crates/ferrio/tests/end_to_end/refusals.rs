//! An error in a job is reported once, clearly and with its place, and ends the run with an exit code; no half-written
//! file is left behind.
//!
//! Start reading at [`COMMAND_LINES`] and [`JOB_FILES`].

use crate::support::{Finished, Program, Run, Scratch, has_peer, peer_too};

/// A good job, to be spoilt.
const NULL: &str = "--name=a --ioengine=null --size=64k";

/// Whether the peer ends with the same code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Peer {
    Same,
    /// fio differs, or is not run, for this reason.
    Differs(&'static str),
}
use Peer::{Differs, Same};

const DIRECTIONS: Peer = Differs("leaves out what is for a fourth direction");

/// Arguments; exit code; parts of the standard error, of which one line must have them all; the peer.
const COMMAND_LINES: &[(&str, i32, &[&str], Peer)] = &[
    ("", 1, &["No job(s) defined"], Same),
    ("--size=1m", 1, &["No job(s) defined"], Same),
    ("--bogus", 1, &["unrecognized option '--bogus'"], Same),
    ("NULL --unknown=1", 1, &["unrecognized option '--unknown=1'"], Same),
    ("NULL --iodpeth=4", 1, &["Did you mean iodepth?"], Same),
    ("NULL --iodep=4", 1, &["'--iodep=4' is ambiguous", "'--iodepth_low'"], Same),
    ("NULL --numjob=2", 0, &[], Same),
    ("--name=", 1, &["option name requires an argument"], Same),
    ("NULL --bs=", 1, &["option bs requires an argument"], Same),
    ("NULL --bs=0", 1, &["bs: min value out of range: 0 (1 min)"], Same),
    ("NULL --bs=-1", 1, &["bs: min value out of range: -1"], Same),
    ("NULL --bs=8k-4k", 1, &["`8k-4k` is a range, which is not possible here"], Differs("takes 8k for reads")),
    ("NULL --bs=8kfoo", 1, &["`8kfoo`: `kfoo` behind the number is not understood"], Differs("takes 8k")),
    ("NULL --bs=1m", 1, &["size too small", "65536 < 1048576"], Same),
    ("NULL --bsrange=8k", 1, &["failed parsing bsrange=8k"], Same),
    ("NULL --size=0", 1, &["a: you need to specify size="], Same),
    ("NULL --size=-5", 1, &["failed parsing size=-5"], Same),
    ("NULL --offset=200%", 1, &["offset values greater than 100%"], Differs("takes it for a number of bytes")),
    ("--name=a --ioengine=null", 1, &["a: you need to specify size="], Same),
    ("NULL --iodepth=0", 1, &["iodepth: min value out of range: 0 (1 min)"], Same),
    ("NULL --iodepth=99999999999", 1, &["iodepth", "99999999999"], Differs("never comes back")),
    ("NULL --loops=-1", 1, &["loops", "-1"], Differs("loops without end")),
    ("NULL --rw=sideways", 1, &["failed parsing rw=sideways"], Same),
    ("NULL --rwmixread=101", 1, &["rwmixread: max value out of range: 101 (100 max)"], Same),
    ("NULL --rwmixread=abc", 1, &["failed parsing rwmixread=abc"], Same),
    ("NULL --runtime=abc", 1, &["failed parsing runtime=abc"], Same),
    ("NULL --direct=2", 1, &["max value out of range: 2 (1 max)"], Same),
    ("NULL --direct=yes", 1, &["failed parsing direct=yes"], Same),
    ("NULL --thread=x", 1, &["failed parsing thread=x"], Same),
    ("NULL --numjobs=0", 1, &["numjobs", "0"], Same),
    ("NULL --percentile_list=a", 1, &["not a floating point value: a"], Same),
    ("NULL --percentile_list=101", 1, &["value out of range: 101.000000 (range max: 100.000000)"], Same),
    ("NULL --percentile_list=50:101", 0, &["value out of range: 101.000000"], Same),
    ("NULL --ioengine=foo", 1, &["engine foo not loadable"], Same),
    ("NULL --directory=missing", 1, &["missing is not a directory"], Same),
    ("--name=a --size=1m --directory=file", 1, &["file is not a directory"], Same),
    ("--name=a --size=1m --filename=directory", 1, &["directory"], Same),
    ("--name=a --size=1m --filename=/dev/null/x", 1, &["Not a directory"], Same),
    ("NULL --time_based", 0, &["time_based requires a runtime/timeout setting"], Same),
    ("NULL --output=missing/x", 1, &["output file", "No such file or directory"], Same),
    ("NULL --output-format=xml", 1, &["invalid output format xml"], Same),
    ("NULL --terse-version=9", 1, &["bad terse version format"], Same),
    ("NULL --debug=nonsense", 0, &["debug mask nonsense not found"], Same),
    ("NULL --wait_for=b", 1, &["a: waitee job b unknown."], Same),
    ("NULL --wait_for=a", 1, &["a: a job cannot wait for itself (wait_for=a)."], Same),
    ("NULL --readonly --rw=write", 1, &["job <a> has write or trim bit set, but fio is in read-only mode"], Same),
    ("NULL --rw=write --readonly", 1, &["not allowed with the --readonly parameter"], Same),
    ("--name=a --size=1m --readonly --rw=read", 1, &["refusing extend of file due to read-only"], Same),
    ("NULL --cpus_allowed=9999", 1, &["CPU 9999 too large"], Same),
    ("NULL --cpus_allowed=abc", 1, &["failed parsing cpus_allowed=abc"], Differs("reads it as CPU 0")),
    ("NULL --nice=100", 1, &["nice: max value out of range: 100 (19 max)"], Same),
    ("NULL --prioclass=9", 1, &["prioclass: max value out of range: 9 (3 max)"], Same),
    ("NULL --percentage_random=101", 1, &["percentage_random: max value out of range: 101"], Same),
    ("NULL --fallocate=bogus", 1, &["failed parsing fallocate=bogus"], Same),
    ("NULL --ignore_error=EFOO", 1, &["Unknown error EFOO"], Same),
    ("NULL --continue_on_error=bogus", 1, &["failed parsing continue_on_error=bogus"], Same),
    ("NULL missing.fio", 1, &["unable to open 'missing.fio' job file"], Same),
    ("NULL --ioengine=libaio --iodepth=1000000000", 1, &["Cannot allocate memory"], Differs("fills the memory first")),
    ("--name=a --filename=/dev/zero --rw=read", 1, &["a: you need to specify size="], Same),
    (
        "--name=a --filename=/dev/full --size=64k --rw=write",
        1,
        &["io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096"],
        Same,
    ),
    ("--name=a --filename=/dev/full --size=64k --rw=write --ignore_error=,ENOSPC", 0, &[], Same),
    ("--name=a --size=64k --rw=trim", 1, &["Inappropriate ioctl for device: trim offset=0"], Same),
    ("--name=a --size=64k --allow_file_create=0", 1, &["file creation disallowed by allow_file_create=0"], Same),
    ("--name=a --size=64k --direct=1 --bs=1000", 1, &["Invalid argument", "offset=0, buflen=1000"], Same),
    (
        "--name=a --size=64k --direct=1 --bs=1000 --rw=write",
        1,
        &["Invalid argument", "write offset=0, buflen=1000"],
        Same,
    ),
    ("NULL --readwrite=x", 1, &["failed parsing readwrite=x"], Same),
    ("NULL --bs=4k,4k,4k,4k", 1, &["command line: bs takes at most three values: read,write,trim"], DIRECTIONS),
    ("NULL --bs=x", 1, &["command line: bs takes", "`x` is not a number"], Same),
    ("NULL --loops=1,2", 1, &["command line: loops takes one value, not a list"], Differs("takes the first")),
    ("NULL --hipri", 1, &["command line: unknown option hipri (the engine null has none; io_uring"], Same),
    ("NULL --ioengine=nul", 1, &["command line: no such engine; the nearest known name is null"], Same),
    (
        "NULL --output-format=yaml",
        1,
        &["command line: output-format takes these, joined by commas: normal, ", "terse, json, json+"],
        Same,
    ),
    ("NULL --dedupe_percentage=50 --dedupe_global=1", 1, &["a: dedupe_global=1", "dedupe_mode"], Differs("ignores it")),
    ("NULL --iomem=bad", 1, &["failed parsing iomem=bad"], Same),
];

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), &arguments.replace("NULL", NULL)).recorded("refusals", &[]).finish()
}

/// A directory with a file and a directory in it.
fn furnished(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("file", "");
    std::fs::create_dir(scratch.join("directory")).expect("a directory");
    scratch
}

fn has_line(text: &str, parts: &[&str]) -> bool {
    text.lines().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn command_lines() {
    for (arguments, code, parts, _) in COMMAND_LINES {
        let scratch = furnished("command-lines");
        let finished = run(Program::Ferrio, &scratch, arguments);
        assert_eq!(finished.code, Some(*code), "{}", finished.all());
        let is_said = if parts.is_empty() { finished.stderr.is_empty() } else { has_line(&finished.stderr, parts) };
        assert!(is_said, "expected {parts:?}\n{}", finished.all());
        let names = scratch.names();
        let is_left = names.iter().any(|name| !matches!(name.as_str(), "file" | "directory"));
        // A job that failed on I/O may leave its file; a refused job has created none.
        assert!(!is_left || finished.stdout.contains("Starting 1 process"), "{names:?} left\n{}", finished.all());
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn command_lines_end_as_under_the_peer() {
    if !has_peer("command_lines_end_as_under_the_peer") {
        return;
    }
    let is_asked = |peer: Peer| peer == Same;
    for (arguments, code, ..) in COMMAND_LINES.iter().filter(|(.., peer)| is_asked(*peer)) {
        let finished = run(Program::Peer, &furnished("command-lines"), arguments);
        assert_eq!(finished.code, Some(*code), "{}", finished.all());
    }
}

/// Content of a job file; exit code; parts of one line of the standard error; fio's behaviour.
const JOB_FILES: &[(&str, i32, &[&str], Peer)] = &[
    ("", 1, &["No job(s) defined"], Same),
    ("[global]\nsize=1m\n", 1, &["No job(s) defined"], Same),
    ("\x7fELF\x01\0\0garbage", 1, &["jobs:1:", "not a job file"], Same),
    ("rw=read\n[a]\nsize=1m\n", 1, &["jobs:1:1: a section"], Same),
    ("\u{feff}[a]\nioengine=null\nsize=64k\n", 0, &[], Differs("takes the mark for a part of the line")),
    ("[]\nioengine=null\nsize=64k\n", 1, &["jobs:1:1: section without a name"], Differs("runs it without a name")),
    ("[a]\r\nioengine=null\r\nsize=64k\r\n", 0, &[], Same),
    ("[a]\nrw = read\nioengine=null\nsize=64k\n", 1, &["jobs:2:1: rw", "did you mean read?"], Same),
    ("[a]\nioengine=null\nsize=64k\nbadopt=3\n", 1, &["jobs:4:1: unknown option badopt"], Same),
    ("[a]\nioengine=null\nsize=64k\niodpeth=3\n", 1, &["jobs:4:1: unknown option iodpeth", "iodepth"], Same),
    ("[a]\nioengine=null\nsize=64k\nreadonly=1\n", 1, &["jobs:4:1: unknown option readonly"], Same),
    ("[a]\nioengine=null\nsize=64k\nbs=\n", 1, &["jobs:4:1: bs takes"], Same),
    ("[a]\nioengine=null\nsize=64k\nbs=4k,4k,4k,4k\n", 1, &["jobs:4:1: bs takes at most three values"], DIRECTIONS),
    ("[a]\nioengine=null\nsize=64k\nbs=4k\nbs=8k\n", 0, &[], Same),
    ("[a]\nsize=64k\nioengine=nul\n", 1, &["jobs:3:1: no such engine; the nearest known name is null"], Same),
    ("[a]\nioengine=null\nsize=64k\nnumjobs=0\n", 1, &["jobs:4:1: numjobs takes"], Same),
    ("[a]\ninclude missing\nioengine=null\nsize=64k\n", 1, &["jobs:2:1: No such file or directory"], Same),
    ("[a]\ninclude jobs\n", 1, &["new section"], Differs("reads itself again and again")),
];

#[test]
fn job_files() {
    let with_peer = peer_too("job_files");
    for (content, code, parts, peer) in JOB_FILES {
        let scratch = Scratch::new("job-files");
        scratch.write("jobs", content);
        let finished = run(Program::Ferrio, &scratch, "jobs");
        assert_eq!(finished.code, Some(*code), "{content}\n{}", finished.all());
        let is_said = if parts.is_empty() { finished.stderr.is_empty() } else { has_line(&finished.stderr, parts) };
        assert!(is_said, "expected {parts:?}\n{content}\n{}", finished.all());
        assert_eq!(scratch.names(), ["jobs"], "{content}");
        if with_peer && *peer == Same {
            let finished = run(Program::Peer, &scratch, "jobs");
            assert_eq!(finished.code, Some(*code), "{content}\n{}", finished.all());
        }
    }
}

#[test]
fn unreadable_huge_and_endless_job_files() {
    let scratch = Scratch::new("odd-files");
    std::fs::create_dir(scratch.join("directory")).expect("a directory");
    scratch.write("long-line", format!("[a]\ndescription={}\n", "x".repeat(10_000)));
    scratch.write("huge", "[a]\n".to_owned() + &"size=1m\n".repeat(1 << 20));
    scratch.write("itself", "[a]\nioengine=null\ninclude itself\n");
    scratch.write("loop", "[a]\nioengine=null\ninclude inner\n");
    scratch.write("inner", "size=1m\ninclude inner\n");
    let cases: [(&str, &[u8], &str); 8] = [
        ("directory", b"", "directory: is a directory"),
        ("long-line", b"", "long-line:2:8192: line longer than 8191 bytes"),
        ("huge", b"", "job file longer than 4194304 bytes"),
        ("/dev/zero", b"", "/dev/zero:1:1: NUL byte"),
        ("/dev/urandom", b"", "/dev/urandom:"),
        ("loop", b"", "inner:2:1: includes nested deeper"),
        ("-", b"", "No job(s) defined"),
        ("-", b"[a]\nioengine=null\nbs=x\n", "stdin:3:1: bs"),
    ];
    for (file, stdin, message) in cases {
        let finished = Run::new(Program::Ferrio, scratch.path(), file).stdin(stdin).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains(message), "expected '{message}'\n{}", finished.all());
    }
    let endless = Run::new(Program::Ferrio, scratch.path(), "-").stdin("# c\n".repeat(2 << 20).as_bytes()).finish();
    assert!(
        endless.code == Some(1) && endless.stderr.contains("stdin:1048577:1: job file longer"),
        "{}",
        endless.all()
    );
}

#[test]
fn names_of_sections_may_be_long() {
    let with_peer = peer_too("names_of_sections_may_be_long");
    for length in [255, 256, 300, 8_000] {
        let scratch = Scratch::new("long-name");
        let name = "a".repeat(length);
        scratch.write("jobs", format!("[{name}]\nioengine=null\nsize=4k\n"));
        let report = format!("\n{name}: (groupid=0, jobs=1): err= 0");
        let finished = run(Program::Ferrio, &scratch, "jobs").succeeded().quiet();
        assert!(finished.stdout.contains(&report), "{length}: {}", finished.all());
        if with_peer && length <= 300 {
            // fio truncates the name: to 254 bytes before the run, to 127 in its reports.
            let finished = run(Program::Peer, &scratch, "jobs").succeeded();
            assert!(finished.stdout.starts_with(&format!("{}: (g=0): ", &name[..254])), "{length}: {}", finished.all());
            assert!(finished.stdout.contains(&format!("\n{}: (groupid=0, jobs=1): err= 0", &name[..127])));
        }
    }
}

/// Lines that need something of a machine that this one seems not to have.
const ELSEWHERE: [&str; 7] = [
    "directory=/no/such/directory",
    "opendir=/no/such/directory",
    "numa_cpu_nodes=9",
    "numa_mem_policy=bind:9",
    "cpus_allowed=9999",
    "cpumask=0x80000000",
    "verify_async_cpus=9999",
];

#[test]
fn jobs_of_other_machines_are_parsed() {
    let with_peer = peer_too("jobs_of_other_machines_are_parsed");
    let scratch = Scratch::new("elsewhere");
    for line in ELSEWHERE {
        scratch.write("jobs", format!("[global]\n{line}\nthreads=1\n[a]\nsize=64k\nrw=read\n"));
        run(Program::Ferrio, &scratch, "--parse-only jobs").succeeded();
        let finished = run(Program::Ferrio, &scratch, "jobs");
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains("jobs:3:1: threads is an option of the profile"), "{}", finished.all());
        if with_peer {
            run(Program::Peer, &scratch, "--parse-only jobs").succeeded();
            assert_eq!(run(Program::Peer, &scratch, "jobs").code, Some(1), "{line}");
        }
    }
}

#[test]
fn a_variable_of_the_environment_and_sections() {
    let scratch = Scratch::new("environment");
    scratch.write("jobs", "[a]\nioengine=null\nsize=${SIZE}k\n[b]\nioengine=null\nsize=8k\n");
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).env("SIZE", "16").finish();
    let report = run("jobs --section=a").succeeded().quiet().stdout;
    assert!(report.contains("issued rwts: total=4,0,0,0") && !report.contains("\nb: "), "{report}");
    let none = run("jobs --section=zz");
    assert!(none.code == Some(1) && none.stderr.contains("No job(s) defined"), "{}", none.all());
}

#[test]
fn an_output_that_is_full() {
    let scratch = Scratch::new("full-output");
    for (arguments, script) in [("", "exec \"$0\" \"$@\" >/dev/full"), ("--output=/dev/full", "exec \"$0\" \"$@\"")] {
        let run = Run::new(Program::Ferrio, scratch.path(), &format!("{NULL} {arguments}"));
        let finished = run.in_shell(script).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        let expected = "fio: cannot write the output: No space left on device (os error 28)\n";
        assert_eq!(finished.stderr, expected, "once");
    }
}
