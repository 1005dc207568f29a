//! The issued I/Os (direction, file, offset, length, in order) are the same as fio's: traces of `write_iolog` compared.
//!
//! Start reading at [`compare`].

use crate::support::{Program, Run, Scratch, has_peer, has_programs, skip};
use crate::system_calls::calls_to;
use std::fmt::Write as _;

/// Options of a job, separated by blanks.
pub(crate) type Case = String;

/// All kinds of `rw`.
const KINDS: [&str; 10] =
    ["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite", "randtrimwrite"];

/// Cases in one job file. As many jobs at once make as many thread numbers, which are part of the seeds.
const CASES_A_FILE: usize = 24;

/// A file of 256 KiB for jobs that use a part of it.
const WHOLE: &str = "whole";

/// The lines of a trace without their times.
fn trace(text: &str) -> Vec<String> {
    let without_time = |line: &str| line.split_once(' ').map_or(line, |(_, rest)| rest).to_owned();
    text.lines().map(without_time).collect()
}

/// A job file with a section for each case, numbered.
fn job_file(global: &str, cases: &[Case]) -> String {
    let mut text = format!("[global]\n{}\n", global.replace(' ', "\n"));
    for (index, case) in cases.iter().enumerate() {
        let options = case.replace(' ', "\n");
        writeln!(text, "[j{index}]\n{options}\nwrite_iolog=log{index}").expect("a string");
    }
    text
}

pub(crate) fn traces(program: Program, test: &str, global: &str, cases: &[Case]) -> Vec<Vec<String>> {
    let scratch = Scratch::new(test);
    scratch.write("jobs.fio", job_file(global, cases));
    scratch.write(WHOLE, vec![0; 256 << 10]);
    Run::new(program, scratch.path(), "jobs.fio").recorded("streams", &["log*"]).finish().succeeded();
    (0..cases.len()).map(|index| trace(&scratch.read(&format!("log{index}")))).collect()
}

/// Runs the cases under both programs, a file of cases at a time, and fails with the first difference of each case.
pub(crate) fn compare(test: &str, global: &str, cases: &[Case]) {
    if !has_peer(test) {
        return;
    }
    let mut complaints = String::new();
    for cases in cases.chunks(CASES_A_FILE) {
        let theirs = traces(Program::Peer, test, global, cases);
        let ours = traces(Program::Ferrio, test, global, cases);
        for ((case, theirs), ours) in cases.iter().zip(theirs).zip(ours) {
            assert!(theirs.len() > 4, "the peer did nothing: {case}");
            if let Some(complaint) = difference(&theirs, &ours) {
                writeln!(complaints, "{case}\n{complaint}").expect("a string");
            }
        }
    }
    assert!(complaints.is_empty(), "{test}, {global}: other than the peer:\n{complaints}");
}

pub(crate) fn difference(theirs: &[String], ours: &[String]) -> Option<String> {
    let n_same = theirs.iter().zip(ours).take_while(|(a, b)| a == b).count();
    if n_same == theirs.len() && n_same == ours.len() {
        return None;
    }
    let around = |lines: &[String]| lines.iter().skip(n_same.saturating_sub(2)).take(5).cloned().collect::<Vec<_>>();
    let (n_theirs, n_ours) = (theirs.len(), ours.len());
    Some(format!(
        "  peer {n_theirs} lines, ours {n_ours}; line {n_same}: peer {:?} ours {:?}",
        around(theirs),
        around(ours)
    ))
}

pub(crate) const NULL: &str = "ioengine=null randrepeat=0 randseed=137";

