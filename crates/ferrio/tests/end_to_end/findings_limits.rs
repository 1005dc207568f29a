//! Findings about limits of the process and of its control group, made for real, each beside a control that differs in one setting.
//!
//! Start reading at [`checked_in`].

use crate::findings::{findings_of, has, ids};
use crate::findings_host::Group;
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, tool, unmount};
use serde_json::Value;

/// The findings before a run of a program that a script starts.
fn checked_in(scratch: &Scratch, script: &str, arguments: &str) -> Vec<String> {
    let run = Run::new(Program::Ferrio, scratch.path(), &format!("check --json {arguments}")).in_shell(script);
    let finished = run.finish();
    ids(&serde_json::from_str::<Value>(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()))["findings"])
}

/// A script that sets a limit of the shell (`-n 256`), and starts the program without the privilege to exceed it.
fn without_privilege(limit: &str, privilege: &str) -> String {
    format!("ulimit {limit} && exec setpriv --bounding-set=-{privilege} --inh-caps=-{privilege} \"$0\" \"$@\"")
}

#[test]
fn buffers_that_may_not_be_registered_are_told() {
    let test = "buffers_that_may_not_be_registered_are_told";
    if !is_root(test) || !has_programs(test, &["setpriv"]) {
        return;
    }
    let scratch = Scratch::new("findings-memlock");
    let script = without_privilege("-l 1024", "ipc_lock");
    let job = "--name=a --ioengine=io_uring --rw=randread --direct=1 --size=16m --bs=64k";
    let told = |arguments: &str| has(&checked_in(&scratch, &script, arguments), "locked-memory-limit");
    assert!(told(&format!("{job} --iodepth=32 --fixedbufs")));
    assert!(!told(&format!("{job} --iodepth=8 --fixedbufs")));
    assert!(!told(&format!("{job} --iodepth=32")));
    assert!(told("--name=a --ioengine=psync --rw=read --direct=1 --size=16m --lockmem=2m"));
    let free = checked_in(&scratch, "exec \"$0\" \"$@\"", &format!("{job} --iodepth=32 --fixedbufs"));
    assert!(!has(&free, "locked-memory-limit"), "root may lock any amount");
    // What is told comes true.
    let locking = "run --name=a --ioengine=psync --rw=write --end_fsync=1 --size=1m --lockmem";
    let run = |bytes: &str| Run::new(Program::Ferrio, scratch.path(), &format!("{locking}={bytes}")).in_shell(&script);
    assert_ne!(run("2m").finish().code, Some(0));
    assert_eq!(run("64k").finish().code, Some(0));
}

#[test]
fn files_that_may_not_all_be_open_are_told() {
    let test = "files_that_may_not_all_be_open_are_told";
    if !is_root(test) || !has_programs(test, &["setpriv"]) {
        return;
    }
    let scratch = Scratch::new("findings-nofile");
    let script = without_privilege("-n 256", "sys_resource");
    let job = "--name=a --ioengine=psync --rw=write --end_fsync=1 --size=1200k --nrfiles=300";
    let told = |script: &str, arguments: &str| has(&checked_in(&scratch, script, arguments), "open-file-limit");
    assert!(told(&script, job));
    assert!(!told(&script, &format!("{job} --openfiles=16")));
    assert!(!told("ulimit -Sn 256 && exec \"$0\" \"$@\"", job), "ferrio raises the limit itself");
    // What is told comes true.
    let run = |more: &str| Run::new(Program::Ferrio, scratch.path(), &format!("run {job} {more}")).in_shell(&script);
    assert_ne!(run("").finish().code, Some(0));
    assert_eq!(run("--openfiles=16").finish().code, Some(0));
}

#[test]
fn a_cpu_quota_is_told_before_the_run() {
    let test = "a_cpu_quota_is_told_before_the_run";
    if !is_root(test) {
        return;
    }
    let half = (("cpu.max", "50000 100000"), ("cpu.cfs_quota_us", "50000"));
    let Some(group) = Group::new("quota-set", "cpu", half.0, half.1) else {
        return skip(test, "no control group with a CPU quota can be made");
    };
    let scratch = Scratch::new("findings-quota-set");
    let job = "--name=a --ioengine=psync --rw=randread --size=4m --direct=1";
    assert!(has(&checked_in(&scratch, &group.script(), job), "cpu-quota-set"));
    // The time of one CPU is enough for one worker.
    assert!(group.set(("cpu.max", "100000 100000"), ("cpu.cfs_quota_us", "100000")));
    assert!(!has(&checked_in(&scratch, &group.script(), job), "cpu-quota-set"));
}

#[test]
fn a_limit_of_memory_is_told_before_the_run() {
    let test = "a_limit_of_memory_is_told_before_the_run";
    if !is_root(test) {
        return;
    }
    let bytes = (64 << 20).to_string();
    let Some(group) = Group::new("memory", "memory", ("memory.max", &bytes), ("memory.limit_in_bytes", &bytes)) else {
        return skip(test, "no control group with a limit of memory can be made");
    };
    let scratch = Scratch::new("findings-memory-limit");
    let told = |arguments: &str| checked_in(&scratch, &group.script(), arguments);
    let queued = "--name=a --ioengine=libaio --rw=randread --size=64m --direct=1 --bs=1m --iodepth";
    assert!(has(&told(&format!("{queued}=65")), "buffers-exceed-memory"));
    assert!(!has(&told(&format!("{queued}=64")), "buffers-exceed-memory"));
    let file = "--name=a --ioengine=psync --rw=randread --bs=4k";
    let buffered = told(&format!("{file} --size=65m"));
    if has(&buffered, "target-in-memory") {
        return skip(test, "the directory of the tests is in memory");
    }
    assert!(has(&buffered, "page-cache-limited"), "{buffered:?}");
    for right in ["--size=64m", "--size=65m --direct=1"] {
        assert!(!has(&told(&format!("{file} {right}")), "page-cache-limited"), "{right}");
    }
}

