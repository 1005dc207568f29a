//! Cures of findings: each run with a fault is made for real, and again with what the finding advises. The finding goes, and the figure is
//! what the user wanted to know.
//!
//! Start reading at [`ROWS`].

use crate::findings::{document, findings_of, has, ids};
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, succeeds_once, tool};
use serde_json::Value;
use std::path::Path;

/// A rule, the run that it speaks about, the same run with its cure, and what is right about the figures then.
type Row = (&'static str, &'static str, &'static str, fn(&Value) -> bool);

/// A file of 16 MiB, `f`, is there.
const FILE_MIB: usize = 16;

// tidy: table
const ROWS: &[Row] = &[
    (
        "runtime-without-time-based",
        "--ioengine=sim --sim_service=fixed:100us --rw=randread --size=1m --runtime=1",
        "--ioengine=sim --sim_service=fixed:100us --rw=randread --size=1m --runtime=1 --time_based",
        |cured| figure(cured, "runtime_ns") > 0.95e9,
    ),
    (
        "rate-not-reached",
        "--ioengine=sim --sim_service=fixed:5ms --rw=randread --size=1g --time_based --runtime=1 --rate_iops=1000",
        "--ioengine=sim --sim_service=fixed:5ms --rw=randread --size=1g --time_based --runtime=1 --rate_iops=50",
        |cured| is_near(figure(cured, "ios_per_sec"), 50.0),
    ),
    (
        "rate-fell",
        "--ioengine=sim --sim_service=fixed:1ms --sim_burst=iops:100/500/600 --rw=randread --size=1g --time_based --runtime=5",
        "--ioengine=sim --sim_service=fixed:1ms --sim_burst=iops:100/500/600 --rw=randread --size=1g --time_based --runtime=3 \
         --ramp_time=2500ms",
        |cured| is_near(figure(cured, "ios_per_sec"), 100.0),
    ),
    (
        "ramp-outlasts-job",
        "--ioengine=sim --sim_service=fixed:100us --rw=randread --size=1m --ramp_time=2",
        "--ioengine=sim --sim_service=fixed:100us --rw=randread --size=1m --ramp_time=200ms --time_based --runtime=300ms",
        |cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "no-io",
        "--filename=f --rw=randread --size=4m --direct=1 --ioengine=psync --time_based --runtime=1sec",
        "--filename=f --rw=randread --size=4m --direct=1 --ioengine=psync --time_based --runtime=1s",
        |cured| figure(cured, "n_ios") > 0.0 && figure(cured, "runtime_ns") > 0.95e9,
    ),
    (
        "syncs-never-due",
        "--filename=f --rw=write --bs=64k --size=1m --ioengine=psync --fsync=100",
        "--filename=f --rw=write --bs=64k --size=1m --ioengine=psync --fsync=4",
        |_| true,
    ),
    (
        "posixaio-one-file",
        "--rw=randread --bs=4k --size=4m --direct=1 --ioengine=posixaio --iodepth=4 --unlink=1",
        "--rw=randread --bs=4k --size=4m --direct=1 --ioengine=posixaio --iodepth=4 --nrfiles=4 --unlink=1",
        |cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "few-hot-blocks",
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=psync --random_distribution=zipf:2.2 --io_size=16m",
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=psync --random_distribution=zipf:0.6 --io_size=16m",
        |cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "buffered-below-page",
        "--filename=f --rw=randread --bs=512 --size=16m --ioengine=psync --io_size=512k --norandommap",
        "--filename=f --rw=randread --bs=4k --size=16m --ioengine=psync --io_size=512k --norandommap",
        |cured| figure(cured, "n_ios") > 0.0,
    ),
    (
        "asynchronous-without-direct",
        "--filename=f --rw=randread --bs=4k --size=4m --ioengine=libaio --iodepth=8",
        "--filename=f --rw=randread --bs=4k --size=4m --ioengine=libaio --iodepth=8 --direct=1",
        |_| true,
    ),
    (
        "depth-of-synchronous-engine",
        "--filename=f --rw=randread --bs=4k --size=4m --direct=1 --ioengine=psync --iodepth=8",
        "--filename=f --rw=randread --bs=4k --size=4m --direct=1 --ioengine=libaio --iodepth=8",
        |_| true,
    ),
    (
        "writes-still-dirty",
        "--filename=d --rw=write --bs=1m --size=16m --ioengine=psync",
        "--filename=d --rw=write --bs=1m --size=16m --ioengine=psync --direct=1",
        |_| true,
    ),
    (
        "range-read-again",
        "--filename=f --rw=randread --bs=4k --size=1m --direct=1 --ioengine=psync --io_size=10m --norandommap",
        "--filename=f --rw=randread --bs=4k --size=16m --direct=1 --ioengine=psync --io_size=10m --norandommap",
        |_| true,
    ),
];

/// Rules that speak before a run, with the options of a run and the same with the cure.
const CHECKS: &[(&str, &str, &str)] = &[
    (
        "unsynced-writes",
        "--rw=write --size=64m --ioengine=psync",
        "--rw=write --size=64m --ioengine=psync --end_fsync=1",
    ),
    ("few-ios-planned", "--rw=read --size=1m", "--rw=read --size=1m --time_based --runtime=10"),
    (
        "fits-in-memory",
        "--rw=randread --size=64m --time_based --runtime=10 --ioengine=psync",
        "--rw=randread --size=64m --time_based --runtime=10 --ioengine=psync --direct=1",
    ),
    (
        "easy-data",
        "--rw=write --size=64m --direct=1 --zero_buffers",
        "--rw=write --size=64m --direct=1 --refill_buffers",
    ),
    (
        "jobs-share-blocks",
        "--filename=g --rw=write --size=64m --numjobs=2 --direct=1",
        "--filename=g --rw=write --size=64m --numjobs=2 --direct=1 --offset_increment=64m",
    ),
    (
        "jobs-overwrite-at-random",
        "--filename=g --rw=randwrite --size=64m --numjobs=2 --direct=1",
        "--filename=g --rw=randwrite --size=64m --numjobs=2 --direct=1 --offset_increment=64m",
    ),
    ("syncs-never-due", "--rw=write --bs=1m --size=64m --fsync=100", "--rw=write --bs=1m --size=64m --fsync=10"),
    ("buffered-below-page", "--rw=randread --bs=512 --size=64m", "--rw=randread --bs=512 --size=64m --direct=1"),
    (
        "ramp-outlasts-job",
        "--rw=read --size=64m --direct=1 --ramp_size=64m",
        "--rw=read --size=64m --direct=1 --ramp_size=64m --time_based --runtime=10",
    ),
    (
        "posixaio-one-file",
        "--rw=read --size=64m --direct=1 --ioengine=posixaio --iodepth=4",
        "--rw=read --size=64m --direct=1 --ioengine=io_uring --iodepth=4",
    ),
    (
        "file-under-dev",
        "--filename=/dev/no-such-disk --rw=read --size=1g",
        "--filename=no-such-disk --rw=read --size=1g",
    ),
];

/// A figure of the first row.
fn figure(document: &Value, key: &str) -> f64 {
    document["jobs"][0][key].as_f64().unwrap_or(0.0)
}

fn is_near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.15
}

