//! The writes of `sprandom`, by traces of `write_iolog`, and the refusals of contradictory options.
//!
//! The order of blocks is ferrio's own; refusals are as in fio. Start reading at
//! [`every_block_is_written_and_some_again`].

use crate::shapes::trace_of;
use crate::support::{Program, Run, Scratch, peer_too};
use std::collections::BTreeMap;

/// Number of writes of each block by file, from a trace of blocks of 4 KiB.
fn counts(trace: &[String]) -> BTreeMap<(String, u64), u64> {
    let mut counts = BTreeMap::new();
    for line in trace {
        let words: Vec<&str> = line.split(' ').collect();
        let [file, "write", offset, "4096"] = words[..] else { panic!("{line}") };
        let offset: u64 = offset.parse().expect("a number");
        assert_eq!(offset % 4096, 0, "{line}");
        *counts.entry((file.to_owned(), offset / 4096)).or_insert(0) += 1;
    }
    counts
}

/// 256 blocks and 38.4 overwrites, rounded.
#[test]
fn every_block_is_written_and_some_again() {
    let trace = |more: &str| {
        let job = format!("--ioengine=null --rw=randwrite --size=1m --sprandom=1 {more}");
        trace_of(Program::Ferrio, &Scratch::new("sprandom"), &job)
    };
    let once = trace("");
    let of_once = counts(&once);
    assert_eq!((once.len(), of_once.len()), (256 + 38, 256));
    assert!(of_once.keys().all(|(_, block)| *block < 256));
    assert_eq!(trace(""), once, "the same seed gives the same writes");
    assert_ne!(trace("--spr_num_regions=1"), once);
    assert_eq!(trace("--iodepth=8 --spr_op=0.5").len(), 256 + 128);
    assert_eq!(counts(&trace("--spr_op=0.001")).values().max(), Some(&1), "a quarter of an overwrite is none");
    // Somewhere behind the start of a file.
    let behind = trace("--offset=1m");
    assert_eq!((behind.len(), counts(&behind).keys().filter(|(_, block)| *block >= 256).count()), (294, 256));
    // With a cache of 16 blocks, a block is not written again within the next 16 writes.
    let cached = trace("--spr_op=1 --spr_cs=64k --spr_num_regions=10");
    for at in 0..cached.len() {
        assert!(!cached[at.saturating_sub(16)..at].contains(&cached[at]), "{at}: {}", cached[at]);
    }
}

/// The sums of a pass that `--debug` prints agree with the writes.
#[test]
fn regions_are_told() {
    let scratch = Scratch::new("sprandom-debug");
    let job = "--name=a --ioengine=null --rw=randwrite --size=512k --sprandom=1 --spr_num_regions=10 --spr_cs=6k";
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --debug=sprandom")).finish().succeeded();
    let lines: Vec<&str> = finished.stdout.lines().filter(|line| line.starts_with("sprandom ")).collect();
    assert_eq!(lines.len(), 7 + 1 + 10, "{}", finished.all());
    let summary = [
        "Summary:",
        "logical_size: 524288",
        // 128 blocks and 19 more.
        "physical_size: 602112",
        "op: 0.15",
        "region_size: 60211",
        "num_regions: 10",
        "cache_size: 6144",
    ];
    assert!(lines.iter().zip(summary).all(|(line, text)| line.ends_with(text)), "{lines:?}");
    let lines = &lines[summary.len()..];
    let first = "a.0.0: blocks=128, overwrites=19, cached=2, regions=10, over-provisioning=0.15, oldest valid=0.7510";
    assert!(lines[0].ends_with(first), "{}", lines[0]);
    let mut sums = [0_u64; 2];
    for (index, line) in lines.iter().take(11).skip(1).enumerate() {
        let (_, counts) = line.split_once(&format!("a.0.0: region {index}: ")).expect("a line of a region");
        let counts = counts.split(", ").map(|count| count.rsplit_once('=').expect("a count").1);
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count.parse::<u64>().expect("a number");
        }
    }
    assert_eq!(sums, [128 + 19, 19]);
    assert!(finished.stdout.contains("total=0,147,0,0"), "{}", finished.all());
    let other = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --debug=io")).finish().succeeded();
    assert!(!other.stdout.contains("region "), "{}", other.all());
}

