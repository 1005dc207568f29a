//! `ioengine=nfs` against NFS-Ganesha: what is written is read by another program, and faults end in a line and an exit code.
//!
//! Start reading at [`job`]. No test waits for a time.

use crate::counterparts::{Counterpart, answers_about};
use crate::findings::findings_of;
use crate::support::{Finished, Program, Run, Running, Scratch, peer_too, send};
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};

/// The server, if it and the library are on this machine.
fn ganesha(test: &str) -> Option<Counterpart> {
    Counterpart::start(test, "nfs-ganesha")
}

/// The run of a job on an export.
fn job(program: Program, scratch: &Scratch, url: &str, options: &str) -> Run {
    let name = if options.contains("--filename") { "" } else { "--filename=f" };
    Run::new(program, scratch.path(), &format!("--name=t --ioengine=nfs --nfs_url={url} {name} {options}"))
}

/// A number of the job in a document.
fn figure(finished: &Finished, path: &str) -> u64 {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {text}"))
}

/// The contents of a file of the export, by another program.
fn read_by_nfs_cat(url: &str, name: &str) -> Vec<u8> {
    let (export, arguments) = url.split_once('?').expect("arguments");
    let mut command = Command::new("nfs-cat");
    let output = command.arg(format!("{export}/{name}?{arguments}")).stdin(Stdio::null()).output().expect("nfs-cat");
    output.stdout
}

/// The contents of a file in which each block repeats its offset, as the pattern `%o` writes it.
fn offsets(n_blocks: u64, block_bytes: u64) -> Vec<u8> {
    let block = |block: u64| (block * block_bytes).to_le_bytes().repeat(block_bytes as usize / 8);
    (0..n_blocks).flat_map(block).collect()
}

#[test]
fn what_is_written_to_ganesha_is_there_at_any_depth() {
    let test = "what_is_written_to_ganesha_is_there_at_any_depth";
    let Some(server) = ganesha(test) else { return };
    let scratch = Scratch::new("nfs");
    let url = server.setting("NFS3_URL");
    for depth in [1, 8] {
        let options = "--rw=randwrite --bs=4k --size=256k --verify=pattern --verify_pattern=%o --output-format=json";
        let finished = job(
            Program::Ferrio,
            &scratch,
            url,
            &format!("{options} --iodepth={depth} --end_fsync=1 --fsync=16 --filename=d{depth}"),
        )
        .finish();
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        assert_eq!((figure(&finished, "/write/total_ios"), figure(&finished, "/read/total_ios")), (64, 64));
        assert_eq!(figure(&finished, "/write/io_bytes"), 256 << 10);
        // One after each 16 writes but for the last.
        assert_eq!(figure(&finished, "/sync/total_ios"), 3);
        assert!(read_by_nfs_cat(url, &format!("d{depth}")) == offsets(64, 4096), "depth {depth}");
    }
    let options = "--rw=randrw --bs=8k --size=128k --nrfiles=2 --iodepth=4 --unlink=1 --verify=crc32c";
    let url = format!("--name=t --ioengine=nfs --nfs_url={url} {options}");
    let finished = Run::new(Program::Ferrio, scratch.path(), &url).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let left = std::fs::read_dir(server.directory.join("export")).expect("a directory").count();
    assert_eq!(left, 2, "files of the last job are removed");
}

#[test]
fn figures_on_ganesha_are_those_of_fio() {
    let test = "figures_on_ganesha_are_those_of_fio";
    if !peer_too(test) {
        return;
    }
    let Some(server) = ganesha(test) else { return };
    let scratch = Scratch::new("nfs");
    let url = server.setting("NFS3_URL");
    for (options, n_bytes) in [
        ("--rw=write --bs=4k --size=64k", [0, 65536]),
        ("--rw=read --bs=4k --size=64k", [65536, 0]),
        // A part of it is behind the end of the file.
        ("--rw=read --bs=4k --size=128k", [65536, 0]),
    ] {
        let issued = [Program::Ferrio, Program::Peer].map(|program| {
            let finished = job(program, &scratch, url, &format!("{options} --output-format=json")).finish();
            assert_eq!(finished.code, Some(0), "{program:?} {options}: {}", finished.all());
            // Each read behind the end is said.
            let n_said = finished.stderr.lines().filter(|line| line.starts_with("Got NFS EOF")).count();
            assert_eq!(n_said, if options.contains("128k") { 16 } else { 0 }, "{program:?}: {}", finished.all());
            let of_kind = |kind: &str| {
                let bytes = figure(&finished, &format!("/{kind}/io_bytes"));
                (figure(&finished, &format!("/{kind}/total_ios")), bytes)
            };
            [of_kind("read"), of_kind("write")]
        });
        assert_eq!(issued[0], issued[1], "{options}");
        assert_eq!(issued[0].map(|(_, bytes)| bytes), n_bytes, "{options}");
    }
}

