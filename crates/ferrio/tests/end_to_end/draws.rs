//! Draws of offsets, sizes and files in combination: skewed distributions, sizes of all kinds, `rw` postfixes and
//! passes; traces compared with fio's.
//!
//! Start reading at [`skewed`].

use crate::random_jobs::ios;
use crate::streams::{Case, NULL, cases, compare, difference, traces};
use crate::support::{Program, Run, Scratch, has_peer, peer_too};
use serde_json::Value;

/// The cases have one, two or three files in turn. Every case has numbers of its own, because its seed is derived from
/// its name.
fn skewed(options: &[String]) -> Vec<Case> {
    let one = |(index, option): (usize, &String)| format!("{option} nrfiles={}", index % 3 + 1);
    options.iter().enumerate().map(one).collect()
}

const SHAPES: [&str; 9] = [
    "zipf:1.2",
    "zipf:0.5:0.3",
    "zipf:0",
    "pareto:0.3",
    "pareto:0.9:0.2",
    "pareto:0.05:1",
    "normal:10",
    "normal:50:0.7",
    "normal:0:0.5",
];

/// Runtimes of the clones of a job, microseconds, and the times of their reads, milliseconds.
fn drawn_runtimes(options: &str) -> (Vec<u64>, Vec<u64>) {
    let scratch = Scratch::new("draws");
    let job = "--name=a --ioengine=null --size=1m --rw=read --time_based --numjobs=4 --output-format=json";
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{job} {options}")).finish();
    let document: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()));
    let jobs = document["jobs"].as_array().expect("jobs").iter();
    let runtimes_ms = jobs.filter_map(|job| job.pointer("/read/runtime")?.as_u64()).collect();
    let drawn = document["ferrio"]["drawn_runtimes"].as_array().into_iter().flatten();
    let drawn = drawn.flat_map(|job| job["runtimes_us"].as_array().into_iter().flatten().filter_map(Value::as_u64));
    (drawn.collect(), runtimes_ms)
}