pub(crate) fn cases(kinds: &[&str], common: &str, options: &[&str]) -> Vec<Case> {
    let one = |kind: &&str, option: &&str| format!("rw={kind} {common} {option}").trim().to_owned();
    kinds.iter().flat_map(|kind| options.iter().map(move |option| one(kind, option))).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn kinds_and_block_sizes() {
    let sizes = ["bs=4k", "bs=8k,4k,16k", "bs=4k,12k", "bsrange=4k-32k", "bsrange=4k-8k,4k-16k", "bs=12k", "bs=512"];
    compare("kinds_and_block_sizes", NULL, &cases(&KINDS, "size=256k", &sizes));
}

const RANDOM_KINDS: [&str; 4] = ["randread", "randwrite", "randrw", "randtrimwrite"];

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn ways_to_pick_offsets() {
    let options = [
        "norandommap=1",
        "random_generator=lfsr",
        "random_generator=tausworthe64",
        "norandommap=1 random_generator=tausworthe64",
        "norandommap=1 bsrange=4k-32k",
        "percentage_random=0",
        "percentage_random=100",
        "blockalign=8k",
        "blockalign=512",
        "randseed=1",
        "randseed=4294967296",
        "randseed=9223372036854775807",
        "bs=4k,16k bs_is_seq_rand=1",
    ];
    let mut cases_of_all = cases(&RANDOM_KINDS, "size=256k", &options);
    cases_of_all.extend(cases(&RANDOM_KINDS, "size=256k", &["random_generator=lfsr offset=64k"]));
    compare("ways_to_pick_offsets", NULL, &cases_of_all);
    compare("ways_to_pick_offsets", "ioengine=null", &cases_of_all);
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn several_files() {
    let options = [
        "nrfiles=3",
        "nrfiles=3 file_service_type=random",
        "nrfiles=5 file_service_type=random:2",
        "nrfiles=5 file_service_type=roundrobin:3",
        "nrfiles=5 openfiles=2",
        "nrfiles=4 file_service_type=sequential",
        "nrfiles=4 file_service_type=sequential openfiles=1",
        "nrfiles=4 file_service_type=roundrobin:0",
        "nrfiles=4 file_service_type=zipf:1.2 io_size=200k",
        "nrfiles=4 file_service_type=zipf:0 openfiles=2 loops=2",
        "nrfiles=5 file_service_type=pareto openfiles=1",
        "nrfiles=4 file_service_type=pareto:0.4:0.7 loops=2",
        "nrfiles=4 file_service_type=normal",
        "nrfiles=3 file_service_type=gauss:20:0.2 openfiles=2",
        "nrfiles=1 file_service_type=gauss io_size=200k",
        "nrfiles=3 loops=2",
        "nrfiles=3 filesize=20k-60k",
        "filename=a:b:c",
    ];
    let syncs = ["nrfiles=4 file_service_type=random:3 fsync=3"];
    let kinds = ["read", "write", "rw", "randread", "randwrite", "randrw"];
    let cases = [cases(&kinds, "size=120k", &options), cases(&SYNCED_KINDS, "size=120k", &syncs)].concat();
    compare("several_files", NULL, &cases);
}

/// Kinds of `rw` whose syncs are compared.
const SYNCED_KINDS: [&str; 6] = ["write", "randwrite", "rw", "randrw", "trimwrite", "randtrimwrite"];

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn amounts_and_barriers() {
    let syncs = ["fsync=5", "fdatasync=4 fsync=8", "sync_file_range=write:4", "fsync=1 loops=2"];
    let options = [
        "loops=3",
        "io_size=300k",
        "io_size=50k",
        "size=10k",
        "number_ios=17",
        "rwmixread=90",
        "rwmixread=5",
        "rwmixwrite=30",
        "offset=64k",
        "offset=10%",
        "offset=64k size=50%",
        "size=100k filesize=200k",
        "offset_increment=16k numjobs=1",
        "end_fsync=1",
    ];
    let kinds = ["read", "write", "rw", "randread", "randwrite", "randrw", "trimwrite"];
    let common = "filesize=256k size=120k";
    let cases = [cases(&kinds, common, &options), cases(&SYNCED_KINDS, common, &syncs)].concat();
    compare("amounts_and_barriers", NULL, &cases);
}

/// The rest of `io_size` after a pass is less than the smallest I/O, less than the largest block of any direction, or
/// enough for it.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_for_what_is_left() {
    let options = [
        "io_size=130k",
        "io_size=66k",
        "io_size=66k loops=3",
        "io_size=131k bs=12k",
        "io_size=70k bs=12k loops=2",
        "io_size=150k nrfiles=2",
        "io_size=130k bs=12k nrfiles=2 file_service_type=random",
        "io_size=68k bs=4k,12k",
        "io_size=80k bs=4k,12k,4k",
        "io_size=76k bs=4k,4k,32k",
        "io_size=100k bsrange=4k-8k,4k-64k,4k-4k",
        "io_size=100k bssplit=4k/100,64k/100,4k/100",
    ];
    let kinds = ["read", "write", "randread", "randwrite", "rw", "trim"];
    let test = "passes_for_what_is_left";
    compare(test, NULL, &cases(&kinds, "size=64k", &options));
    let fixed = "--name=a --ioengine=psync --rw=read --bs=4k";
    for (what, n_ios) in [("--size=64k --io_size=130k", 32), ("--size=64k --io_size=66k --ioengine=libaio", 16)] {
        let scratch = Scratch::new(test);
        let arguments = format!("{fixed} {what} --write_iolog=log");
        Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
        let n_reads = trace(&scratch.read("log")).iter().filter(|line| line.contains(" read ")).count();
        assert_eq!(n_reads, n_ios, "{what}");
    }
}

/// The last place of a range is shorter than a block, and a shorter block is issued there instead of the next in
/// sequence.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn places_that_are_not_whole() {
    let sizes = ["bs=16k,4k,16k", "bs=4k,16k", "bs=8k,4k bs_is_seq_rand=1", "bs=16k,4k bs_is_seq_rand=1"];
    let more = ["size=90k", "size=90k offset=4k", "size=200k", "size=92k io_size=60k", "size=92k io_size=200k"];
    let both = sizes.iter().flat_map(|size| more.iter().map(move |more| format!("{size} {more}")));
    let both: Vec<String> = both.collect();
    let both: Vec<&str> = both.iter().map(String::as_str).collect();
    let test = "places_that_are_not_whole";
    compare(test, NULL, &cases(&["randread", "randread:3"], "", &both));
    compare(test, NULL, &cases(&["randrw", "randrw:2"], "", &both));
    let whole = format!("filename={WHOLE}");
    compare(test, "ioengine=psync randrepeat=0 randseed=137", &cases(&["randread", "randwrite"], &whole, &both));
    let varied = ["bsrange=1k-8k", "bssplit=4k/50:8k/50", "bs=4k,8k"];
    let kinds = ["randread:7", "randwrite:2", "randread"];
    compare(test, NULL, &cases(&kinds, "size=250k bs_is_seq_rand=1 percentage_random=50", &varied));
    compare(test, NULL, &cases(&kinds[..2], "size=250k bs_is_seq_rand=1 nrfiles=3", &varied));
}

