//! Jobs that go through one sequence of blocks together (`shared_stream`), by their traces.
//!
//! Start reading at [`offsets_of_all`].

use crate::support::{Program, Run, Scratch};
use std::path::Path;

/// Offsets of the reads and writes of a trace.
fn offsets(trace: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(trace).expect("a trace");
    let offset = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| ["read", "write"].contains(word))?;
        words.get(at + 1)?.parse().ok()
    };
    text.lines().filter_map(offset).collect()
}

/// The offsets of each of four jobs that share a stream of 256 blocks.
fn offsets_of_all(options: &str) -> Vec<Vec<u64>> {
    let scratch = Scratch::new("shared-stream");
    let jobs: Vec<String> = (0..4).map(|index| format!("--name=j{index} --write_iolog=trace{index}")).collect();
    let common = format!("--ioengine=null --filename=f --size=1m --bs=4k --shared_stream=one {options}");
    let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{common} {}", jobs.join(" "))).finish();
    assert_eq!(finished.code, Some(0), "{options}: {}", finished.all());
    (0..4).map(|index| offsets(&scratch.join(&format!("trace{index}")))).collect()
}

#[test]
fn jobs_that_share_a_stream_take_each_block_once() {
    for options in [
        "--rw=read",
        "--rw=read --thread",
        "--rw=write --iodepth=8",
        "--rw=read --thinktime=1",
        "--rw=read --offset=64k --size=960k",
    ] {
        let each = offsets_of_all(options);
        // A job takes its blocks in the order of the sequence.
        assert!(each.iter().all(|offsets| offsets.is_sorted()), "{options}");
        let mut all = each.concat();
        all.sort_unstable();
        let first = if options.contains("offset") { 16 } else { 0 };
        let expected: Vec<u64> = (first..256).map(|block| block * 4096).collect();
        assert_eq!(all, expected, "{options}");
    }
    let mut all = offsets_of_all("--rw=read --loops=3").concat();
    all.sort_unstable();
    let expected: Vec<u64> = (0..256).flat_map(|block| [block * 4096; 3]).collect();
    assert_eq!(all, expected);
}

/// The clones of a job write to a real file, each block of it once.
#[test]
fn clones_that_share_a_stream_fill_a_file_together() {
    for thread in ["", "--thread"] {
        let scratch = Scratch::new("shared-stream");
        let job = format!(
            "--name=a --filename=f --size=1m --bs=4k --rw=write --numjobs=4 --shared_stream=one {thread} --group_reporting"
        );
        let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --buffer_pattern=0x5a")).finish();
        assert_eq!(finished.code, Some(0), "{}", finished.all());
        assert!(finished.stdout.contains("issued rwts: total=0,256,0,0 "), "{}", finished.all());
        let content = std::fs::read(scratch.join("f")).expect("the file");
        assert!(content.len() == 1 << 20 && content.iter().all(|byte| *byte == 0x5a));
    }
}

#[test]
fn a_stream_is_refused_beside_what_it_cannot_have() {
    let scratch = Scratch::new("shared-stream");
    let common = "--ioengine=null --size=1m --shared_stream=s";
    for (options, why) in [
        ("--name=a --rw=read", "shared_stream needs filename"),
        (
            "--filename=f --name=a --rw=randread",
            "shared_stream and an rw other than read, write or trim are not compatible",
        ),
        ("--filename=f --name=a --rw=rw", "shared_stream and an rw other than read, write or trim are not compatible"),
        ("--filename=f --name=a --rw=read --bsrange=4k-8k", "shared_stream and several block sizes are not compatible"),
        ("--filename=f --name=a --rw=write --verify=crc32c", "shared_stream and verify are not compatible"),
        ("--filename=f --name=a --rw=read --io_size=2m", "shared_stream and io_size are not compatible"),
        ("--filename=f:g --name=a --rw=read", "shared_stream and several files are not compatible"),
        ("--filename=f --name=a --rw=read --name=b --rw=read --bs=8k", "this one has not those of the first"),
    ] {
        let refused = Run::new(Program::Ferrio, scratch.path(), &format!("{common} {options}")).finish();
        assert!(refused.code == Some(1) && refused.all().contains(why), "{options}: {}", refused.all());
    }
}
