//! Jobs with `zonemode=zbd` on files: where their I/Os go, what they reset and say, beside the peer.
//!
//! Start reading at [`places_are_those_of_the_peer`]. Not compared, because the peer (3.33) ends the job or counts otherwise:
//! `max_open_zones` where no block fits into an open zone or with none in reach, `job_max_open_zones` of a job that fills a zone
//! that another opened, zones that are reset without need beside what other jobs wrote, `zoneskip` of reads in zones that were
//! written in part.

use crate::shapes::trace_of;
use crate::support::{LoopDevice, Program, Run, Scratch, has_peer, skip};

const CASES: &[&str] = &[
    "--rw=write",
    "--rw=randwrite",
    "--rw=rw",
    "--rw=randrw",
    "--rw=randrw --norandommap --io_size=1m",
    "--rw=rw --rwmixread=80 --io_size=512k",
    "--rw=randrw --rwmixread=80 --io_size=512k",
    "--rw=read --read_beyond_wp=1",
    "--rw=randread --read_beyond_wp=1",
    "--rw=write --io_size=600k",
    "--rw=write --loops=2",
    "--rw=randwrite --io_size=600k --loops=2",
    "--rw=randwrite --bs=12k --io_size=512k",
    "--rw=write --bs=12k --io_size=512k",
    "--rw=write --bs=8k --zonecapacity=28k --io_size=512k",
    "--rw=randwrite --zonecapacity=20k --norandommap --io_size=512k",
    "--rw=randwrite --bsrange=4k-16k --io_size=512k",
    "--rw=randwrite --bsrange=4k-16k --norandommap --zonecapacity=28k --io_size=512k",
    "--rw=write --bssplit=4k/30:8k/30:12k/40 --io_size=512k",
    "--rw=randrw --bssplit=4k/30:8k/30:12k/40 --io_size=512k",
    "--rw=randrw --bs=4k,8k --io_size=512k",
    "--rw=randwrite --max_open_zones=1",
    "--rw=randwrite --max_open_zones=2 --norandommap --io_size=600k",
    "--rw=randrw --max_open_zones=3 --io_size=600k",
    "--rw=randwrite --max_open_zones=5 --job_max_open_zones=2 --norandommap",
    "--rw=randwrite --zone_reset_threshold=0.1 --zone_reset_frequency=0.25 --norandommap",
    "--rw=randwrite --zone_reset_threshold=0.5 --zone_reset_frequency=1 --io_size=512k",
    "--rw=write --zone_reset_threshold=0.3 --zone_reset_frequency=0.3 --io_size=512k",
    "--rw=randrw --zone_reset_threshold=0.3 --zone_reset_frequency=0.1 --io_size=512k",
    "--rw=rw --bs=8k --io_size=512k",
    "--rw=rw --rwmixread=40 --io_size=512k",
    "--rw=rw --rwmixread=30 --bs=16k --io_size=700k --loops=2",
    "--rw=rw --bs=8k --size=96k --io_size=512k",
    "--rw=read --read_beyond_wp=1 --bs=8k --zonecapacity=16k --size=96k --offset=64k --io_size=256k --loops=2",
    "--rw=write --zone_reset_threshold=0.5 --zone_reset_frequency=1 --io_size=512k --zonecapacity=16k",
    "--rw=randwrite --zone_reset_threshold=0.5 --zone_reset_frequency=1 --io_size=512k --zonecapacity=16k",
    "--rw=randwrite --zone_reset_threshold=0.3 --zone_reset_frequency=0.25 --zonecapacity=16k --norandommap",
    "--rw=randrw --zone_reset_threshold=0.1 --zone_reset_frequency=0.3 --io_size=512k --zonecapacity=28k",
    // Writes in sequence that come to the end of their file begin another pass.
    "--rw=write --io_size=512k --zone_reset_frequency=0.1",
    "--rw=write --bs=8k --loops=3 --zone_reset_frequency=0.25",
    "--rw=write --bs=32k --io_size=600k --loops=3",
    "--rw=rw --bs=16k --io_size=1m",
    "--rw=rw --loops=3",
    "--rw=write --bs=8k --size=128k --io_size=512k --zone_reset_frequency=0.25",
    "--rw=rw --bs=16k --size=128k --io_size=1m",
    // What lies behind a capacity ends a pass before a size is drawn.
    "--rw=write --bsrange=4k-8k --size=192k --loops=2 --zonecapacity=24k",
    "--rw=write --bsrange=4k-16k --io_size=1m --zonecapacity=28k",
    // A range that ends before its file does.
    "--rw=randwrite --size=96k --io_size=288k --percentage_random=50",
    "--rw=randrw --size=192k --io_size=384k --percentage_random=50",
    "--rw=read --read_beyond_wp=1 --bs=12k --size=200k",
    // Bytes end a pass of an engine with a queue: at the size, or at the io_size where there is no map.
    "--rw=randwrite --ioengine=libaio --io_size=600k",
    "--rw=randwrite --ioengine=libaio --io_size=600k --norandommap",
    "--rw=randrw --ioengine=libaio --size=128k --io_size=300k --norandommap",
    "--rw=randrw --ioengine=libaio --io_size=300k --loops=3 --random_distribution=zoned:50/10:50/90",
    "--rw=write --ioengine=libaio --bs=8k --io_size=512k --zone_reset_frequency=0.25",
    "--rw=rw --ioengine=libaio --bs=16k --io_size=1m",
    "--rw=write --zoneskip=32k",
    "--rw=write --zoneskip=1z --io_size=512k",
    "--rw=read --zoneskip=64k --read_beyond_wp=1",
    "--rw=randwrite:4 --norandommap",
    "--rw=write:4k",
    "--rw=randwrite --percentage_random=50 --io_size=512k",
    "--rw=randwrite --fsync=3",
    "--rw=randwrite --ioengine=libaio --iodepth=4 --io_size=512k",
    "--rw=randwrite --offset=64k --size=128k --io_size=512k",
    "--rw=write --offset=20k --size=200k",
    "--rw=randwrite --size=3z --offset=1z",
    "--rw=trim --bs=32k",
    "--rw=trimwrite --bs=4k,4k,32k",
    "--rw=trimwrite --bs=4k,4k,32k --loops=2",
    "--rw=randwrite --random_distribution=zoned:50/10:50/90",
    "--nrfiles=2 --filename=long:second --size=512k --rw=randwrite",
];

