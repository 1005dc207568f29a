//! Cures of findings whose runs need files, devices or mounts of their own.
//!
//! Start reading at [`MADE`].

use super::{count, figure, write_file};
use crate::findings::{allocates, document, findings_of, has, ids};
use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, tool};
use serde_json::Value;

/// The rules of the tests below.
pub(super) const MADE: &[&str] = &[
    "latency-without-waiting",
    "device-did-less",
    "colon-in-filename",
    "sync-without-flush",
    "range-trimmed-again",
    "reads-of-unwritten-extents",
    "files-hold-zeroes",
    "file-size-limit",
    "short-file",
];

/// A job that reads what a file holds needs no layout.
#[test]
fn a_file_that_is_long_enough_stays() {
    let scratch = Scratch::new("cures-short-file");
    scratch.write("p", "y\n".repeat(1 << 19));
    assert!(!has(&findings_of(scratch.path(), "--name=a --filename=p --rw=read"), "short-file"));
    assert!(has(&findings_of(scratch.path(), "--name=a --filename=p --rw=read --size=2m"), "short-file"));
    assert!(
        !has(&findings_of(scratch.path(), "--name=a --filename=p --rw=read --size=2m"), "short-file"),
        "long enough now"
    );
    // The next clone makes longer what the one before it has made.
    let each = "--rw=read --size=2m --offset_increment=2m --numjobs=3";
    assert!(!has(&findings_of(scratch.path(), &format!("--name=a --filename=new {each}")), "short-file"));
    assert!(has(&findings_of(scratch.path(), &format!("--name=a --filename=p {each}")), "short-file"));
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

/// Means of 64 KiB from memory take a few microseconds, those of a device more.
#[test]
fn a_preallocated_file_is_cured_by_writing_it() {
    let test = "a_preallocated_file_is_cured_by_writing_it";
    let scratch = Scratch::new("cures-unwritten");
    if !allocates(scratch.path(), "u") {
        return skip(test, "the file system cannot allocate without writing, or does not tell");
    }
    let job = "--name=a --filename=u --rw=randread --bs=64k --size=16m --direct=1 --ioengine=psync";
    let unwritten = document(scratch.path(), job);
    assert!(has(&ids(&unwritten["findings"]), "reads-of-unwritten-extents"), "{unwritten}");
    let write = "--name=w --filename=u --size=16m --bs=64k --ioengine=psync --rw=write --end_fsync=1";
    Run::new(Program::Ferrio, scratch.path(), write).finish().succeeded();
    let written = document(scratch.path(), job);
    assert!(!has(&ids(&written["findings"]), "reads-of-unwritten-extents"), "{written}");
    assert!(figure(&written, "mean_ns") > 2.0 * figure(&unwritten, "mean_ns"), "{written}");
}

#[test]
fn a_file_of_zeroes_is_cured_by_writing_data() {
    let scratch = Scratch::new("cures-zeroes");
    std::fs::write(scratch.join("z"), vec![0_u8; 4 << 20]).expect("a file");
    std::fs::File::open(scratch.join("z")).and_then(|file| file.sync_all()).expect("its blocks are allocated");
    let job = "--name=a --filename=z --rw=randread --bs=64k --size=4m --ioengine=psync";
    assert!(has(&findings_of(scratch.path(), job), "files-hold-zeroes"));
    let write = "--name=w --filename=z --size=4m --bs=1m --ioengine=psync --rw=write --refill_buffers --end_fsync=1";
    Run::new(Program::Ferrio, scratch.path(), write).finish().succeeded();
    let written = document(scratch.path(), job);
    assert!(!has(&ids(&written["findings"]), "files-hold-zeroes") && count(&written, "n_ios") == 64, "{written}");
}

#[test]
fn a_limit_of_file_sizes_is_cured_by_smaller_files() {
    let scratch = Scratch::new("cures-limit");
    let told = |limit: &str, size: &str| {
        let arguments = format!("check --json --name=a --rw=write --direct=1 --ioengine=psync --size={size}");
        let script = format!("ulimit -S -f {limit} && exec \"$0\" \"$@\"");
        let checked = Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell(&script).finish();
        let document: Value = serde_json::from_str(&checked.stdout).unwrap_or_else(|_| panic!("{}", checked.all()));
        has(&ids(&document["findings"]), "file-size-limit")
    };
    // 8 MiB, in blocks of the shell of 512 or 1024 bytes.
    assert!(told("8192", "64m") && !told("8192", "1m") && !told("$(ulimit -H -f)", "64m"));
}
