//! Verification compared with fio: each program verifies the other's data, and both report the same on damaged blocks.
//!
//! Start reading at [`each_reads_what_the_other_wrote`].

use crate::support::{Finished, Program, Run, Scratch, has_peer, peer_too, peers_of_both_layouts};
use serde_json::Value;

const METHODS: [&str; 16] = [
    "md5",
    "crc64",
    "crc32",
    "crc32c",
    "crc32c-intel",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha512",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "xxhash",
    "meta",
];

const SHAPES: [&str; 6] = [
    "--bs=4k",
    "--bs=16k --verify_interval=1k",
    "--bs=8k --verify_offset=1000 --verify_interval=4k",
    "--bs=512",
    "--bs=64k",
    "--bssplit=4k/40:16k/60",
];

/// Options of the jobs that write.
const WRITERS: [&str; 4] = [
    "--rw=write",
    "--rw=randwrite --ioengine=libaio --iodepth=16",
    "--rw=randwrite",
    "--rw=write --ioengine=libaio --iodepth=16",
];

pub(crate) fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    start_of(program, scratch, arguments).finish()
}

fn start_of(program: Program, scratch: &Scratch, arguments: &str) -> Run {
    let arguments = format!("--name=v --filename=f --size=128k --verify_state_save=0 {arguments}");
    Run::new(program, scratch.path(), &arguments)
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn each_reads_what_the_other_wrote() {
    let test = "each_reads_what_the_other_wrote";
    for peer in peers_of_both_layouts(test) {
        reads_of_each_other(test, peer);
    }
}

fn reads_of_each_other(test: &str, peer: Program) {
    let scratch = Scratch::new(test);
    let run = |program: Program, file: &str, global: &str, jobs: &[String]| {
        let layout = if program == Program::Ferrio { peer.layout_option() } else { "" };
        run_jobs(program, &scratch, file, &format!("{layout} {global}"), jobs)
    };
    // Each method is tested with every second shape, the next method with the others; the writers alternate
    // independently of this.
    for at in 0..SHAPES.len() / 2 {
        let verify =
            |(index, method): (usize, &str)| format!("--verify={method} {}", SHAPES[(2 * at + index) % SHAPES.len()]);
        let verified: Vec<String> = METHODS.into_iter().enumerate().map(verify).collect();
        let written = verified.iter().enumerate();
        let writers: Vec<String> =
            written.map(|(index, verify)| format!("{verify} {}", WRITERS[(at + index / 2) % WRITERS.len()])).collect();
        for (writer, reader) in [(peer, Program::Ferrio), (Program::Ferrio, peer)] {
            (0..writers.len()).for_each(|index| drop(std::fs::remove_file(scratch.join(&format!("f{index}")))));
            let (written, _) = run(writer, "write", "--do_verify=0", &writers);
            assert_eq!(written.code, Some(0), "{}", written.all());
            let (read, errors) = run(reader, "read", "--rw=read", &verified);
            assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""), "by {}: {errors:?}", writer.path());
        }
    }
}

/// Runs jobs in one run, from a job file of this name: the job N on a file `fN`, with its options. Returns the errors of the jobs, too.
fn run_jobs(program: Program, scratch: &Scratch, name: &str, global: &str, jobs: &[String]) -> (Finished, Vec<i64>) {
    let lines = |options: &str| {
        options.split_whitespace().fold(String::new(), |lines, one| lines + one.trim_start_matches('-') + "\n")
    };
    let sections = jobs.iter().enumerate();
    let sections = sections.map(|(index, options)| format!("[f{index}]\nfilename=f{index}\n{}", lines(options)));
    let global = format!("[global]\nsize=128k\nverify_state_save=0\n{}", lines(global));
    scratch.write(&format!("{name}.fio"), sections.fold(global, |text, section| text + &section));
    let finished =
        Run::new(program, scratch.path(), &format!("--output-format=json --output={name}.json {name}.fio")).finish();
    let report = scratch.read(&format!("{name}.json"));
    let document: Value = serde_json::from_str(&report).unwrap_or_else(|error| panic!("{error}: {report}"));
    let errors: Vec<i64> =
        document["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["error"].as_i64()).collect();
    assert_eq!(errors.len(), jobs.len(), "{}", finished.all());
    (finished, errors)
}

/// A job that only reads needs no option for files of either layout: the same command line does, and finds the same damage.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_of_the_peer_are_read_as_they_are() {
    let test = "files_of_the_peer_are_read_as_they_are";
    for peer in peers_of_both_layouts(test) {
        reads_as_they_are(test, peer);
    }
}

