//! Jobs with `zonemode=zbd` on files: offsets of their I/Os, resets and messages, compared with fio.
//!
//! Start reading at [`places_are_those_of_the_peer`]. Some cases are not compared, because 3.41 ends the job or counts
//! differently: `max_open_zones` with no open zone in reach, zones that are reset without need beside those that other
//! jobs wrote, `zoneskip` of reads in partly written zones, sequential mixes that reach the end of their file before
//! their `io_size`.

use crate::shapes::trace_of;
use crate::support::{LoopDevice, Program, Run, Scratch, has_peer, peer_too, skip};

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
    "--rw=read --read_beyond_wp=1 --bs=8k --zonecapacity=16k --size=96k --offset=64k --io_size=256k --loops=2",
    "--rw=write --zone_reset_threshold=0.5 --zone_reset_frequency=1 --io_size=512k --zonecapacity=16k",
    "--rw=randwrite --zone_reset_threshold=0.5 --zone_reset_frequency=1 --io_size=512k --zonecapacity=16k",
    "--rw=randwrite --zone_reset_threshold=0.3 --zone_reset_frequency=0.25 --zonecapacity=16k --norandommap --io_size=256k",
    "--rw=randrw --zone_reset_threshold=0.1 --zone_reset_frequency=0.3 --io_size=512k --zonecapacity=28k",
    // Writes in sequence that come to the end of their file begin another pass.
    "--rw=write --io_size=512k --zone_reset_frequency=0.1",
    "--rw=write --bs=8k --loops=3 --zone_reset_frequency=0.25",
    "--rw=write --bs=32k --io_size=600k --loops=3",
    "--rw=rw --loops=3",
    "--rw=write --bs=8k --size=128k --io_size=512k --zone_reset_frequency=0.25",
    // Offsets behind a capacity end a pass before a size is drawn.
    "--rw=write --bsrange=4k-8k --size=192k --loops=2 --zonecapacity=24k",
    "--rw=write --bsrange=4k-16k --io_size=1m --zonecapacity=28k",
    // A range that ends before its file does.
    "--rw=randwrite --size=96k --io_size=288k --percentage_random=50",
    "--rw=read --read_beyond_wp=1 --bs=12k --size=200k",
    // Bytes end a pass of an engine with a queue: at the size, or at the io_size where there is no map.
    "--rw=randwrite --ioengine=libaio --io_size=600k",
    "--rw=randwrite --ioengine=libaio --io_size=600k --norandommap",
    "--rw=randrw --ioengine=libaio --size=128k --io_size=300k --norandommap",
    "--rw=randrw --ioengine=libaio --io_size=300k --loops=3 --random_distribution=zoned:50/10:50/90",
    "--rw=write --ioengine=libaio --bs=8k --io_size=512k --zone_reset_frequency=0.25",
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
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
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

/// Blocks that do not divide a zone. If the picked open zone has no room for the block, the first open zone with room
/// is used; if none has room, the picked zone is reset and written again.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn zones_without_room_give_way() {
    if !has_peer("zones_without_room_give_way") {
        return;
    }
    let kinds = ["--rw=randwrite --norandommap", "--rw=randwrite", "--rw=randrw --norandommap"];
    // fio's reads of finished zones go beyond the capacity.
    let sizes = ["--bs=12k", "--bs=20k", "--bs=12k --zonecapacity=28k", "--bs=20k,12k"];
    let differs = |kind: &str, size: &str| kind.contains("randrw") && size.contains("zonecapacity");
    let open = ["--max_open_zones=2", "--max_open_zones=3", "--max_open_zones=5", "--max_open_zones=7"];
    let mut n_compared = 0;
    for (turn, kind) in kinds.iter().enumerate() {
        for (index, (size, open)) in sizes.iter().flat_map(|size| open.iter().map(move |open| (size, open))).enumerate()
        {
            if differs(kind, size) {
                continue;
            }
            let case = format!("{FIXED} {kind} {size} {open} --randrepeat=0 --randseed={}", 1 + turn + index);
            let [ours, theirs] = [Program::Ferrio, Program::Peer].map(|program| trace_of(program, &scratch(), &case));
            assert_eq!(ours, theirs, "{case}");
            n_compared += theirs.len();
        }
    }
    assert!(n_compared > 400, "{n_compared}");
}

/// Data that one job wrote is there for the next one, whether jobs are threads or processes.
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
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
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
    // Options that the second job does not set are those of the first.
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
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
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
                let code = Run::new(program, scratch.path(), &args).recorded("zones", &["trace"]).finish().code;
                (code, ios_of(&std::fs::read_to_string(scratch.join("trace")).unwrap_or_default()))
            };
            assert_eq!(done(Program::Ferrio), done(Program::Peer), "{args}");
        }
    }
}

