//! Jobs made at random from all options that decide where, how big and in which direction I/Os are: their traces are those
//! of the peer.
//!
//! Start reading at [`job`]; exceptions and their reasons are in [`is_comparable`].

use crate::streams::{Case, NULL, difference, traces};
use crate::support::{Program, has_peer};
use std::fmt::Write as _;

/// Number of jobs of a test: about 20 s, including fio's runs.
const N_JOBS: usize = 480;

/// Jobs in one job file.
const JOBS_A_FILE: usize = 16;

/// Options and their values, one of which is taken with the chance in percent.
type Choices<'a> = (&'a str, u64, &'a [&'a str]);

/// Kinds of `rw`; random ones come last.
const SEQUENTIAL: [&str; 5] = ["read", "write", "rw", "trim", "trimwrite"];
const RANDOM: [&str; 5] = ["randread", "randwrite", "randrw", "randtrim", "randtrimwrite"];

const SIZES: &[Choices<'_>] = &[
    ("bs", 30, &["4k", "8k", "512", "12k", "1k", "4k,8k", "8k,4k,16k", "2k,12k"]),
    ("bsrange", 30, &["4k-16k", "1k-8k", "4k-8k,1k-16k", "512-4k", "3k-10k"]),
    (
        "bssplit",
        40,
        &["4k/50:8k/50", "4k/10:64k/50:32k/40", "1k/25:2k/25:4k/50", "4k/50:1k/:32k/", "16k/50:8k/50,4k/50:8k/50"],
    ),
];

const OF_ALL: &[Choices<'_>] = &[
    ("size", 100, &["64k", "100k", "256k", "1m", "1000k", "333k"]),
    ("bs_unaligned", 10, &["1"]),
    ("bs_is_seq_rand", 8, &["1"]),
    ("blockalign", 12, &["8k", "512", "2k", "4k", "16k,4k"]),
    ("nrfiles", 30, &["2", "3", "5", "8"]),
    ("openfiles", 20, &["1", "2", "3"]),
    // Not the skewed kinds: `streams.rs` and `draws.rs` have them.
    (
        "file_service_type",
        40,
        &["roundrobin", "sequential", "random", "roundrobin:3", "random:2", "sequential:2", "random:5"],
    ),
    ("offset", 20, &["16k", "10%", "4k", "33%"]),
    ("offset_align", 8, &["8k", "4k", "16k"]),
    ("io_size", 15, &["300k", "50k", "1200k", "75%", "200k"]),
    ("number_ios", 12, &["17", "40", "100"]),
    ("loops", 12, &["2", "3"]),
    ("rwmixread", 20, &["0", "5", "30", "70", "90", "100"]),
    ("rwmixwrite", 10, &["5", "60"]),
    ("randseed", 25, &["1", "2", "4294967296", "9223372036854775807", "12345"]),
    ("fsync", 10, &["2", "5"]),
];

const OF_RANDOM: &[Choices<'_>] = &[
    ("random_generator", 50, &["lfsr", "tausworthe64", "tausworthe64", "tausworthe"]),
    ("norandommap", 25, &["1"]),
    ("softrandommap", 10, &["1"]),
    (
        "random_distribution",
        20,
        &["random", "zoned:60/10:30/20:8/30:2/40", "zoned:50/20:50/80", "zoned:40:30:30", "zoned_abs:60/16k:40/32k"],
    ),
    ("percentage_random", 20, &["50", "0", "5", "90", "100", "30,70"]),
    ("rw_sequencer", 20, &["identical", "sequential"]),
];

/// Numbers from a seed (`SplitMix64`: Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ (word >> 31)) % n as u64) as usize
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn add(&mut self, case: &mut Case, choices: &[Choices<'_>]) -> bool {
        let n_before = case.len();
        for (name, percent, values) in choices {
            if (self.below(100) as u64) < *percent {
                write!(case, " {name}={}", self.one_of(values)).expect("a string");
            }
        }
        case.len() > n_before
    }
}

fn job(numbers: &mut Numbers) -> Case {
    let is_random = numbers.below(3) > 0;
    let mut case = format!("rw={}", numbers.one_of(if is_random { &RANDOM } else { &SEQUENTIAL }));
    if numbers.below(4) == 0 {
        let postfixes: &[&str] =
            if is_random { &[":2", ":4", ":7"] } else { &[":4k", ":8k", ":12k", ":-4k", ":-8k", ":1k"] };
        case += numbers.one_of(postfixes);
    }
    // At most one way to give block sizes.
    let _ = SIZES.iter().any(|way| numbers.add(&mut case, std::slice::from_ref(way)));
    numbers.add(&mut case, OF_ALL);
    if is_random {
        numbers.add(&mut case, OF_RANDOM);
    }
    case
}

/// False for jobs on which 3.41 differs or has a fault.
fn is_comparable(case: &str) -> bool {
    let has = |text: &str| case.split(' ').any(|option| option.starts_with(text));
    let is_random = has("rw=rand");
    let is_trim_write = has("rw=trimwrite") || has("rw=randtrimwrite");
    let is_varied = has("bsrange") || has("bssplit");
    let has_passes = has("loops") || has("io_size");
    let has_postfix = case.split(' ').next().is_some_and(|rw| rw.contains(':'));
    let is_percent = has("offset=10%") || has("offset=33%");
    let is_lfsr = has("random_generator=lfsr");
    let exceptions = [
        // A distribution of another kind leaves the LFSR without a state; here the distribution counts.
        is_lfsr && has("random_distribution=zoned"),
        // A seed of all ones, of as many bits as a file needs, ends the job, with success.
        is_lfsr && (has("size=64k") || has("nrfiles")),
        // Sizes past the end of a file end it, with success.
        has("random_distribution=zoned_abs") && (has("nrfiles") || has("offset=")),
        // Trims and writes that jump may do so for ever.
        !is_random && has_postfix && is_trim_write,
        // The percentage is applied again in each pass, to a file that has grown by the offset.
        is_percent && (has_passes || is_varied),
        // The number is doubled in each pass.
        is_trim_write && has("number_ios") && has_passes,
    ];
    !exceptions.contains(&true)
}

/// The I/Os of a trace, without files opened and closed.
pub(crate) fn ios(trace: Vec<String>) -> Vec<String> {
    let is_io = |line: &String| [" read ", " write ", " trim ", " sync "].iter().any(|kind| line.contains(kind));
    trace.into_iter().filter(is_io).collect()
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn random_jobs_are_those_of_the_peer() {
    let test = "random_jobs_are_those_of_the_peer";
    if !has_peer(test) {
        return;
    }
    let mut numbers = Numbers(342);
    let cases: Vec<Case> =
        std::iter::repeat_with(|| job(&mut numbers)).filter(|case| is_comparable(case)).take(N_JOBS).collect();
    let mut complaints = String::new();
    for cases in cases.chunks(JOBS_A_FILE) {
        let [theirs, ours] = [Program::Peer, Program::Ferrio].map(|program| traces(program, test, NULL, cases));
        for ((case, theirs), ours) in cases.iter().zip(theirs).zip(ours) {
            if let Some(complaint) = difference(&ios(theirs), &ios(ours)) {
                writeln!(complaints, "{case}\n{complaint}").expect("a string");
            }
        }
    }
    assert!(complaints.is_empty(), "other than the peer:\n{complaints}");
}