fn reads_as_they_are(test: &str, peer: Program) {
    let scratch = Scratch::new(test);
    let fixed = "--name=v --filename=f --size=128k --verify_state_save=0 --randrepeat=0 --randseed=137";
    let of = |program, more: &str| Run::new(program, scratch.path(), &format!("{fixed} {more}")).finish();
    for (index, method) in METHODS.into_iter().enumerate() {
        let verify = format!("--verify={method} {}", SHAPES[index % SHAPES.len()]);
        let _ = std::fs::remove_file(scratch.join("f"));
        assert_eq!(of(peer, &format!("{verify} --rw=randwrite --do_verify=0")).code, Some(0), "{verify}");
        let whole = std::fs::read(scratch.join("f")).expect("the file");
        let readers = [
            "--rw=randread",
            "--rw=randwrite --verify_only",
            "--rw=randwrite --verify_only --verify_header_seed=1 --verify_write_sequence=1 --verify_async=2",
        ];
        for reader in readers {
            let read = of(Program::Ferrio, &format!("{verify} {reader}"));
            assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""), "{verify} {reader}");
        }
        let mut damaged = whole.clone();
        damaged[if method == "meta" { 18 } else { 70_011 }] ^= 4;
        scratch.write("f", damaged);
        // For sha512, fio stores a checksum that depends only on the last bytes of the data, so neither program finds
        // other damage.
        for reader in readers.into_iter().filter(|_| method != "sha512") {
            let read = of(Program::Ferrio, &format!("{verify} {reader}"));
            assert_eq!(read.code, Some(1), "{verify} {reader}");
            let is_told = read.stderr.contains("1 bit is flipped") || method == "meta";
            assert!(is_told, "{verify} {reader}: {}", read.stderr);
        }
    }
    // A layout that is asked for is the only one that is right; the message names the other.
    let (same, other) = if peer == Program::OldPeer { ("3.33", "3.42") } else { ("3.42", "3.33") };
    assert_eq!(of(peer, "--verify=md5 --rw=write --do_verify=0").code, Some(0));
    let strict = of(Program::Ferrio, &format!("--verify=md5 --rw=read --verify_header_layout={other}"));
    assert_eq!(strict.code, Some(1));
    assert!(strict.stderr.contains(&format!("verify_header_layout={same} reads it\n")), "{}", strict.stderr);
    assert_eq!(of(Program::Ferrio, "--verify=md5 --rw=write --do_verify=0").code, Some(0));
    let strict = of(Program::Ferrio, "--verify=md5 --rw=read --verify_header_layout=3.33");
    assert_eq!(strict.code, Some(1));
    assert!(strict.stderr.contains("verify_header_layout=3.42 reads it\n"), "{}", strict.stderr);
    assert_eq!(of(Program::Ferrio, "--verify=md5 --rw=read").code, Some(0));
}

