//! The random streams against fio 3.41: offsets that it logs must be the ones that ferrio-units draws.
//!
//! Ignored unless `FERRIO_PEER` is 1; where `tools/fio-peer` does not give that release each test says that it is skipped.
#![expect(clippy::unwrap_used, reason = "all of this file is test code")]

use ferrio_testing::skip;
use ferrio_units::random::file_distribution_seed;
use ferrio_units::random::{DistributionShape, Generator, GeneratorKind, Lfsr, SeedIndex, SeedTable, SkewedBlocks};
use ferrio_units::{BuildError, RandomMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const BLOCK_BYTES: u64 = 4096;

/// Runs that release, wherever it is kept.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/fio-peer");

/// Default of `randseed`.
const DEFAULT_SEED: u64 = 0x89;

/// A seed that is given.
const OTHER_SEED: u64 = 137;

fn seeds(rand_seed: u64, thread_number: u64) -> SeedTable {
    SeedTable::new(rand_seed, thread_number)
}

/// True when fio is available; otherwise reports that `test` is skipped.
fn peer_is_there(test: &str) -> bool {
    let version = Command::new(PEER).arg("--version").output();
    let is_known = version.is_ok_and(|output| output.stdout.starts_with(b"fio-3.41"));
    if !is_known {
        skip!(test, "fio 3.41 cannot be had");
    }
    is_known
}

/// A directory of this test that is removed with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ferrio-units-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover in the temporary directory is no reason to fail a test that passed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Blocks in the order in which each of `n_jobs` jobs of one fio run reads them.
fn peer_blocks(directory: &Path, n_jobs: u64, n_blocks: u64, options: &[&str]) -> Vec<Vec<u64>> {
    // The peer adds to a trace that is there.
    static N_RUNS: AtomicU32 = AtomicU32::new(0);
    let run = N_RUNS.fetch_add(1, Ordering::Relaxed);
    let log = |job: u64| format!("{run}-{job}.iolog");
    let mut fio = Command::new(PEER);
    fio.current_dir(directory).arg("--minimal");
    for job in 1..=n_jobs {
        fio.args([format!("--name=j{job}"), format!("--write_iolog={}", log(job))]);
        fio.args(["--ioengine=null", "--rw=randread"]);
        fio.args([format!("--bs={BLOCK_BYTES}"), format!("--size={}", n_blocks * BLOCK_BYTES)]);
        fio.args(options);
    }
    let output = fio.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (1..=n_jobs).map(|job| read_blocks(&directory.join(log(job)))).collect()
}

fn read_blocks(iolog: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(iolog).unwrap();
    let fields = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields.filter(|f| f.get(2) == Some(&"read")).map(|f| f[3].parse::<u64>().unwrap() / BLOCK_BYTES).collect()
}

/// Sizes about the borders of words and levels of the random map, and some odd ones.
const N_BLOCKS: [u64; 8] = [1, 2, 16, 63, 64, 65, 4096, 70_001];

/// Compares every job's first pass over `n_blocks` blocks with a stream of ours, which gets the seeds of the job, its thread number,
/// and the number of blocks; without a seed by option and with one.
fn compare(test: &str, sizes: &[u64], options: &[&str], ours: impl Fn(&SeedTable, u64, u64) -> Vec<u64>) {
    if !peer_is_there(test) {
        return;
    }
    let scratch = Scratch::new(test);
    let seed_option = format!("--randseed={OTHER_SEED}");
    for (rand_seed, seed_options) in [(DEFAULT_SEED, &[][..]), (OTHER_SEED, &[seed_option.as_str()][..])] {
        for n_blocks in sizes.iter().copied() {
            let jobs = peer_blocks(&scratch.0, 3, n_blocks, &[options, seed_options].concat());
            for (thread_number, theirs) in (1..).zip(jobs) {
                let ours = ours(&seeds(rand_seed, thread_number), thread_number, n_blocks);
                let what = format!("{n_blocks} blocks, job {thread_number}, randseed={rand_seed}, {options:?}");
                assert!(
                    theirs == ours,
                    "{what}: {:?} and {:?}",
                    &theirs[..theirs.len().min(9)],
                    &ours[..ours.len().min(9)]
                );
            }
        }
    }
}

fn uniform(kind: GeneratorKind) -> impl Fn(&SeedTable, u64, u64) -> Vec<u64> {
    move |seeds, _, n_blocks| {
        let mut stream = Generator::from_table(kind, seeds, SeedIndex::Offset);
        (0..n_blocks).map(|_| stream.below(n_blocks)).collect()
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn taus88_offsets() {
    compare("taus88_offsets", &N_BLOCKS, &["--norandommap"], uniform(GeneratorKind::Taus88));
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn taus258_offsets() {
    let options = ["--norandommap", "--random_generator=tausworthe64"];
    compare("taus258_offsets", &N_BLOCKS, &options, uniform(GeneratorKind::Taus258));
}

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn lfsr_offsets() {
    compare("lfsr_offsets", &N_BLOCKS, &["--random_generator=lfsr"], |seeds, _, n_blocks| {
        let seed = seeds.get(SeedIndex::Offset);
        // The peer cannot start a register from a seed of all ones, and then reads nothing.
        if seed.trailing_ones() >= (u64::BITS - n_blocks.leading_zeros()).max(3) {
            return Vec::new();
        }
        let mut register = Lfsr::new(n_blocks, seed).unwrap();
        std::iter::from_fn(|| register.next_block()).collect()
    });
}

/// A block that is taken is replaced by the next free one, so that every block is read once.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn offsets_with_a_random_map() {
    compare("offsets_with_a_random_map", &N_BLOCKS, &[], |seeds, _, n_blocks| {
        let mut stream = Generator::from_table(GeneratorKind::Taus88, seeds, SeedIndex::Offset);
        let mut map = RandomMap::new(n_blocks).unwrap();
        let mut visit = || {
            let block = map.next_free(stream.below(n_blocks))?;
            map.mark(block, 1);
            Some(block)
        };
        std::iter::from_fn(&mut visit).collect()
    });
}

/// The distributions draw from a generator of their own, seeded by the name of the file too.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn skewed_offsets() {
    type MakeShape = fn(u64) -> Result<DistributionShape, BuildError>;
    let table: [(&str, MakeShape, Option<f64>); 8] = [
        ("zipf:1.2", |n| DistributionShape::zipf(n, 1.2), None),
        ("zipf:0.6", |n| DistributionShape::zipf(n, 0.6), None),
        ("zipf:1.2:0.25", |n| DistributionShape::zipf(n, 1.2), Some(0.25)),
        ("pareto:0.3", |n| DistributionShape::pareto(n, 0.3), None),
        ("pareto:0.3:0.75", |n| DistributionShape::pareto(n, 0.3), Some(0.75)),
        ("normal:10", |n| DistributionShape::normal(n, 10.0), None),
        ("normal:10:0.75", |n| DistributionShape::normal(n, 10.0), Some(0.75)),
        ("normal:10:0.25", |n| DistributionShape::normal(n, 10.0), Some(0.25)),
    ];
    // fio never ends if all blocks of a normal distribution are so few that a draw can exceed their number by one.
    let sizes = [64, 1000, 70_001];
    for (option, shape, center) in table {
        let option = format!("--random_distribution={option}");
        compare("skewed_offsets", &sizes, &[&option], |seeds, thread_number, n_blocks| {
            let name = format!("j{thread_number}.0.0");
            let seed = file_distribution_seed(name.as_bytes(), thread_number, seeds);
            let mut stream = SkewedBlocks::new(shape(n_blocks).unwrap(), seed, center);
            (0..n_blocks).map(|_| stream.next_block()).collect()
        });
    }
}

/// Far above 2^21 blocks, where the rounding of the double product can show.
#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn offsets_in_a_large_range() {
    let test = "offsets_in_a_large_range";
    if !peer_is_there(test) {
        return;
    }
    let scratch = Scratch::new(test);
    let n_blocks = 3_221_225_471;
    let options = ["--norandommap", "--number_ios=50000"];
    let theirs = peer_blocks(&scratch.0, 1, n_blocks, &options);
    let mut stream = Generator::from_table(GeneratorKind::Taus88, &seeds(DEFAULT_SEED, 1), SeedIndex::Offset);
    let ours: Vec<u64> = (0..50_000).map(|_| stream.below(n_blocks)).collect();
    assert!(theirs[0] == ours);
}