#[test]
fn what_ganesha_or_the_engine_does_not_allow_ends_in_a_line() {
    let Some(server) = ganesha("what_ganesha_or_the_engine_does_not_allow_ends_in_a_line") else { return };
    let scratch = Scratch::new("nfs");
    let (url, fixed) = (server.setting("NFS3_URL"), server.setting("NFS3_URL_RO"));
    let absent = url.replace("/export?", "/absent?");
    let gone = "nfs://127.0.0.1/x?version=3&nfsport=1&mountport=1";
    let read_only = "--rw=read --bs=4k --size=4k --filename=file";
    for (url, options, text) in [
        (fixed, "--rw=write --bs=4k --size=4k --filename=new", "Failed to open new: "),
        (fixed, "--rw=read --bs=4k --size=4k --filename=none", "Failed to open none: "),
        (url, "--rw=write --bs=4k --size=4k --filename=no/such", "Failed to open no/such: "),
        (absent.as_str(), "--rw=write --bs=4k --size=4k", "Failed to mount nfs://127.0.0.1"),
        (
            gone,
            "--rw=write --bs=4k --size=4k",
            "Failed to mount nfs://127.0.0.1/x?version=3&nfsport=1&mountport=1 with code",
        ),
        (url, "--rw=trim --bs=4k --size=8k", "nfs: trim is not supported"),
        (url, "--rw=write --bs=4k", "you need to specify size="),
    ] {
        let finished = job(Program::Ferrio, &scratch, url, options).finish();
        let what = format!("{options}: {}", finished.all());
        assert_eq!(finished.code, Some(1), "{what}");
        assert!(what.contains(text), "{what}");
    }
    let finished = job(Program::Ferrio, &scratch, fixed, read_only).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let without = Run::new(Program::Ferrio, scratch.path(), "--name=t --ioengine=nfs --rw=read --size=4k").finish();
    assert!(without.code == Some(1) && without.all().contains("nfs_url"), "{}", without.all());
}

/// A job that runs until it is ended, on an export that has seen writes to this file.
fn start(scratch: &Scratch, server: &Counterpart, file: &str, options: &str) -> Running {
    let options = format!("--rw=randwrite --bs=4k --size=1m --iodepth=4 --time_based --runtime=100000 {options}");
    let mut running = job(Program::Ferrio, scratch, server.setting("NFS3_URL"), &options).start();
    let file = server.directory.join("export").join(file);
    running.wait_until("a file", |_| std::fs::metadata(&file).is_ok_and(|file| file.len() > 0));
    running
}

#[test]
fn a_stop_ends_a_job_on_ganesha() {
    let Some(server) = ganesha("a_stop_ends_a_job_on_ganesha") else { return };
    let scratch = Scratch::new("nfs");
    let running = start(&scratch, &server, "f", "");
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    assert!(finished.all().contains("err= 0"), "{}", finished.all());
}

#[test]
fn a_ganesha_that_goes_away_ends_the_job() {
    let Some(server) = ganesha("a_ganesha_that_goes_away_ends_the_job") else { return };
    let scratch = Scratch::new("nfs");
    let running = start(&scratch, &server, "f", "");
    // It has no time to answer anything.
    send(server.process("ganesha"), Signal::KILL);
    let finished = running.finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.all().contains("the server has closed the connection, or is gone"), "{}", finished.all());
}

#[test]
fn a_ganesha_that_hangs_holds_no_stopped_job() {
    let Some(server) = ganesha("a_ganesha_that_hangs_holds_no_stopped_job") else { return };
    let scratch = Scratch::new("nfs");
    let running = start(&scratch, &server, "f", "");
    let frozen = server.freeze("ganesha");
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    // The report has no job of which no I/O has completed.
    let said = finished.all();
    assert!(said.contains("err= 0") || !said.contains("err="), "{said}");
    drop(frozen);
    // Nothing is in flight, but files are to be closed and removed.
    let options = "--rate_iops=1,1 --filename=a:b:c:d:e --unlink=1";
    let running = start(&scratch, &server, "a", options);
    let frozen = server.freeze("ganesha");
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    // There is no mount yet.
    let mut running = job(Program::Ferrio, &scratch, server.setting("NFS3_URL"), "--rw=read --size=1m").start();
    running.wait_until("a job", |running| !running.jobs().is_empty());
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    drop(frozen);
    let finished = job(Program::Ferrio, &scratch, server.setting("NFS3_URL"), "--rw=write --bs=4k --size=64k").finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
}