/// Each clone has a runtime of its own, which repeats, and lasts at least as long.
#[test]
fn the_runtime_of_each_clone_is_drawn() {
    let (drawn, runtimes_ms) = drawn_runtimes("--runtime=20ms-60ms");
    assert!(drawn.len() == 4 && drawn.iter().all(|us| (20_000..=60_000).contains(us)), "{drawn:?}");
    for (index, us) in drawn.iter().enumerate() {
        assert!(!drawn[..index].contains(us), "{drawn:?}");
        assert!(runtimes_ms[index] >= us / 1_000, "{runtimes_ms:?} {drawn:?}");
    }
    assert_eq!(drawn_runtimes("--runtime=uniform:20ms-60ms --group_reporting").0, drawn);
    let other = drawn_runtimes("--runtime=20ms-60ms --randseed=7").0;
    assert!(other.len() == 4 && other != drawn, "{other:?}");
    assert_eq!(drawn_runtimes("--runtime=exponential:20ms").0.len(), 4);
    assert_eq!(drawn_runtimes("--runtime=20ms").0, Vec::<u64>::new());
    // The native report says it too.
    let scratch = Scratch::new("draws");
    let native = "run --name=a --ioengine=null --size=1m --rw=read --time_based --runtime=20ms-60ms";
    let one = Run::new(Program::Ferrio, scratch.path(), native).finish();
    assert!(one.stdout.contains("a has drawn the runtime "), "{}", one.all());
    let four = Run::new(Program::Ferrio, scratch.path(), &format!("{native} --numjobs=4")).finish();
    assert!(four.stdout.contains("The 4 clones of a have drawn runtimes from "), "{}", four.all());
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_draws_of_all_shapes() {
    let sizes = ["bs=6k", "bsrange=1k-8k", "bssplit=4k/50:8k/30:1k/20,1k/50:16k/50", "bsrange=3k-10k bs_unaligned=1"];
    let kinds = ["randread", "randwrite", "randrw", "randtrimwrite", "randread:4"];
    let mut options: Vec<String> = Vec::new();
    for (index, shape) in SHAPES.iter().enumerate() {
        for (turn, size) in sizes.iter().enumerate() {
            let kind = kinds[(index + turn) % kinds.len()];
            options.push(format!("rw={kind} size=360k random_distribution={shape} {size}"));
        }
    }
    compare("skewed_draws_of_all_shapes", NULL, &skewed(&options));
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_draws_beside_other_options() {
    let more = [
        "rw=randrw io_size=700k",
        "rw=randwrite io_size=150k loops=2",
        "rw=randread:3 loops=3 bs=2k,12k blockalign=4k",
        "rw=randrw percentage_random=50,30 bsrange=1k-8k",
        "rw=randread bs=4k,8k bs_is_seq_rand=1 percentage_random=70",
        "rw=randwrite random_generator=tausworthe64 bsrange=4k-16k",
        "rw=randread file_service_type=random:3 bsrange=4k-8k",
        "rw=randrw file_service_type=roundrobin:2 loops=2",
        "rw=randwrite:2 rw_sequencer=identical",
        "rw=randread offset=12k number_ios=60",
    ];
    let shapes = ["zipf:1.1", "pareto:0.2:0.9", "normal:20"];
    let mut options: Vec<String> = Vec::new();
    for (index, more) in more.iter().enumerate() {
        options.push(format!("{more} size=256k random_distribution={}", shapes[index % shapes.len()]));
    }
    compare("skewed_draws_beside_other_options", NULL, &skewed(&options));
}

/// `file_service_type` is skewed, and the picked file has no place for another block: a file whose random map is full
/// starts over at once, a file whose rest is shorter than a block is closed.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_services_of_files_with_a_rest() {
    let services = ["zipf:1.2:0.5", "zipf:0.5", "pareto:0.3", "gauss:20:0.2", "normal:40"];
    let more = [
        "nrfiles=1 size=130k loops=3",
        "nrfiles=5 size=64k",
        "nrfiles=2 size=64k bsrange=4k-8k,1k-16k",
        "nrfiles=3 size=100k bs=4k,8k io_size=200k",
        "nrfiles=4 size=333k bssplit=16k/50:8k/50,4k/50:8k/50 openfiles=2",
    ];
    let mut all: Vec<Case> = Vec::new();
    for (turn, kind) in ["randread:3", "randrw:4", "randwrite:2", "randread", "randrw", "rw"].into_iter().enumerate() {
        for (index, more) in more.iter().enumerate() {
            let service = services[(turn + index) % services.len()];
            all.push(format!("rw={kind} file_service_type={service} {more}"));
        }
    }
    compare("skewed_services_of_files_with_a_rest", NULL, &all);
}

/// Both `file_service_type` and `random_distribution` are skewed, and the first drawn offset is past the end: the file
/// is closed, and a file is drawn once more.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_services_of_skewed_places() {
    let services = ["zipf:0.5", "pareto:0.3", "gauss:20:0.2", "normal:40"];
    let more = [
        "bs=4k blockalign=16k,4k",
        "bs=8k,4k blockalign=16k,4k io_size=150k",
        "bsrange=4k-8k blockalign=1k,12k loops=2",
        "bs=16k,4k openfiles=1",
    ];
    let mut options: Vec<String> = Vec::new();
    for (turn, kind) in ["randrw", "randread", "randrw:3"].into_iter().enumerate() {
        for (index, more) in more.iter().enumerate() {
            let service = services[(turn + index) % services.len()];
            let shape = SHAPES[(3 * turn + index) % SHAPES.len()];
            options.push(format!("rw={kind} size=96k file_service_type={service} random_distribution={shape} {more}"));
        }
    }
    compare("skewed_services_of_skewed_places", NULL, &skewed(&options));
}

/// If every pass uses the seeds of the first one, it also picks the same files.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_services_of_each_pass() {
    let services = ["zipf:0.5", "pareto:0.3", "normal:40", "gauss:20:0.2", "random"];
    let options = services.map(|service| format!("file_service_type={service}"));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let all = cases(&["read", "write", "rw"], "size=96k nrfiles=3 loops=3", &options);
    compare("skewed_services_of_each_pass", "ioengine=libaio", &all);
    compare("skewed_services_of_each_pass", "ioengine=libaio randrepeat=0 randseed=137", &all);
}

