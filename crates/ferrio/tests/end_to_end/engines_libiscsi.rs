//! `ioengine=libiscsi` against tgt: what is written is read from the image, and faults end in a line and an exit code.
//!
//! Start reading at [`job`]. No test waits for a time.

use crate::counterparts::{Counterpart, answers_about, receives_signals};
use crate::support::{Finished, Program, Run, Running, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::MetadataExt;

/// The target, if it and the library are on this machine.
fn tgt(test: &str) -> Option<Counterpart> {
    Counterpart::start(test, "iscsi-tgt")
}

/// The run of a job on a LUN; a colon of an address has a backslash in `filename`.
fn job(scratch: &Scratch, url: &str, options: &str) -> Run {
    let url = url.replace(':', "\\:");
    Run::new(Program::Ferrio, scratch.path(), &format!("--name=t --ioengine=libiscsi --filename={url} {options}"))
}

/// A number of the job in a document.
fn figure(finished: &Finished, path: &str) -> u64 {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value = serde_json::from_str(&text[begin..]).expect("JSON");
    document["jobs"][0].pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {text}"))
}

#[test]
fn what_is_written_to_a_lun_is_in_its_image() {
    let Some(server) = tgt("what_is_written_to_a_lun_is_in_its_image") else { return };
    let scratch = Scratch::new("iscsi");
    let url = server.setting("ISCSI_URL");
    for options in ["--iodepth=1", "--iodepth=8", "--iodepth=8 --libiscsi_fua=1"] {
        let common = "--rw=randwrite --bs=4k --size=256k --verify=pattern --verify_pattern=%o --fsync=16";
        let finished = job(&scratch, url, &format!("{common} --output-format=json {options}")).finish();
        assert_eq!(finished.code, Some(0), "{options}: {}", finished.all());
        assert_eq!((figure(&finished, "/write/total_ios"), figure(&finished, "/read/total_ios")), (64, 64));
        // One after each 16 writes but for the last.
        assert_eq!(figure(&finished, "/sync/total_ios"), 3, "{options}");
        let image = std::fs::read(server.directory.join("1.img")).expect("an image");
        let is_right = |block: usize| {
            image[block * 4096..][..4096].chunks(8).all(|word| word == (block as u64 * 4096).to_le_bytes())
        };
        assert!((0..64).all(is_right), "{options}");
    }
    // The size is that of the LUN.
    let finished = job(&scratch, url, "--rw=read --bs=1m --size=1g --iodepth=4 --output-format=json").finish();
    assert_eq!((finished.code, figure(&finished, "/read/total_ios")), (Some(0), 256), "{}", finished.all());
}

#[test]
fn unmap_frees_blocks_of_the_image() {
    let Some(server) = tgt("unmap_frees_blocks_of_the_image") else { return };
    let scratch = Scratch::new("iscsi");
    let url = server.setting("ISCSI_URL");
    let image = server.directory.join("1.img");
    let n_blocks = || std::fs::metadata(&image).expect("an image").blocks();
    let finished = job(&scratch, url, "--rw=write --bs=64k --size=1m --end_fsync=1").finish();
    assert!(finished.code == Some(0) && n_blocks() >= 2048, "{}", finished.all());
    let finished = job(&scratch, url, "--rw=trim --bs=64k --size=1m --libiscsi_unmap=1 --iodepth=4").finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    assert!(n_blocks() < 2048, "{} blocks", n_blocks());
    let finished = job(&scratch, url, "--rw=trim --bs=64k --size=1m").finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.all().contains("iscsi: invalid I/O operation: 2"), "{}", finished.all());
}

#[test]
fn several_luns_have_a_session_each() {
    let Some(server) = tgt("several_luns_have_a_session_each") else { return };
    let scratch = Scratch::new("iscsi");
    let names = ["ISCSI_URL", "ISCSI_URL_RO"].map(|key| server.setting(key).replace(':', "\\:")).join(":");
    let options =
        format!("--name=t --ioengine=libiscsi --filename={names} --rw=randread --bs=64k --io_size=4m --iodepth=8");
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{options} --output-format=json")).finish();
    assert_eq!((finished.code, figure(&finished, "/read/total_ios")), (Some(0), 64), "{}", finished.all());
}

