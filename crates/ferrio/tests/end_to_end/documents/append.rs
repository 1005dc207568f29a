//! "Initial write, overwrite and append": five runs over one file, and the system calls of each.

use crate::support::{Program, Scratch, has_peer, has_programs};
use crate::system_calls::{calls_to, without_repeats};

const COMMAND: &str = "--name=test --ioengine=libaio --blocksize=4k --readwrite=randwrite --directory=. --nrfiles=1 \
                       --size=1m --end_fsync=1 --numjobs=1 --direct=1";

/// Options of a run, size of the file after it, and the calls (repeated calls shortened to two, as printed in the
/// document).
const RUNS: [(&str, u64, &[&str]); 5] = [
    ("", 1, &INITIAL),
    ("", 1, &OVERWRITE),
    ("--overwrite=1", 1, &OVERWRITE),
    ("--file_append=1", 2, &APPEND),
    ("--readwrite=randread", 2, &READ),
];

const INITIAL: [&str; 12] = [
    "unlink ENOENT",
    "open O_WRONLY|O_CREAT, 0644",
    "fallocate 0, 0, 1048576",
    "fadvise64 0, 1048576, POSIX_FADV_DONTNEED",
    "close",
    "open O_RDWR|O_CREAT|O_DIRECT, 0600",
    "fadvise64 0, 1048576, POSIX_FADV_DONTNEED",
    "fadvise64 0, 1048576, POSIX_FADV_RANDOM",
    IO,
    SYNC,
    "io_getevents 1, 1",
    "close",
];

const OVERWRITE: [&str; 7] = [
    "open O_RDWR|O_CREAT|O_DIRECT, 0600",
    "fadvise64 0, 1048576, POSIX_FADV_DONTNEED",
    "fadvise64 0, 1048576, POSIX_FADV_RANDOM",
    IO,
    SYNC,
    "io_getevents 1, 1",
    "close",
];

const APPEND: [&str; 11] = [
    "open O_WRONLY|O_CREAT, 0644",
    "fallocate 0, 0, 2097152",
    "fadvise64 1048576, 1048576, POSIX_FADV_DONTNEED",
    "close",
    "open O_RDWR|O_CREAT|O_DIRECT, 0600",
    "fadvise64 1048576, 1048576, POSIX_FADV_DONTNEED",
    "fadvise64 1048576, 1048576, POSIX_FADV_RANDOM",
    IO,
    SYNC,
    "io_getevents 1, 1",
    "close",
];

const READ: [&str; 5] = [
    "open O_RDONLY|O_DIRECT",
    "fadvise64 0, 1048576, POSIX_FADV_DONTNEED",
    "fadvise64 0, 1048576, POSIX_FADV_RANDOM",
    IO,
    "close",
];

/// Abbreviates 256 times one submit of one I/O and one wait for one event.
const IO: &str = "(I/O)";

/// The engine does the closing sync, as in fio 3.41 (the document shows `fsync`, of an older one).
const SYNC: &str = "io_submit FSYNC";

/// Checks the I/Os, each a pair of calls, and puts [`IO`] in their place. Returns their offsets.
fn fold_io(calls: &[String], opcode: &str) -> (Vec<String>, Vec<u64>) {
    let end = calls.iter().position(|call| call == SYNC).unwrap_or(calls.len());
    let is_io = |call: &String| call.starts_with("io_");
    let ios: Vec<&String> = calls[..end].iter().filter(|call| is_io(call)).collect();
    let mut offsets = Vec::new();
    for pair in ios.chunks(2) {
        let expected = format!("io_submit {opcode} 4096, ");
        let offset = pair[0].strip_prefix(&expected).unwrap_or_else(|| panic!("{} is no {expected}", pair[0]));
        offsets.push(offset.parse().expect("an offset"));
        assert_eq!(pair[1], "io_getevents 1, 1");
    }
    let first = calls.iter().position(is_io).expect("some I/O");
    let mut rest: Vec<String> = calls[..end].iter().filter(|call| !is_io(call)).cloned().collect();
    rest.extend_from_slice(&calls[end..]);
    rest.insert(first, IO.to_owned());
    (rest, offsets)
}

#[test]
fn five_runs_over_one_file() {
    if !has_programs("five_runs_over_one_file", &["strace"]) {
        return;
    }
    let scratch = Scratch::new("append");
    for (index, (options, mebibytes, expected)) in RUNS.iter().enumerate() {
        let opcode = if index == 4 { "PREAD" } else { "PWRITE" };
        let calls = calls_to("test.0.0", Program::Ferrio, &scratch, &format!("{COMMAND} {options}"));
        let (calls, mut offsets) = fold_io(&calls, opcode);
        assert_eq!(calls, *expected, "run {}", index + 1);
        offsets.sort_unstable();
        let start = if *options == "--file_append=1" { 256 } else { 0 };
        let expected: Vec<u64> = (start..start + 256).map(|block| block * 4096).collect();
        assert_eq!(offsets, expected, "each block once: run {}", index + 1);
        let size = std::fs::metadata(scratch.join("data/test.0.0")).expect("the file").len();
        assert_eq!(size, mebibytes << 20, "run {}", index + 1);
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn five_runs_as_the_peer_does_them() {
    let name = "five_runs_as_the_peer_does_them";
    if !has_programs(name, &["strace"]) || !has_peer(name) {
        return;
    }
    let (ours, theirs) = (Scratch::new("append-ours"), Scratch::new("append-theirs"));
    let seed = "--randrepeat=0 --randseed=137";
    for (options, ..) in RUNS {
        let arguments = format!("{COMMAND} {seed} {options}");
        let ours = calls_to("test.0.0", Program::Ferrio, &ours, &arguments);
        let theirs = calls_to("test.0.0", Program::Peer, &theirs, &arguments);
        assert_eq!(without_repeats(&ours), without_repeats(&theirs), "{options}");
        assert_eq!(ours, theirs, "{options}");
    }
}