const FIXED: &str = "--zonemode=zbd --filename=long --zonesize=32k --bs=4k --size=256k --thread";

/// Both draw the same from it.
const SEED: &str = "--randrepeat=0 --randseed=137";

/// A file of eight zones, and another.
fn scratch() -> Scratch {
    let scratch = Scratch::new("sequential-zones");
    for name in ["long", "second"] {
        scratch.write(name, vec![0; 256 << 10]);
    }
    scratch
}

#[test]
fn places_are_those_of_the_peer() {
    if !has_peer("places_are_those_of_the_peer") {
        return;
    }
    for case in CASES {
        let case = format!("{FIXED} {case}");
        let trace = |program| trace_of(program, &scratch(), &case);
        let ours = trace(Program::Ferrio);
        assert!(!ours.is_empty(), "{case}: no I/O");
        assert_eq!(ours, trace(Program::Peer), "{case}");
    }
}

/// Blocks that do not divide a zone: where none fits into the open zone that is picked, it goes to the first in which one does.
/// Where none fits into any, the peer ends the job.
#[test]
fn zones_without_room_give_way() {
    if !has_peer("zones_without_room_give_way") {
        return;
    }
    let kinds = ["--rw=randwrite --norandommap", "--rw=randwrite", "--rw=randrw --norandommap"];
    let sizes = ["--bs=12k", "--bs=20k", "--bs=12k --zonecapacity=28k", "--bs=20k,12k"];
    let open = ["--max_open_zones=2", "--max_open_zones=3", "--max_open_zones=5", "--max_open_zones=7"];
    let mut n_compared = 0;
    for (turn, kind) in kinds.iter().enumerate() {
        for (index, (size, open)) in sizes.iter().flat_map(|size| open.iter().map(move |open| (size, open))).enumerate()
        {
            let case = format!("{FIXED} {kind} {size} {open} --randrepeat=0 --randseed={}", 1 + turn + index);
            let [ours, theirs] = [Program::Ferrio, Program::Peer].map(|program| trace_of(program, &scratch(), &case));
            assert!(ours.starts_with(&theirs), "{case}:\n{ours:?}\n{theirs:?}");
            n_compared += theirs.len();
        }
    }
    assert!(n_compared > 400, "{n_compared}");
}

/// What a job wrote is there for the next one, a thread or a process.
const READERS: &[&str] = &[
    "--rw=read",
    "--rw=read --bs=12k",
    "--rw=read --bsrange=4k-16k",
    "--rw=randread",
    "--rw=randread --norandommap --io_size=512k",
    "--rw=randread --bsrange=4k-16k --norandommap",
    "--rw=randread --bs=12k --norandommap",
    "--rw=randread --offset=64k --size=128k --norandommap",
    "--rw=randrw --norandommap",
    "--rw=write --io_size=100k",
    "--rw=randtrim --bs=32k --norandommap",
];