#[test]
fn a_password_of_the_address_logs_in() {
    let Some(server) = tgt("a_password_of_the_address_logs_in") else { return };
    let scratch = Scratch::new("iscsi");
    let url = server.setting("ISCSI_URL_CHAP");
    let finished = job(&scratch, url, "--rw=read --bs=4k --io_size=64k").finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let wrong = url.replace("secretsecret12", "wrongwrongwron");
    let finished = job(&scratch, &wrong, "--rw=read --bs=4k --io_size=64k").finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(
        finished.all().contains("iscsi: failed to connect to LUN : Failed to log in to target."),
        "{}",
        finished.all()
    );
    assert!(!finished.stderr.contains("wrongwrong"), "{}", finished.stderr);
}

#[test]
fn what_a_target_does_not_allow_ends_in_a_line() {
    let Some(server) = tgt("what_a_target_does_not_allow_ends_in_a_line") else { return };
    let scratch = Scratch::new("iscsi");
    let url = server.setting("ISCSI_URL");
    let absent = url.replace("disk/1", "disk/7");
    for (url, options, text) in [
        (
            server.setting("ISCSI_URL_RO"),
            "--rw=write --bs=4k --size=64k",
            "iscsi: request failed with error SENSE KEY:DATA PROTECTION(7)",
        ),
        (url, "--rw=read --bs=1000 --size=64k", "iscsi: buflen is not align to block size."),
        (absent.as_str(), "--rw=read --bs=4k --size=64k", "iscsi: failed to connect to LUN : "),
        (
            "iscsi://127.0.0.1:1/iqn.a/1",
            "--rw=read --bs=4k",
            "iscsi: failed to connect to LUN : no connection to 127.0.0.1:1: connection refused",
        ),
        ("no-address", "--rw=read --bs=4k", "iscsi: failed to parse url: no-address"),
    ] {
        let finished = job(&scratch, url, options).finish();
        let what = format!("{url} {options}: {}", finished.all());
        assert_eq!(finished.code, Some(1), "{what}");
        assert!(what.contains(text), "{what}");
    }
}

/// A job that runs until it is ended, on a LUN that has seen writes.
fn start(scratch: &Scratch, server: &Counterpart, options: &str) -> Running {
    let options = format!("--rw=randwrite --bs=4k --size=1m --iodepth=4 --time_based --runtime=100000 {options}");
    let image = server.directory.join("1.img");
    let written_at = || std::fs::metadata(&image).and_then(|image| image.modified()).ok();
    let before = written_at();
    let mut running = job(scratch, server.setting("ISCSI_URL"), &options).start();
    running.wait_until("writes", |_| written_at() != before);
    running
}

#[test]
fn a_stop_ends_a_job_on_a_lun() {
    let Some(server) = tgt("a_stop_ends_a_job_on_a_lun") else { return };
    let scratch = Scratch::new("iscsi");
    let running = start(&scratch, &server, "");
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    assert!(finished.all().contains("err= 0"), "{}", finished.all());
}

#[test]
fn a_target_that_goes_away_ends_the_job() {
    let Some(server) = tgt("a_target_that_goes_away_ends_the_job") else { return };
    let scratch = Scratch::new("iscsi");
    let running = start(&scratch, &server, "");
    send(server.process("tgtd"), Signal::KILL);
    let finished = running.finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.all().contains("the target has closed the connection, or is gone"), "{}", finished.all());
}

/// The report has no job of which no I/O has completed.
fn ended_without_error(finished: &Finished) -> bool {
    let said = finished.all();
    said.contains("err= 0") || !said.contains("err=")
}

