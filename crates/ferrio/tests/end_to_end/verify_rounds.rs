//! Verification with `io_size` above the size: a sequential job starts over in its files until `io_size` is done; then
//! the newest version of each block is read back once.
//!
//! The expected figures are those of fio 3.42, by the reference. fio 3.41 does less I/O in a sequential write job, and
//! reports good blocks of a sequential mix as damaged; rows on which it agrees are marked. Start reading at [`ROWS`].

use crate::support::{Finished, Program, Run, Scratch, peer_too};

/// Options; writes, and reads, of 128 KiB in 1 MiB of files; whether fio 3.41 does as many.
const ROWS: &[(&str, u64, u64, bool)] = &[
    ("--rw=write --io_size=2M --filename=a --do_verify=0", 16, 0, false),
    ("--rw=write --io_size=2M --filename=a", 16, 8, false),
    ("--rw=write --io_size=2M --filename=a:b", 16, 8, false),
    ("--rw=write --io_size=2M --filename=a --verify_backlog=4", 16, 16, false),
    ("--rw=rw --io_size=4M --filename=a --do_verify=0", 17, 15, true),
    ("--rw=rw --io_size=4M --filename=a", 17, 23, false),
    ("--rw=randwrite --io_size=2M --filename=a --do_verify=0", 16, 0, false),
    ("--rw=randwrite --io_size=2M --filename=a", 8, 8, true),
    // Each block is read once, however often it was written.
    ("--rw=randwrite --norandommap --io_size=2M --filename=a", 16, 8, true),
    ("--rw=randrw --norandommap --io_size=4M --filename=a --do_verify=0", 17, 15, true),
    // Each of the loops writes `io_size`, and is read back.
    ("--rw=write --io_size=2M --filename=a --loops=2", 32, 16, false),
    ("--rw=write --io_size=1536k --filename=a:b", 12, 8, false),
    ("--rw=write --io_size=512k --filename=a", 4, 4, true),
];

const ENGINES: [&str; 5] =
    ["psync", "libaio", "libaio --iodepth=16", "io_uring", "io_uring --iodepth=8 --iodepth_batch=4"];

const FIXED: &str =
    "--name=v --size=1M --bs=128k --verify=crc32c --verify_state_save=0 --fallocate=truncate --output-format=json";

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(program, scratch.path(), &format!("{FIXED} {arguments}")).recorded("verify", &[]).finish()
}

/// Writes and reads of the job.
fn ios(finished: &Finished) -> (u64, u64) {
    let document = &crate::json_stream::documents(&finished.stdout, &finished.stdout)[0];
    let ios = |direction: &str| document["jobs"][0][direction]["total_ios"].as_u64().expect("a number");
    (ios("write"), ios("read"))
}

#[test]
fn what_is_done_and_read_back() {
    let test = "what_is_done_and_read_back";
    let has_peer = peer_too(test);
    for engine in ENGINES {
        for (options, n_writes, n_reads, is_old) in ROWS {
            // Overlapping writes in flight are not read back.
            if options.contains("norandommap") && engine.contains("iodepth") {
                continue;
            }
            // With other engines, fio 3.41 ends a verified pass by its number of bytes.
            let has_peer = has_peer && *is_old && engine == "psync";
            let programs = if has_peer { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] };
            for program in programs {
                let what = format!("{options} --ioengine={engine}");
                let finished = run(*program, &Scratch::new(test), &what).succeeded().quiet();
                assert_eq!(ios(&finished), (*n_writes, *n_reads), "{program:?} {what}: writes, reads");
            }
        }
    }
}

