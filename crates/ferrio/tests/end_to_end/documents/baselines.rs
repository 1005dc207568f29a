//! "Baseline tests of a disk": four commands with 16 jobs and batches, one on a device, a job file in all formats.

use crate::outline::{assert_same_outline, outline};
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip};
use serde_json::Value;

/// Options that all commands share; the document has `--runtime=5m --ramp_time=2s --size=1G`.
const COMMON: &str = "--ioengine=libaio --direct=1 --numjobs=16 --time_based --runtime=1s --ramp_time=100ms \
                      --group_reporting";

/// Block, rw, depth of the four commands; the document has blocks of 1 MiB where this has 64 KiB.
const COMMANDS: [(&str, &str, &str, u32); 4] = [
    ("write_throughput", "write", "64K", 64),
    ("write_iops", "randwrite", "4K", 256),
    ("read_throughput", "read", "64K", 64),
    ("read_iops", "randread", "4K", 256),
];

fn batches(depth: u32) -> String {
    format!("--iodepth={depth} --iodepth_batch_submit={depth} --iodepth_batch_complete_max={depth}")
}

#[test]
fn four_commands_with_sixteen_jobs() {
    let name = "four_commands_with_sixteen_jobs";
    let with_peer = peer_too(name);
    for (job, rw, block, depth) in COMMANDS {
        let scratch = Scratch::new(job);
        let batches = batches(depth);
        let arguments = format!("--name={job} --directory=. {COMMON} --rw={rw} --bs={block} --size=2M {batches}");
        let ours = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded().quiet().stdout;
        assert!(ours.contains("Starting 16 processes\n"), "{ours}");
        assert!(ours.contains(&format!("{job}: (groupid=0, jobs=16): err= 0: pid=")), "{ours}");
        assert!(share(&ours, "IO depths    :", ">=64=") >= 99.0, "{ours}");
        assert!(share(&ours, "submit    :", " 0=") < 50.0, "{ours}");
        assert!(ours.contains(&format!("depth={depth}\n")), "{ours}");
        let files = (0..16).map(|clone| scratch.join(&format!("{job}.{clone}.0")));
        assert!(files.into_iter().all(|file| std::fs::metadata(file).is_ok_and(|data| data.len() == 2 << 20)));
        if with_peer {
            let theirs = Run::new(Program::Peer, scratch.path(), &arguments)
                .recorded("documents", &[])
                .finish()
                .succeeded()
                .stdout;
            assert_same_outline(job, &after_layout(&ours), &after_layout(&theirs));
        }
    }
}

/// The outline without the notes on the layout: the peer's runs find the files that are there. And without samples: with so
/// much in flight a window of them may outlast the runtime on a slow disk.
fn after_layout(report: &str) -> Vec<String> {
    outline(report, false).into_iter().filter(|line| !line.contains("Laying out")).collect()
}

/// A percentage of a line such as `IO depths : 1=0.0%, ..., >=64=100.0%`.
fn share(report: &str, line: &str, key: &str) -> f64 {
    let line = report.lines().find(|text| text.trim_start().starts_with(line)).expect("the line");
    let value = line.split(key).nth(1).and_then(|rest| rest.split('%').next()).expect("the key");
    value.parse().expect("a percentage")
}

#[test]
fn random_writes_on_a_device() {
    let name = "random_writes_on_a_device";
    if !is_root(name) || !has_programs(name, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new(name);
    let Some(device) = LoopDevice::new(&scratch, 64 << 20) else { return skip(name, "no loop device") };
    let arguments = format!(
        "--name=write_iops --filename={} --filesize=32M {COMMON} --rw=randwrite --bs=4K {}",
        device.path(),
        batches(256)
    );
    let report = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded().quiet().stdout;
    assert!(report.contains("write_iops: (groupid=0, jobs=16): err= 0: pid="), "{report}");
    let device_name = device.path().trim_start_matches("/dev/");
    let disk = report.lines().find(|line| line.trim_start().starts_with(&format!("{device_name}: ios=0/")));
    let disk = disk.unwrap_or_else(|| panic!("no line of the device\n{report}"));
    for figure in [" sectors=0/", " merge=0/", " ticks=0/", " in_queue=", " util="] {
        assert!(disk.contains(figure), "{disk}");
    }
    // Only the first half of the device was written.
    let image = std::fs::read(scratch.join("loop.img")).expect("the image");
    assert!(image[..32 << 20].chunks(4096).any(|block| block.iter().any(|byte| *byte != 0)));
    assert!(image[32 << 20..].iter().all(|byte| *byte == 0));
}

/// The job file as printed, with `runtime=5m`, `ramp_time=2s`, `size=2G`, `bs=1M` made smaller.
const JOB_FILE: &str = "[global]
ioengine=libaio
direct=1
numjobs=16
stonewall
ramp_time=100ms
runtime=1s
size=2M
time_based

directory=.

[write1M-seq-throughput]
bs=64K
rw=write
iodepth=64
iodepth_batch_submit=64
iodepth_batch_complete_max=64

[write4K-rand-iops]
bs=4K
rw=randwrite
iodepth=256
iodepth_batch_submit=256
iodepth_batch_complete_max=256

[read1M-seq-throughput]
bs=64K
rw=read
iodepth=64
iodepth_batch_submit=64
iodepth_batch_complete_max=64

[read4K-rand-iops]
bs=4K
rw=randread
iodepth=256
iodepth_batch_submit=256
iodepth_batch_complete_max=256
";

/// The parts of an output file in their order: start-up lines, lines of terse, one document (json+ replaces json), the
/// report for people.
struct Output {
    start: String,
    n_terse: usize,
    document: Value,
    report: String,
}

fn split_formats(text: &str) -> Output {
    let (head, rest) = text.split_at(text.find("{\n").expect("a document"));
    let (document, report) = rest.split_at(rest.find("\n}\n").expect("the end of the document") + 3);
    let (terse, start): (Vec<&str>, Vec<&str>) = head.lines().partition(|line| line.starts_with("3;"));
    let document = serde_json::from_str(document).expect("valid JSON");
    Output { start: start.join("\n"), n_terse: terse.len(), document, report: report.to_owned() }
}

#[test]
fn a_job_file_in_all_formats() {
    let name = "a_job_file_in_all_formats";
    let programs: &[Program] = if peer_too(name) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    let scratch = Scratch::new(name);
    scratch.write("jobfile.conf", JOB_FILE);
    let mut outlines = Vec::new();
    for program in programs {
        let arguments = "--output output.fio --output-format terse,json,json+,normal jobfile.conf";
        let run = Run::new(*program, scratch.path(), arguments)
            .recorded("documents", &["output.fio"])
            .finish()
            .succeeded()
            .quiet();
        assert_eq!(run.stdout, "", "everything is in the file");
        let output = split_formats(&scratch.read("output.fio"));
        assert_eq!(output.n_terse, 64, "{program:?}");
        assert_eq!(output.document["jobs"].as_array().map(Vec::len), Some(64), "{program:?}");
        let last = &output.document["jobs"][63];
        assert_eq!(last["jobname"], "read4K-rand-iops");
        assert_eq!(last["groupid"], 3);
        assert!(last["read"]["clat_ns"]["bins"].is_object(), "json+ has the buckets");
        assert_eq!(output.report.matches("Run status group").count(), 4, "{}", output.report);
        outlines.push((after_layout(&output.start), outline(&output.report, false)));
    }
    if let [(our_start, ours), (their_start, theirs)] = &outlines[..] {
        assert_same_outline(name, our_start, their_start);
        assert_same_outline(name, ours, theirs);
    }
}