#[test]
fn a_target_that_hangs_holds_no_stopped_job() {
    let scratch = Scratch::new("iscsi");
    for options in ["--rate_iops=1,1", ""] {
        // A target of its own: what was in flight, it writes when it goes on.
        let Some(server) = tgt("a_target_that_hangs_holds_no_stopped_job") else { return };
        let running = start(&scratch, &server, options);
        let frozen = server.freeze("tgtd");
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        drop(frozen);
        assert_eq!(finished.code, Some(128), "{}", finished.all());
        assert!(ended_without_error(&finished), "{}", finished.all());
    }
    let Some(server) = tgt("a_target_that_hangs_holds_no_stopped_job") else { return };
    // The target is asked for the size before there is a job.
    let frozen = server.freeze("tgtd");
    let mut running = job(&scratch, server.setting("ISCSI_URL"), "--rw=read --bs=4k").start();
    running.wait_until("a question", |running| receives_signals(running.pid()));
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    drop(frozen);
    let finished = job(&scratch, server.setting("ISCSI_URL"), "--rw=read --bs=4k --io_size=64k").finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
}

/// A target that hangs ends a job with its runtime, or when it has been silent for as long as the job allows.
#[test]
fn a_target_that_hangs_holds_no_job_beyond_its_time() {
    let scratch = Scratch::new("iscsi");
    for (options, text) in [
        ("--runtime=5", "the server has not answered the I/Os in flight"),
        ("--server_timeout=1", "the target has answered nothing for as long as server_timeout allows"),
    ] {
        let Some(server) = tgt("a_target_that_hangs_holds_no_job_beyond_its_time") else { return };
        let running = start(&scratch, &server, options);
        let frozen = server.freeze("tgtd");
        let finished = running.finish();
        drop(frozen);
        let what = format!("{options}: {}", finished.all());
        assert!(finished.code == Some(1) && what.contains(text) && what.contains("err=110"), "{what}");
    }
}

#[test]
fn a_full_disk_behind_a_lun_ends_the_job_with_a_reason() {
    let Some(server) = tgt("a_full_disk_behind_a_lun_ends_the_job_with_a_reason") else { return };
    let scratch = Scratch::new("iscsi");
    let finished =
        job(&scratch, server.setting("ISCSI_URL_SMALL"), "--rw=write --bs=64k --size=8m --iodepth=4").finish();
    let what = finished.all();
    assert_eq!(finished.code, Some(1), "{what}");
    assert!(what.contains("iscsi: request failed with error SENSE KEY:"), "{what}");
    assert!(what.contains("the storage behind the LUN has failed, or is full"), "{what}");
}

#[test]
fn ferrio_engines_says_what_tgt_answers() {
    let Some(server) = tgt("ferrio_engines_says_what_tgt_answers") else { return };
    let scratch = Scratch::new("iscsi");
    let lines = |key: &str| {
        let found = answers_about(&scratch, server.setting(key));
        found.into_iter().map(|(name, state)| format!("{name}: {state}")).collect::<Vec<_>>()
    };
    // The first LUN is thin, the second one write-protected.
    let common = ["ioengine=libiscsi: works", "LUNs of the target: works"];
    assert_eq!(lines("ISCSI_URL"), [common[0], "writes: works", "trim (UNMAP): works", common[1]]);
    let expected = [common[0], "writes: does not work here", "trim (UNMAP): does not work here", common[1]];
    assert_eq!(lines("ISCSI_URL_RO"), expected);
    let url = server.setting("ISCSI_URL");
    let done = Run::new(Program::Ferrio, scratch.path(), &format!("engines {url}")).finish();
    let words: Vec<&str> = done.stdout.split_whitespace().collect();
    assert!(
        words.join(" ").contains("the LUN has 268435456 bytes (256 MiB), in blocks of 512 bytes"),
        "{}",
        done.all()
    );
    // Without the name of a target, its portal says which there are.
    let portal = url.split('/').take(3).collect::<Vec<_>>().join("/");
    let done = Run::new(Program::Ferrio, scratch.path(), &format!("engines {portal}")).finish();
    assert!(done.code == Some(0) && done.stdout.contains("iqn.2000-01.test:disk"), "{}", done.all());
    for (url, text) in [
        (server.setting("ISCSI_URL_CHAP").replace("secretsecret12", "wrongwrongwron"), "Authentication failure"),
        (url.replace("disk/1", "disk/9"), "failed to connect to LUN"),
        (url.replace("disk/1", "none/1"), "failed to connect to LUN"),
    ] {
        let done = Run::new(Program::Ferrio, scratch.path(), &format!("engines {url}")).finish();
        assert!(done.code == Some(2) && done.stderr.contains(text), "{}", done.all());
    }
}