/// Lines about blocks, without ferrio's additional lines on the kind of damage.
fn findings(finished: &Finished) -> Vec<&str> {
    let is_finding = |line: &&str| line.contains("verify") || line.contains(" CRC: ") || line.contains("dumped as");
    finished.stderr.lines().filter(is_finding).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn both_say_the_same_of_damaged_blocks() {
    let test = "both_say_the_same_of_damaged_blocks";
    if !has_peer(test) {
        return;
    }
    let scratch = Scratch::new(test);
    for method in ["md5", "crc64", "crc32c", "crc16", "crc7", "sha256", "xxhash", "meta"] {
        let write = format!("--verify={method} --rw=write --bs=4k --do_verify=0");
        assert_eq!(run(Program::Peer, &scratch, &write).code, Some(0));
        let whole = std::fs::read(scratch.join("f")).expect("the file");
        // Magic, data, length, place, number of the write, checksum of the header, time; data of the last block, after which
        // the pass ends.
        let places = [8192, 9000, 8196, 8208, 8224, 8236, 8216, 131_000];
        for (index, at) in places.into_iter().enumerate() {
            let mut content = whole.clone();
            let bytes = if at == 8192 { "ZZ" } else { "Z" };
            for (byte, damage) in content[at..].iter_mut().zip(bytes.bytes()) {
                // Another byte, whatever it was.
                *byte = if *byte == damage { !damage } else { damage };
            }
            scratch.write(&format!("f{index}"), content);
        }
        let read = places.map(|_| format!("--verify={method} --rw=read --bs=4k"));
        let (ours, our_errors) = run_jobs(Program::Ferrio, &scratch, "ours", "--stonewall", &read);
        let (theirs, their_errors) = run_jobs(Program::Peer, &scratch, "theirs", "--stonewall", &read);
        assert_eq!((ours.code, &our_errors), (theirs.code, &their_errors), "{method}");
        assert_eq!(findings(&ours), findings(&theirs), "{method}");
        let is_blind = |at: usize| method == "meta" && [9000, 131_000].contains(&at);
        assert_eq!(our_errors.iter().map(|error| *error == 0).collect::<Vec<_>>(), places.map(is_blind), "{method}");
    }
}

#[test]
fn a_damaged_block_is_kept_in_files() {
    let scratch = Scratch::new("a_damaged_block_is_kept_in_files");
    let own = |arguments: &str| run(Program::Ferrio, &scratch, arguments);
    assert_eq!(own("--verify=crc32c --rw=write --bs=4k").code, Some(0));
    let whole = std::fs::read(scratch.join("f")).expect("the file");
    let mut damaged = whole.clone();
    damaged[9000] ^= 1;
    scratch.write("f", &damaged);
    let read = own("--verify=crc32c --rw=read --bs=4k --verify_dump=1");
    assert_eq!(read.code, Some(1));
    assert!(read.stderr.contains("1 bit is flipped"), "{}", read.stderr);
    assert!(std::fs::read(scratch.join("f.8192.received")).expect("a dump") == damaged[8192..12288]);
    assert!(std::fs::read(scratch.join("f.8192.expected")).expect("a dump") == whole[8192..12288]);
}

/// The lines are those of the peer.
#[test]
fn kept_blocks_go_to_the_directory_for_them() {
    let scratch = Scratch::new("kept_blocks_go_to_the_directory_for_them");
    std::fs::create_dir_all(scratch.join("kept")).expect("a directory");
    let own = |arguments: &str| run(Program::Ferrio, &scratch, arguments);
    assert_eq!(own("--verify=crc32c --rw=write --bs=4k").code, Some(0));
    let mut damaged = std::fs::read(scratch.join("f")).expect("the file");
    damaged[9000] ^= 1;
    scratch.write("f", &damaged);
    let read = own("--verify=crc32c --rw=read --bs=4k --verify_dump=1 --aux-path=kept");
    for kind in ["received", "expected"] {
        let line = format!("       {kind} data dumped as kept/f.8192.{kind}\n");
        assert!(read.stderr.contains(&line), "{}", read.stderr);
        assert!(
            scratch.join(&format!("kept/f.8192.{kind}")).exists() && !scratch.join(&format!("f.8192.{kind}")).exists()
        );
    }
}

#[test]
fn a_job_that_writes_until_its_time_is_over_is_told() {
    let test = "a_job_that_writes_until_its_time_is_over_is_told";
    let programs = if peer_too(test) { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] };
    let scratch = Scratch::new(test);
    let note = "fio: verification read phase will never start because write phase uses all of runtime\n";
    for (job, is_told) in [
        ("--rw=write", true),
        ("--rw=randwrite --ioengine=libaio --iodepth=4", true),
        ("--rw=write --experimental_verify=1", true),
        ("--rw=randrw", false),
        ("--rw=rw --ioengine=libaio --iodepth=4", false),
        ("--rw=write --verify_backlog=4", false),
        ("--rw=write --do_verify=0", false),
    ] {
        for program in programs {
            let written = run(*program, &scratch, &format!("--verify=md5 --time_based --runtime=50ms {job}"));
            assert_eq!(written.code, Some(0), "{}", written.stderr);
            assert_eq!(written.stdout.contains(note), is_told, "{program:?} {job}: {}", written.stdout);
        }
    }
}

