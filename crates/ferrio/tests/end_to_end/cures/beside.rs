//! Cures of findings about what is beside the jobs: devices, other groups, other senders, earlier runs.
//!
//! Start reading at [`BESIDE_JOBS`].

use super::{count, depth, figure, write_file};
use crate::findings::{document, findings_of, has, ids};
use crate::findings_host::Group;
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, succeeds_once, tool};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The rules of the tests below.
pub(super) const BESIDE_JOBS: &[&str] = &[
    "same-blocks-again",
    "foreign-datagrams",
    "small-part-of-disk",
    "device-is-overwritten",
    "io-weight",
    "below-unseen",
    "submission-blocked",
];

/// A loop device with ext4, where it can be had.
fn ext4(test: &str, scratch: &Scratch, mib: u64) -> Option<(LoopDevice, std::path::PathBuf)> {
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4", "mount", "umount"]) {
        return None;
    }
    let made = LoopDevice::new(scratch, mib << 20)
        .and_then(|mut device| device.mount(scratch, "mkfs.ext4 -q -F").map(|directory| (device, directory)));
    if made.is_none() {
        skip(test, "no ext4 on a loop device");
    }
    made
}

/// Offsets that a run of 256 random reads of 16 MiB has read, and its findings.
fn blocks_of_a_run(scratch: &Scratch, state: &Scratch, more: &str) -> (BTreeSet<String>, Vec<String>) {
    let job = "run --json --name=r --filename=f --rw=randread --bs=4k --size=16m --number_ios=256 --direct=1 --ioengine=psync";
    let logs = "--write_lat_log=l --log_offset=1";
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("{job} {logs} {more}")).without_env("FERRIO_STATE");
    let finished = run.env("XDG_STATE_HOME", &state.path().display().to_string()).finish().succeeded();
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let log = scratch.read("l_lat.1.log");
    let offsets = log.lines().filter_map(|line| Some(line.split(", ").nth(4)?.to_owned()));
    (offsets.collect(), ids(&document["findings"]))
}

#[test]
fn blocks_of_its_own_are_read_by_each_run() {
    let (scratch, state) = (Scratch::new("cures-again"), Scratch::new("cures-again-state"));
    write_file(scratch.path(), "f", 16);
    if has(&findings_of(scratch.path(), "--name=a --filename=f --rw=read --bs=1m --direct=1"), "target-in-memory") {
        return skip("blocks_of_its_own_are_read_by_each_run", "the directory of the tests is in memory");
    }
    let run = |more: &str| blocks_of_a_run(&scratch, &state, more);
    let ((first, _), (second, told)) = (run(""), run(""));
    assert!(first.len() == 256 && first == second && has(&told, "same-blocks-again"), "{told:?}");
    let ((third, _), (fourth, told)) = (run("--randrepeat=0"), run("--randrepeat=0"));
    // Of 4,096 blocks two draws of 256 have 16 in common, by chance.
    let in_common = third.intersection(&fourth).count();
    assert!(in_common < 64 && !has(&told, "same-blocks-again"), "{in_common}, {told:?}");
}

/// A port that no socket has at the moment.
fn free_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.local_addr().expect("it is bound").port()
}

/// The document of a reader and its writer, while another program sends to a port.
fn beside_a_sender(scratch: &Scratch, port: u16, other_port: u16) -> Value {
    let pair = format!("--ioengine=net --protocol=udp --port={port} --bs=1k --size=64k");
    let jobs = format!(
        "{pair} --name=r --rw=read {pair} --name=w --rw=write --hostname=127.0.0.1 --startdelay=300ms --rate_iops=128 {pair}"
    );
    let is_over = Arc::new(AtomicBool::new(false));
    let is_over_too = Arc::clone(&is_over);
    let sender = std::thread::spawn(move || {
        let other = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        while !is_over_too.load(Ordering::Relaxed) {
            // Nobody may listen yet.
            let _ = other.send_to(&[7; 1024], ("127.0.0.1", other_port));
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("run --json {jobs}")).finish();
    is_over.store(true, Ordering::Relaxed);
    sender.join().expect("it only sends");
    serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()))
}