#[test]
fn what_is_read_of_other_jobs_is_that_of_the_peer() {
    if !has_peer("what_is_read_of_other_jobs_is_that_of_the_peer") {
        return;
    }
    let both = "--zonemode=zbd --filename=long --zonesize=32k --size=256k --randrepeat=0 --randseed=137";
    for kind in ["--thread", ""] {
        for written in ["24k", "100k", "240k"] {
            for case in READERS {
                let args = format!(
                    "--name=a {both} {kind} --bs=4k --rw=randwrite --norandommap --io_size={written} \
                     --name=b {both} {kind} --stonewall --write_iolog=trace --bs=4k {case}"
                );
                let trace = |program| trace_of_run(program, &args);
                assert_eq!(trace(Program::Ferrio), trace(Program::Peer), "{args}");
            }
        }
    }
}

/// Two jobs, one after the other.
const PAIRS: &[(&str, &str)] = &[
    ("--rw=write --io_size=64k --max_open_zones=1", "--rw=randwrite --norandommap --max_open_zones=1"),
    (
        "--rw=randwrite --norandommap --io_size=200k --max_open_zones=2",
        "--rw=randwrite --norandommap --max_open_zones=2",
    ),
    ("--rw=randwrite --norandommap --max_open_zones=3", "--rw=write --io_size=512k --max_open_zones=3"),
    ("--rw=write --io_size=48k --max_open_zones=3", "--rw=write --offset=64k --size=128k --max_open_zones=3"),
    (
        "--rw=write --io_size=16k --offset=192k --size=64k --max_open_zones=3",
        "--rw=write --io_size=128k --max_open_zones=3 --job_max_open_zones=3",
    ),
    ("--rw=randwrite --io_size=96k --max_open_zones=4", "--rw=randrw --norandommap --max_open_zones=4"),
    // What the second does not say is as the first has it.
    ("--rw=randwrite --bs=8k --max_open_zones=3", "--rw=randwrite --bs=8k"),
    ("--rw=randwrite --bs=8k --max_open_zones=3", "--rw=randread --bs=8k --job_max_open_zones=1"),
    ("--rw=randwrite --bs=8k", "--rw=randwrite --bs=8k --zonesize=0"),
    ("--rw=randwrite --bs=16k --max_open_zones=1", "--rw=randwrite --bs=8k --max_open_zones=2"),
    ("--rw=randwrite --bs=16k", "--rw=randwrite --bs=8k --max_open_zones=2"),
    ("--rw=randwrite --bs=16k", "--rw=randwrite --bs=8k --zonesize=64k"),
    // The first makes the file longer than its zones.
    ("--rw=read --offset=64k", "--rw=rw --io_size=96k"),
    ("--rw=randwrite --offset=64k", "--rw=write --size=320k"),
];

#[test]
fn jobs_have_the_zones_of_the_peer_together() {
    if !has_peer("jobs_have_the_zones_of_the_peer_together") {
        return;
    }
    for kind in ["--thread", ""] {
        for (first, second) in PAIRS {
            let both = format!("{FIXED} {SEED} {kind}").replace("--thread", kind);
            let args = format!("--name=a {both} {first} --name=b {both} --stonewall --write_iolog=trace {second}");
            let done = |program| {
                let scratch = scratch();
                let code = Run::new(program, scratch.path(), &args).finish().code;
                (code, ios_of(&std::fs::read_to_string(scratch.join("trace")).unwrap_or_default()))
            };
            assert_eq!(done(Program::Ferrio), done(Program::Peer), "{args}");
        }
    }
}

/// Action, offset and length of the I/Os that were traced.
fn trace_of_run(program: Program, args: &str) -> Vec<String> {
    let scratch = scratch();
    Run::new(program, scratch.path(), args).finish();
    ios_of(&scratch.read("trace"))
}

fn ios_of(trace: &str) -> Vec<String> {
    let words = |line: &str| line.split_whitespace().rev().take(3).map(str::to_owned).collect::<Vec<_>>();
    let is_io = |words: &Vec<String>| words.len() == 3 && words[0].parse::<u64>().is_ok();
    trace.lines().map(words).filter(is_io).map(|words| words.join(" ")).collect()
}

#[test]
fn resets_are_counted_and_told() {
    let case = format!("{FIXED} --rw=write --io_size=600k --name=a");
    let scratch = scratch();
    // 64 blocks a pass; the second resets 8 zones, the third 3 for 22 blocks.
    let done = Run::new(Program::Ferrio, scratch.path(), &case).finish();
    assert!(done.stdout.contains("msec); 11 zone resets\n"), "{}", done.stdout);
    let json = Run::new(Program::Ferrio, scratch.path(), &format!("--output-format=json {case}")).finish().stdout;
    assert!(json.contains("\"zone_resets\" : 11"), "{json}");
    let reads = format!("{FIXED} --rw=read --read_beyond_wp=1 --name=a");
    let done = Run::new(Program::Ferrio, scratch.path(), &reads).finish();
    assert!(!done.stdout.contains("zone resets"), "{}", done.stdout);
}

