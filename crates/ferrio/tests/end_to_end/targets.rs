//! Targets that are neither files nor devices.

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip, tool};
use serde_json::Value;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

const ENGINES: [&str; 6] = ["sync", "psync", "libaio", "io_uring", "mmap", "splice"];

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

#[test]
fn a_pipe_is_refused_by_name_and_the_others_run() {
    for program in programs("a_pipe_is_refused_by_name_and_the_others_run") {
        let scratch = Scratch::new("pipe-as-target");
        tool(&format!("mkfifo {}", scratch.join("pipe").display())).expect("a pipe");
        for engine in ENGINES {
            for rw in ["read", "write", "randrw"] {
                let arguments = format!(
                    "--bs=4k --size=64k --name=a --ioengine={engine} --filename=pipe --rw={rw} --name=b --ioengine=null --rw=read"
                );
                let finished = Run::new(*program, scratch.path(), &arguments).finish();
                let what = format!("{program:?}: {}", finished.all());
                assert_eq!(finished.code, Some(1), "{what}");
                assert!(finished.stdout.contains("a: failed to get file size of pipe\n"), "{what}");
                assert!(finished.stdout.contains("\nb: (groupid=0, jobs=1): err= 0"), "{what}");
                assert!(!finished.stdout.contains("\na: (groupid=0"), "{what}");
            }
        }
        let asked = "--name=a --ioengine=null --filename=pipe --size=64k --rw=write";
        assert_eq!(Run::new(*program, scratch.path(), asked).finish().code, Some(0), "no engine opens it");
    }
}

#[test]
fn a_job_of_the_name_of_a_pipe_and_a_trace_that_names_one_are_refused() {
    let scratch = Scratch::new("pipe-by-name");
    tool(&format!("mkfifo {}", scratch.join("pipe").display())).expect("a pipe");
    scratch.write("trace", "fio version 2 iolog\npipe add\npipe open\npipe write 0 4096\npipe close\n");
    for arguments in ["--name=pipe --size=64k --rw=write", "--name=pipe --filename=pipe --filetype=file --size=4k"] {
        let finished = Run::new(Program::Ferrio, scratch.path(), arguments).finish();
        assert!(finished.stdout.contains("pipe: failed to get file size of pipe\n"), "{}", finished.all());
        assert_eq!(finished.code, Some(1), "{}", finished.all());
    }
    let finished = Run::new(Program::Ferrio, scratch.path(), "--name=a --read_iolog=trace --ioengine=psync").finish();
    assert!(
        finished.code == Some(1) && finished.all().contains("failed to get file size of pipe"),
        "{}",
        finished.all()
    );
}