/// The largest trim that the kernel sends to a device. The setting outlives a loop device, so it is put back.
struct LargestTrim {
    path: String,
    /// The kernel takes whole units only.
    before: u64,
}

impl LargestTrim {
    fn of(device: &LoopDevice) -> Option<Self> {
        let queue = format!("/sys/block/{}/queue", device.path().trim_start_matches("/dev/"));
        let number = |name: &str| std::fs::read_to_string(format!("{queue}/{name}")).ok()?.trim().parse::<u64>().ok();
        let unit = number("discard_granularity").filter(|unit| *unit > 0)?;
        let before = number("discard_max_bytes")? / unit * unit;
        Some(Self { path: format!("{queue}/discard_max_bytes"), before })
    }

    fn set(&self, bytes: u64) -> bool {
        std::fs::write(&self.path, bytes.to_string()).is_ok()
    }
}

impl Drop for LargestTrim {
    fn drop(&mut self) {
        self.set(self.before);
    }
}

/// A file system in memory without holes, over a directory.
struct Ramfs(Scratch);

impl Ramfs {
    fn new(name: &str) -> Option<Self> {
        let scratch = Scratch::new(name);
        tool(&format!("mount -t ramfs none {}", scratch.path().display()))?;
        Some(Self(scratch))
    }
}

impl Drop for Ramfs {
    fn drop(&mut self) {
        unmount(self.0.path());
    }
}

fn trims(device: &LoopDevice) -> String {
    format!("--name=a --filename={} --rw=trim --ioengine=psync --size=16m --bs", device.path())
}

#[test]
fn trims_that_the_device_takes_in_parts_are_told() {
    let test = "trims_that_the_device_takes_in_parts_are_told";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new("findings-trims");
    let Some(device) = LoopDevice::new(&scratch, 32 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    let Some(_setting) = LargestTrim::of(&device).filter(|setting| setting.set(1 << 20)) else {
        return skip(test, "the loop device takes no trims");
    };
    let found = |bs: &str| findings_of(scratch.path(), &format!("{}={bs}", trims(&device)));
    assert!(has(&found("4m"), "trims-split"));
    assert!(!has(&found("1m"), "trims-split"));
}

#[test]
fn a_device_that_takes_no_trims_is_told() {
    let test = "a_device_that_takes_no_trims_is_told";
    if !is_root(test) || !has_programs(test, &["losetup", "mount", "umount"]) {
        return;
    }
    let (scratch, ramfs) = (Scratch::new("findings-trimmed"), Ramfs::new("findings-untrimmed"));
    let devices = ramfs
        .as_ref()
        .and_then(|ramfs| Some((LoopDevice::new(&scratch, 32 << 20)?, LoopDevice::new(&ramfs.0, 32 << 20)?)));
    let Some((with, without)) = devices else {
        return skip(test, "no loop devices can be set up");
    };
    let told = |device: &LoopDevice| {
        let job = format!("{}=1m", trims(device));
        let is_told = has(&checked_in(&scratch, "exec \"$0\" \"$@\"", &job), "trims-refused");
        let code = Run::new(Program::Ferrio, scratch.path(), &format!("run {job}")).finish().code;
        (is_told, code == Some(0))
    };
    if LargestTrim::of(&with).is_none() {
        return skip(test, "the loop device takes no trims");
    }
    assert_eq!(told(&with), (false, true));
    // What is told comes true.
    assert_eq!(told(&without), (true, false));
}

#[test]
fn pages_that_an_earlier_job_leaves_are_told() {
    let scratch = Scratch::new("findings-left");
    let here = "exec \"$0\" \"$@\"";
    let found = |writer: &str, reader: &str| {
        let common = "--filename=f --size=8m --bs=64k --ioengine=psync";
        let jobs = format!("{common} --name=w --rw=write {writer} --name=r --rw=read --stonewall {reader}");
        checked_in(&scratch, here, &jobs)
    };
    if has(&found("", ""), "target-in-memory") {
        return skip("pages_that_an_earlier_job_leaves_are_told", "the directory of the tests is in memory");
    }
    let told = |writer: &str, reader: &str| has(&found(writer, reader), "cached-by-earlier-job");
    assert!(told("", "") && !told("--end_fsync=1", "") && !told("", "--direct=1"));
    assert!(told("--end_fsync=1", "--invalidate=0"));
}

#[test]
fn too_few_ios_for_the_percentiles_are_told_before() {
    let scratch = Scratch::new("findings-few");
    let job = "--name=a --ioengine=psync --rw=randread --direct=1 --bs=4k";
    let told =
        |more: &str| has(&checked_in(&scratch, "exec \"$0\" \"$@\"", &format!("{job} {more}")), "few-ios-planned");
    assert!(told("--size=1m") && told("--size=16m --percentile_list=50:99.99"));
    assert!(!told("--size=1m --time_based --runtime=10") && !told("--size=16m"));
}