/// A percentage of several files that are more than the size.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn shares_of_files_beyond_the_size() {
    let options = [
        "filesize=256k io_size=10%",
        "filesize=256k io_size=75% loops=2",
        "nrfiles=3 filesize=32k io_size=20%",
        "nrfiles=3 filesize=32k io_size=75% offset=8k",
        "nrfiles=3 filesize=32k io_size=50% loops=2",
        "nrfiles=5 filesize=20k-60k io_size=25%",
        "nrfiles=3 io_size=75%",
    ];
    let all = cases(&["write", "randread", "rw"], "size=64k", &options);
    compare("shares_of_files_beyond_the_size", NULL, &all);
    compare("shares_of_files_beyond_the_size", "ioengine=libaio randrepeat=0 randseed=137", &all);
}

/// Drawn sizes are multiples of the smallest block of all directions, used or not.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn drawn_sizes_of_files() {
    let sizes = ["bs=4k,1k", "bs=4k,4k,1k", "bs=1k,4k", "bs=8k,4k"];
    let all = cases(&["write", "randread"], "size=1000k nrfiles=4 filesize=16k-100k", &sizes);
    compare("drawn_sizes_of_files", "ioengine=psync randrepeat=0 randseed=137", &all);
}

/// Sizes of a split that are no multiples of the smallest.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn splits_of_uneven_sizes() {
    let options = [
        "bssplit=5k/40:3k/60",
        "bssplit=6k/50:4k/50",
        "bssplit=10k/40:7k/30:3k/30",
        "bssplit=2k/50:3k/50,4k/50:6k/50",
        "bssplit=3k/50:7k/50 bs_unaligned=1",
        "bssplit=5000/50:1000/50 norandommap=1",
    ];
    let kinds = ["read", "write", "rw", "randread", "randrw", "randtrimwrite"];
    compare("splits_of_uneven_sizes", NULL, &cases(&kinds, "size=200k", &options));
    // At the end of a file there may be room for the drawn size after rounding, even if not for the largest size.
    let options = ["bssplit=2k/30:5k/70", "bssplit=2k/30:5k/70,3k/50:4k/50", "bssplit=2k/30:5k/70 randseed=2 loops=2"];
    let kinds = ["read", "write", "rw", "read:4k", "randread:3"];
    compare("splits_of_uneven_sizes", NULL, &cases(&kinds, "size=64k", &options));
}

/// Bytes end the passes of an engine with a queue at the size, however much is asked for, unless a random job that writes has
/// no map.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_with_a_map_or_an_order() {
    let options = [
        "io_size=200k",
        "io_size=200k percentage_random=50",
        "io_size=150k nrfiles=2",
        "io_size=200k random_generator=lfsr",
        "io_size=200k random_generator=lfsr norandommap=1",
        "io_size=300k blockalign=8k",
        "io_size=200k random_distribution=zoned:60/10:40/90",
        "io_size=100k loops=3",
    ];
    let kinds = ["randwrite:2", "randrw:3", "randwrite", "randread:2"];
    let mut all = cases(&kinds, "size=64k", &options);
    all.extend(cases(
        &["write:4k", "write:-8k", "rw", "rw:12k", "read:12k"],
        "size=64k io_size=200k",
        &["", "nrfiles=2"],
    ));
    for engine in ["libaio", "libaio iodepth=4"] {
        let global = format!("ioengine={engine} randrepeat=0 randseed=137");
        compare("passes_with_a_map_or_an_order", &global, &all);
    }
}

/// Files in sequence: a pass that ends by its bytes, or between files, is followed by one that begins with the next file.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_of_files_in_sequence() {
    let services = ["sequential", "sequential:2", "roundrobin:0"];
    let options = services.map(|service| format!("file_service_type={service}"));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut all = cases(&["rw", "randrw", "read"], "size=64k nrfiles=7 loops=3", &options);
    all.extend(cases(&["randread", "randwrite"], "size=60k nrfiles=3 loops=4 norandommap=1", &options));
    all.extend(cases(&["rw", "randwrite:2"], "size=96k nrfiles=3 openfiles=1 io_size=250k", &options));
    compare("passes_of_files_in_sequence", "ioengine=libaio randrepeat=0 randseed=137", &all);
}