/// Jobs with `time_based` end by time, so only the beginnings of their traces are compared.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_start_over_while_there_is_time() {
    let test = "files_start_over_while_there_is_time";
    if !has_peer(test) {
        return;
    }
    let files = ["", "nrfiles=4", "nrfiles=4 file_service_type=random", "nrfiles=4 file_service_type=sequential"];
    let skewed = ["nrfiles=4 file_service_type=zipf:1.2", "nrfiles=1 file_service_type=zipf:1.2"];
    let sequences = ["bs=12k", "percentage_random=50", "percentage_random=0"];
    let mut all = cases(&["read", "rw", "randread"], "size=128k", &files);
    all.extend(cases(&["write", "trimwrite"], "size=128k", &files[..2]));
    all.extend(cases(&["rw"], "size=120k", &skewed));
    all.extend(cases(&["read"], "size=64k", &sequences[..1]));
    all.extend(cases(&["randread"], "size=64k", &sequences[1..]));
    all.extend(cases(&["randread:4", "randwrite:3"], "size=64k", &["", "rw_sequencer=identical"]));
    // The second has a rest in each file that is shorter than a block.
    for size in ["size=120k", "size=100k"] {
        all.extend(cases(&["randread:4", "randrw:3"], size, &["bs=12k", "norandommap"]));
        all.extend(cases(&["randrw:3", "randwrite:2"], size, &files[1..]));
        all.extend(cases(&["randread"], &format!("{size} percentage_random=50"), &files[1..]));
    }
    let global = format!("{NULL} time_based=1 runtime=20ms stonewall=1");
    let [ours, theirs] = [Program::Ferrio, Program::Peer].map(|program| traces(program, test, &global, &all));
    for ((case, mut ours), mut theirs) in all.iter().zip(ours).zip(theirs) {
        // All files are closed when the time is over.
        for trace in [&mut ours, &mut theirs] {
            let n_lines = trace.iter().rposition(|line| !line.ends_with(" close")).map_or(0, |last| last + 1);
            trace.truncate(n_lines);
        }
        // 600 lines are four passes at least. A machine that is busy with other things may do fewer in the time.
        let n_lines = ours.len().min(theirs.len()).min(600);
        if n_lines < 150 {
            skip(&format!("{test} ({case})"), &format!("only {n_lines} lines in the time"));
        }
        assert_eq!(difference(&theirs[..n_lines], &ours[..n_lines]), None, "{case}");
    }
}

