//! Files that are damaged by hand, and the findings of a later run that only reads, by method.
//!
//! Start reading at [`readers_find_what_their_method_can`].

use crate::support::{Finished, Program, Run, Scratch, peer_too};

const BLOCK: usize = 4096;

/// All methods but `pattern`, which is added together with the pattern that it needs.
const METHODS: [&str; 19] = [
    "md5",
    "crc64",
    "crc32",
    "crc32c",
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
    "xxh3",
    "meta",
    "null",
    "pattern --verify_pattern=0xc317",
    "pattern_hdr --verify_pattern=0xc317",
];

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    let fixed = "--name=v --filename=f --size=64k --bs=4k --verify_state_save=0 --randrepeat=0";
    Run::new(Program::Ferrio, scratch.path(), &format!("{fixed} {arguments}")).finish()
}

/// Damages the sixth of sixteen blocks; `old`: the file of an earlier run with other seeds.
fn damaged(kind: &str, whole: &[u8], old: &[u8]) -> Vec<u8> {
    let (at, end) = (5 * BLOCK, 6 * BLOCK);
    let mut data = whole.to_vec();
    match kind {
        "flip" => data[at + 1234] ^= 0x20,
        "torn" => data[at + 1024..end].fill(0x5a),
        "lost" => data[at..end].fill(0),
        "misdirected" => data.copy_within(9 * BLOCK..10 * BLOCK, at),
        "stale" => data[at..end].copy_from_slice(&old[at..end]),
        // The file ends within the block.
        "short" => data.truncate(at + 100),
        _ => {}
    }
    data
}

/// True if the method cannot see this kind of damage. A run that only reads does not know the seeds; one that computes
/// the writes again does (`knows_seeds`).
fn is_blind(method: &str, kind: &str, knows_seeds: bool) -> bool {
    match (method, kind) {
        // Not even the checks of nothing can do without data.
        (_, "short") => false,
        // The header alone is in the first sector; one block of a pattern is like the other.
        (_, "whole") | ("null", _) | ("meta", "flip" | "torn") | ("pattern", "misdirected" | "stale") => true,
        // The header is valid and in its place; only the seed is of another write.
        (_, "stale") => !knows_seeds,
        _ => false,
    }
}

#[test]
fn readers_find_what_their_method_can() {
    for method in METHODS {
        let scratch = Scratch::new("verify-damage");
        let written = |seed: u32| {
            let write = format!("--verify={method} --rw=randwrite --do_verify=0 --randseed={seed}");
            assert_eq!(run(&scratch, &write).code, Some(0), "{method}");
            std::fs::read(scratch.join("f")).expect("the file")
        };
        let (old, whole) = (written(5), written(137));
        let word = method.split(' ').next().unwrap_or(method);
        for kind in ["whole", "flip", "torn", "lost", "misdirected", "stale", "short"] {
            for (reader, knows_seeds) in [
                ("--rw=read", false),
                ("--rw=randread --ioengine=libaio --iodepth=16", false),
                ("--rw=read --verify_async=2", false),
                ("--rw=randwrite --verify_only --verify_header_seed=1", true),
            ] {
                scratch.write("f", damaged(kind, &whole, &old));
                // A job that reads lays a file that is too short out anew and says so; verification then finds no header there.
                let finished = run(&scratch, &format!("--verify={method} --randseed=137 {reader}"));
                let laid_over = kind == "short" && !knows_seeds;
                let blind = is_blind(word, kind, knows_seeds) || (laid_over && word == "null");
                let expected = if blind { (Some(0), true) } else { (Some(1), false) };
                let of_layout = finished.stderr.lines().filter(|line| line.contains("is replaced by new data")).count();
                assert_eq!(of_layout, usize::from(laid_over), "{method} {kind} {reader}: {}", finished.all());
                let told = (finished.code, finished.stderr.lines().count() == of_layout);
                assert_eq!(told, expected, "{method} {kind} {reader}: {}", finished.all());
            }
        }
    }
}

