//! Verification beside the peer: each reads what the other wrote, and both say the same of damaged blocks.
//!
//! Start reading at [`each_reads_what_the_other_wrote`]. The headers are those of fio 3.33, the version of the peer.

use crate::support::{Finished, Program, Run, Scratch, has_peer};

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

const SHAPES: [&str; 3] =
    ["--bs=4k", "--bs=16k --verify_interval=1k", "--bs=8k --verify_offset=1000 --verify_interval=4k"];

fn run(program: Program, scratch: &Scratch, arguments: &str) -> Finished {
    let own = match program {
        Program::Ferrio => "--verify_header_layout=3.33",
        Program::Peer => "--verify_state_save=0",
    };
    let arguments = format!("--name=v --filename=f --size=128k {own} {arguments}");
    Run::new(program, scratch.path(), &arguments).finish()
}

#[test]
fn each_reads_what_the_other_wrote() {
    let test = "each_reads_what_the_other_wrote";
    if !has_peer(test) {
        return;
    }
    let scratch = Scratch::new(test);
    // Each method in two of the shapes, each shape with a third of the methods.
    for (index, method) in METHODS.into_iter().enumerate() {
        for (at, (rw, more)) in [("write", ""), ("randwrite", " --ioengine=libaio --iodepth=4")].into_iter().enumerate()
        {
            let verify = format!("--verify={method} {}", SHAPES[(index + at) % SHAPES.len()]);
            for (writer, reader) in [(Program::Peer, Program::Ferrio), (Program::Ferrio, Program::Peer)] {
                let _ = std::fs::remove_file(scratch.join("f"));
                let written = run(writer, &scratch, &format!("{verify} --rw={rw} --do_verify=0{more}"));
                assert_eq!(written.code, Some(0), "{verify}: {}", written.stderr);
                let read = run(reader, &scratch, &format!("{verify} --rw=read"));
                let name = writer.path();
                assert_eq!((read.code, read.stderr.as_str()), (Some(0), ""), "{verify} written by {name}");
            }
        }
    }
}

/// Lines about blocks; ferrio says besides what kind of damage it looks like.
fn findings(finished: &Finished) -> Vec<&str> {
    let is_finding = |line: &&str| line.contains("verify") || line.contains(" CRC: ") || line.contains("dumped as");
    finished.stderr.lines().filter(is_finding).collect()
}

#[test]
fn both_say_the_same_of_damaged_blocks() {
    let test = "both_say_the_same_of_damaged_blocks";
    if !has_peer(test) {
        return;
    }
    let scratch = Scratch::new(test);
    for method in ["md5", "crc64", "crc32c", "crc16", "crc7", "sha256", "xxhash", "meta"] {
        // Magic, data, length, place, checksum of the header, time; data of the last block, after which the pass ends.
        for (at, bytes) in
            [(8192, "ZZ"), (9000, "Z"), (8196, "Z"), (8208, "Z"), (8228, "Z"), (8216, "Z"), (131_000, "Z")]
        {
            let write = format!("--verify={method} --rw=write --bs=4k --do_verify=0");
            assert_eq!(run(Program::Peer, &scratch, &write).code, Some(0));
            let mut content = std::fs::read(scratch.join("f")).expect("the file");
            for (byte, damage) in content[at..].iter_mut().zip(bytes.bytes()) {
                // Another byte, whatever it was.
                *byte = if *byte == damage { !damage } else { damage };
            }
            scratch.write("f", content);
            let read = format!("--verify={method} --rw=read --bs=4k");
            let (ours, theirs) = (run(Program::Ferrio, &scratch, &read), run(Program::Peer, &scratch, &read));
            assert_eq!((ours.code, findings(&ours)), (theirs.code, findings(&theirs)), "{method} at {at}");
            let is_blind = method == "meta" && [9000, 131_000].contains(&at);
            assert_eq!(ours.code, Some(i32::from(!is_blind)), "{method} at {at}");
        }
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

/// Words of fio 3.33.
#[test]
fn a_job_that_writes_until_its_time_is_over_is_told() {
    let scratch = Scratch::new("a_job_that_writes_until_its_time_is_over_is_told");
    let written = run(Program::Ferrio, &scratch, "--verify=md5 --rw=write --time_based --runtime=50ms");
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let note = "fio: verification read phase will never start because write phase uses all of runtime\n";
    assert!(written.stdout.contains(note), "{}", written.stdout);
}

/// Texts of the reference, "Verify".
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
        ("--verify=md5 --rw=write --bs=4k --zero_buffers", "cannot be combined"),
        ("--verify=md5 --rw=trimwrite --bs=4k", "not yet supported"),
        ("--verify=crc33 --rw=write", "crc33"),
        ("--verify_pattern=%x --rw=write", "failed parsing"),
        ("--verify=md5 --verify_async=2 --rw=write", "verify_async"),
        ("--verify=md5 --verify_state_save=1 --rw=write", "verify_state_save"),
    ] {
        let finished = run(Program::Ferrio, &scratch, arguments);
        assert_eq!(finished.code, Some(1), "{arguments}: {}", finished.stderr);
        assert!(finished.all().contains(message), "{arguments}: {}", finished.all());
    }
}
