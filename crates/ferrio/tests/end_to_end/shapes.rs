//! Offsets and sizes of random jobs in traces, beside those of the peer with the same seed.
//!
//! Start reading at [`traces_are_those_of_the_peer`]. Not compared: sequences, which the peer (3.41) does not know.

use crate::support::{Program, Run, Scratch, has_peer};

const CASES: &[&str] = &[
    "--rw=randread --norandommap --bssplit=4k/50:8k/50",
    "--rw=randread --norandommap --bssplit=4k/10:8k/20",
    "--rw=randread --norandommap --bssplit=4k/60:8k/60",
    "--rw=randread --norandommap --bssplit=4k/50:1k/:32k/",
    "--rw=randread --bssplit=4k/10:64k/50:32k/40",
    "--rw=randrw --bssplit=4k/50:8k/50 --size=64k",
    "--rw=randrw --bssplit=16k/50:8k/50,4k/50:8k/50",
    "--rw=trimwrite --bssplit=4k,8k,16k",
    "--rw=randtrimwrite --bssplit=4k:8k:16k --size=60k",
    "--rw=randwrite --bssplit=4k/30:8k/70 --fsync=3",
    "--rw=randrw --bssplit=4k/30:8k/70 --random_generator=tausworthe64",
    "--rw=randread --bsrange=4k-16k",
    "--rw=randread --bsrange=1000-5000 --bs_unaligned",
    "--rw=randrw --bsrange=4k-8k,1k-16k",
    "--rw=randread --number_ios=17",
    "--rw=randread --random_distribution=zoned:60/10:30/20:8/30:2/40",
    "--rw=randread --random_distribution=zoned:40:30:30",
    "--rw=randread --random_distribution=zoned:50/20:50/20",
    "--rw=randread --random_distribution=zoned_abs:50/6k:50/10k",
    "--rw=randrw --random_distribution=zoned:50/10:50/90 --bs=4k,16k --size=64k",
    "--rw=randrw --random_distribution=zoned:50/10:50/90 --ba=2k --loops=2",
    "--rw=randtrimwrite --random_distribution=zoned:50/10:50/90 --percentage_random=70",
    "--rw=randread --random_distribution=zipf:1.2",
    "--rw=randread --random_distribution=zipf:0.7:0.3 --bs=8k --filename=a-rather-long-file-name.dat",
    "--rw=randwrite --random_distribution=pareto:0.3",
    "--rw=randrw --random_distribution=pareto:0.2:0.8 --bsrange=4k-16k",
    "--rw=randread --random_distribution=normal:0",
    "--rw=randread --random_distribution=normal:10:0.4 --nrfiles=3",
];

/// The trace of a case on an engine that does nothing.
fn trace(program: Program, case: &str) -> Vec<String> {
    trace_of(program, &Scratch::new("shapes"), &format!("--ioengine=null --size=1m {case}"))
}

/// Runs a job; gives file, action, offset and length of each line of its trace that has them. Times are left out.
pub(crate) fn trace_of(program: Program, scratch: &Scratch, case: &str) -> Vec<String> {
    let fixed = "--name=a --randrepeat=0 --randseed=137 --write_iolog=trace";
    Run::new(program, scratch.path(), &format!("{fixed} {case}")).recorded("traces", &["trace"]).finish();
    let log = scratch.read("trace");
    let io = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let action = words.iter().position(|word| ["read", "write", "trim", "sync"].contains(word))?;
        Some(words[action.checked_sub(1)?..].join(" "))
    };
    log.lines().filter_map(io).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn traces_are_those_of_the_peer() {
    if !has_peer("traces_are_those_of_the_peer") {
        return;
    }
    for case in CASES {
        let ours = trace(Program::Ferrio, case);
        assert!(!ours.is_empty(), "{case}: no I/O");
        assert_eq!(ours, trace(Program::Peer, case), "{case}");
    }
}

#[test]
fn sequences_are_repeated_or_shifted() {
    for (case, expected) in [
        ("--random_distribution=sequence:3,1 --size=16k", vec![3, 1, 3, 1]),
        ("--random_distribution=sequence:3,1,2 --random_sequence_stride=1 --size=20k", vec![3, 1, 2]),
    ] {
        let line = |block: &u64| format!("a.0.0 read {} 4096", block * 4096);
        let expected: Vec<String> = expected.iter().map(line).collect();
        assert_eq!(trace(Program::Ferrio, &format!("--rw=randread {case}")), expected, "{case}");
    }
}