/// With `io_size` above `size`, each direction of a mix starts over in its files.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn rounds_of_a_mix() {
    let options = [
        "size=64k io_size=200k",
        "size=64k io_size=200k rwmixread=100",
        "size=64k io_size=200k nrfiles=3 rwmixread=80",
        "size=64k io_size=200k nrfiles=2 file_service_type=sequential",
        "size=64k io_size=200k nrfiles=3 openfiles=1 loops=2",
        "size=64k io_size=200k number_ios=30",
        "size=92k io_size=200k bs=16k",
        "size=92k io_size=200k bs=4k,16k",
        "size=92k io_size=200k fsync=3",
        "size=64k io_size=65k loops=3",
        "size=64k filesize=32k nrfiles=2 io_size=100k",
    ];
    let all = cases(&["rw", "rw:8k", "rw:-8k", "rw:12k", "randrw:5", "randrw"], "", &options);
    for engine in ["null", "libaio"] {
        compare("rounds_of_a_mix", &format!("ioengine={engine} randrepeat=0 randseed=137"), &all);
    }
    let part = "filename=whole offset=64k size=64k io_size=200k";
    compare(
        "rounds_of_a_mix",
        "ioengine=psync randrepeat=0 randseed=137",
        &cases(&["rw", "rw:4k", "randrw:3"], part, &[""]),
    );
}

/// The begin of the range is rounded up if the offset or its increment is a percentage.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn offsets_and_increments_in_percent() {
    let options = [
        "offset=5000 offset_increment=10%",
        "offset=5000 offset_increment=8k",
        "offset=5000 offset_increment=10% offset_align=16k",
        "offset=3% offset_increment=5000",
        "offset=5000",
    ];
    let common = "size=32k filename=whole";
    let global = "ioengine=psync randrepeat=0 randseed=137";
    compare("offsets_and_increments_in_percent", global, &cases(&["write", "randread", "randrw"], common, &options));
}

/// A file that closes before the end of its pass is synced then, which a trace does not show, and once more at the end.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn syncs_of_files_that_close() {
    let files =
        ["", "nrfiles=3", "nrfiles=2 file_service_type=roundrobin:0", "nrfiles=3 openfiles=1", "nrfiles=2 loops=2"];
    let mut all: Vec<Case> = Vec::new();
    for syncs in
        ["fsync_on_close=1", "end_fsync=1", "fsync_on_close=1 end_fsync=1", "fsync_on_close=1 end_fsync=1 bs=8k"]
    {
        all.extend(cases(&["write", "randwrite", "randrw", "trimwrite"], &format!("size=96k {syncs}"), &files));
    }
    all.extend(cases(&["write", "randwrite"], "size=96k fsync_on_close=1 fsync=5", &files[..4]));
    // An amount of I/O that is used up ends the pass; the next one begins if `loops` allows it.
    let passes = [
        "io_size=400k number_ios=40 fsync_on_close=1",
        "io_size=400k number_ios=32 end_fsync=1",
        "loops=5 number_ios=10 end_fsync=1",
        "loops=2 number_ios=5 fsync_on_close=1 nrfiles=2",
        "loops=3 end_fsync=1 nrfiles=3 file_service_type=normal",
    ];
    all.extend(cases(&["randwrite", "randrw"], "size=64k", &passes));
    all.extend(cases(&["rw"], "size=64k end_fsync=1", &["loops=2", "loops=3", "loops=5"]));
    compare("syncs_of_files_that_close", NULL, &all);
}

