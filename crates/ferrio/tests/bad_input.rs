//! Bad input of each kind: one clear message on the right stream, the right exit code, nothing left behind.
//!
//! The expected texts are those of fio 3.41, or ferrio's own where fio reports nothing.
//! Start reading at [`Case`]; cases that need root are skipped by name.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "all of this file is test code")]

use ferrio_testing::skip;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ferrio-bad-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn ferrio(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrio"));
    command.current_dir(directory).stdin(Stdio::null());
    command
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    ferrio(directory).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command that is refused with exit code 1 and leaves no file behind.
struct Case {
    arguments: &'static [&'static str],
    /// Lines of the standard error, in order; other lines may come between them.
    stderr: &'static [&'static str],
}

fn assert_lines(stderr: &str, expected: &[&str], what: &str) {
    let mut lines = stderr.lines();
    for wanted in expected {
        assert!(lines.any(|line| line.contains(wanted)), "{what}: no line {wanted:?} in\n{stderr}");
    }
}

const COMMAND_LINES: &[Case] = &[
    Case {
        arguments: &["--name=x", "--iodpeth=4"],
        stderr: &["unrecognized option '--iodpeth=4'", "Did you mean iodepth?"],
    },
    Case { arguments: &["--name=x", "--rw=sideways"], stderr: &["fio: failed parsing rw=sideways"] },
    Case {
        arguments: &["--name=x", "--directory=nodir", "--size=1m"],
        stderr: &["fio: nodir is not a directory", "fio: failed parsing directory=nodir"],
    },
    Case {
        arguments: &["--name=x", "--rw=read", "--filename=nothing"],
        stderr: &["x: you need to specify size=", "err=22"],
    },
    Case { arguments: &["--name=x", "--iodepth=abc"], stderr: &["fio: failed parsing iodepth=abc"] },
    Case { arguments: &["--name=x", "--rwmixread=101"], stderr: &["rwmixread: max value out of range: 101 (100 max)"] },
    Case {
        arguments: &["--name=x", "--ioengine=foo"],
        stderr: &["fio: engine foo not loadable", "fio: failed to load engine"],
    },
    Case { arguments: &["--name=x", "--size=2k", "--bs=4k"], stderr: &["2048 < 4096"] },
    Case { arguments: &["--name=x", "--size=1m", "--ioengine=xnvme"], stderr: &["option ioengine (command line)"] },
    Case { arguments: &["--name=x", "--size=1m", "--lockfile=maybe"], stderr: &["fio: failed parsing lockfile=maybe"] },
    Case {
        arguments: &["--name=x", "--size=4k", "--filename=-"],
        stderr: &["x: failed to get file size of -: standard input and output are no files of a job"],
    },
    Case {
        arguments: &["--name=x", "--size=4k", "--file_service_type=zipf:1"],
        stderr: &["fio: zipf theta must be different than 1.0"],
    },
    Case { arguments: &["--readonly", "--name=x", "--size=1m", "--rw=write"], stderr: &["read-only mode"] },
    Case { arguments: &["--name=x", "--size=1m", "--wait_for=x"], stderr: &["a job cannot wait for itself"] },
    Case { arguments: &["--name=x", "--size=4k", "--cpus_allowed=99999"], stderr: &["too large"] },
    Case { arguments: &["--output-format=yaml", "--name=x"], stderr: &["fio: invalid output format yaml"] },
    Case { arguments: &["--name=x", "--rw=read", "--filename=.", "--size=4k"], stderr: &["is a directory"] },
    Case { arguments: &[], stderr: &["No job(s) defined"] },
    Case { arguments: &["no-such-file.fio"], stderr: &["fio: unable to open 'no-such-file.fio' job file"] },
    Case { arguments: &["/"], stderr: &["fio: unable to open '/' job file", "is a directory"] },
    Case { arguments: &["/dev/zero"], stderr: &["/dev/zero:1:1: NUL byte"] },
];

#[test]
fn command_lines_that_cannot_be_run() {
    let scratch = Scratch::new("lines");
    for case in COMMAND_LINES {
        let output = run(&scratch.0, case.arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{:?}\n{stderr}", case.arguments);
        assert_lines(&stderr, case.stderr, &format!("{:?}", case.arguments));
        assert_eq!(scratch.files(), Vec::<String>::new(), "{:?}", case.arguments);
    }
}

#[test]
fn job_files_that_cannot_be_run() {
    let long = format!("[a]\ndescription={}\n", "x".repeat(20_000));
    let huge = format!("[a]\n{}", "# a comment line\n".repeat(400_000));
    let cases: &[(&str, &str)] = &[
        ("size=1m\n", "fio: option <size=1m> outside of [] job section"),
        ("[]\nsize=1m\n", "bad.fio:1:1: section without a name"),
        ("[a]\nioengine=null\nsize=1m\nsiez=2m\n", "bad.fio:4:1: unknown option siez; the nearest known name is size"),
        (
            "[a]\nsize=1m\n\nioengine=xnvme\n",
            "fio: option ioengine (bad.fio:4): known, but not yet supported by ferrio",
        ),
        ("[a]\nsize=1m\nrw = read\n", "fio: failed parsing rw = read"),
        ("[a]\nsize=1m\nbs=\n", "bs"),
        ("[a]\nsize=1m\ninclude no-such.fio\n", "no-such.fio"),
        ("[a]\ninclude bad.fio\n", "No new sections in included files"),
        ("\u{0}\u{1}ELF[a]\n", "bad.fio:1:1: NUL byte: not a job file"),
        (&long, "bad.fio:2:8192: line longer than 8191 bytes"),
        (&huge, "bad.fio"),
    ];
    for (content, expected) in cases {
        let scratch = Scratch::new("files");
        std::fs::write(scratch.0.join("bad.fio"), content).unwrap();
        let output = run(&scratch.0, &["bad.fio"]);
        let what: String = content.chars().take(60).collect();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{what:?}\n{stderr}");
        assert_lines(&stderr, &[expected], &what);
        assert!(stderr.lines().count() <= 8, "{what:?}: more than a few lines\n{stderr}");
        assert_eq!(scratch.files(), ["bad.fio"], "{what:?}");
    }
}

#[test]
fn the_last_of_repeated_options_wins_and_warnings_do_not_stop() {
    let scratch = Scratch::new("repeated");
    let arguments =
        ["--name=a", "--ioengine=null", "--size=1m", "--bs=8k", "--bs=4k", "--rwmixread=70", "--time_based"];
    let output = run(&scratch.0, &arguments);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "fio: time_based requires a runtime/timeout setting\n");
    assert!(text(&output.stdout).contains("issued rwts: total=256,0,0,0"), "{}", text(&output.stdout));
    let fatal = run(&scratch.0, &[&["--warnings-fatal"], &arguments[..]].concat());
    assert_eq!(fatal.status.code(), Some(1));
}

