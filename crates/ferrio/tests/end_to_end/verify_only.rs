//! `verify_only`, `experimental_verify` and `verify_state_load` together with zones, traces, trims and several passes:
//! the data of an earlier run raises no alarm, all of it is read, and a flipped bit in any of it is found.
//!
//! Start reading at [`what_any_earlier_run_left_is_found`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, has_programs, is_root, peer_too, skip};

const FIXED: &str = "--name=v --size=256k --randrepeat=0 --randseed=137";

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), &format!("{FIXED} {arguments}")).finish()
}

/// Warning for a job with variable block sizes and without a random map.
const LIMITED: &str = "fio: norandommap given for variable block sizes, verify limited\n";

fn is_clean(finished: &Finished, what: &str) {
    let stderr = finished.stderr.replace(LIMITED, "");
    assert_eq!((finished.code, stderr.as_str()), (Some(0), ""), "{what}: {}", finished.all());
}

/// Offsets and lengths of a job's reads, from its log.
fn reads(scratch: &Scratch) -> Vec<(usize, usize)> {
    let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).expect("a number");
    let of_line = |line: &str| {
        let mut words = line.split(" read ").nth(1)?.split(' ');
        Some((number(words.next()), number(words.next())))
    };
    scratch.read("log").lines().filter_map(of_line).collect()
}

/// A file of zeroes, as jobs with emulated zones need it.
fn fresh(scratch: &Scratch) {
    let _ = std::fs::remove_file(scratch.join("log"));
    scratch.write("f", vec![0; 256 << 10]);
}

/// Jobs whose final contents depend on the order of writes in several passes, or on several kinds of blocks.
const JOBS: &[&str] = &[
    "--bs=4k --rw=write --zonemode=zbd --zonesize=32k",
    "--bs=4k --rw=randwrite --zonemode=zbd --zonesize=32k",
    "--bs=4k --rw=randwrite --zonemode=zbd --zonesize=32k --ioengine=libaio --iodepth=16 --io_size=500k",
    "--bs=4k --rw=randwrite --zonemode=zbd --zonesize=32k --io_size=600k --norandommap --max_open_zones=1",
    "--bs=4k --rw=randrw --zonemode=zbd --zonesize=32k --io_size=400k",
    "--bsrange=4k-16k --rw=randwrite --zonemode=zbd --zonesize=32k --loops=2 --zonecapacity=24k",
    "--bs=4k --rw=randwrite --zonemode=zbd --zonesize=32k --zone_reset_threshold=0.3 --zone_reset_frequency=0.2 \
     --io_size=512k",
    "--bs=4k,4k,32k --rw=trimwrite --zonemode=zbd --zonesize=32k",
    "--bs=4k --rw=write --zonemode=strided --zonesize=16k --zoneskip=16k",
    "--bs=4k --rw=randrw --io_size=600k",
    "--bs=4k --rw=rw --io_size=600k --norandommap --loops=2",
    "--bsrange=4k-16k --rw=randwrite --loops=2",
    "--bssplit=1k/50:3k/50 --rw=randrw --io_size=500k",
    "--bsrange=4k-16k --rw=rw --size=512k --loops=3 --ioengine=libaio --zonemode=strided --zonesize=16k --zoneskip=16k",
    "--bs=4k --rw=randwrite --blockalign=512 --norandommap --loops=3",
    // A sequence ends a pass early.
    "--bssplit=1k/50:3k/50 --rw=randwrite:3 --size=128k --io_size=64k",
    "--bsrange=1k-8k --rw=randwrite --percentage_random=50 --nrfiles=3 --filename= --filename_format=f.$filenum --fsync=1",
];

#[test]
fn what_any_earlier_run_left_is_found() {
    let scratch = Scratch::new("what_any_earlier_run_left_is_found");
    for method in ["crc32c", "pattern --verify_pattern=0xab%o"] {
        for job in JOBS {
            fresh(&scratch);
            let several = job.contains("nrfiles");
            let name = if several { "" } else { "--filename=f" };
            let job = format!("{} {name} --verify={method}", job.replace("--filename= ", ""));
            is_clean(&run(Program::Ferrio, &scratch, &job), &job);
            let read = format!("{job} --verify_only");
            is_clean(&run(Program::Ferrio, &scratch, &format!("{read} --write_iolog=log")), &read);
            let places = reads(&scratch);
            assert!(places.len() > 10, "{read}: {places:?}");
            if several {
                continue;
            }
            let whole = std::fs::read(scratch.join("f")).expect("the file");
            for (place, length) in places.iter().step_by(11) {
                let mut damaged = whole.clone();
                damaged[place + length / 2] ^= 2;
                scratch.write("f", damaged);
                let found = run(Program::Ferrio, &scratch, &read);
                assert_eq!(found.code, Some(1), "{read}: {place}");
                assert!(found.stderr.contains(" at file f offset "), "{read}: {}", found.stderr);
            }
        }
    }
}