/// A sync shows where the block would have begun that was to come when the file ended: past its range counted from there, else
/// from the start of the file. One whose first draw ends it is opened and closed.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn syncs_after_a_block_without_a_place() {
    let test = "syncs_after_a_block_without_a_place";
    let options = [
        "rw=write size=130k",
        "rw=write:4k size=130k",
        "rw=write size=66k nrfiles=3",
        "rw=write bsrange=4k-16k size=66k",
        "rw=randwrite bs=4k,8k size=66k",
        "rw=randwrite bs=4k,8k size=66k nrfiles=3 openfiles=1",
        "rw=randrw bs=4k,16k size=66k random_generator=lfsr",
        "rw=randwrite bs=4k,16k size=66k random_generator=lfsr",
        "rw=randtrimwrite bs=4k,4k,8k size=66k",
        "rw=trimwrite bs=4k,4k,8k size=66k",
        "rw=randwrite size=66k zonemode=strided zonesize=16k zoneskip=4k zonerange=20k",
    ];
    let all: Vec<Case> = options.iter().map(|option| format!("{option} fsync_on_close=1")).collect();
    compare(test, NULL, &all);
    let parts = [
        "rw=write:8k size=64k offset=64k",
        "rw=write size=66k offset=192k",
        "rw=write size=64k offset=64k io_size=200k",
        "rw=write size=66k io_size=200k",
        "rw=randwrite bs=4k,8k size=64k offset=64k",
        "rw=randwrite bs=4k,8k size=66k offset=192k",
        "rw=rw:20k size=64k",
        "rw=write:200k size=64k offset=64k",
        "rw=write:-20k size=64k offset=64k",
        "rw=write:8k bsrange=8k-16k size=100k offset=12k",
    ];
    let all: Vec<Case> = parts.iter().map(|part| format!("{part} end_fsync=1 filename=whole")).collect();
    compare(test, "ioengine=psync randrepeat=0 randseed=137", &all);
}

/// Skewed draws are from all of the file, also where no block fits into the window.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_draws_beside_small_windows() {
    let options = [
        "rw=randread bs=12k size=256k zonesize=8k random_distribution=pareto:0.3",
        "rw=randwrite bs=8k size=512k zonesize=4k random_distribution=normal:50:0.7",
        "rw=randrw bs=12k size=512k zonesize=10k random_distribution=zipf:1.2",
    ];
    let options: Vec<String> = options.iter().map(|option| format!("{option} zonemode=strided")).collect();
    compare("skewed_draws_beside_small_windows", NULL, &skewed(&options[..1]));
    compare("skewed_draws_beside_small_windows", NULL, &skewed(&options[1..]));
}

/// A direction without a place in the file draws no numbers, so that the other direction draws the same as alone.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn directions_without_a_place() {
    let options = [
        "size=48k loops=9 blockalign=64k,4k",
        "size=48k loops=9 bs=64k,4k rwmixread=30",
        "size=48k loops=9 bs=64k,4k rwmixread=30 norandommap=1",
        "size=48k loops=9 bs=4k,64k,4k rwmixread=70",
        "size=48k loops=9 blockalign=64k,4k rwmixread=30 random_distribution=zoned:50/50:50/50",
        "size=48k loops=9 bs=64k,4k rwmixread=10 random_generator=tausworthe64",
        "size=48k loops=9 bs=64k,4k rwmixread=30 random_generator=lfsr",
        "size=64k nrfiles=8 blockalign=16k,4k io_size=200k",
        "size=120k nrfiles=8 blockalign=24k,4k,4k file_service_type=random loops=2",
    ];
    let all: Vec<Case> = cases(&["randrw", "randrw:3", "randrw"], "", &options);
    compare_ios("directions_without_a_place", &all);
}

/// As [`compare`], for sets of jobs of which some do no I/O because the file has no place for their blocks.
fn compare_ios(test: &str, all: &[Case]) {
    if !has_peer(test) {
        return;
    }
    let [theirs, ours] = [Program::Peer, Program::Ferrio].map(|program| traces(program, test, NULL, all));
    assert!(theirs.iter().filter(|trace| trace.len() > 10).count() > all.len() / 4);
    for ((case, theirs), ours) in all.iter().zip(theirs).zip(ours) {
        assert_eq!(difference(&ios(theirs), &ios(ours)), None, "{case}");
    }
}