/// Skewed picks among files that start over, of which reads and writes take turns.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn mixes_of_several_files_that_start_over() {
    let options = [
        "nrfiles=4 file_service_type=zipf:1.2 io_size=300k",
        "nrfiles=4 file_service_type=zipf:1.2 loops=2",
        "nrfiles=4 file_service_type=pareto:0.3 io_size=300k",
        "nrfiles=4 file_service_type=pareto:0.4:0.7 io_size=250k bsrange=4k-8k",
        "nrfiles=3 file_service_type=normal:20 io_size=300k",
        "nrfiles=5 file_service_type=gauss:20 openfiles=2 io_size=260k",
        "nrfiles=4 file_service_type=random io_size=300k",
        "nrfiles=4 file_service_type=random:3 io_size=300k",
        "nrfiles=4 file_service_type=roundrobin:3 io_size=300k",
        "nrfiles=4 file_service_type=sequential io_size=300k",
    ];
    compare("mixes_of_several_files_that_start_over", NULL, &cases(&["rw", "randrw"], "size=120k", &options));
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn sequential_postfix() {
    let kinds = ["read:4k", "read:8k", "read:12k", "read:-4k", "read:-8k", "write:12k", "rw:8k", "write:-8k"];
    let options = ["bs=4k", "bs=8k", "nrfiles=2", "io_size=100k", "bsrange=4k-8k"];
    compare("sequential_postfix", NULL, &cases(&kinds, "size=64k", &options));
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn sequential_kinds_with_sizes_of_both_orders() {
    let options = ["bs=4k,16k bs_is_seq_rand=1", "bs=8k bs_is_seq_rand=1", "rwmixread=0", "rwmixread=100"];
    let kinds = ["read", "write", "rw", "randrw", "trimwrite"];
    let mut all = cases(&kinds, "size=256k", &options);
    let shares = ["percentage_random=50", "percentage_random=5"];
    all.extend(cases(&["randread", "randwrite", "randrw", "randrw:3"], "size=256k", &shares));
    compare("sequential_kinds_with_sizes_of_both_orders", NULL, &all);
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn trims_of_several_files() {
    let options = ["nrfiles=3", "nrfiles=3 openfiles=2", "nrfiles=4 file_service_type=sequential", "loops=2"];
    compare(
        "trims_of_several_files",
        NULL,
        &cases(&["trim", "randtrim", "trimwrite", "randtrimwrite"], "size=96k", &options),
    );
}

/// Clones share the trace of `write_iolog`, so theirs are compared by their system calls.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn clones_of_a_job() {
    let test = "clones_of_a_job";
    if !has_peer(test) || !has_programs(test, &["strace"]) {
        return;
    }
    let seed = "--randrepeat=0 --randseed=137";
    let jobs = [
        "--name=clones --rw=randwrite --size=64k --numjobs=3",
        "--name=clones --rw=randrw --size=64k --numjobs=3 --nrfiles=2 --file_service_type=random",
        "--name=clones --rw=write --size=16k --numjobs=3 --filename=clones.dat --offset_increment=16k",
        "--name=clones --rw=write --size=16k --numjobs=3 --filename=clones.dat --offset=1% --offset_increment=5000",
        "--name=clones --rw=randread --size=64k --numjobs=2 --directory=d1:d2",
        "--name=clones --rw=write --size=16k --numjobs=2 --filename_format=clones.$jobname.$jobnum.$filenum",
        "--name=first --ioengine=null --size=4k --name=clones --rw=randwrite --size=64k --numjobs=2 --stonewall",
    ];
    for job in jobs {
        let calls = [Program::Ferrio, Program::Peer].map(|program| {
            let scratch = Scratch::new(test);
            for directory in ["data/d1", "data/d2"] {
                std::fs::create_dir_all(scratch.join(directory)).expect("a directory for the files");
            }
            calls_to("clones.", program, &scratch, &format!("{job} {seed}"))
        });
        assert!(calls[1].len() > 10, "{job}: {:?}", calls[1]);
        let [ours, theirs] = calls.map(|calls| {
            // For a file that its clones share, fio opens a second descriptor.
            let is_compared = |call: &String| !job.contains("--filename=") || call.starts_with("pwrite64");
            calls.into_iter().filter(is_compared).collect::<Vec<_>>()
        });
        assert_eq!(ours, theirs, "{job}");
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn real_files() {
    let options = ["bs=4k", "nrfiles=2 end_fsync=1", "loops=2", "bsrange=4k-16k nrfiles=3 openfiles=2"];
    let kinds = ["read", "write", "randread", "randwrite", "randrw"];
    let mut all = cases(&kinds, "size=64k", &options);
    all.extend(cases(&SYNCED_KINDS[..4], "size=64k", &["nrfiles=2 fsync=4"]));
    for engine in ["psync", "sync", "vsync", "libaio", "io_uring", "posixaio"] {
        let global = format!("ioengine={engine} randrepeat=0 randseed=137");
        compare("real_files", &global, &all);
    }
}

/// A direction of a mix does not inherit the unused part of its share from the pass before.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_of_a_mix() {
    let options = ["bs=8k,4k", "bs=8k,4k rwmixread=80", "bs=4k,16k", "bs=12k", "bs=8k,4k nrfiles=3", "bsrange=1k-8k"];
    compare("passes_of_a_mix", NULL, &cases(&["randrw", "rw", "randrw:3"], "size=64k loops=8", &options));
}

/// Bytes end the passes of an engine with a queue where the files have no end: at the size, or at the `io_size` if the job
/// writes.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_without_a_map() {
    let options = [
        "io_size=300k",
        "io_size=40k loops=2",
        "io_size=140k loops=2",
        "io_size=100k loops=3",
        "io_size=200k bs=12k",
        "io_size=90k number_ios=30 loops=2",
        "io_size=200k percentage_random=50",
        "io_size=200k bsrange=1k-8k",
        "io_size=100k offset=4k",
        "loops=3",
    ];
    let kinds = ["randread", "randwrite", "randrw", "randrw:7", "randread:7"];
    let all = cases(&kinds, "size=64k norandommap", &options);
    for engine in ["libaio", "libaio iodepth=4", "psync"] {
        let global = format!("ioengine={engine} randrepeat=0 randseed=137");
        compare("passes_without_a_map", &global, &all);
    }
}

/// Bytes end the passes of an engine with a queue also where its files have an end: at the size, or at a percentage of it that is
/// the `io_size`. A mix in sequence goes round its files until the `io_size` is done.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_that_bytes_end() {
    let options = [
        "io_size=200k",
        "io_size=200k loops=2",
        "io_size=75% loops=3",
        "io_size=130k bs=8k,4k",
        "io_size=300k bs=12k loops=2",
        "io_size=75% bs=8k,4k loops=3",
        "io_size=130k rwmixread=80",
    ];
    let all = cases(&["read", "write", "rw", "randread", "randwrite", "randrw", "randrw:7"], "size=92k", &options);
    for engine in ["libaio", "libaio iodepth=4"] {
        let global = format!("ioengine={engine} randrepeat=0 randseed=137");
        compare("passes_that_bytes_end", &global, &all);
    }
}