/// A job that needs memory of its writes uses it even if the options say otherwise: the number of reads stays the same.
#[test]
fn what_needs_memory_is_remembered() {
    let scratch = Scratch::new("what_needs_memory_is_remembered");
    let trace = "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 4096 8192\nf write 0 8192\nf close\n";
    scratch.write("trace", trace);
    for job in [
        "--filename=f --rw=randwrite --norandommap",
        "--filename=f --rw=randwrite --io_size=600k",
        "--filename=f --rw=write --zonemode=strided --zonesize=16k --zoneskip=16k",
        "--filename=f --rw=write --verify_policy=fsynced --fsync=5",
        "--filename=f --rw=rw --rate_iops=5000",
        "--filename=f --rw=randwrite --norandommap --verify_backlog=4",
        "--read_iolog=trace",
    ] {
        let job = format!("{job} --bs=4k --verify=md5");
        let issued = |more: &str| {
            fresh(&scratch);
            let finished = run(Program::Ferrio, &scratch, &format!("{job} {more}"));
            is_clean(&finished, &job);
            let line = finished.stdout.lines().find(|line| line.contains("issued rwts")).map(str::to_owned);
            // With rates, the mix of reads and writes depends on timing.
            if job.contains("rate") { None } else { line }
        };
        assert_eq!(issued("--experimental_verify=1"), issued(""), "{job}");
    }
}

/// All blocks that a state covers are checked, and no others, even if writes overlap. The state may be fio's.
#[test]
fn a_state_bounds_what_is_checked() {
    let peer = peer_too("a_state_bounds_what_is_checked");
    let scratch = Scratch::new("a_state_bounds_what_is_checked");
    let steps: Vec<String> = (0..40).map(|step| format!("f write {} 8192", step * 7 % 31 * 8192)).collect();
    let steps = steps.join("\n");
    scratch.write("trace", format!("fio version 2 iolog\nf add\nf open\n{steps}\nf close\n"));
    for job in [
        "--filename=f --rw=randwrite",
        "--filename=f --rw=randwrite --norandommap",
        "--filename=f --rw=randwrite --norandommap --experimental_verify=1",
        "--filename=f --rw=randwrite --zonemode=zbd --zonesize=32k",
        "--filename=f --rw=write --zonemode=strided --zonesize=16k --zoneskip=16k",
        "--read_iolog=trace",
    ] {
        // The peer writes all of a trace, whatever number_ios says.
        let beside_peer = peer && !job.contains("read_iolog");
        for writer in [Program::Ferrio, Program::Peer].into_iter().take(if beside_peer { 2 } else { 1 }) {
            fresh(&scratch);
            let job = format!("{job} --bs=4k --verify=crc32c");
            is_clean(&run(writer, &scratch, &format!("{job} --number_ios=23 --do_verify=0")), &job);
            let read = format!("{job} --verify_only --verify_state_load=1 --verify_state_save=0");
            let finished = run(Program::Ferrio, &scratch, &read);
            is_clean(&finished, &read);
            assert!(finished.stdout.contains("Stop verify because seq 23 >= 23\n"), "{read}: {}", finished.stdout);
            let whole = std::fs::read(scratch.join("f")).expect("the file");
            let blocks: Vec<usize> = (0..whole.len()).step_by(4096).filter(|at| whole[at + 2000] != 0).collect();
            for at in blocks.iter().step_by(5) {
                let mut damaged = whole.clone();
                damaged[at + 2000] ^= 1;
                scratch.write("f", damaged);
                assert_eq!(run(Program::Ferrio, &scratch, &read).code, Some(1), "{read}: {at}");
            }
        }
    }
}

/// Reads of a backlog check the job's own writes; only the reads at the end of the pass are bounded by the state.
#[test]
fn a_backlog_is_read_whatever_a_state_says() {
    let test = "a_backlog_is_read_whatever_a_state_says";
    for program in if peer_too(test) { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] } {
        let scratch = Scratch::new(test);
        let job = "--filename=f --rw=write --bs=4k --verify=crc32c --size=72k";
        is_clean(&run(*program, &scratch, &format!("{job} --number_ios=10")), job);
        let load = "--verify_backlog=4 --verify_state_load=1 --write_iolog=log";
        let finished = run(*program, &scratch, &format!("{job} {load}"));
        is_clean(&finished, load);
        assert!(finished.stdout.contains("Stop verify because seq 16 >= 10\n"), "{program:?}: {}", finished.stdout);
        let places: Vec<usize> = reads(&scratch).into_iter().map(|(place, _)| place / 4096).collect();
        assert_eq!(places, (0..16).collect::<Vec<_>>(), "{program:?}");
    }
}