/// Clones that write one file, and other jobs that do.
const WRITERS_OF_ONE_FILE: &[(&str, bool)] = &[
    ("--filename=f --rw=randwrite --numjobs=2", true),
    ("--filename=f --rw=randwrite --numjobs=2 --offset_increment=128k", true),
    ("--filename=f --rw=randwrite --numjobs=2 --stonewall", true),
    ("--filename=f --rw=randrw --numjobs=2", true),
    ("--filename=f --rw=write --numjobs=3 --ioengine=null", true),
    ("--filename=f --rw=write --numjobs=2 --verify_backlog=4", true),
    ("--filename=f --rw=write --numjobs=2 --experimental_verify=1", true),
    // The names differ after all.
    ("--filename_format=$jobnum --rw=randwrite --numjobs=2", true),
    ("--filename_format=x.$filenum --rw=randwrite --numjobs=2", true),
    ("--filename_format=$jobname.$jobnum.$filenum --rw=randwrite --numjobs=2", false),
    ("--rw=randwrite --numjobs=2", false),
    ("--filename=f --rw=randwrite --numjobs=2 --do_verify=0", false),
    ("--filename=f --rw=randread --numjobs=2 --verify=0", false),
    ("--filename=f --rw=randtrim --numjobs=2 --ioengine=null", false),
    ("--filename=f --rw=randwrite", false),
    ("--filename=f --rw=randwrite --name=w --filename=f --rw=write", false),
    ("--filename=f --rw=randwrite --name=w --filename=f --rw=write --verify=md5", false),
];

/// Only for clones with given file names; their ranges do not matter.
#[test]
fn writers_of_one_file_are_told() {
    let test = "writers_of_one_file_are_told";
    let programs = if peer_too(test) { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] };
    let note =
        "fio: multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.";
    for (job, is_told) in WRITERS_OF_ONE_FILE {
        for program in programs {
            let scratch = Scratch::new(test);
            let arguments = format!("--name=v --bs=4k --size=64k --verify=md5 --verify_state_save=0 {job}");
            let finished = Run::new(*program, scratch.path(), &arguments).recorded("verify", &[]).finish();
            let n_told = finished.stdout.matches(note).count();
            assert_eq!(n_told, usize::from(*is_told), "{program:?} {job}: {}", finished.all());
        }
    }
}

/// Expected texts: the reference, "Verify".
#[test]
fn what_cannot_be_verified_is_refused() {
    let scratch = Scratch::new("what_cannot_be_verified_is_refused");
    for (arguments, message) in [
        ("--verify=pattern --rw=write", "verify=pattern needs verify_pattern"),
        ("--verify=md5 --rw=write --bs=48", "Blocksize too small"),
        (
            "--verify=md5 --rw=write --bs=4k --verify_offset=4090",
            "cannot offset verify header beyond the verify interval.",
        ),
        ("--verify_only --rw=write", "verify_only needs verify"),
        ("--verify=md5 --rw=write --bs=4k --filename=g:g", "has file g twice"),
        ("--verify=md5 --rw=write --bs=4k --size=1t --ioengine=null", "at most 67108864 can be"),
        ("--verify=md5 --verify_only --rw=write --time_based --runtime=1", "verify_only cannot know"),
        (
            "--verify=md5 --verify_only --rw=randwrite --norandommap --io_size=1m --verify_backlog=4",
            "how many passes a job with verify_backlog has done",
        ),
        ("--verify=md5 --verify_only --rw=write --do_verify=0", "it needs do_verify=1 and writes"),
        ("--verify=md5 --verify_only --rw=write --verify_policy=fsynced", "needs verify_state_load"),
        (
            "--verify=md5 --rw=write --zonemode=zbd --zonesize=32k --trim_percentage=9 --trim_backlog=9",
            "zonemode=zbd cannot be combined with trim_percentage",
        ),
        (
            "--verify=md5 --rw=write --zonemode=zbd --zonesize=32k --verify_crash_log=log",
            "zonemode=zbd cannot be combined with verify_crash_log",
        ),
        ("--verify=crc33 --rw=write", "crc33"),
        ("--verify_pattern=%x --rw=write", "failed parsing"),
        ("--verify=md5 --verify_async=1025 --rw=write", "verify_async"),
    ] {
        let finished = run(Program::Ferrio, &scratch, arguments);
        assert_eq!(finished.code, Some(1), "{arguments}: {}", finished.stderr);
        assert!(finished.all().contains(message), "{arguments}: {}", finished.all());
    }
}

