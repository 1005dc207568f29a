//! Combinations of options: the I/Os, their order, and the files afterwards. If fio is installed, the expected values
//! are checked against it, too.
//!
//! Start reading at [`PAIRS`].

use crate::support::{Program, Run, Scratch, has_peer, peer_too};
use std::collections::BTreeSet;

const BLOCK: u64 = 4096;

/// Options; I/Os by file, direction and block; files that are left, with their blocks.
const PAIRS: &[(&str, &str, &str)] = &[
    // In sequence through several files: read back in the order of the writes, between the writes too.
    ("--rw=write --filename=a:b --size=16k --verify=crc32c", "aw0 bw0 aw1 bw1 ar0 br0 ar1 br1", "a2 b2"),
    (
        "--rw=write --filename=a:b --size=16k --verify=crc32c --ioengine=libaio --iodepth=4",
        "aw0 bw0 aw1 bw1 ar0 br0 ar1 br1",
        "a2 b2",
    ),
    (
        "--rw=write --filename=a:b --size=32k --verify=md5 --verify_backlog=4",
        "aw0 bw0 aw1 bw1 ar0 br0 ar1 br1 aw2 bw2 aw3 bw3 ar2 br2 ar3 br3",
        "a4 b4",
    ),
    (
        "--rw=write --filename=a:b --size=16k --verify=crc32c --loops=2",
        "aw0 bw0 aw1 bw1 ar0 br0 ar1 br1 aw0 bw0 aw1 bw1 ar0 br0 ar1 br1",
        "a2 b2",
    ),
    (
        "--rw=write --filename=a:b --size=16k --verify=crc32c --file_service_type=roundrobin:2",
        "aw0 aw1 bw0 bw1 ar0 ar1 br0 br1",
        "a2 b2",
    ),
    // At random with a map: in the order of the writes.
    (
        "--rw=randwrite --filename=a:b --size=32k --verify=md5 --verify_backlog=4",
        "aw3 bw3 aw2 bw2 ar3 br3 ar2 br2 aw0 bw0 aw1 bw1 ar0 br0 ar1 br1",
        "a4 b4",
    ),
    (
        "--rw=randwrite --filename=a --size=64k --verify=md5 --random_generator=lfsr",
        "aw11 aw9 aw14 aw3 aw8 aw0 aw4 aw6 aw7 aw10 aw1 aw12 aw2 aw5 aw13 aw15 \
         ar11 ar9 ar14 ar3 ar8 ar0 ar4 ar6 ar7 ar10 ar1 ar12 ar2 ar5 ar13 ar15",
        "a16",
    ),
    // Each pass is read back at its end, in the order of its writes.
    (
        "--rw=randwrite --filename=a --size=16k --io_size=48k --verify=md5",
        "aw3 aw0 aw2 aw1 ar3 ar0 ar2 ar1 aw3 aw0 aw1 aw2 ar3 ar0 ar1 ar2",
        "a4",
    ),
    // Without a random map: in ascending order.
    (
        "--rw=randwrite --filename=a --size=16k --norandommap=1 --verify=md5 --io_size=24k",
        "aw3 aw3 aw2 aw2 aw2 aw3 ar2 ar3",
        "a4",
    ),
    // A file that is filled until the device is full has its limits too.
    ("--rw=write --filename=a --size=32k --fill_device=1 --io_size=16k", "aw0 aw1 aw2 aw3", "a4"),
    ("--rw=write --filename=a --size=32k --fill_device=1 --io_size=50%", "aw0 aw1 aw2 aw3", "a4"),
    ("--rw=read --filename=a --size=16k --fill_device=1 --io_size=20k", "ar0 ar1 ar2 ar3 ar0", "a4"),
    ("--rw=rw --filename=a --size=16k --fill_device=1", "ar0 ar1 ar2 aw0", "a4"),
    ("--rw=write --filename=a --size=8k --fill_device=1 --io_size=16k", "aw0 aw1 aw0 aw1", "a2"),
    (
        "--rw=rw --filename=a --size=16k --fill_device=1 --loops=2 --ioengine=libaio --iodepth=4",
        "ar0 ar1 ar2 aw0 ar0 ar1 aw0 aw1",
        "a4",
    ),
    // Files are removed between passes, not after the last.
    ("--rw=write --filename=a --size=8k --unlink_each_loop=1", "aw0 aw1", "a2"),
    ("--rw=write --filename=a --size=8k --unlink_each_loop=1 --loops=2", "aw0 aw1 aw0 aw1", "a2"),
    ("--rw=write --filename=a --size=8k --unlink_each_loop=1 --loops=2 --unlink=1", "aw0 aw1 aw0 aw1", ""),
];

/// The I/Os of a trace.
fn ios(trace: &str) -> String {
    let io = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, file, action @ ("read" | "write"), offset, _] = fields[..] else { return None };
        Some(format!("{file}{}{}", &action[..1], offset.parse::<u64>().expect("an offset") / BLOCK))
    };
    trace.lines().filter_map(io).collect::<Vec<_>>().join(" ")
}

/// The files of a job, with their blocks.
fn files(scratch: &Scratch) -> String {
    let size = |name: &String| std::fs::metadata(scratch.join(name)).expect("a file").len();
    let mut names = scratch.names();
    names.retain(|name| name != "log");
    names.iter().map(|name| format!("{name}{}", size(name) / BLOCK)).collect::<Vec<_>>().join(" ")
}

fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

/// What a job reads is there in each pass, and has the data of a layout. (fio 3.41 ends with an error.)
#[test]
fn files_that_are_removed_between_passes_are_made_again() {
    let scratch = Scratch::new("pairs-again");
    for (command, way) in
        ["", "run"].iter().flat_map(|command| ["read", "randread", "randrw"].map(|way| (command, way)))
    {
        let common = format!("{command} --name=j --bs=4k --ioengine=psync --filename=a:b --size=64k --rw={way}");
        let log = "--write_iolog=log --unlink_each_loop=1 --loops=3";
        // A trace is added to one that is there.
        let _ = std::fs::remove_file(scratch.join("log"));
        let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{common} {log}")).finish().succeeded();
        assert_eq!(ios(&scratch.read("log")).split(' ').count(), 48, "{}", finished.all());
        assert_eq!(files(&scratch), "a8 b8");
        let is_zero = std::fs::read(scratch.join("a")).expect("a file").iter().all(|byte| *byte == 0);
        assert!(!is_zero, "{}", finished.all());
    }
}

const FIXED: &str = "--name=j --bs=4k --ioengine=psync --randrepeat=0 --randseed=137 --verify_state_save=0";

#[test]
fn pairs_do_what_both_ask_for() {
    let test = "pairs_do_what_both_ask_for";
    for program in programs(test) {
        for (options, expected, left) in PAIRS {
            let scratch = Scratch::new(test);
            let arguments = format!("{FIXED} --write_iolog=log {options}");
            Run::new(*program, scratch.path(), &arguments).finish().succeeded();
            let what = format!("{options} with {}", program.path());
            assert_eq!((ios(&scratch.read("log")).as_str(), files(&scratch).as_str()), (*expected, *left), "{what}");
        }
    }
}

/// Bytes that make a difference: those of a line, of which there are 1,024 in 64 KiB.
const LINE: usize = 64;

/// Options, and how many different lines 64 KiB of files hold that are laid out or written.
const CONTENTS: &[(&str, usize)] = &[
    // Laid-out files contain unrepeated data, whatever the options of write buffers are.
    ("--rw=read --create_only=1", 1024),
    ("--rw=randrw --create_only=1 --refill_buffers=0", 1024),
    ("--rw=write --overwrite=1 --create_only=1", 1024),
    ("--rw=read --create_only=1 --nrfiles=4", 1024),
    ("--rw=read --create_only=1 --bs=4k,16k", 1024),
    ("--rw=read --create_only=1 --verify=md5", 1024),
    ("--rw=read --create_only=1 --scramble_buffers=1", 1024),
    // 10 of 16 blocks are different, by fio's draws.
    ("--rw=read --create_only=1 --dedupe_percentage=50", 640),
    // The first half of each 512 bytes is data, the rest zeroes.
    ("--rw=read --create_only=1 --buffer_compress_percentage=50", 513),
    ("--rw=read --create_only=1 --zero_buffers=1", 1),
    ("--rw=read --create_only=1 --buffer_pattern=0x12", 1),
    // A dedupe percentage of 0 means that each write has new data.
    ("--rw=write --dedupe_percentage=0", 1024),
    ("--rw=write --refill_buffers=1", 1024),
    ("--rw=write --dedupe_percentage=0 --zero_buffers=1", 1),
    ("--rw=write --dedupe_percentage=0 --buffer_pattern=0x12", 1),
];

#[test]
fn files_hold_what_is_asked_for() {
    let test = "files_hold_what_is_asked_for";
    for program in programs(test) {
        for (options, expected) in CONTENTS {
            let scratch = Scratch::new(test);
            let arguments = format!("{FIXED} --size=64k --filename_format=f.$filenum {options}");
            Run::new(*program, scratch.path(), &arguments).finish().succeeded();
            let data: Vec<u8> =
                scratch.names().iter().flat_map(|name| std::fs::read(scratch.join(name)).expect("a file")).collect();
            let lines: BTreeSet<&[u8]> = data.chunks(LINE).collect();
            let what = format!("{options} with {}", program.path());
            assert_eq!((data.len(), lines.len()), (64 << 10, *expected), "{what}");
        }
    }
}

/// Files are laid out as by the peer to the byte, but for data that compresses or repeats, and the end of a size that is no multiple
/// of 8.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn files_are_laid_out_as_by_the_peer() {
    let test = "files_are_laid_out_as_by_the_peer";
    if !has_peer(test) {
        return;
    }
    let larger = "--bs=4k,12k --size=1400k --nrfiles=2";
    for options in
        ["", "--nrfiles=2", "--bs=4k,12k", larger, "--size=50k", "--verify=crc32c", "--buffer_pattern=0x1234567890"]
    {
        let [theirs, ours] = [Program::Peer, Program::Ferrio].map(|program| {
            let scratch = Scratch::new(test);
            let arguments =
                format!("{FIXED} --size=64k --rw=randrw --create_only=1 --filename_format=f.$filenum {options}");
            Run::new(program, scratch.path(), &arguments).finish().succeeded();
            let read = |name: String| (std::fs::read(scratch.join(&name)).expect("a file"), name);
            scratch.names().into_iter().map(read).collect::<Vec<_>>()
        });
        assert!(theirs == ours && !ours.is_empty(), "{options}");
    }
}