/// A server that hangs ends a job with its runtime, or when it has been silent for as long as the job allows.
#[test]
fn a_ganesha_that_hangs_holds_no_job_beyond_its_time() {
    let Some(server) = ganesha("a_ganesha_that_hangs_holds_no_job_beyond_its_time") else { return };
    let scratch = Scratch::new("nfs");
    for (file, options, text) in [
        ("f", "--runtime=5", "the server has not answered the I/Os in flight"),
        (
            "g",
            "--filename=g --server_timeout=1",
            "the server has answered nothing for as long as server_timeout allows",
        ),
    ] {
        let running = start(&scratch, &server, file, options);
        let frozen = server.freeze("ganesha");
        let finished = running.finish();
        drop(frozen);
        let what = format!("{options}: {}", finished.all());
        assert_eq!(finished.code, Some(1), "{what}");
        assert!(what.contains(text) && (what.contains("err=110") || !what.contains("err=")), "{what}");
    }
}

#[test]
fn a_full_disk_behind_ganesha_is_no_space_left() {
    let Some(server) = ganesha("a_full_disk_behind_ganesha_is_no_space_left") else { return };
    let scratch = Scratch::new("nfs");
    let url = server.setting("NFS3_URL_SMALL");
    let options = "--rw=write --bs=64k --size=8m --iodepth=4";
    let finished = job(Program::Ferrio, &scratch, url, options).finish();
    let what = finished.all();
    assert_eq!(finished.code, Some(1), "{what}");
    assert!(what.contains("fio: io_u error on file f: No space left on device: write offset="), "{what}");
    assert!(what.contains("the file system of the server is full") && what.contains("err=28"), "{what}");
    // The file has all that fits, which is no error of a job that fills a device.
    let options = format!("{options} --fill_device=1 --output-format=json --filename=g --unlink=1");
    let finished = job(Program::Ferrio, &scratch, url, &options).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
}

#[test]
fn ferrio_engines_says_what_ganesha_answers() {
    let Some(server) = ganesha("ferrio_engines_says_what_ganesha_answers") else { return };
    let scratch = Scratch::new("nfs");
    let ask = |key: &str| answers_about(&scratch, server.setting(key));
    let found = ask("NFS3_URL");
    assert_eq!(
        found.iter().map(|(name, state)| format!("{name}: {state}")).collect::<Vec<_>>(),
        ["NFS version 3: works", "space: works", "reading: works", "writing: works",]
    );
    let found = ask("NFS_URL");
    assert_eq!(found[0], ("NFS version 4".to_owned(), "works".to_owned()));
    let absent = server.setting("NFS3_URL").replace("/export?", "/absent?");
    let done = Run::new(Program::Ferrio, scratch.path(), &format!("engines {absent}")).finish();
    assert!(done.code == Some(2) && done.stderr.contains("version 3: "), "{}", done.all());
    // A full file system.
    let url = server.setting("NFS3_URL_SMALL");
    let filled = job(Program::Ferrio, &scratch, url, "--rw=write --bs=4k --size=8m --fill_device=1").finish();
    assert_eq!(filled.code, Some(0), "{}", filled.all());
    assert!(ask("NFS3_URL_SMALL").contains(&("space".to_owned(), "does not work here".to_owned())));
    assert_eq!(std::fs::read_dir(server.directory.join("export")).expect("a directory").count(), 0);
}

/// Requests for writes are stable where the job asks for it (`stable_how` of RFC 1813: 0 and 2), and a job whose writes are not, and that
/// has no sync, is told.
#[test]
fn writes_are_durable_where_the_job_asks_for_it() {
    let Some(server) = ganesha("writes_are_durable_where_the_job_asks_for_it") else { return };
    let scratch = Scratch::new("nfs");
    let common = format!(
        "--name=t --ioengine=nfs --nfs_url={} --filename=f --rw=write --bs=4k --size=64k",
        server.setting("NFS3_URL")
    );
    for (options, is_told) in [("", true), ("--end_fsync=1", false), ("--fsync=4", false), ("--sync=1", false)] {
        let found = findings_of(scratch.path(), &format!("{common} {options}"));
        assert_eq!(found.contains(&"uncommitted-writes".to_owned()), is_told, "{options}: {found:?}");
    }
}