#[test]
fn a_port_of_its_own_has_the_datagrams_of_its_writer_only() {
    let scratch = Scratch::new("cures-datagrams");
    let port = free_port();
    let wrong = beside_a_sender(&scratch, port, port);
    assert!(has(&ids(&wrong["findings"]), "foreign-datagrams"), "{wrong}");
    // Another program may take the port between its choice and its use.
    assert!(succeeds_once(|| {
        let (own, others) = (free_port(), free_port());
        let cured = beside_a_sender(&scratch, own, others);
        own != others && !has(&ids(&cured["findings"]), "foreign-datagrams") && count(&cured, "n_ios") == 64
    }));
}

#[test]
fn files_as_large_as_the_data_are_no_small_part_of_a_disk() {
    let test = "files_as_large_as_the_data_are_no_small_part_of_a_disk";
    let scratch = Scratch::new("cures-part");
    let Some((device, directory)) = ext4(test, &scratch, 96) else { return };
    let job = "--name=a --rw=randread --direct=1 --ioengine=psync --bs=64k";
    let file = |mib: u32| document(&directory, &format!("{job} --filename=f --size={mib}m"));
    let small = file(4);
    if !has(&ids(&small["findings"]), "small-part-of-disk") {
        return skip(test, "the loop device is not called a disk that turns");
    }
    let large = file(48);
    assert!(!has(&ids(&large["findings"]), "small-part-of-disk"), "{large}");
    assert!((count(&small, "bytes"), count(&large, "bytes")) == (4 << 20, 48 << 20), "{large}");
    let whole = document(&directory, &format!("{job} --filename={} --size=100%", device.path()));
    assert!(!has(&ids(&whole["findings"]), "small-part-of-disk") && count(&whole, "bytes") == 96 << 20, "{whole}");
}

#[test]
fn a_file_or_readonly_keeps_what_is_on_a_device() {
    let test = "a_file_or_readonly_keeps_what_is_on_a_device";
    let scratch = Scratch::new("cures-overwritten");
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let Some(device) = LoopDevice::new(&scratch, 8 << 20) else { return skip(test, "no loop device") };
    let holds = |byte: u8| {
        let _ = tool(&format!("sync {}", device.path()));
        std::fs::read(device.path()).is_ok_and(|bytes| bytes.iter().all(|found| *found == byte))
    };
    let job =
        format!("--rw=write --bs=64k --size=1m --direct=1 --ioengine=psync --name=a --filename={}", device.path());
    let refused = Run::new(Program::Ferrio, scratch.path(), &format!("run --readonly {job}")).finish();
    assert!(refused.code != Some(0) && !refused.stdout.contains("device-is-overwritten"), "{}", refused.all());
    assert!(holds(0), "--readonly has written");
    let file =
        findings_of(scratch.path(), "--name=a --rw=write --bs=64k --size=1m --direct=1 --ioengine=psync --directory=.");
    assert!(!has(&file, "device-is-overwritten") && holds(0), "{file:?}");
    assert!(has(&findings_of(scratch.path(), &job), "device-is-overwritten") && !holds(0));
}

/// The scheduler of a loop device, which outlives the device.
struct Scheduler(String);

impl Scheduler {
    fn bfq(device: &LoopDevice) -> Option<Self> {
        let setting = format!("/sys/block/{}/queue/scheduler", device.path().trim_start_matches("/dev/"));
        std::fs::write(&setting, "bfq").ok()?;
        Some(Self(setting))
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let _ = std::fs::write(&self.0, "none");
    }
}