/// With `filesize`, an engine without files may use its share of `size` beyond it; without `size` it has no end: blocks
/// of a fixed size go past the range, and the job ends before the block after the range's last one.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn sizes_of_files_that_are_none() {
    let options = [
        "size=64k filesize=32k loops=4",
        "size=90k filesize=32k-50k io_size=200k",
        "size=64k filesize=32k loops=2 bs=4k,8k offset=4k",
        "size=120k filesize=20k-35k loops=3 nrfiles=3 offset=10k",
        "size=61k filesize=36k-60k bs=16k,16k,4k offset=13k",
        "size=61k filesize=36k-60k bs=16k,16k,4k offset=14k",
        "filesize=50k bs=12k offset=3k loops=2",
        "filesize=32k loops=2 nrfiles=2",
    ];
    let kinds =
        ["write", "randread percentage_random=50", "randrw percentage_random=30", "randread:3", "randrw:2", "rw:8k"];
    compare("sizes_of_files_that_are_none", NULL, &cases(&kinds, "", &options));
}

/// The same for a file that is longer than the part in use.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn sequences_up_to_the_end_of_a_part() {
    let parts = ["size=64k", "size=64k offset=16k", "size=60k offset=8k loops=3", "size=32k io_size=150k"];
    let kinds = ["randread percentage_random=50", "randrw percentage_random=30,70", "randwrite:3", "randrw:4"];
    let all = cases(&kinds, "filename=whole loops=2", &parts);
    compare("sequences_up_to_the_end_of_a_part", "ioengine=psync randrepeat=0 randseed=137", &all);
}

/// A file of random size must have room after the offset even at the smallest size; an existing file with a size within
/// the bounds keeps it.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn offsets_beyond_the_smallest_size() {
    let test = "offsets_beyond_the_smallest_size";
    let fixed = "--name=a --rw=write --filesize=20k-60k --randrepeat=0";
    let clones = "--ioengine=psync --numjobs=2 --offset=16k --offset_increment=5000";
    // With each of these seeds the file has more than 24 KiB.
    let rows = [
        ("--ioengine=psync --randseed=1 --offset=20k", 0),
        ("--ioengine=psync --randseed=1 --offset=21k", 1),
        ("--ioengine=psync --randseed=5 --offset=24k --size=30k", 1),
        ("--ioengine=null --randseed=5 --offset=24k --size=90k", 1),
        ("--ioengine=null --randseed=5 --offset=24k --size=30k", 0),
        ("--ioengine=psync --randseed=1 --offset=24k --filename=whole", 0),
    ];
    let mut all: Vec<(String, i32)> = rows.iter().map(|(row, code)| (format!("{fixed} {row}"), *code)).collect();
    all.extend(["1", "2", "137"].map(|seed| (format!("{fixed} {clones} --randseed={seed}"), 1)));
    let programs = if peer_too(test) { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] };
    for (arguments, code) in &all {
        for program in programs {
            let scratch = Scratch::new(test);
            scratch.write("whole", vec![0; 32 << 10]);
            let run = Run::new(*program, scratch.path(), arguments).finish();
            assert_eq!(run.code, Some(*code), "{}", run.all());
            assert_eq!(run.stderr.contains("a: you need to specify valid offset="), *code == 1, "{}", run.all());
        }
    }
}

/// The block is longer than the window or the file by more than the alignment of offsets: other generators then draw
/// offsets past every file, while an LFSR still gives its own offsets.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn windows_shorter_than_a_block() {
    let aligned = ["bs=80k,1k,1k blockalign=512", "bs=80k,1k,1k blockalign=4k", "bs=80k,1k,1k blockalign=16k"];
    let orders =
        ["random_generator=lfsr", "", "random_distribution=zoned:50/50:50/50", "random_generator=tausworthe64"];
    let jobs = aligned.iter().flat_map(|aligned| orders.iter().map(move |order| format!("{aligned} {order}")));
    let jobs: Vec<String> = jobs.collect();
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let window = "number_ios=50 size=1m loops=2 zonemode=strided zonesize=64k";
    let file = "number_ios=50 size=64k loops=5";
    let all = [cases(&["randrw", "randread", "randrw:3"], window, &jobs), cases(&["randrw", "randrw:3"], file, &jobs)];
    compare_ios("windows_shorter_than_a_block", &all.concat());
}
