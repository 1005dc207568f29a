//! Commands and job files as people publish them, with sizes and times scaled down: each must run as printed, and make the
//! system calls that its author shows.
//!
//! Must not know: the implementation. Start reading at [`Scratch::run`]. Tests that need strace, root, a loop device or
//! XFS are skipped by name where these are missing.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "all of this file is test code")]

use ferrio_testing::skip;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const FERRIO: &str = env!("CARGO_BIN_EXE_ferrio");

/// A directory of its own on the disk of the build, removed at the end. Not the system's one for temporary files: that may
/// be in memory, where direct I/O means nothing.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Runs a command line (words between blanks) that must succeed without a word on the standard error; returns the
    /// standard output.
    fn run(&self, line: &str) -> String {
        let output = Command::new(FERRIO)
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{line}\n{stdout}");
        stdout
    }

    /// As `run`, under strace: the system calls with a given name, in order, without process ids and descriptors.
    /// `None` without strace.
    fn trace(&self, calls: &str, line: &str) -> Option<Vec<String>> {
        let log = self.0.join("strace.log");
        let traced = Command::new("strace")
            .args(["-f", "-s", "8", "-o"])
            .arg(&log)
            .args(["-e", &format!("trace={calls}"), FERRIO])
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output();
        if !traced.is_ok_and(|output| output.status.success()) {
            skip!(ferrio_testing::this_test(), "strace cannot be run here");
            return None;
        }
        let lines = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
        std::fs::remove_file(log).unwrap();
        // "123 call(...) = 0": the process id goes, and so do the ends of processes.
        let calls = whole_calls(&lines);
        // The supervisor looks for requests of a report while the jobs run.
        let is_of_jobs = |call: &str| !call.starts_with(['+', '-']) && !call.contains("fio-dump-status");
        Some(calls.iter().filter(|call| is_of_jobs(call)).map(|call| without_descriptor(call)).collect())
    }

    fn size_of(&self, name: &str) -> u64 {
        std::fs::metadata(self.0.join(name)).unwrap().len()
    }
}

