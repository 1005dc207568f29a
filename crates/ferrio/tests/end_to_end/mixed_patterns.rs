//! Several patterns in one job (`patterns`): offsets and shares, by the trace of the job.
//!
//! Start reading at [`traced`].

use crate::support::{Finished, Program, Run, Scratch};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// An I/O: the direction, the offset, the length.
type TracedIo = (String, u64, u64);

/// The I/Os of a job, as its trace has them.
fn traced(options: &str) -> (Vec<TracedIo>, Finished) {
    let scratch = Scratch::new("patterns");
    let job = format!("--name=a --ioengine=null --filename=f --write_iolog=trace {options}");
    let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish();
    assert_eq!(finished.code, Some(0), "{}", finished.all());
    let text = std::fs::read_to_string(scratch.join("trace")).expect("a trace");
    let io = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| ["read", "write"].contains(word))?;
        Some((words[at].to_owned(), words.get(at + 1)?.parse().ok()?, words.get(at + 2)?.parse().ok()?))
    };
    (text.lines().filter_map(io).collect(), finished)
}

fn offsets(ios: &[TracedIo], direction: &str, length: u64) -> Vec<u64> {
    ios.iter().filter(|io| io.0 == direction && io.2 == length).map(|io| io.1).collect()
}

#[test]
fn each_pattern_has_its_share_and_its_own_place() {
    let (ios, _) = traced("--size=16m --io_size=64m --patterns=randread/4k/70:write/64k/20:read/16k/10");
    let parts = [("read", 4096, 0.7), ("write", 65_536, 0.2), ("read", 16_384, 0.1)];
    assert_eq!(parts.iter().map(|part| offsets(&ios, part.0, part.1).len()).sum::<usize>(), ios.len());
    let all: u64 = ios.iter().map(|io| io.2).sum();
    // The limit is reached by the last I/O, in each of the four passes.
    assert!((64 * MIB..64 * MIB + 4 * 65_536).contains(&all), "{all}");
    for (direction, length, share) in parts {
        let found = offsets(&ios, direction, length);
        // Five times the standard deviation of a binomial distribution.
        let n = ios.len() as f64;
        let margin = 5.0 * (n * share * (1.0 - share)).sqrt();
        assert!((found.len() as f64 - n * share).abs() < margin, "{length}: {} of {n}", found.len());
        if length > 4096 {
            for (one, next) in found.iter().zip(&found[1..]) {
                assert!(*next == (one + length) % (16 * MIB) || *next == 0, "{length}: {one} {next}");
            }
        } else {
            assert!(!found[..100].is_sorted() && found.iter().all(|offset| offset % length == 0));
        }
    }
}

#[test]
fn a_job_of_patterns_repeats_and_is_one_row() {
    let options = "--size=4m --io_size=40m --number_ios=1000 --output-format=json";
    let run = |more: &str| traced(&format!("{options} --patterns=randread/4k/60:randwrite/4k {more}"));
    let ((one, finished), (same, _), (other, _)) = (run(""), run(""), run("--randseed=5"));
    assert_eq!(one.len(), 1000);
    assert!(one == same && one != other);
    // Blocks of the two patterns are drawn apart.
    let (reads, writes) = (offsets(&one, "read", 4096), offsets(&one, "write", 4096));
    assert_ne!(reads[..50], writes[..50]);
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(1), "{document:#}");
    for (direction, ios) in [("read", &reads), ("write", &writes)] {
        assert_eq!(document["jobs"][0][direction]["total_ios"], ios.len(), "{direction}");
    }
    // As in a job of one pattern, no sync follows the last write.
    let (synced, finished) = traced("--size=4m --patterns=write/64k --fsync=4 --thinktime=1 --output-format=json");
    assert_eq!(offsets(&synced, "write", 65_536), (0..64).map(|block| block * 65_536).collect::<Vec<u64>>());
    let document: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(document["jobs"][0]["sync"]["total_ios"], 15);
}

#[test]
fn patterns_are_refused_beside_what_they_cannot_have() {
    let scratch = Scratch::new("patterns");
    for (options, why) in [
        ("--patterns=randread/4k/70:write/64k/40", "the shares are 110 % together, not 100"),
        ("--patterns=rw/4k", "'rw' is no order of a pattern; allowed: read, write, randread, randwrite"),
        ("--patterns=read/4k --rw=randread", "patterns and rw are not compatible"),
        ("--patterns=read/4k --bs=8k", "patterns and bs are not compatible"),
        ("--patterns=write/4k --verify=crc32c", "patterns and verify are not compatible"),
        ("--patterns=write/4k --zonemode=strided --zonesize=64k", "patterns and zonemode are not compatible"),
        ("--patterns=read/4k --nrfiles=2", "patterns and several files are not compatible"),
        ("--patterns=read/4k --rate=1m", "patterns and rate are not compatible"),
        ("--patterns=read/4k --rate_iops=10 --rate_process=poisson", "patterns and rate_iops are not compatible"),
        ("--patterns=read/4k --read_iolog=x", "patterns and read_iolog are not compatible"),
        ("--readonly --patterns=write/4k", "has write or trim bit set, but fio is in read-only mode"),
    ] {
        // A name from before would be one of several files.
        let job = format!("--name=a --ioengine=null --size=1m {options}");
        let refused = Run::new(Program::Ferrio, scratch.path(), &job).finish();
        assert!(refused.code == Some(1) && refused.all().contains(why), "{options}: {}", refused.all());
    }
}
