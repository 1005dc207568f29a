//! A Ceph cluster of one monitor, one manager and one OSD.
//!
//! Start reading at any test.

use super::{Cluster, figure, offsets};
use crate::counterparts::receives_signals;
use crate::support::{Program, send};
use rustix::process::Signal;
use std::fs;

const WRITTEN: &str = "--verify=pattern --verify_pattern=%o --do_verify=1 --rw=write";

fn rados(cluster: &Cluster) -> String {
    format!(
        "--ioengine=rados --pool={} --conf={} --clientname=admin",
        cluster.setting("CEPH_POOL"),
        cluster.setting("CEPH_CONF")
    )
}

fn rbd(cluster: &Cluster) -> String {
    format!(
        "--ioengine=rbd --pool={} --rbdname={} --clientname=admin",
        cluster.setting("CEPH_POOL"),
        cluster.setting("RBD_IMAGE")
    )
}

#[test]
fn objects_hold_what_is_written() {
    let test = "objects_hold_what_is_written";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    let (rados, pool) = (rados(&cluster), cluster.setting("CEPH_POOL"));
    for more in ["", "--thread --busy_poll=1"] {
        let written = cluster.run(&format!("{rados} {WRITTEN} {more} --bs=64k --size=1m --iodepth=8 --filename=whole"));
        assert_eq!(written.code, Some(0), "{}", written.all());
        assert_eq!((figure(&written, "/write/total_ios"), figure(&written, "/read/total_ios")), (16, 16));
        cluster.done_by("rados", &format!("-p {pool} get whole got"));
        assert_eq!(fs::read(cluster.scratch.join("got")).expect("an object"), offsets(16, 64 << 10));
    }
    // A trim is zeroes, and the object keeps its size.
    let trimmed = cluster.run(&format!("{rados} --rw=trim --bs=64k --offset=128k --size=64k --filename=whole"));
    assert_eq!((trimmed.code, figure(&trimmed, "/trim/total_ios")), (Some(0), 1), "{}", trimmed.all());
    cluster.done_by("rados", &format!("-p {pool} get whole got"));
    let mut expected = offsets(16, 64 << 10);
    expected[128 << 10..192 << 10].fill(0);
    assert!(fs::read(cluster.scratch.join("got")).expect("an object") == expected);
    // One object for each file, made before the first I/O; the last block does not go beyond the size.
    for options in [
        "--rw=randrw --bs=16k --size=1m --nrfiles=2 --iodepth=4",
        "--rw=write --bs=4k --size=10000",
        "--rw=randread --bs=4k --size=256k --filename=none",
        "--rw=read --bs=4k --size=64k --filename=missing --touch_objects=0",
        "--rw=trim --bs=4k --size=64k --filename=whole",
    ] {
        let counts = cluster.counts(test, &format!("{rados} {options}"));
        assert!(
            counts.iter().all(|each| *each == counts[0] && each[..3].iter().sum::<u64>() > 0),
            "{options}: {counts:?}"
        );
    }
    let names = cluster.done_by("rados", &format!("-p {pool} ls"));
    let has = |name: &str| names.lines().any(|line| line == name);
    assert!(has("t.0.0") && has("t.0.1") && has("none") && !has("missing"), "{names}");
}

#[test]
fn faults_of_rados_are_errors() {
    let test = "faults_of_rados_are_errors";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    let (rados, pool) = (rados(&cluster), cluster.setting("CEPH_POOL"));
    let write = "--rw=write --bs=64k --size=256k";
    cluster.is_refused(&format!("{rados} {write} --pool=none"), "rados_ioctx_create failed.");
    cluster.is_refused(&format!("{rados} {write} --clientname=nobody"), "rados_connect failed.");
    cluster.is_refused(&format!("{rados} {write} --clientname=reader"), "has no permission");
    let warning = "WARNING: Only DDIR_READ, DDIR_WRITE and DDIR_TRIM are supported!";
    cluster.fails(&format!("{rados} {write} --fsync=1"), 22, warning);
    cluster.fails(&format!("{rados} {write} --end_fsync=1"), 22, warning);
    cluster.fails(&format!("{rados} {write} --clientname=reader --touch_objects=0"), 1, "Operation not permitted");
    cluster.fails(&format!("{rados} --rw=write --bs=4k --offset=128m --size=4k"), 27, "File too large");
    // A client that may only read reads.
    assert_eq!(cluster.run(&format!("{rados} {write} --filename=o")).code, Some(0));
    let read = cluster
        .run(&format!("{rados} --clientname=reader --touch_objects=0 --rw=read --bs=64k --size=256k --filename=o"));
    assert_eq!((read.code, figure(&read, "/read/total_ios")), (Some(0), 4), "{}", read.all());
    // A pool that is full.
    cluster.done_by("ceph", &format!("osd pool set-quota {pool} max_objects 1"));
    // The servers hear of the quota a few seconds later. A full pool takes what makes it no larger, so that each run has an object of
    // its own.
    let mut runs = (0..200).map(|index| cluster.run(&format!("{rados} {write} --filename=o{index}")));
    let full = runs.find(|run| run.code != Some(0)).expect("the quota is in force");
    assert!(full.code == Some(1) && full.all().contains("is full, or has reached its quota"), "{}", full.all());
}

