//! Offsets of jobs with zones, from their traces: the same as those of fio.
//!
//! Start reading at [`windows_are_those_of_the_peer`].

use crate::shapes::trace_of;
use crate::support::{Program, Run, Scratch, has_peer};

const STRIDED: &[&str] = &[
    "--rw=read --zonesize=8k --zoneskip=8k",
    "--rw=read --zonesize=8k --zonerange=16k",
    "--rw=read --zonesize=16k --zonerange=8k",
    "--rw=read --zonesize=10k --zoneskip=6k",
    "--rw=read --zonesize=12k --zoneskip=8k",
    "--rw=read --zonesize=2k",
    "--rw=read --zonesize=8k --zonerange=2k",
    "--rw=read --zonesize=128k",
    "--rw=read --zonesize=8k --zoneskip=1z",
    "--rw=randread --zonesize=8k --zoneskip=8k",
    "--rw=randread --zonesize=16k --zonerange=8k",
    "--rw=randread --zonesize=16k --norandommap",
    "--rw=randread --zonesize=8k --zoneskip=128k",
    "--rw=rw --zonesize=8k --zoneskip=8k",
    "--rw=randrw --zonesize=16k --zoneskip=8k",
    "--rw=randrw --zonesize=16k --zoneskip=8k --norandommap",
    "--nrfiles=2 --rw=read --zonesize=8k --zoneskip=4k",
    "--nrfiles=2 --rw=read --zonesize=64k --zonerange=12k",
    "--nrfiles=2 --rw=read --zonesize=8k --zoneskip=4k --file_service_type=sequential",
    "--nrfiles=2 --rw=randread --zonesize=8k --zoneskip=4k",
    "--nrfiles=2 --rw=randread --zonesize=8k --zoneskip=4k --openfiles=1",
    "--nrfiles=2 --rw=randread --zonesize=64k --zonerange=12k",
    "--nrfiles=3 --rw=read --zonesize=8k --zoneskip=4k",
    "--nrfiles=3 --rw=randread --zonesize=8k",
    "--nrfiles=3 --rw=randread:3 --zonesize=8k --zoneskip=4k",
    "--offset=16k --filesize=128k --rw=read --zonesize=8k --zoneskip=8k",
    "--offset=16k --filesize=128k --rw=randread --zonesize=20k --zoneskip=16k",
    "--loops=2 --rw=read --zonesize=8k --zoneskip=4k",
    "--loops=2 --rw=randread --zonesize=8k --zoneskip=4k",
    "--loops=2 --rw=randread --zonesize=20k --number_ios=7",
    "--io_size=100k --rw=read --zonesize=8k --zoneskip=4k",
    "--io_size=100k --rw=randread --zonesize=8k --zoneskip=4k",
    "--size=66k --rw=read --zonesize=10k --zoneskip=10k",
    "--size=66k --rw=randread --zonesize=10k --zoneskip=10k",
    "--size=8z --offset=1z --io_size=12z --rw=read --zonesize=8k --zoneskip=1z",
    "--rw=read --bsrange=4k-12k --zonesize=16k --zoneskip=8k",
    "--rw=randread --bsrange=4k-12k --zonesize=16k --zoneskip=8k",
    "--size=128k --rw=randread --bsrange=4k-8k --zonesize=40k --zonerange=12k",
    "--size=1m --rw=randrw --bssplit=4k/30:16k/70 --zonesize=100k --zonerange=64k --zoneskip=8k",
    "--size=1m --rw=randread --ba=2k --zonesize=80k",
    "--rw=randread --bs=8k,4k --zonesize=20k --zonerange=10k",
    "--rw=read:4k --zonesize=8k --zoneskip=4k",
    "--rw=read:8k --zonesize=64k --zonerange=20k",
    "--rw=randread:3 --zonesize=16k --zoneskip=4k",
    "--rw=randread:3 --rw_sequencer=identical --zonesize=20k",
    "--rw=randread --percentage_random=50 --zonesize=16k --zoneskip=4k",
    "--rw=randrw --percentage_random=50,20 --zonesize=16k --zoneskip=4k",
    "--size=192k --rw=randread --random_generator=lfsr --zonesize=128k --zonerange=64k",
    "--rw=randread --random_distribution=zoned:50/50:50/50 --zonesize=16k",
    "--rw=randread --random_distribution=zoned_abs:50/8k:50/12k --zonesize=20k",
    "--rw=randwrite --fsync=2 --zonesize=20k",
    "--ioengine=null --rw=trimwrite --zonesize=16k --zoneskip=4k",
    "--ioengine=null --rw=randtrim --zonesize=16k --zoneskip=4k",
    "--ioengine=null --rw=randtrimwrite --zonesize=16k --zoneskip=4k",
    "--ioengine=null --rw=randtrimwrite --zonesize=8k --zonerange=8k",
    "--ioengine=libaio --iodepth=4 --rw=randread --zonesize=8k --zoneskip=4k",
    // The register starts over with each window, unless nothing was drawn from it.
    "--randseed=11 --rw=randread --random_generator=lfsr --zonesize=20k --zonerange=12k --zoneskip=1z",
    "--randseed=11 --size=1m --rw=randread:8 --random_generator=lfsr --zonesize=40k",
    "--randseed=11 --size=1m --rw=randread:2 --random_generator=lfsr --percentage_random=5 --zonesize=40k",
    "--randseed=11 --size=1m --rw=randwrite:7 --random_generator=lfsr --bsrange=1k-8k --zonesize=24k",
    "--randseed=11 --size=333k --rw=randrw --random_generator=lfsr --zonesize=16k --loops=2",
    // Writes do not catch up with trims of another window.
    "--ioengine=null --rw=trimwrite --zonesize=4k",
    "--ioengine=null --rw=trimwrite --zonesize=12k --zoneskip=100k --nrfiles=3 --size=256k",
    "--ioengine=null --rw=trimwrite --zonesize=10k --zoneskip=1m --size=512k",
    // Blocks that reach past the end of a window.
    "--size=1m --rw=randwrite --bsrange=512-8k --zonesize=31k",
    "--size=1m --rw=randread --bsrange=1k-32k --zonesize=30k --zonerange=60k",
    "--size=1m --rw=randrw --bsrange=512-4k --zonesize=63k",
    // Jumps past the end of a file, or of a window.
    "--rw=read:8k --size=100k --zonesize=20k",
    "--rw=read:8k --offset=16k --zonesize=20k",
    "--rw=read:8k --size=52k --io_size=200k --zonesize=20k",
    "--rw=rw:8k --nrfiles=3 --file_service_type=random --offset=4k --zonesize=20k",
];