/// Jobs whose contents depend on the timing of the earlier run are refused, with advice.
#[test]
fn what_nobody_knows_is_refused() {
    let scratch = Scratch::new("what_nobody_knows_is_refused");
    fresh(&scratch);
    let deep = "--rw=randwrite --ioengine=libaio --iodepth=8";
    let together = "which came last: both runs need serialize_overlap=1 or iodepth=1";
    let trims = "of one pass without verify_backlog only";
    for (job, line) in [
        (format!("{deep} --norandommap --bsrange=1k-8k"), Some(together)),
        (format!("{deep} --norandommap --bs=4k --blockalign=512"), Some(together)),
        (format!("{deep} --norandommap --bs=4k --verify_header_seed=1"), Some(together)),
        (format!("{deep} --norandommap --bs=4k"), None),
        (format!("{deep} --bsrange=1k-8k"), None),
        (format!("{deep} --norandommap --bsrange=1k-8k --serialize_overlap=1"), None),
        ("--rw=randwrite --norandommap --bsrange=1k-8k --ioengine=psync --iodepth=8".to_owned(), None),
        ("--rw=randtrimwrite --bs=4k --ioengine=psync --iodepth=8 --io_submit_mode=offload".to_owned(), Some(together)),
        ("--rw=randwrite:3 --bs=8k --size=128k --io_size=64k --verify_header_seed=1".to_owned(), None),
        ("--rw=randwrite:3 --bs=8k --size=128k --io_size=64k".to_owned(), None),
        ("--rw=write --bs=4k --trim_percentage=50 --trim_backlog=2 --loops=2".to_owned(), Some(trims)),
        ("--rw=write --bs=4k --trim_percentage=50 --trim_backlog=2 --verify_backlog=4".to_owned(), Some(trims)),
    ] {
        let job = format!("--filename=f --size=256k --verify=crc32c --verify_state_save=0 {job}");
        if line.is_none() {
            is_clean(&run(Program::Ferrio, &scratch, &job), &job);
        }
        let finished = run(Program::Ferrio, &scratch, &format!("{job} --verify_only"));
        match line {
            Some(line) => assert!(finished.stderr.contains(line), "{job}: {}", finished.stderr),
            None => is_clean(&finished, &job),
        }
    }
}

/// Two jobs that shared zones wrote into whatever room the other left.
#[test]
fn several_jobs_in_zones_are_refused() {
    let scratch = Scratch::new("several_jobs_in_zones_are_refused");
    fresh(&scratch);
    let job = "--filename=f --rw=write --bs=4k --verify=crc32c --zonemode=zbd --zonesize=32k --numjobs=2 --verify_only";
    let refused = run(Program::Ferrio, &scratch, job);
    let text = "f: verify_only cannot be combined with zonemode=zbd in several jobs on one file";
    assert!(refused.all().contains(text), "{}", refused.all());
}

/// A trimmed block reads as zeroes, also in a run that only reads; a trace has its own trims besides.
#[test]
fn trims_of_an_earlier_run_are_known() {
    let test = "trims_of_an_earlier_run_are_known";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let Some(device) = LoopDevice::new(&scratch, 256 << 10) else { return skip(test, "no loop device") };
    let path = device.path();
    let trace = format!(
        "fio version 2 iolog\n{path} add\n{path} open\n{path} write 0 8192\n{path} write 8192 8192\n{path} trim 4096 4096\n\
         {path} write 16384 8192\n{path} write 32768 4096\n{path} trim 32768 4096\n{path} close\n"
    );
    scratch.write("trace", trace);
    let trims = "--trim_percentage=60 --trim_backlog=5";
    for job in [
        format!("--filename={path} --rw=trimwrite"),
        format!("--filename={path} --rw=write {trims}"),
        format!("--filename={path} --rw=randwrite --norandommap {trims} --trim_verify_zero=0"),
        format!("--filename={path} --rw=randtrimwrite {trims} --ioengine=libaio --iodepth=8"),
        format!("--filename={path} --rw=write --zonemode=strided --zonesize=16k {trims}"),
        "--read_iolog=trace".to_owned(),
        "--read_iolog=trace --trim_percentage=100 --trim_backlog=1".to_owned(),
    ] {
        let job = format!("{job} --bs=4k --verify=crc32c --verify_state_save=0");
        let issued = |more: &str| {
            let finished = run(Program::Ferrio, &scratch, &format!("{job} {more}"));
            is_clean(&finished, &job);
            let line =
                finished.stdout.lines().find_map(|line| line.split_once("issued rwts: total=").map(|(_, rest)| rest));
            let counts = line.and_then(|rest| rest.split(' ').next()).expect("a line of counts");
            counts.split(',').map(|count| count.parse().expect("a count")).collect::<Vec<u64>>()
        };
        let (written, read) = (issued(""), issued("--verify_only"));
        assert_eq!(written[0], read[0], "{job}: as many reads");
        assert_eq!((read[1], read[2]), (written[1], 0), "{job}: writes are counted, and not done");
        assert_eq!(written[2] > 0, job.contains("trim") || job.contains("trace"), "{job}: {written:?}");
    }
}