/// Action, offset and length of the I/Os that were traced.
fn trace_of_run(program: Program, args: &str) -> Vec<String> {
    let scratch = scratch();
    Run::new(program, scratch.path(), args).recorded("zones", &["trace"]).finish();
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
    // Every job that changes zones reports resets on each of its lines.
    for (case, n_lines) in [("--rw=trim --bs=32k", 1), ("--rw=randrw", 2), ("--rw=trimwrite --bs=4k,4k,32k", 2)] {
        let done = Run::new(Program::Ferrio, scratch.path(), &format!("{FIXED} {case} --name=a")).finish();
        assert_eq!(done.stdout.matches("msec); 0 zone resets\n").count(), n_lines, "{case}: {}", done.stdout);
    }
}

/// Jobs whose writes are verified do not reset a zone within a pass.
const VERIFIED: &[&str] = &[
    "--zonesize=64k --bsrange=4k-64k --randseed=66402651",
    "--zonesize=64k --bsrange=4k-64k --loops=2",
    "--bs=8k --max_open_zones=1",
    "--bs=8k --max_open_zones=2 --loops=2",
    "--bs=8k --max_open_zones=4 --job_max_open_zones=2",
    "--bs=12k",
    "--bs=12k --randseed=1",
    "--bs=12k --max_open_zones=5 --randseed=3",
    "--bs=12k --norandommap",
    "--bs=8k --percentage_random=50",
    "--rw=randwrite:4 --bs=4k",
    "--bsrange=4k-16k --random_generator=lfsr",
    "--bs=8k --verify_backlog=8",
    "--bsrange=4k-16k --zonecapacity=28k --max_open_zones=3",
    "--rw=write --bs=8k --loops=2",
    "--rw=write --bs=8k --do_verify=0 --loops=2",
    "--rw=write --bs=12k",
];

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn verified_places_are_those_of_the_peer() {
    if !has_peer("verified_places_are_those_of_the_peer") {
        return;
    }
    for case in VERIFIED {
        let case = format!("{FIXED} --rw=randwrite --verify=crc32c {SEED} {case}");
        let done = |program| {
            let scratch = scratch();
            let args = format!("--name=a --write_iolog=trace {case}");
            let done = Run::new(program, scratch.path(), &args).recorded("zones", &["trace"]).finish();
            let resets =
                done.stdout.lines().find_map(|line| line.split_once("msec); ")).map(|(_, rest)| rest.to_owned());
            let (writes, reads): (Vec<_>, Vec<_>) =
                ios_of(&scratch.read("trace")).into_iter().partition(|io| io.ends_with("write"));
            (done.code, resets, writes, reads)
        };
        let ours = done(Program::Ferrio);
        assert!(!ours.2.is_empty(), "{case}: no I/O");
        assert_eq!(ours, done(Program::Peer), "{case}");
    }
}

/// All that a verified job writes is read back, though it fills each zone once only.
#[test]
fn all_that_is_written_in_zones_is_verified() {
    for case in [
        "--bsrange=4k-64k --size=256k",
        "--bs=16k --size=512k --max_open_zones=1",
        "--bs=16k --size=512k --max_open_zones=4",
    ] {
        let scratch = Scratch::new("all-that-is-written");
        scratch.write("f", vec![0; 512 << 10]);
        let fixed = "--name=a --filename=f --zonemode=zbd --zonesize=64k --rw=randwrite --ioengine=libaio --iodepth=64";
        let args = format!("{fixed} --direct=1 --verify=md5 --do_verify=1 --output-format=json {case}");
        let done = Run::new(Program::Ferrio, scratch.path(), &args).finish().succeeded();
        let bytes = if case.contains("256k") { 256 << 10 } else { 512 << 10 };
        assert_eq!(done.stdout.matches(&format!("\"io_bytes\" : {bytes},")).count(), 2, "{case}: {}", done.stdout);
        assert!(done.stdout.contains("\"zone_resets\" : 0"), "{case}");
    }
}

/// A block that no zone can hold, and one that the capacity of none can.
#[test]
fn blocks_above_a_zone_end_the_job() {
    for (case, text) in [
        ("--rw=write --offset=64k --bs=64k --size=64k", "err=22/file"),
        ("--rw=write --bs=64k", "func=I/O buflen exceeds zone size, error=Invalid argument"),
        ("--rw=write --bsrange=4k-64k", "func=I/O buflen exceeds zone size"),
        ("--rw=randwrite --zonecapacity=2k", "func=ZCAP is less min_bs, error=Invalid argument"),
    ] {
        let programs = if peer_too("blocks_above_a_zone_end_the_job") { 0..2 } else { 0..1 };
        for program in [Program::Ferrio, Program::Peer].into_iter().skip(programs.start).take(programs.end) {
            let done = Run::new(program, scratch().path(), &format!("{FIXED} --name=a {case}"))
                .recorded("zones", &[])
                .finish();
            assert!(done.code == Some(1) && done.all().contains(text), "{case}: {:?} {}", done.code, done.all());
        }
    }
    for case in ["--rw=write --zonecapacity=2k", "--rw=read --bs=64k"] {
        let done =
            Run::new(Program::Ferrio, scratch().path(), &format!("{FIXED} --name=a {case}")).finish().succeeded();
        assert!(!done.stdout.contains("io="), "{case}: {}", done.stdout);
    }
}

