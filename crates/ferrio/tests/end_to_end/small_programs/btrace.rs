//! `ferrio btrace` beside `fio-btrace2fio`: figures of traces, and jobs that imitate them.
//!
//! Start reading at [`figures_are_those_of_the_peer`]. fio's program leaves out traces of devices that are not there.

use crate::support::{Finished, Program, Run, Scratch, has_programs, peer_too, skip};
use crate::traces::{DISCARD, Event, FLUSH, READ, WRITE, trace};
use serde_json::Value;
use std::process::Command;

const COMPLETE: u32 = 8;

fn btrace(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("btrace {arguments}")).finish()
}

/// A recording with a number of I/Os, of which `depth` are in flight: every third is a write, every second begins where the
/// one before in its direction ended.
fn recording(n_ios: u32, depth: usize, device: (u32, u32)) -> Vec<Event> {
    let mut events = Vec::new();
    let mut in_flight: Vec<Event> = Vec::new();
    let mut ends = [0_u64; 2];
    let mut time_ns = 1_000;
    for number in 0..n_ios {
        let is_write = number % 3 == 2;
        let bytes = if number % 4 == 0 { 8192 } else { 4096 };
        let end = &mut ends[usize::from(is_write)];
        let sector = if number % 2 == 0 { *end } else { u64::from(number) * 1_000_003 % (1 << 20) * 8 };
        *end = sector + u64::from(bytes) / 512;
        let category = if is_write { WRITE } else { READ };
        let event = Event { sector, bytes, device, ..Event::new(number, time_ns, category) };
        events.push(event);
        in_flight.push(event);
        time_ns += 20_000;
        if in_flight.len() == depth {
            events.push(Event { kind: COMPLETE, time_ns, ..in_flight.remove(0) });
        }
        time_ns += 5_000;
    }
    events.extend(in_flight.into_iter().map(|event| Event { kind: COMPLETE, time_ns: time_ns + 1, ..event }));
    events
}

fn figures(scratch: &Scratch, arguments: &str) -> Value {
    let finished = btrace(scratch, &format!("{arguments} --json")).succeeded().quiet();
    serde_json::from_str(&finished.stdout).expect("JSON")
}

