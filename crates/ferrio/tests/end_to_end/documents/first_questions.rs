//! "What to decide before a test": file or device, size, cache, block size, order, contents, jobs, depth, time.

use crate::outline::{assert_same_outline, outline};
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip};

/// Commands of the document with sizes divided by 10, and the files after each, with their sizes in KiB.
const COMMANDS: [(&str, &[(&str, u64)]); 12] = [
    ("-rw=write -name=test --size=1M", &[("test.0.0", 1024)]),
    ("--rw=write --name=test --size=1M --filename=file1", &[("file1", 1024)]),
    ("-rw=write -name=test -size=2M", &[("test.0.0", 2048)]),
    ("-rw=write -name=test --size=2M --direct=1", &[("test.0.0", 2048)]),
    ("--rw=write --name=test --size=2M --direct=1 --bs=1024k", &[("test.0.0", 2048)]),
    ("-rw=readwrite --name=test --size=2M --direct=1 --bs=128k", &[("test.0.0", 2048)]),
    ("-rw=readwrite --name=test --size=2M --direct=1 --bs=128k --rwmixread=80", &[("test.0.0", 2048)]),
    ("-rw=readwrite --name=test --size=5M --direct=1 --bs=128k --numjobs=2", &TWO_FILES),
    ("--rw=readwrite --name=test --size=5M --direct=1 --bs=128k --numjobs=2 --group_reporting", &TWO_FILES),
    ("--rw=readwrite --name=test --size=5M --direct=1 --bs=128k --ioengine=libaio --iodepth=16", &[("test.0.0", 5120)]),
    (
        "--rw=readwrite --name=test --size=5M --direct=1 --bs=128k --numjobs=2 --group_reporting --runtime=20",
        &TWO_FILES,
    ),
    (
        "--rw=readwrite --name=test --size=5M --direct=1 --bs=128k --numjobs=2 --group_reporting --runtime=1 --time_based",
        &TWO_FILES,
    ),
];

const TWO_FILES: [(&str, u64); 2] = [("test.0.0", 5120), ("test.1.0", 5120)];

#[test]
fn commands_make_their_files_and_report_as_the_peer_does() {
    let name = "commands_make_their_files_and_report_as_the_peer_does";
    let programs: &[Program] = if peer_too(name) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for (arguments, files) in COMMANDS {
        let mut outlines = Vec::new();
        for program in programs {
            let scratch = Scratch::new("first-questions");
            let report = Run::new(*program, scratch.path(), arguments).finish().succeeded().quiet().stdout;
            let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
            assert_eq!(scratch.names(), names, "{program:?} {arguments}");
            for (file, kibibytes) in files {
                let size = std::fs::metadata(scratch.join(file)).expect("the file").len();
                assert_eq!(size, kibibytes << 10, "{program:?} {arguments}");
            }
            outlines.push(outline(&report, arguments.contains("time_based")));
        }
        if let [ours, theirs] = &outlines[..] {
            assert_same_outline(arguments, ours, theirs);
        }
    }
}

fn report_of(scratch: &Scratch, arguments: &str) -> String {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded().quiet().stdout
}

/// Reads and writes of `issued rwts: total=R,W,T,S`.
fn issued(report: &str) -> (u64, u64) {
    let line = report.lines().find_map(|line| line.trim().strip_prefix("issued rwts: total=")).expect("the line");
    let counts: Vec<u64> = line.split([',', ' ']).take(2).map(|count| count.parse().expect("a count")).collect();
    (counts[0], counts[1])
}

#[test]
fn figures_that_do_not_depend_on_the_machine() {
    let scratch = Scratch::new("figures");
    let report = report_of(&scratch, "--rw=write --name=test --size=2M --direct=1 --bs=1024k");
    assert!(report.starts_with(
        "test: (g=0): rw=write, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=psync, iodepth=1\n"
    ));
    assert_eq!(issued(&report), (0, 2));
    let (reads, writes) = issued(&report_of(&scratch, "--rw=readwrite --name=test --size=20M --bs=16k"));
    assert!(reads + writes == 1280 && reads > 576 && writes > 576, "{reads} {writes}");
    let (reads, writes) = issued(&report_of(&scratch, "--rw=readwrite --name=test --size=20M --bs=16k --rwmixread=80"));
    assert!(reads + writes == 1280 && reads > 4 * writes * 9 / 10 && reads < 4 * writes * 11 / 10, "{reads} {writes}");
    // 50 I/Os fill a depth of 16 one by one and keep it: 1, 2, 4, 8 and 35 of 50.
    let depth_16 = "--rw=readwrite --name=test --size=6400k --direct=1 --bs=128k --ioengine=libaio --iodepth=16";
    let report = report_of(&scratch, depth_16);
    assert!(
        report.contains("IO depths    : 1=2.0%, 2=4.0%, 4=8.0%, 8=16.0%, 16=70.0%, 32=0.0%, >=64=0.0%\n"),
        "{report}"
    );
    // A runtime is an upper bound: all of both files is done. With time_based it is the time of the run.
    let two = "--rw=readwrite --name=test --size=2M --direct=1 --bs=128k --numjobs=2 --group_reporting";
    let (reads, writes) = issued(&report_of(&scratch, &format!("{two} --runtime=20")));
    assert_eq!(reads + writes, 32);
    let report = report_of(&scratch, &format!("{two} --runtime=1 --time_based"));
    let run = report.lines().find_map(|line| line.trim().strip_prefix("READ: ")).expect("the group's line");
    let run_ms: u64 = run.split(['=', '-', 'm']).rev().nth(2).and_then(|text| text.parse().ok()).expect("the runtime");
    assert!(run_ms >= 1000, "{run}");
}

/// The I/O that finishes first gives its buffer to block number `depth`. Returns the share of bytes that this block has
/// in common with the most similar one of the first `depth` blocks.
fn share_of_equal_bytes(data: &[u8], depth: usize) -> f64 {
    let blocks: Vec<&[u8]> = data.chunks(128 << 10).take(depth + 1).collect();
    let n_equal = |block: &&[u8]| block.iter().zip(blocks[depth]).filter(|(a, b)| a == b).count();
    blocks[..depth].iter().map(n_equal).max().unwrap_or(0) as f64 / blocks[depth].len() as f64
}

#[test]
fn contents_of_a_device() {
    let name = "contents_of_a_device";
    if !is_root(name) || !has_programs(name, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new(name);
    let Some(device) = LoopDevice::new(&scratch, 8 << 20) else { return skip(name, "no loop device") };
    let command = format!(
        "-rw=write --name=intel520-run0 --bs=128k --direct=1 --filename={} --numjobs=1 --ioengine=libaio -iodepth=4",
        device.path()
    );
    let contents = |option: &str| {
        let report = report_of(&scratch, &format!("{command} {option}"));
        assert_eq!(issued(&report), (0, 64), "the whole device without a size");
        std::fs::read(device.path()).expect("the device")
    };
    let (plain, zeroes, refilled) = (contents(""), contents("-zero_buffers"), contents("--refill_buffers"));
    assert!(share_of_equal_bytes(&plain, 4) > 0.9, "buffers are used again");
    assert!(zeroes.iter().all(|byte| *byte == 0));
    assert!(share_of_equal_bytes(&refilled, 4) < 0.05, "buffers are filled anew");
}