#[test]
fn what_cannot_be_is_said() {
    let scratch = Scratch::new("sprandom-refused");
    for (job, line) in [
        ("--rw=randread", "fio: sprandom requires random write, random_generator=lfsr, norandommap=1"),
        ("--rw=randwrite --norandommap=0", "fio: sprandom requires norandommap=1"),
        ("--rw=randwrite --random_generator=tausworthe", "fio: sprandom requires random_generator=lfsr"),
        (
            "--rw=randwrite --bsrange=4k-8k",
            "fio: sprandom=1 and blocks of several sizes (bsrange, bssplit) are not compatible",
        ),
        ("--rw=randwrite --spr_op=0", "fio: spr_op must be above 0: a full device has no room to clean"),
        ("--rw=randwrite --spr_op=200", "value out of range: 200.000000 (range max: 100.000000)"),
        ("--rw=randwrite --spr_num_regions=0", "spr_num_regions: min value out of range: 0 (1 min)"),
        (
            "--rw=randwrite --spr_cs=2m",
            "spr_cs [2097152] must be smaller than region_sz [12042] which means [0] regions allowed",
        ),
        (
            "--size=32m --spr_op=0.10 --rw=randwrite --spr_num_regions=2000 --spr_cs=32k",
            "fio: sprandom: spr_cs [32768] must be smaller than region_sz [18454] which means [1126] regions allowed",
        ),
        (
            "--size=32m --spr_op=0.10 --rw=randwrite --spr_num_regions=50 --spr_cs=32m",
            "spr_cs [33554432] must be smaller than region_sz [738181] which means [1] regions allowed",
        ),
        (
            "--rw=randwrite --spr_num_regions=1 --spr_cs=600k",
            "file 0: sprandom: spr_cs=614400 is more than a quarter of its 256 blocks",
        ),
    ] {
        let arguments = format!("--name=a --ioengine=null --size=1m --sprandom=1 {job}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
        assert_eq!(finished.code, Some(1), "{job}: {}", finished.all());
        assert!(finished.stderr.contains(line), "{job}: {}", finished.all());
    }
}

#[test]
fn several_files_are_refused() {
    let with_peer = peer_too("several_files_are_refused");
    for program in [Program::Ferrio, Program::Peer].into_iter().take(1 + usize::from(with_peer)) {
        for (files, line) in [
            ("--nrfiles=2", "a: sprandom=1 beside 2 files (nrfiles, filename, opendir)"),
            ("--filename=x:y:z", "a: sprandom=1 beside 3 files (nrfiles, filename, opendir)"),
        ] {
            let scratch = Scratch::new("sprandom-files");
            let arguments = format!("--name=a --ioengine=libaio --rw=randwrite --size=1m --sprandom=1 {files}");
            let finished = Run::new(program, scratch.path(), &arguments).finish();
            assert_eq!(finished.code, Some(1), "{files}: {}", finished.all());
            let all = finished.all();
            assert!(finished.stderr.starts_with("fio: SPRandom supports only one file"), "{files}: {all}");
            assert!(!finished.stdout.contains("issued rwts"), "{files}: {all}");
            assert!(program == Program::Peer || finished.stderr.contains(line), "{files}: {all}");
        }
    }
}

#[test]
fn what_it_needs_is_set_or_may_be_given() {
    let scratch = Scratch::new("sprandom-given");
    let (generator, map) = ("fio: sprandom sets random_generator=lfsr\n", "fio: sprandom sets norandommap=1\n");
    for (more, sets) in [
        ("", vec![generator, map]),
        ("--random_generator=lfsr", vec![map]),
        ("--norandommap=1", vec![generator]),
        ("--norandommap --random_generator=lfsr", vec![]),
        ("--size=32m --spr_op=0.10 --spr_num_regions=50 --spr_cs=738181", vec![generator, map]),
        ("--size=32m --spr_op=0.10 --spr_num_regions=100 --spr_cs=32k", vec![generator, map]),
    ] {
        let arguments = format!("--name=a --ioengine=null --rw=randwrite --size=1m --sprandom=1 {more}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
        let said: String = finished
            .stdout
            .lines()
            .filter(|line| line.contains("sets"))
            .fold(String::new(), |all, line| all + line + "\n");
        assert_eq!((said, finished.stderr.as_str()), (sets.concat(), ""), "{more}");
    }
}

/// The writes of a mixed job are those of a pass, and reads go anywhere; both together are as many bytes as a pass has.
#[test]
fn writes_of_a_mixed_job_are_those_of_a_pass() {
    let trace = |job: &str| {
        let job = format!("--ioengine=null --size=1m --sprandom=1 {job}");
        trace_of(Program::Ferrio, &Scratch::new("sprandom-mixed"), &job)
    };
    let (mixed, pass) = (trace("--rw=randrw"), trace("--rw=randwrite"));
    assert_eq!(mixed.len(), pass.len());
    let writes: Vec<&String> = mixed.iter().filter(|line| line.contains(" write ")).collect();
    assert!(writes.len() > 100 && writes.len() < 200, "{}", writes.len());
    assert_eq!(writes, pass[..writes.len()].iter().collect::<Vec<_>>());
}

/// A job writes files and reads them back.
#[test]
fn files_are_verified() {
    let scratch = Scratch::new("sprandom-verified");
    for more in ["", "--iodepth=16 --ioengine=libaio", "--verify_backlog=50", "--experimental_verify=1"] {
        let arguments =
            format!("--name=a --size=1200k --rw=randwrite --sprandom=1 --spr_op=0.6 --verify=crc32c {more}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish();
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{more}: {}", finished.all());
    }
}