/// Calls without process ids. strace splits a call into two lines if another process made one meanwhile; these are
/// joined.
fn whole_calls(trace: &str) -> Vec<String> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut calls = Vec::new();
    for (process, call) in trace.lines().filter_map(|line| line.split_once(' ')) {
        let call = call.trim_start();
        if let Some(beginning) = call.strip_suffix("<unfinished ...>") {
            begun.insert(process, beginning.trim_end());
        } else if let Some((_, end)) = call.strip_prefix("<... ").and_then(|call| call.split_once(" resumed>")) {
            let beginning = begun.remove(process).unwrap_or_default();
            let blank = if beginning.ends_with(',') { " " } else { "" };
            calls.push(beginning.to_owned() + blank + end);
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// `call(fd, ...)` for `call(3, ...)`: descriptors depend on the process that started the test.
fn without_descriptor(call: &str) -> String {
    match call.split_once('(') {
        Some((name, arguments)) if arguments.starts_with(|first: char| first.is_ascii_digit()) => {
            let rest = arguments.trim_start_matches(|digit: char| digit.is_ascii_digit());
            // Addresses begin with a digit too.
            if rest.starts_with(['x', '.']) { call.to_owned() } else { format!("{name}(fd{rest}") }
        }
        _ => call.to_owned(),
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Asserts that the calls occur in this order (others may come between them).
fn assert_order(calls: &[String], expected: &[&str], what: &str) {
    let mut rest = calls.iter();
    for wanted in expected {
        assert!(
            rest.any(|call| call.contains(wanted)),
            "{what}: {wanted:?} is not in its place in\n{}",
            calls.join("\n")
        );
    }
}

fn assert_none(calls: &[String], unwanted: &str, what: &str) {
    assert!(!calls.iter().any(|call| call.contains(unwanted)), "{what}: {unwanted:?} in\n{}", calls.join("\n"));
}

/// Offsets of a call's last number before the closing bracket, as in `pwrite64(5, "...", 4096, OFFSET)`.
fn aio_offsets(calls: &[String]) -> Vec<u64> {
    let offset = |call: &String| call.split("aio_offset=").nth(1)?.split('}').next()?.parse().ok();
    calls.iter().filter_map(offset).collect()
}

const BLOCKS: u64 = 256;
const INITIAL: &str =
    "--name=test --ioengine=libaio --blocksize=4k --nrfiles=1 --size=1m --end_fsync=1 --numjobs=1 --direct=1";
const CALLS: &str = "openat,unlink,unlinkat,fallocate,fadvise64,ftruncate,fsync,io_submit,io_getevents";

#[test]
fn initial_write_overwrite_append_and_read() {
    let scratch = Scratch::new("initial");
    let line = |more: &str| format!("{INITIAL} --directory={} {more}", scratch.0.display());
    let randwrite = line("--readwrite=randwrite");
    let Some(first) = scratch.trace(CALLS, &randwrite) else { return };
    let expected = [
        "ENOENT",
        "O_WRONLY|O_CREAT",
        "fallocate(fd, 0, 0, 1048576)",
        "fadvise64(fd, 0, 1048576, POSIX_FADV_DONTNEED)",
        "O_RDWR|O_CREAT|O_DIRECT",
        "0, 1048576, POSIX_FADV_DONTNEED)",
        "0, 1048576, POSIX_FADV_RANDOM)",
        "io_submit(",
        "io_getevents(",
        "IOCB_CMD_FSYNC",
    ];
    assert_order(&first, &expected, "first run");
    assert!(first.iter().filter(|call| call.starts_with("io_submit(")).all(|call| call.contains(", 1, [{")));
    assert!(first.iter().filter(|call| call.starts_with("io_getevents(")).all(|call| call.contains(", 1, 1, [{")));
    assert_eq!(aio_offsets(&first).len() as u64, BLOCKS);
    assert_eq!(scratch.size_of("test.0.0"), 1 << 20);
    // The file is used as it is, with or without overwrite=1.
    for again in [randwrite.clone(), format!("{randwrite} --overwrite=1")] {
        let calls = scratch.trace(CALLS, &again).unwrap();
        assert_none(&calls, "O_WRONLY|O_CREAT", &again);
        assert_none(&calls, "fallocate(", &again);
        assert!(!scratch.run(&again).contains("Laying out"));
    }
    let append = scratch.trace(CALLS, &format!("{randwrite} --file_append=1")).unwrap();
    assert_none(&append, "unlink", "append");
    assert_order(
        &append,
        &["fallocate(fd, 0, 0, 2097152)", "1048576, 1048576, POSIX_FADV_RANDOM)", "IOCB_CMD_FSYNC"],
        "append",
    );
    assert!(aio_offsets(&append).iter().all(|offset| (1 << 20..2 << 20).contains(offset)));
    assert_eq!(scratch.size_of("test.0.0"), 2 << 20);
    let read = scratch.trace(CALLS, &line("--readwrite=randread")).unwrap();
    assert_order(&read, &["O_RDONLY|O_DIRECT", "0, 1048576, POSIX_FADV_RANDOM)", "IOCB_CMD_PREAD"], "read");
    assert!(aio_offsets(&read).iter().all(|offset| *offset < 1 << 20));
    assert_none(&read, "fsync(", "read");
    assert_none(&read, "IOCB_CMD_FSYNC", "read");
}

#[test]
fn the_layout_is_announced_once() {
    let scratch = Scratch::new("announced");
    let line = format!("{INITIAL} --directory={} --readwrite=randwrite", scratch.0.display());
    assert!(scratch.run(&line).contains("test: Laying out IO file (1 file / 1MiB)\n"));
    assert!(!scratch.run(&line).contains("Laying out"));
}

/// A loop device over a file, detached at the end.
struct Loop {
    device: String,
    mounted: bool,
    scratch: Scratch,
}

impl Loop {
    fn new(test: &str, bytes: u64) -> Option<Self> {
        let scratch = Scratch::new(test);
        let image = scratch.0.join("image");
        std::fs::File::create(&image).unwrap().set_len(bytes).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        match output {
            Ok(output) if output.status.success() => {
                let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
                Some(Self { device, mounted: false, scratch })
            }
            _ => {
                skip!(ferrio_testing::this_test(), "no loop device can be set up here");
                None
            }
        }
    }

    /// Makes an XFS on it and mounts that; the mount point.
    fn mount_xfs(&mut self) -> Option<PathBuf> {
        let place = self.scratch.0.join("mnt");
        std::fs::create_dir(&place).unwrap();
        let done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        if !done(Command::new("mkfs.xfs").args(["-q", &self.device]))
            || !done(Command::new("mount").arg(&self.device).arg(&place))
        {
            skip!(ferrio_testing::this_test(), "no XFS can be made and mounted here");
            return None;
        }
        self.mounted = true;
        Some(place)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg(self.scratch.0.join("mnt")).status();
        }
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

#[test]
fn each_preallocation_has_its_own_call_and_extents() {
    const SIZE: u64 = 8 << 20;
    let Some(mut device) = Loop::new("xfs", 400 << 20) else { return };
    let Some(place) = device.mount_xfs() else { return };
    // The option, the call, the length of the file after the layout, and whether its blocks are there by then.
    let table = [
        ("none", "", 0, false),
        ("native", "fallocate(fd, 0, 0, 8388608)", SIZE, true),
        ("posix", "fallocate(fd, 0, 0, 8388608)", SIZE, true),
        ("keep", "fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8388608)", 0, true),
        ("truncate", "ftruncate(fd, 8388608)", SIZE, false),
    ];
    for (kind, call, length, has_blocks) in table {
        let name = format!("{}/{kind}", place.display());
        let line = format!(
            "--name=w --filename={name} --rw=randwrite --bs=1m --size=8m --direct=1 --ioengine=libaio --fallocate={kind}"
        );
        let Some(calls) = device.scratch.trace("fallocate,ftruncate", &format!("{line} --create_only=1")) else {
            return;
        };
        let found: Vec<&str> = calls.iter().map(|call| call.split(" = ").next().unwrap().trim_end()).collect();
        let expected: Vec<&str> = if call.is_empty() { Vec::new() } else { vec![call] };
        assert_eq!(found, expected, "{kind}");
        let data = std::fs::metadata(&name).unwrap();
        assert_eq!((data.len(), data.blocks() * 512 >= SIZE), (length, has_blocks), "{kind}");
        let report = device.scratch.run(&line);
        assert!(report.contains("issued rwts: total=0,8,0,0"), "{report}");
        assert_eq!(std::fs::metadata(&name).unwrap().len(), SIZE, "{kind}");
    }
}

const BASELINES: [(&str, &str, &str); 4] = [
    ("write_throughput", "write", "1M"),
    ("write_iops", "randwrite", "4K"),
    ("read_throughput", "read", "1M"),
    ("read_iops", "randread", "4K"),
];

fn depth_of(block: &str) -> u32 {
    if block == "1M" { 64 } else { 256 }
}

#[test]
fn four_baselines() {
    let scratch = Scratch::new("baselines");
    for (name, rw, block) in BASELINES {
        let depth = depth_of(block);
        let report = scratch.run(&format!(
            "--name={name} --directory={} --ioengine=libaio --direct=1 --rw={rw} --numjobs=16 --time_based --runtime=1s \
             --ramp_time=200ms --group_reporting --size=4M --bs={block} --iodepth={depth} --iodepth_batch_submit={depth} \
             --iodepth_batch_complete_max={depth}",
            scratch.0.display()
        ));
        assert!(report.contains("Starting 16 processes\n"), "{report}");
        assert!(report.contains(&format!("\n{name}: (groupid=0, jobs=16): err= 0: pid=")), "{report}");
        let direction = if rw.ends_with("write") { "write" } else { "read" };
        assert_report_block(&report, direction, depth);
    }
}

/// The lines of a result block, in the order in which the document prints them.
fn assert_report_block(report: &str, direction: &str, depth: u32) {
    let mut rest = report.lines();
    let group = format!("{}: bw=", direction.to_uppercase());
    let latency = format!("latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth={depth}");
    let expected = [
        &format!("  {direction}: IOPS="),
        "    slat (",
        "    clat (",
        "     lat (",
        "    clat percentiles (",
        "  cpu          : usr=",
        "  IO depths    : 1=",
        "     submit    : 0=",
        "     complete  : 0=",
        "     issued rwts: total=",
        latency.as_str(),
        "Run status group 0 (all jobs):",
        group.as_str(),
    ];
    for wanted in expected {
        assert!(rest.any(|line| line.contains(wanted)), "no {wanted:?} in its place in\n{report}");
    }
}

#[test]
fn a_raw_device() {
    const TEST: &str = "a_raw_device";
    let Some(device) = Loop::new("raw", 64 << 20) else { return };
    let report = device.scratch.run(&format!(
        "--name=write_iops --filename={} --filesize=32M --ioengine=libaio --direct=1 --rw=randwrite --numjobs=16 \
         --time_based --runtime=1s --ramp_time=200ms --group_reporting --bs=4K --iodepth=256 --iodepth_batch_submit=256 \
         --iodepth_batch_complete_max=256",
        device.device
    ));
    assert!(!report.contains("Laying out"), "{TEST}: a device is not laid out\n{report}");
    assert_report_block(&report, "write", 256);
    let disk = device.device.trim_start_matches("/dev/");
    assert!(report.contains(&format!("  {disk}: ios=0/")), "{report}");
    assert!(report.contains(", sectors=0/"), "{report}");
}

#[test]
fn a_job_file_in_all_formats() {
    let scratch = Scratch::new("jobfile");
    let mut file = format!(
        "[global]\nioengine=libaio\ndirect=1\nnumjobs=4\nstonewall\nramp_time=200ms\nruntime=1s\nsize=4M\ntime_based\n\n\
         directory={}\n",
        scratch.0.display()
    );
    let sections = [
        ("write1M-seq-throughput", "1M", "write"),
        ("write4K-rand-iops", "4K", "randwrite"),
        ("read1M-seq-throughput", "1M", "read"),
        ("read4K-rand-iops", "4K", "randread"),
    ];
    for (name, block, rw) in sections {
        let depth = depth_of(block);
        write!(
            file,
            "\n[{name}]\nbs={block}\nrw={rw}\niodepth={depth}\niodepth_batch_submit={depth}\niodepth_batch_complete_max={depth}\n"
        )
        .unwrap();
    }
    std::fs::write(scratch.0.join("jobfile.conf"), file).unwrap();
    assert_eq!(scratch.run("--output output.fio --output-format terse,json,json+,normal jobfile.conf"), "");
    let output = std::fs::read_to_string(scratch.0.join("output.fio")).unwrap();
    let (before_json, rest) = output.split_at(output.find("\n{").unwrap() + 1);
    assert_eq!(before_json.lines().filter(|line| line.starts_with("3;fio-3.42")).count(), 16, "{before_json}");
    let mut documents = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
    let document = documents.next().unwrap().unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 16);
    let groups: Vec<u64> = jobs.iter().map(|job| job["groupid"].as_u64().unwrap()).collect();
    assert_eq!(groups, [[0; 4], [1; 4], [2; 4], [3; 4]].concat());
    assert!(jobs[0]["write"]["clat_ns"]["bins"].is_object(), "json+ has histograms");
    assert_eq!(document["global options"]["ramp_time"], "200ms");
    let normal = &rest[documents.byte_offset()..];
    assert_eq!(normal.matches("Run status group ").count(), 4, "{normal}");
}

#[test]
fn files_and_sizes_of_the_basics() {
    let scratch = Scratch::new("basics");
    for (line, file, bytes) in [
        ("-rw=write -name=test --size=10M", "test.0.0", 10 << 20),
        ("--rw=write --name=test --size=10M --filename=file1", "file1", 10 << 20),
        ("-rw=write -name=other -size=20M --direct=1", "other.0.0", 20 << 20),
        ("--rw=write --name=blocks --size=20M --direct=1 --bs=1024k", "blocks.0.0", 20 << 20),
    ] {
        let report = scratch.run(line);
        assert!(report.contains("WRITE: bw="), "{line}\n{report}");
        assert!(!report.contains("slat ("), "a synchronous engine has no submission latency\n{report}");
        assert_eq!(scratch.size_of(file), bytes, "{line}");
    }
}

#[test]
fn mixes_jobs_and_depths_of_the_basics() {
    let scratch = Scratch::new("mixes");
    let mixed = scratch.run("-rw=readwrite --name=test --size=20M --direct=1 --bs=1024k --rwmixread=80");
    let totals = mixed.split("issued rwts: total=").nth(1).unwrap().split(' ').next().unwrap();
    let counts: Vec<u64> = totals.split(',').map(|count| count.parse().unwrap()).collect();
    assert_eq!(counts[0] + counts[1], 20, "{mixed}");
    assert!(counts[0] > counts[1], "{mixed}");
    let two = scratch.run("-rw=readwrite --name=two --size=5M --direct=1 --bs=1024k --numjobs=2");
    assert_eq!(two.matches("two: (groupid=0, jobs=1): err= 0").count(), 2, "{two}");
    assert_eq!((scratch.size_of("two.0.0"), scratch.size_of("two.1.0")), (5 << 20, 5 << 20));
    let one = scratch.run("--rw=readwrite --name=two --size=5M --direct=1 --bs=1024k --numjobs=2 --group_reporting");
    assert_eq!(one.matches("two: (groupid=0, jobs=2): err= 0").count(), 1, "{one}");
    let deep =
        scratch.run("--rw=readwrite --name=test --size=20M --direct=1 --bs=1024k --ioengine=libaio --iodepth=16");
    assert!(deep.contains("iodepth=16\n") && deep.contains("slat ("), "{deep}");
    assert!(deep.contains("depth=16\n"), "{deep}");
    let timed = scratch
        .run("--rw=readwrite --name=two --size=2M --bs=64k --numjobs=2 --group_reporting --runtime=1 --time_based");
    let run = timed.split("run=").nth(1).unwrap().split('-').next().unwrap();
    assert!(run.parse::<u64>().unwrap() >= 1_000, "{timed}");
}

#[test]
fn contents_of_the_basics() {
    let scratch = Scratch::new("contents");
    let line = "-rw=write --name=intel520-run0 --bs=128k --direct=1 --filename=data --size=4M --numjobs=1 --ioengine=libaio -iodepth=32";
    let distinct_blocks = |scratch: &Scratch| {
        let data = std::fs::read(scratch.0.join("data")).unwrap();
        // A sample of a block without the stamps at the start of each sector and line.
        let sample = |block: &[u8]| block[512 - 64..512].to_vec();
        let blocks: std::collections::HashSet<Vec<u8>> = data.chunks_exact(128 << 10).map(sample).collect();
        (blocks.len(), data.iter().all(|byte| *byte == 0))
    };
    scratch.run(&format!("{line} --zero_buffers"));
    assert_eq!(distinct_blocks(&scratch), (1, true), "zeroes");
    scratch.run(&format!("{line} --refill_buffers"));
    assert_eq!(distinct_blocks(&scratch), (32, false), "every block is new");
}

const SYSTEM_CALLS: &str = "-direct=1 -bs=4k -size=1M -numjobs=1 -group_reporting -filename=test.db";

#[test]
fn random_and_sequential_writes_by_their_calls() {
    let scratch = Scratch::new("calls");
    let random = format!("-name=randwrite -rw=randwrite -ioengine=sync {SYSTEM_CALLS}");
    let data_calls = |calls: Vec<String>| -> Vec<String> {
        // A question for the position, which comes with the reading of a whole file of /proc, moves nothing.
        let is_seek = |call: &String| call.starts_with("lseek(") && !call.contains(", 0, SEEK_CUR)");
        let is_data = |call: &String| is_seek(call) || (call.starts_with("write(") && call.ends_with("= 4096"));
        calls.into_iter().filter(is_data).collect()
    };
    let Some(calls) = scratch.trace("lseek,write", &random) else { return };
    let calls = data_calls(calls);
    let writes = calls.iter().filter(|call| call.starts_with("write(")).count() as u64;
    assert_eq!(writes, BLOCKS);
    // A seek before each write, unless the previous write ended at its offset.
    let seeks = calls.len() as u64 - writes;
    assert!(seeks > BLOCKS * 9 / 10, "{seeks} seeks");
    assert!(calls.iter().filter(|call| call.starts_with("lseek(")).all(|call| call.contains("SEEK_SET")));
    let sequential = format!("-name=write -rw=write -ioengine=sync {SYSTEM_CALLS}");
    let calls = data_calls(scratch.trace("lseek,write", &sequential).unwrap());
    assert_eq!(calls.iter().filter(|call| call.starts_with("write(")).count() as u64, BLOCKS);
    assert!(calls.len() as u64 <= BLOCKS + 1, "no seeks between sequential writes");
}

#[test]
fn submission_latency_only_with_an_engine_that_queues() {
    let scratch = Scratch::new("latency");
    let synchronous = scratch.run(&format!("-name=randwrite -rw=randwrite -ioengine=sync {SYSTEM_CALLS}"));
    assert!(!synchronous.contains("slat ("), "{synchronous}");
    let document =
        scratch.run(&format!("-name=randwrite -rw=randwrite -ioengine=libaio {SYSTEM_CALLS} --output-format=json"));
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let write = &document["jobs"][0]["write"];
    let mean = |kind: &str| write[kind]["mean"].as_f64().unwrap();
    assert!(mean("slat_ns") > 0.0);
    // Each latency is truncated to whole nanoseconds, so the sum may differ by up to two.
    assert!((mean("lat_ns") - mean("slat_ns") - mean("clat_ns")).abs() <= 2.0, "{write}");
}