#[test]
fn the_usual_weight_is_no_small_one() {
    let test = "the_usual_weight_is_no_small_one";
    let scratch = Scratch::new("cures-weight");
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    write_file(scratch.path(), "image", 16);
    let Some(device) = LoopDevice::new(&scratch, 16 << 20) else { return skip(test, "no loop device") };
    let Some(_scheduler) = Scheduler::bfq(&device) else { return skip(test, "the kernel has no scheduler bfq") };
    let small = (("io.bfq.weight", "10"), ("blkio.bfq.weight", "10"));
    let Some(group) = Group::new("weight", "blkio", small.0, small.1) else {
        return skip(test, "no control group with a weight can be made");
    };
    let job =
        format!("run --json --name=a --filename={} --rw=randread --bs=64k --direct=1 --ioengine=psync", device.path());
    let run = || -> Value {
        let finished = Run::new(Program::Ferrio, scratch.path(), &job).in_shell(&group.script()).finish().succeeded();
        serde_json::from_str(&finished.stdout).expect("JSON")
    };
    let weighted = run();
    assert!(has(&ids(&weighted["findings"]), "io-weight"), "{weighted}");
    assert!(group.set(("io.bfq.weight", "100"), ("blkio.bfq.weight", "100")));
    let usual = run();
    assert!(!has(&ids(&usual["findings"]), "io-weight") && count(&usual, "n_ios") == 256, "{usual}");
}

/// A device over a file without a name cannot be followed; one over the same data with a name can.
#[test]
fn a_device_whose_data_can_be_seen_is_seen() {
    let test = "a_device_whose_data_can_be_seen_is_seen";
    let scratch = Scratch::new("cures-unseen");
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let Some(device) = LoopDevice::new(&scratch, 4 << 20) else { return skip(test, "no loop device") };
    let file =
        std::fs::read_dir(scratch.path()).expect("a directory").flatten().next().expect("the file of the device");
    let job = format!("--name=a --filename={} --rw=read --bs=64k --direct=1 --ioengine=psync", device.path());
    let kept = scratch.join("kept");
    std::fs::rename(file.path(), &kept).expect("a file");
    std::fs::copy(&kept, file.path()).expect("a copy");
    let seen = findings_of(scratch.path(), "--name=a --filename=kept --rw=read --bs=64k --direct=1 --ioengine=psync");
    assert!(!has(&seen, "below-unseen"), "{seen:?}");
    std::fs::remove_file(&kept).expect("a file");
    let unseen = findings_of(scratch.path(), &job);
    assert!(has(&unseen, "below-unseen"), "{unseen:?}");
}

/// Direct writes behind the end of a file are done one after another, those to blocks that are there are not.
#[test]
fn submission_is_not_blocked_by_writes_to_written_files() {
    let test = "submission_is_not_blocked_by_writes_to_written_files";
    let scratch = Scratch::new("cures-blocked");
    let job = "--rw=write --bs=4k --size=8m --ioengine=libaio --iodepth=16 --direct=1 --fallocate=none";
    let attempt = Cell::new(0);
    let run = |more: &str| {
        attempt.set(attempt.get() + 1);
        document(scratch.path(), &format!("--name=a --filename=new-{} {job} {more}", attempt.get()))
    };
    if !succeeds_once(|| has(&ids(&run("")["findings"]), "submission-blocked")) {
        return skip(test, "this file system takes such writes at once");
    }
    assert!(succeeds_once(|| {
        let (blocked, cured) = (run(""), run("--overwrite=1"));
        !has(&ids(&cured["findings"]), "submission-blocked")
            && figure(&cured, "ios_per_sec") > figure(&blocked, "ios_per_sec")
    }));
    assert!(succeeds_once(|| {
        // One after another: the completion latency of the synchronous engine is the time of each.
        let one = run("--iodepth=1 --ioengine=psync");
        let found = ids(&one["findings"]);
        !has(&found, "submission-blocked") && !has(&found, "latency-without-submission") && depth(&one) > 0.7
    }));
}