#[test]
fn an_image_holds_what_is_written() {
    let test = "an_image_holds_what_is_written";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    let (rbd, pool, image) = (rbd(&cluster), cluster.setting("CEPH_POOL"), cluster.setting("RBD_IMAGE"));
    let image = format!("{pool}/{image}");
    for more in ["", "--direct=1 --thread --busy_poll=1"] {
        let written = cluster.run(&format!("{rbd} {WRITTEN} {more} --bs=64k --size=4m --iodepth=8 --fsync=16"));
        assert_eq!(written.code, Some(0), "{}", written.all());
        assert_eq!((figure(&written, "/write/total_ios"), figure(&written, "/read/total_ios")), (64, 64));
        cluster.done_by("rbd", &format!("export --no-progress {image} got"));
        let got = fs::read(cluster.scratch.join("got")).expect("an image");
        fs::remove_file(cluster.scratch.join("got")).expect("it is there");
        assert_eq!(got.len(), 256 << 20);
        assert!(got[..4 << 20] == offsets(64, 64 << 10)[..]);
    }
    for options in [
        "--rw=write --bs=64k --size=4m --iodepth=8 --fsync=16",
        "--rw=randrw --bs=64k --size=4m --iodepth=16 --end_fsync=1",
        "--rw=randread --bs=4k --io_size=1m --direct=1",
        "--rw=trim --bs=64k --size=1m",
        "--rw=write --bs=4k --size=10000",
    ] {
        let counts = cluster.counts(test, &format!("{rbd} {options}"));
        assert!(
            counts.iter().all(|each| *each == counts[0] && each[..3].iter().sum::<u64>() > 0),
            "{options}: {counts:?}"
        );
    }
    // A size beyond the end is cut: 256 MiB of blocks of 1 MiB.
    let cut = cluster.run(&format!("{rbd} --rw=read --bs=1m --size=1g --iodepth=4"));
    assert_eq!((cut.code, figure(&cut, "/read/total_ios")), (Some(0), 256), "{}", cut.all());
    assert!(cluster.scratch.names().iter().all(|name| name != "t.0.0"), "no local file is laid out");
}

#[test]
fn an_encrypted_image_is_opened_with_its_passphrase() {
    let test = "an_encrypted_image_is_opened_with_its_passphrase";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    let pool = cluster.setting("CEPH_POOL");
    fs::write(cluster.scratch.join("key"), "secret").expect("a file");
    cluster.done_by("rbd", &format!("create --size 64M {pool}/hidden"));
    cluster.done_by("rbd", &format!("encryption format {pool}/hidden luks2 key"));
    let job =
        format!("--ioengine=rbd --pool={pool} --clientname=admin --rbd_encryption_format=luks2 --bs=64k --size=1m");
    let written = cluster.run(&format!("{job} --rbdname=hidden --rbd_encryption_passphrase=secret {WRITTEN}"));
    assert_eq!((written.code, figure(&written, "/read/total_ios")), (Some(0), 16), "{}", written.all());
    // What is stored is not what was written.
    cluster.done_by("rbd", &format!("export --no-progress {pool}/hidden got"));
    let got = fs::read(cluster.scratch.join("got")).expect("an image");
    let block = (64_u64 << 10).to_le_bytes().repeat(16);
    assert!(!got.windows(block.len()).step_by(8).any(|window| window == block));
    let read = "--rw=read --rbd_encryption_passphrase";
    cluster.is_refused(&format!("{job} --rbdname=hidden {read}=wrong"), "rbd_encryption_load failed.");
    cluster.is_refused(
        &format!("{job} --rbdname={} {read}=secret", cluster.setting("RBD_IMAGE")),
        "rbd_encryption_load failed.",
    );
}