#[test]
fn counts_and_notes_are_those_of_the_peer() {
    if !has_peer("counts_and_notes_are_those_of_the_peer") {
        return;
    }
    for case in ["--rw=write --io_size=600k", "--rw=randrw --offset=20k --size=200k", "--rw=randwrite --size=200k"] {
        let told = |program| {
            let scratch = scratch();
            let done = Run::new(program, scratch.path(), &format!("{FIXED} {SEED} --name=a {case}")).finish();
            let counts =
                done.stdout.lines().filter_map(|line| line.split_once("msec); ")).map(|(_, rest)| rest.to_owned());
            let notes = done.stdout.lines().filter(|line| line.starts_with("long: ")).map(str::to_owned);
            (done.code, counts.chain(notes).collect::<Vec<_>>())
        };
        let ours = told(Program::Ferrio);
        assert!(!ours.1.is_empty(), "{case}");
        assert_eq!(ours, told(Program::Peer), "{case}");
    }
}

/// A block device without zones of its own has emulated ones, as a file has.
#[test]
fn a_device_without_zones_has_those_of_the_peer() {
    let test = "a_device_without_zones_has_those_of_the_peer";
    if !has_peer(test) {
        return;
    }
    let home = Scratch::new(test);
    let Some(device) = LoopDevice::new(&home, 4 << 20) else { return skip(test, "no loop device") };
    let fixed = format!("--name=a --zonemode=zbd --filename={} {SEED}", device.path());
    for case in [
        "--rw=write --zonesize=1m --bs=64k",
        "--rw=write --zonesize=1m --bs=64k --direct=1 --io_size=6m",
        "--rw=randwrite --zonesize=1m --bs=64k --size=2m",
        "--rw=randwrite --zonesize=1m --bs=64k --io_size=8m --max_open_zones=2 --thread",
        "--rw=randrw --zonesize=512k --bs=64k --io_size=6m",
        "--rw=read --zonesize=1m --bs=64k",
        "--rw=trim --zonesize=1m --bs=1m",
        "--rw=write --zonesize=1000k --bs=64k",
        "--rw=write --bs=64k",
        "--rw=write --zonesize=8m --bs=64k",
    ] {
        let done = |program| {
            let scratch = scratch();
            let finished = Run::new(program, scratch.path(), &format!("{fixed} {case} --write_iolog=log")).finish();
            let log = std::fs::read_to_string(scratch.join("log")).unwrap_or_default();
            let is_io = |io: &&str| io.ends_with(|last: char| last.is_ascii_digit());
            let ios = log.lines().filter_map(|line| line.split_once(' ')).map(|(_, io)| io).filter(is_io);
            let told = finished.all();
            let resets = told.lines().find_map(|line| line.split_once("msec); ")).map(|(_, rest)| rest.to_owned());
            (finished.code, resets, ios.map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(done(Program::Ferrio), done(Program::Peer), "{case}");
    }
}

#[test]
fn refusals_of_zones_are_those_of_the_peer() {
    if !has_peer("refusals_of_zones_are_those_of_the_peer") {
        return;
    }
    for (case, text) in [
        ("--zonesize=0", "Specifying the zone size is mandatory"),
        ("--zonesize=256", "zone size must be at least 512 bytes"),
        ("--zonesize=512k", "is smaller than zone size"),
        ("--zonecapacity=36k", "job parameter zonecapacity 36864 is larger than zone size 32768"),
        ("--zonecapacity=2k", "zone capacity 2048 smaller than minimum block size 4096"),
        ("--zoneskip=1k", "zoneskip 1024 is not a multiple of the device zone size 32768."),
        ("--size=20k", "io_size must be at least one zone"),
        ("--rw=trim", "trim block size 4096 is not the zone size 32768"),
        ("--create_serialize=0", "--zonemode=zbd and --create_serialize=0 are not compatible."),
        ("--job_max_open_zones=2", "'job_max_open_zones' cannot be used without a global open zones limit"),
    ] {
        for program in [Program::Ferrio, Program::Peer] {
            let scratch = scratch();
            let done = Run::new(program, scratch.path(), &format!("{FIXED} --rw=write --name=a {case}")).finish();
            let all = format!("{}{}", done.stdout, done.stderr);
            assert!(done.code != Some(0) && all.contains(text), "{case}: {:?} {all}", done.code);
        }
    }
}