/// Trims and the writes that follow them, with several in flight. With engines that complete at once, fio logs an I/O
/// again each time that it is submitted.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn passes_of_trims_in_flight() {
    let test = "passes_of_trims_in_flight";
    if !has_peer(test) {
        return;
    }
    let options = [
        "loops=3",
        "io_size=32k loops=3",
        "io_size=32k",
        "io_size=130k",
        "io_size=200k bs=12k",
        "io_size=75%",
        "io_size=75% loops=2",
        "io_size=200k bsrange=1k-8k",
        "io_size=130k nrfiles=2",
    ];
    let mut all = cases(&["trimwrite", "randtrimwrite", "randtrim"], "size=60k", &options);
    all.extend(cases(&["randtrimwrite", "randtrim"], "size=60k norandommap", &options));
    let mut complaints = String::new();
    for depth in [2, 8] {
        for cases in all.chunks(CASES_A_FILE) {
            let global = format!("{NULL} iodepth={depth}");
            let [theirs, ours] = [Program::Peer, Program::Ferrio].map(|program| traces(program, test, &global, cases));
            for ((case, mut theirs), mut ours) in cases.iter().zip(theirs).zip(ours) {
                theirs.dedup();
                ours.dedup();
                assert!(theirs.len() > 4, "the peer did nothing: {case}");
                if let Some(complaint) = difference(&theirs, &ours) {
                    writeln!(complaints, "{case} iodepth={depth}\n{complaint}").expect("a string");
                }
            }
        }
    }
    assert!(complaints.is_empty(), "other than the peer:\n{complaints}");
}