#[test]
fn one_job_that_cannot_start_does_not_stop_the_others() {
    let scratch = Scratch::new("others");
    let arguments =
        ["--ioengine=null", "--size=1m", "--name=good", "--name=bad", "--ioengine=psync", "--rw=read", "--filename=d"];
    std::fs::create_dir(scratch.0.join("d")).unwrap();
    let output = run(&scratch.0, &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("good: (groupid=0, jobs=1): err= 0"), "{}", text(&output.stdout));
}

#[test]
fn a_device_that_is_full_fails_the_job_and_no_partial_file_stays() {
    let Some(mount) = Mount::tmpfs("full", "size=4m") else { return };
    let directory = format!("--directory={}", mount.0.0.display());
    let read = run(Path::new("/"), &["--name=x", &directory, "--rw=read", "--bs=64k", "--size=16m"]);
    assert_eq!(read.status.code(), Some(1));
    assert_lines(&text(&read.stderr), &["fio: ENOSPC on laying out file, stopping", "err=28"], "read");
    assert_eq!(mount.0.files(), Vec::<String>::new());
    let write =
        run(Path::new("/"), &["--name=x", &directory, "--rw=write", "--bs=64k", "--size=16m", "--fallocate=none"]);
    assert_eq!(write.status.code(), Some(1));
    assert_lines(&text(&write.stderr), &["fio: io_u error on file"], "write");
    assert!(text(&write.stdout).contains("err=28"), "{}", text(&write.stdout));
    std::fs::remove_file(mount.0.0.join("x.0.0")).unwrap();
    let filled = run(Path::new("/"), &["--name=x", &directory, "--rw=write", "--bs=64k", "--fill_device=1"]);
    assert_eq!(filled.status.code(), Some(0), "{}", text(&filled.stderr));
    assert!(text(&filled.stdout).contains("err= 0"), "{}", text(&filled.stdout));
}

#[test]
fn a_target_that_cannot_be_written_is_named() {
    let Some(mount) = Mount::tmpfs("readonly", "ro") else { return };
    let directory = format!("--directory={}", mount.0.0.display());
    let output = run(Path::new("/"), &["--name=x", &directory, "--rw=write", "--size=1m"]);
    assert_eq!(output.status.code(), Some(1));
    assert_lines(&text(&output.stderr), &["x.0.0: Read-only file system", "err=30"], "write");
}

#[test]
fn too_few_descriptors_are_explained() {
    let scratch = Scratch::new("descriptors");
    // With several I/Os in flight, a file that does not open must not make the job wait.
    for engine in ["psync", "libaio --iodepth=4", "io_uring --iodepth=4", "posixaio --iodepth=4"] {
        let command = format!(
            "ulimit -n 40; exec timeout -k 5 60 {} --name=a --nrfiles=200 --size=800k --rw=write --ioengine={engine}",
            env!("CARGO_BIN_EXE_ferrio")
        );
        let output =
            Command::new("sh").args(["-c", &command]).current_dir(&scratch.0).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{engine}: {}", text(&output.stderr));
        assert_lines(&text(&output.stderr), &["Too many open files"], engine);
        assert_lines(&text(&output.stderr), &["ulimit -n"], engine);
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new("output");
    let output = run(&scratch.0, &["--name=a", "--ioengine=null", "--size=4k", "--output=no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    assert_lines(&text(&output.stderr), &["no/such/file"], "--output");
    let full = run(&scratch.0, &["--name=a", "--ioengine=null", "--size=4k", "--output=/dev/full"]);
    assert_eq!(full.status.code(), Some(1), "a lost report is no success");
}

/// A file system in memory, unmounted at the end. `None`, with a message, where it cannot be mounted.
struct Mount(Scratch);

impl Mount {
    fn tmpfs(name: &str, options: &str) -> Option<Self> {
        let scratch = Scratch::new(name);
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&scratch.0).output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(scratch));
        }
        skip!(ferrio_testing::this_test(), "a tmpfs cannot be mounted here");
        None
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0.0).status();
    }
}