#[test]
fn a_socket_is_refused_and_stays() {
    // The peer removes it and makes a file of its name.
    let scratch = Scratch::new("socket-as-target");
    let _listener = UnixListener::bind(scratch.join("socket")).expect("a socket");
    for rw in ["read", "write"] {
        let arguments = format!("--name=a --filename=socket --size=64k --rw={rw}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
        assert!(finished.stdout.contains("a: failed to get file size of socket\n"), "{}", finished.all());
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(std::fs::metadata(scratch.join("socket")).expect("it is there").file_type().is_socket());
    }
}

#[test]
fn a_directory_is_refused() {
    for program in programs("a_directory_is_refused") {
        let scratch = Scratch::new("directory-as-target");
        std::fs::create_dir(scratch.join("directory")).expect("a directory");
        for rw in ["read", "write"] {
            let arguments = format!("--name=a --filename=directory --size=64k --rw={rw}");
            let finished = Run::new(*program, scratch.path(), &arguments).finish();
            assert!(finished.code == Some(1) && finished.stderr.contains("err=21/"), "{}", finished.all());
            assert!(finished.stderr.contains("error=Is a directory"), "{}", finished.all());
        }
    }
}

#[test]
fn a_read_that_finds_nothing_is_done_where_it_completes_later() {
    for program in programs("a_read_that_finds_nothing_is_done_where_it_completes_later") {
        for (engine, depth, error, n_ios) in
            [("libaio", 4, 0, 16), ("libaio", 1, 0, 16), ("io_uring", 4, 0, 16), ("psync", 1, 5, 0)]
        {
            let scratch = Scratch::new("nothing-to-read");
            let arguments = format!(
                "--name=a --ioengine={engine} --filename=/dev/null --size=64k --bs=4k --rw=read --iodepth={depth} \
                 --output-format=json --output=out"
            );
            let finished = Run::new(*program, scratch.path(), &arguments).finish();
            let text = scratch.read("out");
            let text = &text[text.find('{').expect("a document")..];
            let job = serde_json::from_str::<serde_json::Value>(text).expect("JSON")["jobs"][0].clone();
            let what = format!("{program:?} {engine}: {}", finished.all());
            assert_eq!((&job["error"], &job["read"]["io_bytes"]), (&error.into(), &0.into()), "{what}");
            if error == 0 {
                assert_eq!(job["read"]["total_ios"], n_ios, "{what}");
            }
        }
    }
}

/// Exit code, and of each job its error and how many I/Os it has issued.
fn issued(finished: &Finished, report: &Path) -> (Option<i32>, Vec<[u64; 3]>) {
    let text = std::fs::read_to_string(report).unwrap_or_default();
    let text = &text[text.find('{').unwrap_or_else(|| panic!("no document: {}", finished.all()))..];
    let document: Value = serde_json::from_str(text).expect("JSON");
    let figure = |job: &Value, path: &str| job.pointer(path).and_then(Value::as_u64).expect("a figure");
    let jobs = document["jobs"].as_array().expect("jobs");
    let figures = |job| ["/error", "/read/total_ios", "/write/total_ios"].map(|path| figure(job, path));
    (finished.code, jobs.iter().map(figures).collect())
}

/// Reads meet the end of a file that the same job makes, without space before it is written: errors only where an engine
/// completes its I/Os at once.
#[test]
fn reads_of_a_file_that_grows() {
    let test = "reads_of_a_file_that_grows";
    for mkfs in ["", "mkfs.ext4 -q", "mkfs.xfs -q"] {
        let on_device = !mkfs.is_empty();
        let part = format!("{test} ({mkfs})");
        if on_device && (!is_root(&part) || !has_programs(&part, &["losetup", &mkfs[..mkfs.len() - 3]])) {
            continue;
        }
        let scratch = Scratch::new("growing");
        let mut device = if on_device { LoopDevice::new(&scratch, 320 << 20) } else { None };
        let mounted = device.as_mut().and_then(|device| device.mount(&scratch, mkfs));
        if on_device && mounted.is_none() {
            skip(&part, "no file system on a loop device");
            continue;
        }
        let directory = mounted.unwrap_or_else(|| scratch.path().to_owned());
        for engine in ["libaio", "io_uring", "libaio --numjobs=3", "psync", "psync --numjobs=2"] {
            let of_program = |program: &Program| {
                let arguments = format!(
                    "--name=a --directory={} --size=1m --bs=4k --rw=randrw --create_on_open=1 --fallocate=none --direct=1 \
                     --iodepth=4 --unlink=1 --ioengine={engine} --output-format=json --output=out",
                    directory.display()
                );
                let finished = Run::new(*program, scratch.path(), &arguments).finish();
                issued(&finished, &scratch.join("out"))
            };
            let all: Vec<_> = programs(test).iter().map(of_program).collect();
            let (code, jobs) = &all[0];
            let is_queued = !engine.contains("psync");
            assert_eq!(*code == Some(0), is_queued, "{mkfs} {engine}: {jobs:?}");
            let has_all = |job: &[u64; 3]| job[0] == 0 && job[1] + job[2] == 256;
            assert!(
                jobs.iter().all(|job| if is_queued { has_all(job) } else { job[0] == 5 }),
                "{mkfs} {engine}: {jobs:?}"
            );
            assert!(all.iter().all(|other| *other == all[0]), "{mkfs} {engine}: {all:?}");
        }
    }
}

/// The same in jobs that verify: the reads of a mix are not checked, so those behind the end of the file are done.
#[test]
fn reads_of_a_file_that_grows_beside_verification() {
    let test = "reads_of_a_file_that_grows_beside_verification";
    let cases = [
        ("randrw", [2048, 1054]),
        ("rw", [2048, 1054]),
        ("randrw --verify_backlog=8", [2048, 1054]),
        ("randrw --verify_async=2", [2048, 1054]),
        ("randrw --experimental_verify=1", [2048, 1054]),
        ("randrw --do_verify=0", [994, 1054]),
        ("randrw --size=999G --number_ios=500", [500, 265]),
        ("rw --size=999G --number_ios=500", [500, 265]),
        ("randrw --ioengine=io_uring", [2048, 1054]),
        ("randrw --ioengine=posixaio", [2048, 1054]),
        ("randrw --loops=2", [4096, 2108]),
    ];
    for program in programs(test) {
        for (rw, expected) in cases {
            let scratch = Scratch::new("growing-verified");
            let arguments = format!(
                "--name=a --filename=f --ioengine=libaio --iodepth=16 --bs=4k --filesize=8m --create_on_open=1 \
                 --fallocate=none --direct=1 --verify=crc32c --verify_state_save=0 --output-format=json --output=out \
                 --rw={rw}"
            );
            let finished = Run::new(*program, scratch.path(), &arguments).finish();
            let (code, jobs) = issued(&finished, &scratch.join("out"));
            assert_eq!((code, jobs), (Some(0), vec![[0, expected[0], expected[1]]]), "{program:?} {rw}");
        }
    }
}

/// A read that is checked needs its bytes: a file that ends before them fails the job, whatever the buffer held before.
#[test]
fn a_checked_read_behind_the_end_fails() {
    for engine in ["libaio", "io_uring", "psync"] {
        let scratch = Scratch::new("cut-verified");
        let job = format!(
            "[global]\nfilename=f\nbs=4k\nsize=64k\nverify=pattern\nverify_pattern=0x55\nverify_state_save=0\n\
             [w]\nrw=write\ndo_verify=0\n\
             [r]\nstonewall\nrw=read\niodepth=4\nioengine={engine}\nexec_prerun=truncate -s 32k f\n"
        );
        scratch.write("j.fio", job);
        let finished = Run::new(Program::Ferrio, scratch.path(), "j.fio").finish();
        assert_eq!(finished.code, Some(1), "{engine}: {}", finished.all());
        assert!(
            finished.stderr.contains("error on file f: Input/output error: read offset=32768"),
            "{}",
            finished.all()
        );
    }
}

/// Trims that an engine does synchronously count as calls too, at every depth; those of `null` do not.
#[test]
fn trims_count_as_calls() {
    let test = "trims_count_as_calls";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let Some(device) = LoopDevice::new(&scratch, 1 << 20) else { return skip(test, "no loop device") };
    for program in programs(test) {
        for (engine, share) in [("libaio", "100.0"), ("posixaio", "100.0"), ("psync", "100.0"), ("null", "0.0")] {
            for rw in ["trim", "randtrim"] {
                let arguments =
                    format!("--name=a --filename={} --bs=4k --size=64k --rw={rw} --ioengine={engine}", device.path());
                let finished = Run::new(*program, scratch.path(), &arguments).finish().succeeded();
                for line in ["    submit    : 0=0.0%, 4=", "    complete  : 0=0.0%, 4="] {
                    let line = format!("{line}{share}%,");
                    assert!(finished.stdout.contains(&line), "{program:?} {engine}: {}", finished.all());
                }
            }
        }
    }
}

#[test]
fn a_trace_that_is_not_there_is_none() {
    for program in programs("a_trace_that_is_not_there_is_none") {
        let scratch = Scratch::new("no-trace");
        let arguments = "--name=a --ioengine=null --size=4k --read_iolog=missing";
        let finished = Run::new(*program, scratch.path(), arguments).finish();
        assert_eq!(finished.code, Some(1), "{program:?}: {}", finished.all());
        assert!(finished.stdout.contains(", err=22/file:"), "{program:?}: {}", finished.all());
        assert!(
            finished.stdout.contains("func=failed initializing iolog, error=Invalid argument"),
            "{}",
            finished.all()
        );
        assert!(finished.stderr.contains("No such file or directory"), "{program:?}: {}", finished.all());
    }
}

/// Advice on the causes of a failed first I/O is given only with engines that do an I/O when it is queued.
#[test]
fn advice_on_direct_io() {
    for program in programs("advice_on_direct_io") {
        for (engine, has_advice) in
            [("psync", true), ("sync", true), ("pvsync", true), ("vsync", false), ("libaio", false)]
        {
            let scratch = Scratch::new("advice");
            scratch.write("f", vec![0; 65_536]);
            let arguments =
                format!("--name=a --filename=f --rw=read --bs=1000 --size=64k --direct=1 --ioengine={engine}");
            let finished = Run::new(*program, scratch.path(), &arguments).finish();
            assert_eq!(finished.code, Some(1), "{program:?} {engine}: {}", finished.all());
            let is_there = finished.stdout.contains("fio: first direct IO errored.");
            assert_eq!(is_there, has_advice, "{program:?} {engine}: {}", finished.all());
        }
    }
}

/// `ferrio run` gives the blocks of trims back to the file system, in replays too; in the place of fio the kernel's refusal stays.
#[test]
fn trims_of_files_are_holes_in_native_runs() {
    let scratch = Scratch::new("trims-of-files");
    let n_blocks = || std::fs::metadata(scratch.join("f")).expect("the file").blocks();
    scratch.write(
        "trace",
        "fio version 3 iolog\n0 f add\n0 f open\n1 f trim 0 262144\n2 f trim 524288 262144\n3 f close\n",
    );
    for (job, held_512) in [
        ("--rw=randtrim --bs=64k --size=1m --number_ios=8", 1024),
        ("--rw=randtrim --bs=64k --size=1m --number_ios=8 --ioengine=libaio --iodepth=4", 1024),
        ("--rw=trim --bs=64k --size=1m --ioengine=io_uring", 0),
        ("--read_iolog=trace", 1024),
    ] {
        scratch.write("f", vec![7; 1 << 20]);
        assert!(n_blocks() >= 2048, "{}", n_blocks());
        let refused = Run::new(Program::Ferrio, scratch.path(), &format!("--name=t --filename=f {job}")).finish();
        assert_eq!((refused.code, n_blocks() >= 2048), (Some(1), true), "{job}: {}", refused.all());
        let done = Run::new(Program::Ferrio, scratch.path(), &format!("run --name=t --filename=f {job}")).finish();
        assert_eq!(done.code, Some(0), "{job}: {}", done.all());
        let data = std::fs::read(scratch.join("f")).expect("the file");
        let n_holes = data.chunks(65_536).filter(|block| block.iter().all(|byte| *byte == 0)).count() as u64;
        assert_eq!((data.len(), n_holes), (1 << 20, 16 - held_512 / 128), "{job}");
        assert!(n_blocks() <= held_512 + 16, "{job}: {} blocks", n_blocks());
    }
}