#[test]
fn faults_of_rbd_are_errors() {
    let test = "faults_of_rbd_are_errors";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    let rbd = rbd(&cluster);
    let write = "--rw=write --bs=64k --size=256k";
    cluster.is_refused(&format!("{rbd} {write} --rbdname=none"), "rbd_open failed.");
    cluster.is_refused(&format!("{rbd} {write} --pool=none"), "rados_ioctx_create failed.");
    cluster.is_refused(&format!("{rbd} {write} --clientname=nobody"), "rados_connect failed.");
    cluster.fails(&format!("{rbd} {write} --fdatasync=1"), 22, "func=xfer");
    // A client that may only read images reads, and does not write.
    let profile = "profile rbd-read-only";
    let viewer = cluster.tool("ceph", &["auth", "get-or-create", "client.viewer", "mon", profile, "osd", profile]);
    let path = cluster.counterpart.directory.join("keyring");
    let all = fs::read_to_string(&path).expect("keys") + &String::from_utf8_lossy(&viewer.stdout);
    fs::write(&path, all).expect("a keyring");
    let read = cluster.run(&format!("{rbd} --clientname=viewer --rw=read --bs=64k --size=256k"));
    assert_eq!((read.code, figure(&read, "/read/total_ios")), (Some(0), 4), "{}", read.all());
    let refused = cluster.run(&format!("{rbd} --clientname=viewer {write}"));
    assert!(refused.code == Some(1), "{}", refused.all());
}

#[test]
fn a_cluster_that_does_not_answer_does_not_hold_a_stopped_run() {
    let test = "a_cluster_that_does_not_answer_does_not_hold_a_stopped_run";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    for job in [rados(&cluster), rbd(&cluster)] {
        let mut running = cluster
            .job(
                Program::Ferrio,
                &format!("{job} --rw=randwrite --bs=4k --size=1m --iodepth=4 --time_based --runtime=600"),
            )
            .start();
        running.wait_until("I/O", |running| !running.jobs().is_empty());
        let frozen = cluster.counterpart.freeze("osd.0");
        send(running.pid(), Signal::INT);
        // The limit of all runs of the tests would end it.
        let stopped = running.finish();
        drop(frozen);
        assert!(stopped.signal.is_none() && stopped.code.is_some(), "{}", stopped.all());
    }
    // No monitor is at this address.
    let conf = fs::read_to_string(cluster.setting("CEPH_CONF")).expect("a configuration");
    let changed =
        |line: &str| if line.starts_with("mon_host") { "mon_host = 127.0.0.1:1".to_owned() } else { line.to_owned() };
    let mut conf: Vec<String> = conf.lines().map(changed).collect();
    conf.insert(1, "client_mount_timeout = 1".to_owned());
    cluster.scratch.write("nowhere", conf.join("\n") + "\n");
    let conf = cluster.scratch.join("nowhere");
    let options = format!("{} --conf={} --rw=write --bs=4k --size=4k", rados(&cluster), conf.display());
    cluster.is_refused(&options, "no monitor of the cluster has answered");
    let job = cluster.job(Program::Ferrio, &format!("{} --rw=read --bs=4k", rbd(&cluster)));
    let refused = job.env("CEPH_CONF", &conf.display().to_string()).finish();
    assert!(
        refused.code == Some(1) && refused.all().contains("no monitor of the cluster has answered"),
        "{}",
        refused.all()
    );
}

#[test]
fn an_osd_that_is_killed_for_good_holds_no_job() {
    let test = "an_osd_that_is_killed_for_good_holds_no_job";
    let Some(cluster) = Cluster::start(test, "ceph-cluster", &["memory"]) else { return };
    let pool = cluster.setting("CEPH_POOL");
    let start = |job: String| {
        let options = format!("{job} --rw=randwrite --bs=4k --size=1m --iodepth=4 --time_based --runtime=100000");
        cluster.job(Program::Ferrio, &options).start()
    };
    let mut jobs = [start(rados(&cluster)), start(rbd(&cluster))];
    let said = |arguments: &[&str]| String::from_utf8_lossy(&cluster.tool("rados", arguments).stdout).into_owned();
    // The object is made before the first write, and is empty.
    jobs[0].wait_until("writes", |_| {
        let said = said(&["-p", pool, "stat", "t.0.0"]);
        said.contains("size ") && !said.contains("size 0")
    });
    jobs[1].wait_until("writes", |_| said(&["-p", pool, "ls"]).contains("rbd_data."));
    send(cluster.counterpart.process("osd.0"), Signal::KILL);
    for running in jobs {
        send(running.pid(), Signal::INT);
        let stopped = running.finish();
        assert_eq!(stopped.code, Some(128), "{}", stopped.all());
    }
    // What comes later: the monitor answers, but no OSD does.
    for job in [rados(&cluster), rbd(&cluster)] {
        let mut running = start(job);
        running.wait_until("a program that hears signals", |running| receives_signals(running.pid()));
        send(running.pid(), Signal::INT);
        let stopped = running.finish();
        assert_eq!(stopped.code, Some(128), "{}", stopped.all());
    }
}