/// Jobs with a file of 128k that use the 64k after the first 16k.
const WITHIN_A_FILE: &[&str] = &[
    "--rw=read --zonesize=12k --zoneskip=8k",
    "--rw=read --zonesize=8k --zonerange=128k",
    "--rw=read --zonesize=8k --zoneskip=24k",
    "--rw=randread --zonesize=20k --zoneskip=16k",
    "--rw=randread --zonesize=20k --zoneskip=16k --norandommap",
    "--rw=randread --zonesize=16k --percentage_random=50",
    "--rw=randread --zonesize=32k --bsrange=4k-16k",
];

/// Jobs that end by time; only as many I/Os are compared as both programs did.
const TIME_BASED: &[&str] = &[
    "--rw=read --zonesize=8k --zoneskip=4k",
    "--rw=randread --zonesize=8k --zoneskip=4k",
    "--rw=randread --zonesize=16k --zonerange=8k --zoneskip=4k",
    "--size=66k --rw=read --zonesize=32k --zonerange=20k",
    "--rw=randread --zonesize=16k --zoneskip=4k --norandommap",
];

const FIXED: &str = "--zonemode=strided --bs=4k --size=64k";

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn windows_are_those_of_the_peer() {
    if !has_peer("windows_are_those_of_the_peer") {
        return;
    }
    let whole = STRIDED.iter().map(|case| format!("{FIXED} {case}"));
    let within = WITHIN_A_FILE.iter().map(|case| format!("{FIXED} --filename=long --offset=16k {case}"));
    for case in whole.chain(within) {
        let ours = trace(Program::Ferrio, &case);
        assert!(!ours.is_empty(), "{case}: no I/O");
        assert_eq!(ours, trace(Program::Peer, &case), "{case}");
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn windows_go_on_with_time_like_those_of_the_peer() {
    if !has_peer("windows_go_on_with_time_like_those_of_the_peer") {
        return;
    }
    for case in TIME_BASED {
        // A pass has at most 28 I/Os; a process that the system holds up for most of its time still does more.
        let case = format!("{FIXED} {case} --time_based --runtime=2 --rate_iops=200");
        let (ours, peers) = (trace(Program::Ferrio, &case), trace(Program::Peer, &case));
        let n_both = ours.len().min(peers.len());
        assert!(n_both > 30, "{case}: {} and {} I/Os", ours.len(), peers.len());
        assert_eq!(ours[..n_both], peers[..n_both], "{case}");
    }
}

fn trace(program: Program, case: &str) -> Vec<String> {
    let scratch = Scratch::new("zones");
    scratch.write("long", vec![0; 128 << 10]);
    trace_of(program, &scratch, case)
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn refusals_are_those_of_the_peer() {
    if !has_peer("refusals_are_those_of_the_peer") {
        return;
    }
    for case in ["--zonesize=8k", "--zonemode=none --zonesize=8k", "--zonemode=strided"] {
        let message = |program| {
            let scratch = Scratch::new("zones");
            let done = Run::new(program, scratch.path(), &format!("--name=a --size=64k {case}"))
                .recorded("zones", &[])
                .finish();
            (done.code, done.stderr.trim().to_owned())
        };
        assert_eq!(message(Program::Ferrio), message(Program::Peer), "{case}");
    }
}