/// Major and minor number of a disk of this machine.
fn a_disk() -> Option<(u32, u32)> {
    let partitions = std::fs::read_to_string("/proc/partitions").ok()?;
    let mut words = partitions.lines().nth(2)?.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The numbers behind a word of the peer's text, in their order.
fn told(text: &str, word: &str) -> Vec<u64> {
    let number =
        |rest: &str| rest.trim_start().chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    text.split(word).skip(1).filter_map(number).collect()
}

/// The peer's text, with processes of any size.
fn of_peer(scratch: &Scratch, arguments: &[&str]) -> String {
    let mut command = Command::new("fio-btrace2fio");
    let output = command.args(["-t", "0", "-n", "1"]).args(arguments).current_dir(scratch.path()).output();
    String::from_utf8_lossy(&output.expect("the peer runs").stdout).into_owned()
}

#[test]
fn figures_are_those_of_the_peer() {
    let test = "figures_are_those_of_the_peer";
    if !has_programs(test, &["fio-btrace2fio"]) {
        return;
    }
    let Some(device) = a_disk() else {
        skip(test, "no disk in /proc/partitions");
        return;
    };
    let scratch = Scratch::new(test);
    for depth in [1, 4, 16] {
        scratch.write("trace", trace(&recording(3000, depth, device)));
        let theirs = of_peer(&scratch, &["trace"]);
        let ours = figures(&scratch, "trace");
        let task = &ours["processes"][0];
        let both = |key: &str| ["read", "write"].map(|of| task[of][key].as_u64().expect("a number")).to_vec();
        assert_eq!(both("n_ios"), told(&theirs, "ios:"), "{theirs}");
        assert_eq!(both("n_sequential"), told(&theirs, "seq:"), "{theirs}");
        assert_eq!(vec![task["max_depth"].as_u64().expect("a depth")], told(&theirs, "depth:"), "{theirs}");
        // The options that both programs make of them.
        let theirs = of_peer(&scratch, &["-f", "trace"]);
        let ours = btrace(&scratch, "trace").succeeded().quiet().stdout;
        for option in ["direct", "iodepth", "rw", "rwmixread", "percentage_random"] {
            let line =
                |text: &str| text.lines().find(|line| line.starts_with(&format!("{option}="))).map(str::to_owned);
            // The peer's synchronous jobs have no depth.
            if option != "iodepth" || depth > 1 {
                assert_eq!(line(&ours), line(&theirs), "{ours}\n{theirs}");
            }
        }
    }
}

/// A recording has a file for each CPU.
#[test]
fn files_of_one_recording_are_one_trace() {
    let scratch = Scratch::new("btrace-cpus");
    let whole = recording(600, 4, (8, 0));
    scratch.write("whole", trace(&whole));
    for cpu in 0..3 {
        let part: Vec<Event> = whole.iter().skip(cpu).step_by(3).copied().collect();
        scratch.write(&format!("part.{cpu}"), trace(&part));
    }
    let (one, all) = (figures(&scratch, "whole"), figures(&scratch, "part.0 part.1 part.2"));
    assert_eq!(one["n_events"], 1200);
    // Of events at the same time those of the first file come first, so that only depth and pauses may differ.
    for key in ["read", "write", "start_bytes", "end_bytes", "first_ns", "last_ns"] {
        assert_eq!(one["processes"][0][key], all["processes"][0][key], "{key}");
    }
    assert_eq!((&one["n_completed"], &one["devices"]), (&all["n_completed"], &all["devices"]));
}

#[test]
fn a_trace_becomes_a_job() {
    let scratch = Scratch::new("btrace");
    scratch.write("trace", trace(&recording(3000, 4, (8, 0))));
    btrace(&scratch, "trace -o job.fio").succeeded().quiet();
    let job = scratch.read("job.fio");
    for line in [
        "filename=ferrio-btrace.data",
        "[pid1234]",
        "rw=randrw",
        "rwmixread=67",
        "bssplit=4096/75:8192/25,4096/75:8192/25",
        "ioengine=libaio",
        "iodepth=4",
        "size=1073741824",
        // 2,000 reads and 1,000 writes in 2,999 steps of 25 us.
        "rate_iops=26676,13338,",
        "runtime=1",
        "time_based",
    ] {
        assert!(job.lines().any(|found| found == line), "no {line} in\n{job}");
    }
    assert!(job.lines().all(|line| line.len() <= 80), "{job}");
}

#[test]
fn jobs_are_understood_by_both() {
    let test = "jobs_are_understood_by_both";
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    let scratch = Scratch::new(test);
    scratch.write("mixed", trace(&recording(500, 4, (8, 0))));
    scratch.write("trims", trace(&[Event::new(1, 1, DISCARD | WRITE), Event::new(2, 9_000_000_000, READ)]));
    scratch.write("flushes", trace(&[Event::new(1, 1, WRITE), Event { bytes: 0, ..Event::new(2, 2, FLUSH) }]));
    for (name, more) in [
        ("mixed", ""),
        ("mixed", "--pace=thinktime"),
        ("mixed", "--pace=none --target=/tmp/x -D 2 -a norandommap"),
        ("trims", ""),
        ("trims flushes", "--min-share=0"),
        ("flushes", "--min-share=100 -a invalidate=0"),
    ] {
        btrace(&scratch, &format!("{name} {more} -o job.fio --force")).succeeded().quiet();
        for program in programs {
            let finished = Run::new(*program, scratch.path(), "--parse-only job.fio").finish();
            assert!(finished.code == Some(0), "{more}: {}\n{}", finished.all(), scratch.read("job.fio"));
        }
    }
    let job = scratch.read("job.fio");
    assert!(job.contains("# 1 flushes\nfsync=1\n") && job.contains("invalidate=0\n"), "{job}");
}

/// The job does what the trace did: 2/3 reads, a depth of 4, the rate, the lengths.
#[test]
fn a_job_imitates_its_trace() {
    let scratch = Scratch::new("btrace-run");
    scratch.write("trace", trace(&recording(3000, 4, (8, 0))));
    btrace(&scratch, "trace -o job.fio -a ioengine=sim -a number_ios=3000 --pace=none").succeeded();
    // Options of the section come after those for all jobs.
    let job = scratch.read("job.fio").replace("ioengine=libaio\n", "").replace("time_based\n", "");
    scratch.write("job.fio", job);
    let finished = Run::new(Program::Ferrio, scratch.path(), "job.fio --output-format=json").finish().succeeded();
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let job = &document["jobs"][0];
    let n = |direction: &str| job[direction]["total_ios"].as_f64().expect("a number");
    assert!((n("read") / (n("read") + n("write")) - 0.67).abs() < 0.03, "{} {}", n("read"), n("write"));
    // A quarter has 8 KiB: 5 KiB in the mean.
    let mean = job["read"]["io_bytes"].as_f64().expect("bytes") / n("read");
    assert!((mean / 5120.0 - 1.0).abs() < 0.05, "{mean}");
}

#[test]
fn what_is_no_trace_is_an_error() {
    let scratch = Scratch::new("btrace-errors");
    let whole = trace(&recording(10, 2, (8, 0)));
    let mut other_version = whole.clone();
    other_version[0] = 9;
    std::fs::create_dir(scratch.join("directory")).expect("a directory");
    scratch.write("whole", &whole);
    scratch.write("there", "mine\n");
    for (name, content) in [
        ("empty", Vec::new()),
        ("short", whole[..20].to_vec()),
        ("text", b"fio version 2 iolog\nf add\n".to_vec()),
        ("garbage", [&whole[..], &[0xff; 60]].concat()),
        ("version", other_version),
        ("flush", trace(&[Event { bytes: 0, ..Event::new(1, 1, FLUSH) }])),
        ("huge", trace(&[Event { sector: u64::MAX, bytes: u32::MAX, ..Event::new(1, u64::MAX, READ) }])),
    ] {
        scratch.write(name, content);
    }
    let pipe = Command::new("mkfifo").arg(scratch.join("pipe")).status();
    assert!(pipe.is_ok_and(|status| status.success()), "mkfifo");
    for (arguments, expected) in [
        ("empty", "ferrio btrace: empty: it is empty"),
        ("missing", "ferrio btrace: missing: it cannot be read: No such file or directory"),
        ("directory", "directory: it is a directory"),
        ("pipe", "pipe: it is no regular file"),
        ("text", "text: it is no binary trace of blktrace"),
        ("short", "short: no read, write or trim enters a queue in the trace"),
        ("whole garbage", "garbage: at byte 960 is no record of blktrace: it begins with 0xffffffff"),
        ("version", "version: the record at byte 0 has version 9, and only version 7 is known"),
        ("flush", "no read, write or trim enters a queue"),
        ("huge", "no read, write or trim enters a queue"),
        ("whole -o there", "there: it is there already; --force replaces it"),
        ("whole -o ./whole --force", "./whole: it cannot be written: it is the same file as whole, which is read"),
        ("whole -o no/such", "no/such: it cannot be written: No such file or directory"),
        ("whole -o directory --force", "directory: it cannot be written"),
        ("whole --min-share=200", "a number from 0 to 100 is wanted"),
        ("whole --pace=fast", "invalid value 'fast'"),
        ("whole --target=a;b", "; cannot stand in a job file"),
        ("whole -D 0", "invalid value '0'"),
        ("", "<FILE>..."),
    ] {
        let finished = btrace(&scratch, arguments);
        assert!(finished.code == Some(2) && finished.stderr.contains(expected), "{}", finished.all());
        assert!(finished.stdout.is_empty(), "{}", finished.all());
    }
    assert_eq!(scratch.read("there"), "mine\n");
}

#[test]
fn the_help_fits_a_terminal() {
    let scratch = Scratch::new("btrace-help");
    let help = btrace(&scratch, "--help").succeeded().quiet().stdout;
    assert!(help.contains("Exit code") && help.lines().all(|line| line.chars().count() <= 80), "{help}");
}