/// A verify error is one of its own class: where it is not tolerated it ends the job, and is not counted either. As of fio 3.41
/// with engines of several I/Os; with those of depth 1 it counts an error of reading beside it, errno 1.
#[test]
fn verify_errors_are_counted_where_they_are_tolerated() {
    let peer = peer_too("verify_errors_are_counted_where_they_are_tolerated");
    let scratch = Scratch::new("verify-counts");
    assert_eq!(run(&scratch, "--verify=md5 --rw=write --do_verify=0").code, Some(0));
    let whole = std::fs::read(scratch.join("f")).expect("the file");
    scratch.write("f", damaged("flip", &whole, &whole));
    for (class, code, counts) in
        [("read", 1, (0, 0)), ("write", 1, (0, 0)), ("io", 1, (0, 0)), ("verify", 0, (1, 84)), ("all", 0, (1, 84))]
    {
        for (program, engine) in [
            (Program::Ferrio, "--ioengine=psync"),
            (Program::Ferrio, "--ioengine=libaio --iodepth=4"),
            (Program::Peer, "--ioengine=libaio --iodepth=4"),
        ] {
            if program == Program::Peer && !peer {
                continue;
            }
            let job = "--name=v --filename=f --size=64k --bs=4k --rw=read --verify=md5 --output-format=json";
            let job = format!("{job} --continue_on_error={class} {engine}");
            let finished = Run::new(program, scratch.path(), &job).recorded("verify", &[]).finish();
            assert_eq!(finished.code, Some(code), "{program:?} {class} {engine}: {}", finished.all());
            let (n_errors, first) = counts;
            for wanted in [format!("\"total_err\" : {n_errors},"), format!("\"first_error\" : {first},")] {
                assert!(finished.stdout.contains(&wanted), "{program:?} {class} {engine}: {}", finished.stdout);
            }
        }
    }
}

/// Whichever interval of a block it is in; fio 3.41 ends with an error only for the last.
#[test]
fn a_fault_in_any_interval_is_an_error() {
    let scratch = Scratch::new("verify-intervals");
    let fixed = "--verify=md5 --verify_interval=1k";
    assert_eq!(run(&scratch, &format!("{fixed} --rw=write --do_verify=0")).code, Some(0));
    let whole = std::fs::read(scratch.join("f")).expect("the file");
    for interval in 0..4 {
        let mut data = whole.clone();
        data[3 * BLOCK + interval * 1024 + 300] ^= 1;
        scratch.write("f", &data);
        let finished = run(&scratch, &format!("{fixed} --rw=read"));
        assert_eq!(finished.code, Some(1), "{interval}: {}", finished.all());
        let place = format!("offset {}, length 1024", 3 * BLOCK + interval * 1024);
        assert!(finished.stderr.contains(&place), "{interval}: {}", finished.stderr);
    }
}

/// A file with its bytes.
type Kept = (&'static str, usize);

/// Offset of a damaged byte in blocks of 4 KiB from 8192 on; the interval; and the files that `verify_dump` writes,
/// with their bytes.
const KEPT: &[(usize, &str, &[Kept])] = &[
    (9000, "", &[("f.8192.expected", BLOCK), ("f.8192.received", BLOCK)]),
    (9000, "--verify_interval=1k", &[("f.8192.expected", 1024), ("f.8192.received", 1024)]),
    (11_000, "--verify_interval=1k", &[("f.10240.expected", 1024), ("f.10240.received", 1024)]),
    (11_000, "--verify_interval=512", &[("f.10752.expected", 512), ("f.10752.received", 512)]),
    // The header is wrong in its magic number, its own checksum, or its place.
    (8192, "", &[("f.8192.hdr_fail", BLOCK)]),
    (8196, "", &[("f.8192.hdr_fail", BLOCK)]),
    (8208, "", &[("f.8192.hdr_fail", BLOCK)]),
    (9216, "--verify_interval=1k", &[("f.9216.hdr_fail", 1024)]),
];

#[test]
fn the_interval_at_fault_is_kept() {
    let test = "the_interval_at_fault_is_kept";
    let programs: &[Program] = if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] };
    for program in programs {
        for (at, interval, kept) in KEPT {
            let scratch = Scratch::new(test);
            let fixed =
                format!("--name=v --filename=f --size=64k --bs=4k --verify_state_save=0 --verify=md5 {interval}");
            let own = |more: &str| Run::new(*program, scratch.path(), &format!("{fixed} {more}")).finish();
            own("--rw=write --do_verify=0").succeeded();
            let mut data = std::fs::read(scratch.join("f")).expect("the file");
            data[*at] ^= 0xff;
            scratch.write("f", &data);
            let read = own("--rw=read --verify_dump=1 --continue_on_error=verify").succeeded();
            let mut names = scratch.names();
            names.retain(|name| name != "f");
            let what = format!("{at} {interval} with {}: {}", program.path(), read.stderr);
            assert_eq!(names, kept.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{what}");
            for (name, bytes) in *kept {
                let (_, rest) = name.split_once('.').expect("an offset");
                let (offset, kind) = rest.split_once('.').expect("a kind");
                let start: usize = offset.parse().expect("an offset");
                let content = std::fs::read(scratch.join(name)).expect("a dump");
                assert_eq!(content.len(), *bytes, "{what}");
                assert_eq!(content == data[start..start + bytes], kind != "expected", "{what}");
                assert!(read.stderr.contains(&format!("       {kind} data dumped as {name}\n")), "{what}");
            }
        }
    }
}