/// The sync before reading back is no I/O of the job, and has no line in its trace.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn writes_that_are_read_back() {
    let test = "writes_that_are_read_back";
    if !has_peer(test) {
        return;
    }
    let options = ["", "loops=2", "io_size=40k", "bs=12k"];
    let all = cases(&["write", "randwrite"], "size=64k", &options);
    for engine in ["psync", "libaio iodepth=4"] {
        let global = format!("ioengine={engine} randrepeat=0 randseed=137 verify=crc32c verify_state_save=0");
        let [theirs, ours] = [Program::Peer, Program::Ferrio].map(|program| traces(program, test, &global, &all));
        for ((case, theirs), ours) in all.iter().zip(theirs).zip(ours) {
            // The peer closes files before it reads them back.
            let ios = |trace: Vec<String>| -> Vec<String> {
                trace.into_iter().filter(|line| !line.ends_with(" open") && !line.ends_with(" close")).collect()
            };
            assert_eq!(difference(&ios(theirs), &ios(ours)), None, "{engine} {case}");
        }
    }
}

/// Ranges that begin after their file does or end before it.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn parts_of_a_file() {
    let kinds = ["write", "randwrite", "randrw", "write:4k", "rw:-8k", "write:400k", "randwrite:4"];
    let more = ["", "norandommap"];
    let sizes = ["bsrange=4k-64k", "bssplit=4k/50:12k/50", "bs=4k", "bs=8k"];
    let ranges = ["size=200k", "size=204k offset=12k", "size=64k offset=192k"];
    let parts =
        sizes.iter().flat_map(|size| ranges.iter().map(move |range| format!("{size} {range} filename={WHOLE}")));
    let cases: Vec<Case> = parts.flat_map(|part| cases(&kinds, &part, &more)).collect();
    compare("parts_of_a_file", "ioengine=psync randrepeat=0 randseed=137", &cases);
}