/// Counts of the pass that is not repeated, by the reference: its writes without time, and the reads of a mix beside
/// those of verification. fio 3.41 counts a mix and states differently.
#[test]
fn what_is_not_written_again_is_counted() {
    let test = "what_is_not_written_again_is_counted";
    let peer = peer_too(test);
    for (job, load) in [
        ("--rw=write", ""),
        ("--rw=randwrite --ioengine=libaio --iodepth=8", ""),
        ("--rw=randrw", ""),
        ("--rw=randwrite --verify_policy=fsynced --fsync=16", "--verify_state_load=1"),
        ("--rw=randrw --ioengine=libaio --iodepth=4 --verify_policy=completed", "--verify_state_load=1"),
        ("--rw=randwrite --verify_policy=completed", "--verify_state_load=1"),
    ] {
        let scratch = Scratch::new(test);
        let job = format!("--filename=f --bs=4k --verify=crc32c {job}");
        is_clean(&run(Program::Ferrio, &scratch, &job), &job);
        let before = std::fs::read(scratch.join("f")).expect("the file");
        let read = format!("{job} {load} --verify_only=1 --verify_state_save=0 --output-format=json");
        let document = |program| {
            let finished = run(program, &scratch, &read);
            is_clean(&finished, &read);
            crate::json_stream::documents(&finished.stdout, &finished.stdout)[0].clone()
        };
        let ours = document(Program::Ferrio);
        let figure = |direction: &str, key: &str| ours["jobs"][0][direction][key].as_u64().expect("a number");
        let samples = |direction: &str, kind: &str| ours["jobs"][0][direction][kind]["N"].as_u64().expect("a number");
        let n_writes = figure("write", "total_ios");
        assert!(n_writes > 0, "{read}");
        if job.contains("fsynced") {
            assert_eq!((n_writes, figure("read", "total_ios")), (48, 48), "{read}");
        } else {
            let n_ios = if job.contains("randrw") { 64 } else { n_writes };
            assert_eq!(figure("read", "total_ios"), n_ios, "{read}");
        }
        assert_eq!(figure("write", "io_bytes"), n_writes * 4096, "{read}");
        assert_eq!(samples("write", "lat_ns"), n_writes, "{read}");
        for key in ["runtime", "bw", "bw_bytes"] {
            assert_eq!(figure("write", key), 0, "{read}: {key}");
        }
        assert_eq!((figure("trim", "total_ios"), samples("trim", "lat_ns")), (0, 0), "{read}");
        assert!(std::fs::read(scratch.join("f")).expect("the file") == before, "{read}: the file is left alone");
        if peer && load.is_empty() {
            let theirs = document(Program::Peer);
            for direction in ["read", "write", "trim"] {
                for key in ["total_ios", "io_bytes"] {
                    let [ours, theirs] = [&ours, &theirs].map(|document| document["jobs"][0][direction][key].as_u64());
                    assert_eq!(ours, theirs, "{read}: {direction} {key}");
                }
            }
        }
    }
}

/// In text, the counts are among those of issued I/Os, and nowhere else.
#[test]
fn what_is_not_written_again_has_no_line() {
    let test = "what_is_not_written_again_has_no_line";
    for program in if peer_too(test) { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] } {
        let scratch = Scratch::new(test);
        let job = "--filename=f --bs=4k --verify=crc32c --rw=randwrite";
        is_clean(&run(*program, &scratch, job), job);
        let read = run(*program, &scratch, &format!("{job} --verify_only=1"));
        is_clean(&read, job);
        assert!(read.stdout.contains("issued rwts: total=64,64,0,0 "), "{program:?}: {}", read.stdout);
        assert!(!read.stdout.contains("write: ") && !read.stdout.contains("WRITE: "), "{program:?}: {}", read.stdout);
    }
}
