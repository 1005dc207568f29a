//! "Sequential against random write, and their system calls": lseek and write in pairs, or only writes; and the lines
//! that an asynchronous engine adds to the report.

use crate::support::{Program, Run, Scratch, has_programs, peer_too};
use crate::system_calls::calls_to;

const RANDOM: &str =
    "-name=randwrite -rw=randwrite -direct=1 -bs=4k -size=1M -numjobs=1 -group_reporting -filename=test.db";
const SEQUENTIAL: &str =
    "-name=write -rw=write -direct=1 -bs=4k -size=1M -numjobs=1 -group_reporting -filename=test.db";

/// The engine of the document's time; today's default is psync.
const ENGINE: &str = "-ioengine=sync";

fn transfers(calls: &[String]) -> Vec<&str> {
    let names = calls.iter().map(|call| call.split(' ').next().unwrap_or_default());
    names.filter(|name| matches!(*name, "lseek" | "write" | "pwrite64")).collect()
}

/// Offsets of writes. Asserts that there is a seek before each write, unless the previous write ended at its offset.
fn offsets_of_seeks_and_writes(calls: &[String]) -> Vec<u64> {
    let (mut position, mut sought, mut offsets) = (0, None, Vec::new());
    for call in calls {
        if let Some(seek) = call.strip_prefix("lseek ") {
            sought = seek.strip_suffix(", SEEK_SET").and_then(|offset| offset.parse().ok());
            assert!(sought.is_some_and(|offset: u64| offset != position), "{call} at {position}");
        } else if call == "write 4096" {
            let offset = sought.take().unwrap_or(position);
            offsets.push(offset);
            position = offset + 4096;
        }
    }
    offsets
}

#[test]
fn calls_of_random_and_sequential_writes() {
    let name = "calls_of_random_and_sequential_writes";
    if !has_programs(name, &["strace"]) {
        return;
    }
    let programs: &[Program] = if peer_too(name) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for program in programs {
        let scratch = Scratch::new("sync");
        let calls = calls_to("test.db", *program, &scratch, &format!("{RANDOM} {ENGINE} -fallocate=none"));
        let mut offsets = offsets_of_seeks_and_writes(&calls);
        assert!(calls.iter().filter(|call| call.starts_with("lseek")).count() > 200, "{program:?}: {calls:?}");
        offsets.sort_unstable();
        assert_eq!(offsets, (0..256).map(|block| block * 4096).collect::<Vec<u64>>(), "{program:?}");
        let calls = calls_to("test.db", *program, &scratch, &format!("{SEQUENTIAL} {ENGINE}"));
        assert_eq!(transfers(&calls), ["write"; 256], "{program:?}");
        let calls = calls_to("test.db", *program, &scratch, SEQUENTIAL);
        assert_eq!(transfers(&calls), ["pwrite64"; 256], "{program:?}: today's default engine");
    }
}

/// Lines of a report that begin with one of the words.
fn lines<'a>(report: &'a str, words: &[&str]) -> Vec<&'a str> {
    report.lines().map(str::trim).filter(|line| words.iter().any(|word| line.starts_with(word))).collect()
}

/// Mean of a line `clat (usec): min=..., avg= 4.31, stdev=...`, in nanoseconds.
fn mean_ns(report: &str, kind: &str) -> f64 {
    let line = lines(report, &[&format!("{kind} (")])[0];
    let mean: f64 = line
        .split("avg=")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .expect("a mean")
        .trim()
        .parse()
        .expect("a number");
    match line.split(['(', ')']).nth(1) {
        Some("nsec") => mean,
        Some("usec") => mean * 1e3,
        _ => mean * 1e6,
    }
}

#[test]
fn only_an_asynchronous_engine_has_submission_latency() {
    let scratch = Scratch::new("slat");
    let run =
        |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded().quiet().stdout;
    for engine in ["", ENGINE] {
        let report = run(&format!("{RANDOM} {engine}"));
        let kinds: Vec<&str> = lines(&report, &["slat (", "clat (", "lat ("]).iter().map(|line| &line[..4]).collect();
        assert_eq!(kinds[..2], ["clat", "lat "], "{report}");
        assert!(!report.contains("slat"), "{report}");
    }
    let report = run(&format!("{SEQUENTIAL} -ioengine=libaio"));
    assert!(report.contains("ioengine=libaio, iodepth=1\n"), "{report}");
    let sum_ns = mean_ns(&report, "slat") + mean_ns(&report, "clat");
    // Each of the three means is rounded to two digits after the point of its unit.
    let rounding_ns = 3.0 * 0.005 * 1e6_f64.min(mean_ns(&report, "lat"));
    assert!((mean_ns(&report, "lat") - sum_ns).abs() <= rounding_ns.max(20.0), "{report}");
}