fn write_file(directory: &Path, name: &str, mib: usize) {
    let path = directory.join(name);
    std::fs::write(&path, vec![0x5a; mib << 20]).expect("a file");
    std::fs::File::open(&path).expect("it was made").sync_all().expect("it can be written");
}

#[test]
fn cures_of_runs_are_cures() {
    let test = "cures_of_runs_are_cures";
    let scratch = Scratch::new("cures");
    write_file(scratch.path(), "f", FILE_MIB);
    let told = |arguments: &str, rule: &str| has(&findings_of(scratch.path(), &format!("--name=a {arguments}")), rule);
    if told("--filename=f --rw=read --bs=1m --direct=1", "target-in-memory") {
        return skip(test, "the directory of the tests is in memory");
    }
    let mut failed = Vec::new();
    for (rule, fault, cured, is_right) in ROWS {
        // Other programs of the machine may hide a time once.
        if !succeeds_once(|| told(fault, rule)) {
            failed.push(format!("{rule} does not speak of {fault}"));
        }
        let is_cured = || {
            let document = document(scratch.path(), &format!("--name=a {cured}"));
            !has(&ids(&document["findings"]), rule) && is_right(&document)
        };
        if !succeeds_once(is_cured) {
            failed.push(format!("{rule} is not cured by {cured}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn cures_before_a_run_are_cures() {
    let scratch = Scratch::new("cures-check");
    for (rule, fault, cured) in CHECKS {
        let told = |arguments: &str| {
            let arguments = format!("check --json --name=a {arguments}");
            let document: Value =
                serde_json::from_str(&Run::new(Program::Ferrio, scratch.path(), &arguments).finish().stdout)
                    .expect("JSON");
            has(&ids(&document["findings"]), rule)
        };
        assert!(told(fault), "{rule} does not speak of {fault}");
        assert!(!told(cured), "{rule} is not cured by {cured}");
    }
}

/// With the advice the report has the latencies that users would have seen.
#[test]
fn response_latencies_hold_the_stall() {
    let scratch = Scratch::new("cures-response");
    let job = "--name=s --ioengine=sim --sim_service=fixed:100us --sim_stall=600ms/400ms --rate_iops=500 --rw=randread --size=1g \
               --runtime=1500ms --time_based";
    assert!(has(&findings_of(scratch.path(), job), "latency-without-waiting"));
    let cured = format!("{job} --rate_latency=response");
    assert!(!has(&findings_of(scratch.path(), &cured), "latency-without-waiting"));
    let finished =
        Run::new(Program::Ferrio, scratch.path(), &format!("{cured} --output-format=json")).finish().succeeded();
    let report: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let text = report.to_string();
    let (_, response) = text.split_once("\"response_ns\"").expect("latencies from the wanted start");
    let (_, p90) = response.split_once("\"90.000000\":").expect("a percentile");
    let digits: String = p90.chars().take_while(char::is_ascii_digit).collect();
    // Two fifths of the time the device stands still.
    assert!(digits.parse::<u64>().expect("a number") > 100_000_000, "{digits}");
}

/// A range that is a hole of a file with data: the cause is no cache, and writing the range makes the device read.
#[test]
fn a_hole_that_is_read_is_cured_by_writing_it() {
    let test = "a_hole_that_is_read_is_cured_by_writing_it";
    let scratch = Scratch::new("cures-hole");
    let directory = scratch.path();
    write_file(directory, "h", 48);
    std::fs::File::options().write(true).open(directory.join("h")).expect("a file").set_len(50 << 20).expect("longer");
    let job = "--name=r --filename=h --offset=48m --size=2m --rw=randread --bs=64k --direct=1 --ioengine=psync";
    let holes = document(directory, job);
    let found = holes["findings"].as_array().expect("a list").iter().find(|finding| finding["id"] == "device-did-less");
    let Some(finding) = found else {
        return skip(test, "no disk is known under the directory of the tests, or others use it");
    };
    let (explanation, cure) = (finding["explanation"].to_string(), finding["cure"].to_string());
    assert!(explanation.contains("hold no data") && cure.contains("--rw=write"), "{finding}");
    let write =
        "--name=w --filename=h --offset=48m --size=2m --rw=write --bs=64k --direct=1 --ioengine=psync --end_fsync=1";
    Run::new(Program::Ferrio, directory, write).finish().succeeded();
    let written = findings_of(directory, job);
    assert!(!has(&written, "device-did-less"), "{written:?}");
}

#[test]
fn a_colon_that_is_escaped_is_a_part_of_the_name() {
    let scratch = Scratch::new("cures-colon");
    let job = "--name=a --rw=write --bs=64k --size=1m --direct=1 --ioengine=psync --filename";
    assert!(has(&findings_of(scratch.path(), &format!("{job}=at-12:30")), "colon-in-filename"));
    assert!(!has(&findings_of(scratch.path(), &format!("{job}=at-12:30")), "colon-in-filename"), "both are there now");
    assert_eq!(scratch.names(), ["30", "at-12"]);
    scratch.write("job", "[a]\nrw=write\nbs=64k\nsize=1m\ndirect=1\nioengine=psync\nfilename=by\\:day\n");
    let found = findings_of(scratch.path(), "job");
    assert!(!has(&found, "colon-in-filename") && scratch.names().contains(&"by:day".to_owned()), "{found:?}");
}

/// A file system that is mounted with `nobarrier` makes a sync that asks no device.
#[test]
fn syncs_without_a_flush_are_told() {
    let test = "syncs_without_a_flush_are_told";
    let scratch = Scratch::new("cures-flush");
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.ext4", "mount", "umount"]) {
        return;
    }
    let Some(mut device) = LoopDevice::new(&scratch, 64 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    let Some(directory) = device.mount(&scratch, "mkfs.ext4 -q -F") else {
        return skip(test, "no ext4 can be mounted");
    };
    let job = "--name=a --filename=s --rw=write --bs=64k --size=4m --ioengine=psync --end_fsync=1";
    let told = || has(&findings_of(&directory, job), "sync-without-flush");
    if tool(&format!("mount -o remount,nobarrier {}", directory.display())).is_none() {
        return skip(test, "ext4 has no such option");
    }
    assert!(told());
    tool(&format!("mount -o remount,barrier {}", directory.display())).expect("it is the default");
    assert!(!told());
}

#[test]
fn trims_of_trimmed_blocks_are_told() {
    let test = "trims_of_trimmed_blocks_are_told";
    let scratch = Scratch::new("cures-trim");
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let Some(device) = LoopDevice::new(&scratch, 16 << 20) else { return skip(test, "no loop device can be set up") };
    let job = format!("--name=a --filename={} --rw=trim --bs=64k --direct=1 --ioengine=psync", device.path());
    assert!(has(&findings_of(scratch.path(), &format!("{job} --loops=3")), "range-trimmed-again"));
    assert!(!has(&findings_of(scratch.path(), &job), "range-trimmed-again"));
}

/// Checksums are a part of the time, with a queue too.
#[test]
fn the_cost_of_verification_is_told() {
    let scratch = Scratch::in_temporary_directory("cures-verify");
    let job = "--name=a --filename=f --rw=write --bs=256k --size=16m --ioengine=io_uring --iodepth=4 --time_based --runtime=300ms";
    let told = |more: &str| has(&findings_of(scratch.path(), &format!("{job} {more}")), "verification-cost");
    assert!(told("--verify=sha3-512 --do_verify=0"));
    assert!(!told(""));
}
