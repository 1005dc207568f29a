//! Seeds that a generator cannot start from, and files that are too large for one.
//!
//! Must not know: which blocks are drawn. Start reading at [`a_register_starts_from_any_seed`].

use crate::shapes::trace_of;
use crate::support::{Program, Run, Scratch, has_peer};

/// The low bits of the seed of offsets are all ones for a zone of 1024 blocks, and for a file of as many.
const STUCK: &str = "--ioengine=null --randseed=8185 --random_generator=lfsr --size=4m";

#[test]
fn a_register_starts_from_any_seed() {
    for more in ["--rw=randread", "--rw=randread --zonemode=strided --zonesize=4m", "--rw=randwrite --iodepth=4"] {
        let mut trace = trace_of(Program::Ferrio, &Scratch::new("lfsr-stuck"), &format!("{STUCK} {more}"));
        assert_eq!(trace.len(), 1024, "{more}");
        trace.sort_unstable();
        trace.dedup();
        assert_eq!(trace.len(), 1024, "{more}: each block once");
    }
}

/// A seed for which fio cannot start: it says so, and does nothing.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn the_peer_fails_where_a_register_starts_from_another_state() {
    if !has_peer("the_peer_fails_where_a_register_starts_from_another_state") {
        return;
    }
    let scratch = Scratch::new("lfsr-stuck-peer");
    let run =
        |program| Run::new(program, scratch.path(), &format!("--name=a --rw=randread {STUCK}")).finish().succeeded();
    assert!(run(Program::Peer).all().contains("failed initializing LFSR"));
    let ours = run(Program::Ferrio);
    assert!(ours.stderr.is_empty() && ours.stdout.contains("total=1024,0,0,0"), "{}", ours.all());
}

const LARGE: &str = "--name=t --ioengine=null --bs=1 --number_ios=2 --norandommap --rw=randread";

/// Options, and the files that exceed the generator.
const EXCEEDING: &[(&str, &[&str])] = &[
    ("--filesize=1T", &["t.0.0"]),
    ("--filesize=4g", &["t.0.0"]),
    ("--filesize=4294967295", &[]),
    ("--filesize=1T --bs=4k,1", &["t.0.0"]),
    ("--filesize=1T --bsrange=1-8", &["t.0.0"]),
    ("--filesize=1T --nrfiles=2", &["t.0.0"]),
    ("--filesize=1T --nrfiles=2 --random_generator=tausworthe", &["t.0.0", "t.0.1"]),
    ("--filesize=1T --random_generator=tausworthe", &["t.0.0"]),
    ("--filesize=1T --random_generator=tausworthe64", &[]),
    ("--filesize=1T --random_generator=lfsr", &[]),
    ("--filesize=1T --random_distribution=zipf:1.1", &[]),
    ("--filesize=1T --rw=read", &[]),
];

fn told(program: Program, options: &str) -> Vec<String> {
    let finished =
        Run::new(program, Scratch::new("exceeds").path(), &format!("{LARGE} {options}")).finish().succeeded();
    let lines = finished.stdout.lines().filter(|line| line.starts_with("fio: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn files_that_exceed_the_generator_are_told() {
    for (options, files) in EXCEEDING {
        let advice = if options.contains("generator=tausworthe") {
            "fio: Use the random_generator= option to switch to lfsr or tausworthe64."
        } else {
            "fio: Switching to tausworthe64. Use the random_generator= option to get rid of this warning."
        };
        let exceeds = |file: &&str| format!("fio: file {file} exceeds 32-bit tausworthe random generator.");
        let expected: Vec<String> = files.iter().flat_map(|file| [exceeds(file), advice.to_owned()]).collect();
        assert_eq!(told(Program::Ferrio, options), expected, "{options}");
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_that_exceed_the_generator_are_told_as_by_the_peer() {
    if !has_peer("files_that_exceed_the_generator_are_told_as_by_the_peer") {
        return;
    }
    for (options, _) in EXCEEDING {
        assert_eq!(told(Program::Ferrio, options), told(Program::Peer, options), "{options}");
    }
}