/// Reads back the writes of an earlier run at fio's offsets and in its order, without changing the file.
#[test]
fn what_an_earlier_run_wrote_is_read_back() {
    let test = "what_an_earlier_run_wrote_is_read_back";
    let scratch = Scratch::new(test);
    let fixed = "--verify=crc32c --bs=4k --randrepeat=0 --randseed=137";
    let reads = |program, job: &str| {
        let _ = std::fs::remove_file(scratch.join("log"));
        let finished = run(program, &scratch, &format!("{fixed} {job} --verify_only --write_iolog=log"));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{job}");
        let log = scratch.read("log");
        assert!(!log.contains(" write ") && !log.contains(" sync "), "{job}: {log}");
        let reads = log.lines().filter_map(|line| line.split_once(" read ").map(|(_, place)| place.to_owned()));
        reads.collect::<Vec<_>>()
    };
    let peer = peer_too(test);
    for job in [
        "--rw=write",
        "--rw=randwrite --ioengine=libaio --iodepth=4",
        "--rw=randrw",
        "--rw=randwrite --norandommap",
        "--rw=randwrite --bsrange=4k-16k",
        "--rw=randwrite --loops=2",
        "--rw=write --fsync=3 --end_fsync=1",
    ] {
        let _ = std::fs::remove_file(scratch.join("f"));
        assert_eq!(run(Program::Ferrio, &scratch, &format!("{fixed} {job}")).code, Some(0), "{job}");
        let before = std::fs::read(scratch.join("f")).expect("the file");
        let ours = reads(Program::Ferrio, job);
        assert!(!ours.is_empty(), "{job}");
        assert!(std::fs::read(scratch.join("f")).expect("the file") == before, "{job}");
        if peer && !job.contains("loops") {
            assert_eq!(ours, reads(Program::Peer, job), "{job}");
        }
    }
    // The seeds are those of the writer: another order of the same blocks has others.
    let strict =
        run(Program::Ferrio, &scratch, &format!("{fixed} --rw=randwrite --verify_only --verify_header_seed=1"));
    assert_eq!(strict.code, Some(1));
    assert!(strict.stderr.contains("bad header rand_seed"), "{}", strict.stderr);
    // A file that is too short is left alone.
    let before = std::fs::read(scratch.join("f")).expect("the file");
    for (bytes, why) in [(0, "no earlier run wrote it"), (4096, "fio: io_u error on file f: Input/output error")] {
        scratch.write("f", &before[..bytes]);
        let short = run(Program::Ferrio, &scratch, &format!("{fixed} --rw=write --verify_only"));
        assert_eq!(short.code, Some(1));
        assert!(short.stderr.contains(why), "{}", short.stderr);
        assert!(std::fs::read(scratch.join("f")).expect("the file") == before[..bytes]);
    }
}