/// A file that is there, and its bytes.
type Earlier = (&'static str, usize);

/// Files that are there; options; blocks of a job whose reads and writes are `io_size`.
const EARLIER: &[(&[Earlier], &str, u64)] = &[
    (&[], "--filename=f --rw=write --io_size=2M", 16),
    (&[], "--filename=f --rw=randwrite --norandommap --io_size=2M", 16),
    (&[], "--filename=f --rw=rw --io_size=4M", 32),
    (&[], "--filename=f --rw=randrw --norandommap --io_size=4M", 32),
    (&[("f", 512 << 10)], "--filename=f --rw=write --io_size=2M", 16),
    (&[], "--filename=f.0:f.1 --rw=write --io_size=2M", 16),
    (&[], "--filename=f.0:f.1 --rw=randwrite --norandommap --io_size=2M", 16),
    (&[("f.0", 256 << 10), ("f.1", 256 << 10)], "--filename=f.0:f.1 --rw=write --io_size=2M", 16),
    (&[], "--filename=f --rw=write --io_size=2M --bsrange=16k-128k", 0),
    (&[], "--filename=f --rw=write --io_size=2500k --bs=48k --verify_header_seed=1", 53),
    (&[], "--filename=f --rw=rw --io_size=4M --verify_header_seed=1", 32),
    (&[], "--filename=f --rw=write --size=1M --io_size=2M --verify_backlog=4", 16),
    (&[], "--filename=f --rw=write --loops=3 --verify_header_seed=1", 24),
];

#[test]
fn an_earlier_run_is_known_to_its_newest_writes() {
    let test = "an_earlier_run_is_known_to_its_newest_writes";
    for engine in ["psync", "io_uring", "libaio --iodepth=16"] {
        for (files, options, n_ios) in EARLIER {
            if options.contains("norandommap") && engine.contains("iodepth") {
                continue;
            }
            let scratch = Scratch::new(test);
            for (name, n_bytes) in *files {
                scratch.write(name, vec![0; *n_bytes]);
            }
            let job = format!("{options} --ioengine={engine}");
            let (n_writes, n_reads) = ios(&run(Program::Ferrio, &scratch, &format!("{job} --do_verify=0")).succeeded());
            assert!(*n_ios == 0 || n_writes + n_reads == *n_ios, "{job}: {n_writes} writes, {n_reads} reads");
            let again = format!("{job} --do_verify=1 --verify_only=1 --verify_write_sequence=1");
            let finished = run(Program::Ferrio, &scratch, &again).succeeded().quiet();
            if options.contains("rw=write") && !options.contains("bs") {
                assert_eq!(ios(&finished).1, 8, "{again}");
            }
            // Both in one run.
            let both = format!("{job} --do_verify=1 --verify_write_sequence=1");
            let finished = run(Program::Ferrio, &Scratch::new(test), &both).succeeded().quiet();
            if options.contains("rw=write --io_size") && !options.contains("bs") && !options.contains("backlog") {
                assert_eq!(ios(&finished), (*n_ios, 8), "{both}");
            }
        }
    }
}

/// The newest write of each block has the numbers of the last round.
#[test]
fn numbers_go_on_from_round_to_round() {
    let scratch = Scratch::new("numbers_go_on_from_round_to_round");
    let job = "--filename=f --rw=write --ioengine=psync";
    run(Program::Ferrio, &scratch, &format!("{job} --io_size=2M --do_verify=0")).succeeded();
    let other = format!("{job} --io_size=1M --verify_only=1");
    let failed = run(Program::Ferrio, &scratch, &format!("{other} --verify_write_sequence=1"));
    assert_eq!(failed.code, Some(1), "{}", failed.all());
    let line = "verify: bad header numberio 8, wanted 0 at file f offset 0, length 131072 (requested block: offset=0, \
                length=131072)";
    assert!(failed.stderr.contains(line), "{}", failed.all());
    run(Program::Ferrio, &scratch, &format!("{other} --verify_write_sequence=0")).succeeded().quiet();
}

/// By file and offset; no file is opened or closed between the rounds; the last round ends at `io_size`.
#[test]
fn order_of_rounds() {
    for (options, expected) in [
        ("--io_size=32k --filename=a:b", "a0 b0 a1 b1 a0 b0 a1 b1 Ra0 Ra1 Rb0 Rb1"),
        ("--io_size=20k --filename=a", "a0 a1 a2 a3 a0 Ra0 Ra1 Ra2 Ra3"),
        ("--io_size=24k --filename=a --verify_backlog=2", "a0 a1 Ra0 Ra1 a2 a3 Ra2 Ra3 a0 a1 Ra0 Ra1"),
        ("--io_size=24k --filename=a --bs=4k --size=14k", "a0 a1 a2 a0 a1 a2 Ra0 Ra1 Ra2"),
    ] {
        let scratch = Scratch::new("order_of_rounds");
        let fixed = "--name=v --rw=write --bs=4k --size=16k --verify=crc32c --verify_state_save=0 --write_iolog=log";
        Run::new(Program::Ferrio, scratch.path(), &format!("{fixed} {options}")).finish().succeeded().quiet();
        let io = |line: &str| {
            let [_, file, action @ ("read" | "write"), offset, _] = line.split(' ').collect::<Vec<_>>()[..] else {
                return None;
            };
            let block = offset.parse::<u64>().expect("an offset") / 4096;
            Some(format!("{}{file}{block}", if action == "read" { "R" } else { "" }))
        };
        let log = scratch.read("log");
        assert_eq!(log.lines().filter_map(io).collect::<Vec<_>>().join(" "), expected, "{options}");
        let n_opened = log.lines().filter(|line| line.ends_with("a open")).count();
        assert!(n_opened <= 2, "{options}: {log}");
    }
}

/// For each round: a flipped bit in a block that only this round wrote last is found.
#[test]
fn damage_of_the_last_round_is_found() {
    let test = "damage_of_the_last_round_is_found";
    let scratch = Scratch::new(test);
    for job in ["--rw=write --io_size=1536k --filename=f", "--rw=rw --io_size=4M --filename=f"] {
        let job = format!("{job} --ioengine=psync");
        run(Program::Ferrio, &scratch, &format!("{job} --do_verify=0")).succeeded();
        let whole = std::fs::read(scratch.join("f")).expect("the file");
        for block in [0, 3] {
            let mut bytes = whole.clone();
            bytes[block * (128 << 10) + 5000] ^= 1;
            scratch.write("f", bytes);
            let again = format!("{job} --verify_only=1 --verify_write_sequence=1");
            let failed = run(Program::Ferrio, &scratch, &again);
            assert_eq!(failed.code, Some(1), "{again} block {block}: {}", failed.all());
        }
        std::fs::remove_file(scratch.join("f")).expect("the file");
    }
}

/// Number of reads and writes of a job of 32 blocks, as seen on fio 3.41: reads of verification count for `io_size`,
/// and no pass is cut short. Sequential jobs with `io_size` above the size are in `ROWS`.
const PASSES: &[(&str, u64, u64)] = &[
    ("--rw=write", 32, 32),
    ("--rw=write --io_size=64k", 16, 16),
    ("--rw=write --loops=2 --io_size=64k", 32, 32),
    ("--rw=randwrite --io_size=256k", 32, 32),
    ("--rw=randwrite --io_size=259k", 32, 32),
    ("--rw=randwrite --io_size=260k", 64, 64),
    ("--rw=randwrite --io_size=384k", 64, 64),
    ("--rw=randwrite --io_size=512k --verify_backlog=8", 64, 64),
    ("--rw=randwrite --io_size=384k --ioengine=libaio --iodepth=8", 64, 64),
    ("--rw=randwrite --loops=2 --io_size=384k", 64, 64),
    ("--rw=randwrite --loops=2 --io_size=768k", 96, 96),
    ("--rw=randwrite --loops=4 --io_size=256k", 128, 128),
    ("--rw=write --io_size=512k --do_verify=0 --ioengine=libaio --iodepth=8", 0, 128),
    ("--rw=write --io_size=200k --do_verify=0 --ioengine=libaio --iodepth=8", 0, 50),
    ("--rw=randwrite --io_size=200k --do_verify=0 --ioengine=libaio --iodepth=1", 0, 50),
    ("--rw=write --io_size=512k --do_verify=0 --ioengine=vsync", 0, 128),
    ("--rw=randrw --norandommap --io_size=512k", 90, 66),
    ("--rw=randrw --io_size=512k", 96, 51),
    ("--rw=rw --io_size=512k --do_verify=0", 62, 66),
];

#[test]
fn what_is_read_back_counts_for_io_size() {
    let programs = if peer_too("what_is_read_back_counts_for_io_size") {
        &[Program::Ferrio, Program::Peer][..]
    } else {
        &[Program::Ferrio]
    };
    for (case, n_reads, n_writes) in PASSES {
        for program in programs {
            let scratch = Scratch::new("verify-passes");
            let fixed = "--name=a --filename=f --size=128k --bs=4k --verify=crc32c --output-format=json";
            let finished = Run::new(*program, scratch.path(), &format!("{fixed} {case}"))
                .recorded("verify", &[])
                .finish()
                .succeeded();
            let document = &crate::json_stream::documents(&finished.stdout, &finished.stdout)[0];
            let ios = |direction: &str| document["jobs"][0][direction]["total_ios"].as_u64();
            assert_eq!((ios("read"), ios("write")), (Some(*n_reads), Some(*n_writes)), "{program:?} {case}");
        }
    }
}