/// Sixteen jobs with a zone each, of which one or four are open at once: each waits for its turn.
#[test]
fn jobs_wait_for_their_turn() {
    for (max_open, kind) in [(1, ""), (4, "--thread")] {
        let scratch = Scratch::new("jobs-wait");
        scratch.write("f", vec![0; 1 << 20]);
        let jobs = "--numjobs=16 --size=1z --offset_increment=1z --group_reporting --verify=crc32c";
        let fixed =
            "--name=a --filename=f --zonemode=zbd --zonesize=64k --bs=4k --rw=randwrite --ioengine=libaio --iodepth=4";
        let args = format!("{fixed} --output-format=json {jobs} --max_open_zones={max_open} {kind}");
        let done = Run::new(Program::Ferrio, scratch.path(), &args).finish().succeeded();
        assert_eq!(done.stdout.matches("\"io_bytes\" : 1048576,").count(), 2, "{}", done.stdout);
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn counts_and_notes_are_those_of_the_peer() {
    if !has_peer("counts_and_notes_are_those_of_the_peer") {
        return;
    }
    for case in [
        "--rw=write --io_size=600k",
        "--rw=randrw --offset=20k --size=200k",
        "--rw=randwrite --size=200k",
        "--rw=read --read_beyond_wp=1 --offset=20k --size=200k",
        "--rw=read --read_beyond_wp=1 --size=20k",
    ] {
        let told = |program| {
            let scratch = scratch();
            let done = Run::new(program, scratch.path(), &format!("{FIXED} {SEED} --name=a {case}"))
                .recorded("zones", &[])
                .finish();
            // The peer leaves out those of reads.
            let written = done.stdout.lines().filter(|line| line.starts_with("  write: "));
            let counts = written.filter_map(|line| line.split_once("msec); ")).map(|(_, rest)| rest.to_owned());
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
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
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
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn refusals_of_zones_are_those_of_the_peer() {
    if !has_peer("refusals_of_zones_are_those_of_the_peer") {
        return;
    }
    for (case, text) in [
        ("--zonesize=0", "Specifying the zone size is mandatory"),
        ("--zonesize=256", "zone size must be at least 512 bytes"),
        ("--zonesize=512k", "is smaller than zone size"),
        ("--zonecapacity=36k", "job parameter zonecapacity 36864 is larger than zone size 32768"),
        ("--rw=randwrite --zonecapacity=2k", "zone capacity 2048 smaller than minimum block size 4096"),
        ("--zoneskip=1k", "zoneskip 1024 is not a multiple of the device zone size 32768."),
        ("--size=20k", "io_size must be at least one zone"),
        ("--rw=trim", "trim block size 4096 is not the zone size 32768"),
        ("--create_serialize=0", "--zonemode=zbd and --create_serialize=0 are not compatible."),
        ("--experimental_verify=1", "zonemode=zbd does not support experimental verify"),
        (
            "--rw=randwrite --size=128k --numjobs=2 --offset_increment=1z --zone_reset_threshold=0.1",
            "different write ranges",
        ),
        ("--zonesize=0 --size=4z", "Specifying the zone size is mandatory"),
        ("--job_max_open_zones=2", "'job_max_open_zones' cannot be used without a global open zones limit"),
    ] {
        for program in [Program::Ferrio, Program::Peer] {
            let scratch = scratch();
            let done = Run::new(program, scratch.path(), &format!("{FIXED} --rw=write --name=a {case}"))
                .recorded("zones", &[])
                .finish();
            let all = format!("{}{}", done.stdout, done.stderr);
            assert!(done.code != Some(0) && all.contains(text), "{case}: {:?} {all}", done.code);
        }
    }
}

/// No zone has room for a write. A sequential job ends there without an error, after the trim that comes first.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn blocks_above_the_capacity_end_as_under_the_peer() {
    if !has_peer("blocks_above_the_capacity_end_as_under_the_peer") {
        return;
    }
    let fixed =
        "--name=a --zonemode=zbd --filename=long --zonesize=64k --zonecapacity=16k --bs=32k,32k,64k --size=256k";
    for (kind, code) in [("write", 0), ("trimwrite", 0), ("randwrite", 1)] {
        let ended = |program| {
            let scratch = scratch();
            let done =
                Run::new(program, scratch.path(), &format!("{fixed} --rw={kind}")).recorded("zones", &[]).finish();
            let issued = done.stdout.lines().find(|line| line.contains("issued rwts: ")).map(str::to_owned);
            (done.code, issued)
        };
        let ours = ended(Program::Ferrio);
        assert_eq!(ours.0, Some(code), "{kind}");
        assert_eq!(ours, ended(Program::Peer), "{kind}");
    }
}