/// Files that an earlier run did not write to their ends, or did not make at all, are no fault.
#[test]
fn files_may_be_shorter_than_they_could_be() {
    let scratch = Scratch::new("verify-short-files");
    let fixed =
        "--name=v --verify=crc32c --bs=4k --size=192k --nrfiles=3 --filename_format=f.$filenum --verify_state_save=0";
    for job in [
        "--rw=write:4k --fallocate=none",
        "--rw=randwrite:8 --openfiles=1 --file_service_type=random --fallocate=keep",
        "--rw=randwrite --number_ios=7 --create_on_open=1 --file_service_type=sequential",
        "--rw=randwrite:3 --openfiles=2 --create_on_open=1",
    ] {
        for reads_back in ["", "--do_verify=0"] {
            let written = run(Program::Ferrio, &scratch, &format!("{fixed} {job} {reads_back}"));
            assert_eq!((written.code, written.stderr.as_str()), (Some(0), ""), "{job}: {}", written.all());
            let bytes = |name: &String| std::fs::metadata(scratch.join(name)).map_or(0, |file| file.len());
            let names = ["f.0", "f.1", "f.2"].map(str::to_owned);
            assert!(names.iter().any(|name| bytes(name) < 64 << 10), "{job}");
            let only = run(Program::Ferrio, &scratch, &format!("{fixed} {job} --verify_only"));
            assert_eq!((only.code, only.stderr.as_str()), (Some(0), ""), "{job} {reads_back}: {}", only.all());
            for name in names {
                let _ = std::fs::remove_file(scratch.join(&name));
            }
        }
    }
}

/// Reads and writes of a job with one I/O at a time, by direction and place.
pub(crate) fn traced(program: Program, scratch: &Scratch, job: &str) -> (Option<i32>, Vec<String>) {
    for name in ["f", "log"] {
        let _ = std::fs::remove_file(scratch.join(name));
    }
    let seeds = "--randrepeat=0 --randseed=137 --write_iolog=log";
    let run = start_of(program, scratch, &format!("{seeds} --bs=4k --verify=crc32c {job}"));
    let finished = run.recorded("verify", &["log"]).finish();
    let lines = std::fs::read_to_string(scratch.join("log")).unwrap_or_default();
    let is_io = |line: &&str| [" read ", " write "].iter().any(|action| line.contains(action));
    let ios = lines.lines().filter(is_io).map(|line| line.split(' ').skip(2).collect::<Vec<_>>().join(" "));
    (finished.code, ios.collect())
}

/// With one I/O at a time, the reads of a backlog come at the same places among the writes as in fio.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn a_backlog_is_read_back_where_fio_does() {
    let test = "a_backlog_is_read_back_where_fio_does";
    if !has_peer(test) {
        return;
    }
    let scratch = Scratch::new(test);
    for (job, engine) in [
        ("--rw=write --verify_backlog=4", "psync"),
        ("--rw=write --verify_backlog=5 --verify_backlog_batch=2", "libaio"),
        ("--rw=write --verify_backlog=2 --verify_backlog_batch=5", "psync"),
        ("--rw=randwrite --verify_backlog=4", "libaio"),
        ("--rw=randwrite --norandommap --verify_backlog=4", "psync"),
        ("--rw=rw --verify_backlog=2", "psync"),
        ("--rw=randrw --verify_backlog=3 --verify_backlog_batch=1", "psync"),
        ("--rw=write --loops=2 --verify_backlog=5", "psync"),
        // The files end a pass, with queues too; each pass is read back in the order of its writes.
        ("--rw=randwrite --loops=2 --verify_backlog=7 --randseed=3", "libaio"),
        ("--rw=randrw --loops=2 --verify_backlog=300 --bsrange=512-4096", "libaio"),
        ("--rw=randrw --loops=2 --io_size=40k --verify_backlog=7 --bsrange=512-4096", "libaio"),
        ("--rw=randwrite --io_size=300k --verify_backlog=7 --bsrange=512-4096", "libaio"),
        ("--rw=randwrite --io_size=300k --verify_backlog=300", "psync"),
        ("--rw=write --verify_backlog=4 --fsync=2", "psync"),
        ("--rw=write --verify_backlog=3 --verify_async=2", "psync"),
    ] {
        let job = format!("{job} --ioengine={engine}");
        let [ferrio, peer] = [Program::Ferrio, Program::Peer].map(|program| traced(program, &scratch, &job));
        assert_eq!(ferrio, peer, "{job}");
        assert!(ferrio.1.len() > 32, "{job}: {ferrio:?}");
    }
}
