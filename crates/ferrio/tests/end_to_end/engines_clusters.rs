//! `ioengine=rados`, `rbd`, `gfapi` and `gfapi_async`: refusals before the first I/O, and real clusters of one node, which
//! `.ci/nightly` installs. What the engines write is read back by the programs of the clusters.
//!
//! Start reading at [`Cluster`]. No test waits for a time.

mod ceph;
mod gluster;

use crate::counterparts::Counterpart;
use crate::support::{Finished, Program, Run, Scratch, peer_too};
use serde_json::Value;
use std::process::{Command, Output, Stdio};

/// A run with these options, without a server.
fn alone(options: &str) -> Finished {
    let scratch = Scratch::new("cluster");
    let common = "--name=t --rw=write --bs=4k --size=64k";
    Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).without_env("CEPH_CONF").finish()
}

#[test]
fn a_job_that_cannot_reach_anything_says_why() {
    for (options, line) in [
        ("--ioengine=rados", "rados pool name must be provided."),
        ("--ioengine=rbd", "rbd pool name must be provided."),
        ("--ioengine=rbd --pool=p", "rbdname must be provided."),
        (
            "--ioengine=rbd --pool=p --rbdname=i --rbd_encryption_format=luks1",
            "rbd_encryption_passphrase is required when a rbd_encryption_format is specified.",
        ),
        (
            "--ioengine=rbd --pool=p --rbdname=i --rbd_encryption_format=foo --rbd_encryption_passphrase=x",
            "Unknown rbd_encryption_format: foo",
        ),
        ("--ioengine=gfapi", "volume must be provided"),
        ("--ioengine=gfapi_async --volume=v", "brick must be provided"),
    ] {
        let refused = alone(options);
        let said = refused.all();
        assert!(refused.code == Some(1) && said.contains(line), "{options}: {said}");
    }
}

/// Monitors that take connections and say nothing.
#[test]
fn what_a_connection_waits_for_is_said() {
    let scratch = Scratch::new("cluster");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let place = silent.local_addr().expect("an address");
    let conf = format!("[global]\nmon_host = {place}\nauth_client_required = none\n");
    std::fs::write(scratch.join("ceph.conf"), conf).expect("a file");
    let options = "--name=t --rw=write --bs=4k --size=64k --runtime=1 --ioengine=rados --pool=p --conf=ceph.conf";
    let refused = Run::new(Program::Ferrio, scratch.path(), options).finish();
    let said = refused.all();
    assert_eq!(refused.code, Some(1), "{said}");
    if !said.contains("install the Debian package librados2") {
        let step = said.contains("the monitors of the cluster have not answered");
        assert!(step && said.contains("no connection was made within runtime"), "{said}");
    }
}

#[test]
fn an_absent_library_is_said_with_its_package_and_others_with_the_step() {
    for (options, package, step) in [
        ("--ioengine=rados --pool=p --conf=/nonexistent", "librados2", "rados_conf_read_file failed."),
        ("--ioengine=rbd --pool=p --rbdname=i --clientname=x/y", "librbd1", "rados_conf_read_file failed."),
        // No host has this name.
        (
            "--ioengine=gfapi --volume=v --brick=nohost.invalid",
            "libgfapi0",
            "glfs_init failed. Is glusterd running on brick?",
        ),
    ] {
        let refused = alone(options);
        let said = refused.all();
        let is_absent = said.contains(&format!("install the Debian package {package}"));
        assert!(refused.code == Some(1) && (is_absent || said.contains(step)), "{options}: {said}");
    }
}

/// A server, and jobs on it.
struct Cluster {
    counterpart: Counterpart,
    scratch: Scratch,
}

impl Cluster {
    fn start(test: &str, name: &str, arguments: &[&str]) -> Option<Self> {
        let counterpart = Counterpart::start_with(test, name, arguments)?;
        Some(Self { counterpart, scratch: Scratch::new("cluster") })
    }

    fn setting(&self, key: &str) -> &str {
        self.counterpart.setting(key)
    }

    fn job(&self, program: Program, options: &str) -> Run {
        let run = Run::new(program, self.scratch.path(), &format!("--name=t {options}"));
        run.env("CEPH_CONF", self.setting("CEPH_CONF"))
    }

    fn run(&self, options: &str) -> Finished {
        self.job(Program::Ferrio, &format!("{options} --output-format=json")).finish()
    }

    /// Runs a program of the cluster.
    fn tool(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).current_dir(self.scratch.path());
        command.env("CEPH_CONF", self.setting("CEPH_CONF")).output().expect("a program of the cluster")
    }

    /// The same with arguments without blanks; it succeeds.
    fn done_by(&self, program: &str, arguments: &str) -> String {
        let output = self.tool(program, &arguments.split_whitespace().collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{program} {arguments}: {said}{}", String::from_utf8_lossy(&output.stderr));
        said
    }

    /// The counts of a job: issued by direction, and bytes, by ferrio and, where it runs, the peer.
    fn counts(&self, test: &str, options: &str) -> Vec<[u64; 6]> {
        let programs = [Program::Ferrio, Program::Peer];
        let n_programs = if peer_too(test) { 2 } else { 1 };
        let of_one = |program: &Program| {
            let finished = self.job(*program, &format!("{options} --output-format=json")).finish();
            assert_eq!(finished.code, Some(0), "{}", finished.all());
            let paths = [
                "/read/total_ios",
                "/write/total_ios",
                "/trim/total_ios",
                "/sync/total_ios",
                "/read/io_bytes",
                "/write/io_bytes",
            ];
            paths.map(|path| figure(&finished, path))
        };
        programs[..n_programs].iter().map(of_one).collect()
    }

    /// The job fails with an error of an I/O; the report is there.
    fn fails(&self, options: &str, errno: u64, says: &str) {
        let failed = self.run(options);
        let said = failed.all();
        assert!(failed.code == Some(1) && said.contains(says), "{options}: {said}");
        assert_eq!(figure(&failed, "/error"), errno, "{options}: {said}");
    }

    /// The job fails before its first I/O.
    fn is_refused(&self, options: &str, says: &str) {
        let refused = self.run(options);
        let said = refused.all();
        assert!(refused.code == Some(1) && said.contains(says), "{options}: {said}");
    }
}

/// The first job of a document.
fn first_job(finished: &Finished) -> Value {
    let text = &finished.stdout;
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {}", finished.all()));
    let document: Value =
        serde_json::Deserializer::from_str(&text[begin..]).into_iter().next().expect("one").expect("JSON");
    document["jobs"][0].clone()
}

/// A number of the first job.
fn figure(finished: &Finished, path: &str) -> u64 {
    first_job(finished).pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {}", finished.all()))
}

/// Contents in which each block of 4 KiB holds its own offset again and again, as `verify_pattern=%o` writes them.
fn offsets(n_blocks: u64, block_bytes: u64) -> Vec<u8> {
    (0..n_blocks).flat_map(|block| (block * block_bytes).to_le_bytes().repeat(block_bytes as usize / 8)).collect()
}
