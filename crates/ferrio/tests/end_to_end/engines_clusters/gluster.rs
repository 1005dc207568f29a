//! A `GlusterFS` volume of one brick. What is written is in the directory of the brick.
//!
//! Start reading at any test.

use super::{Cluster, figure, offsets};
use crate::support::{Program, Running, send};
use rustix::process::Signal;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

fn volume(cluster: &Cluster, engine: &str) -> String {
    format!(
        "--ioengine={engine} --volume={} --brick={}",
        cluster.setting("GLUSTER_VOLUME"),
        cluster.setting("GLUSTER_HOST")
    )
}

#[test]
fn a_volume_holds_what_is_written() {
    let test = "a_volume_holds_what_is_written";
    let Some(cluster) = gluster(test) else { return };
    let brick = cluster.counterpart.directory.join("brick");
    for (engine, more) in
        [("gfapi", ""), ("gfapi_async", "--iodepth=8"), ("gfapi", "--thread --single-instance=1 --direct=1")]
    {
        let job = volume(&cluster, engine);
        let written = cluster.run(&format!(
            "{job} --verify=pattern --verify_pattern=%o --rw=write --bs=64k --size=1m --filename=f --fsync=4 --end_fsync=1 {more}"
        ));
        assert_eq!(written.code, Some(0), "{}", written.all());
        assert_eq!((figure(&written, "/write/total_ios"), figure(&written, "/read/total_ios")), (16, 16));
        assert!(fs::read(brick.join("f")).expect("a file") == offsets(16, 64 << 10), "{engine} {more}");
        fs::remove_file(brick.join("f")).expect("a file");
    }
    let job = volume(&cluster, "gfapi");
    // Each file has a handle of its own.
    let two = cluster.run(&format!("{job} --rw=write --bs=64k --size=512k --nrfiles=2"));
    assert_eq!(two.code, Some(0), "{}", two.all());
    for name in ["t.0.0", "t.0.1"] {
        assert_eq!(fs::metadata(brick.join(name)).expect("a file").len(), 256 << 10);
    }
    // A file that is read is filled first.
    let read = cluster.run(&format!("{job} --rw=read --bs=64k --size=1m --filename=filled"));
    assert_eq!((read.code, figure(&read, "/read/total_ios")), (Some(0), 16), "{}", read.all());
    assert_eq!(fs::metadata(brick.join("filled")).expect("a file").len(), 1 << 20);
    let cut = cluster.run(&format!("{job} --rw=write --bs=4k --size=10000 --filename=cut"));
    assert_eq!((cut.code, figure(&cut, "/write/total_ios")), (Some(0), 2), "{}", cut.all());
    cluster.is_refused(
        &format!("{job} --volume=none --rw=write --bs=4k --size=4k"),
        "glfs_init failed. Is glusterd running on brick?",
    );
    cluster.is_refused(&format!("{job} --filename=none/file --rw=write --bs=4k --size=4k"), "glfs_creat failed.");
}

/// A server, which is the only one at its time: its port is fixed.
struct Gluster {
    cluster: Cluster,
    // The server ends before another one may begin.
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Gluster {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

/// `None`: this machine cannot run it, and the test is reported as skipped.
fn gluster(test: &str) -> Option<Gluster> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Gluster { cluster: Cluster::start(test, "gluster-volume", &[])?, _turn: turn })
}

/// A job that runs until it is ended, whose I/Os have reached the brick. The options end with the name of its file.
fn start(cluster: &Cluster, engine: &str, options: &str) -> Running {
    let (_, name) = options.rsplit_once("--filename=").expect("a name");
    let job = format!("{} --bs=4k --size=1m", volume(cluster, engine));
    let written = cluster.run(&format!("{job} --rw=write --filename={name}"));
    assert_eq!(written.code, Some(0), "{}", written.all());
    let file = cluster.counterpart.directory.join("brick").join(name);
    let changed_at = || fs::metadata(&file).map(|file| (file.ctime(), file.ctime_nsec())).ok();
    let before = changed_at();
    let options = format!("{job} {options} --time_based --runtime=100000");
    let mut running = cluster.job(Program::Ferrio, &options).start();
    running.wait_until("I/O", |_| changed_at() != before);
    running
}

#[test]
fn trims_free_blocks_of_the_brick() {
    let test = "trims_free_blocks_of_the_brick";
    let Some(cluster) = gluster(test) else { return };
    let file = cluster.counterpart.directory.join("brick/f");
    for (engine, more) in [("gfapi", ""), ("gfapi_async", "--iodepth=4")] {
        let job = volume(&cluster, engine);
        let options = format!("{job} --bs=64k --size=1m --filename=f {more}");
        let written = cluster.run(&format!("{options} --rw=write --end_fsync=1"));
        assert_eq!(written.code, Some(0), "{}", written.all());
        let n_blocks = fs::metadata(&file).expect("a file").blocks();
        let trimmed = cluster.run(&format!("{options} --rw=trim"));
        assert_eq!((trimmed.code, figure(&trimmed, "/trim/total_ios")), (Some(0), 16), "{}", trimmed.all());
        let after = fs::metadata(&file).expect("a file");
        assert_eq!(after.len(), 1 << 20);
        assert!(after.blocks() < n_blocks, "{engine}: {} of {n_blocks} blocks", after.blocks());
    }
}

#[test]
fn a_brick_that_hangs_holds_no_stopped_job() {
    let test = "a_brick_that_hangs_holds_no_stopped_job";
    let Some(cluster) = gluster(test) else { return };
    for (engine, options) in [
        ("gfapi", "--rw=randwrite --filename=f"),
        ("gfapi_async", "--rw=randwrite --iodepth=4 --filename=f"),
        ("gfapi_async", "--rw=randtrim --iodepth=4 --filename=f"),
        // Nothing is in flight, but files are to be closed.
        ("gfapi_async", "--rw=randwrite --rate_iops=1,1,1 --filename=f"),
    ] {
        let running = start(&cluster, engine, options);
        let frozen = cluster.counterpart.freeze("brick");
        send(running.pid(), Signal::INT);
        let stopped = running.finish();
        drop(frozen);
        assert_eq!(stopped.code, Some(128), "{options}: {}", stopped.all());
    }
}

#[test]
fn a_brick_that_is_killed_ends_the_job() {
    let test = "a_brick_that_is_killed_ends_the_job";
    let Some(cluster) = gluster(test) else { return };
    let jobs = [
        ("gfapi", "--rw=randwrite --filename=a"),
        ("gfapi_async", "--rw=randwrite --iodepth=4 --filename=b"),
        ("gfapi_async", "--rw=randtrim --iodepth=4 --filename=c"),
    ];
    let running = jobs.map(|(engine, options)| start(&cluster, engine, options));
    send(cluster.counterpart.process("brick"), Signal::KILL);
    for (running, (engine, options)) in running.into_iter().zip(jobs) {
        let ended = running.finish();
        let said = ended.all();
        assert_eq!(ended.code, Some(1), "{options}: {said}");
        // The first is what I/Os in flight meet, the second those that come when the library has seen that the connection is gone.
        let losses = [
            ("Transport endpoint is not connected", "no brick of the volume that has this file is reachable"),
            ("File descriptor in bad state", "the brick that has this file was lost while the file was open"),
        ];
        let is_told = losses.iter().any(|(error, hint)| said.contains(error) && said.contains(hint));
        assert!(is_told, "{options}: {said}");
        // A job that comes later ends, too.
        let late = cluster.run(&format!("{} --bs=4k --size=1m {options}", volume(&cluster, engine)));
        assert_eq!(late.code, Some(1), "{options}: {}", late.all());
    }
}
