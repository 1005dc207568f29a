//! The random streams against the installed fio: offsets that it logs must be the ones that ferrio-units draws.
//!
//! Runs only where `fio` is release 3.33, whose seeds are known: its offset stream of job n has the seed 0xb1899bed * n
//! whatever `randseed` says. Elsewhere each test says that it is skipped.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "all of this file is test code")]

use ferrio_units::RandomMap;
use ferrio_units::random::{Generator, GeneratorKind, Lfsr};
use std::path::{Path, PathBuf};
use std::process::Command;

const BLOCK_BYTES: u64 = 4096;

/// Seed of the offset stream of the job with this thread number in fio 3.33.
fn peer_offset_seed(thread_number: u64) -> u64 {
    0xb189_9bed_u64.wrapping_mul(thread_number)
}

/// True when the peer is there; otherwise says that `test` is skipped.
fn peer_is_installed(test: &str) -> bool {
    let version = Command::new("fio").arg("--version").output();
    let found = version.is_ok_and(|output| output.stdout.starts_with(b"fio-3.33"));
    if !found {
        eprintln!("SKIPPED {test}: fio 3.33 is not installed");
    }
    found
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
    let log = |job: u64| format!("{job}-{n_blocks}.iolog");
    let mut fio = Command::new("fio");
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

/// Compares every job's first pass over `n_blocks` blocks with a stream of ours.
fn compare(test: &str, options: &[&str], ours: impl Fn(u64, u64) -> Vec<u64>) {
    if !peer_is_installed(test) {
        return;
    }
    let scratch = Scratch::new(test);
    for n_blocks in [1, 2, 16, 63, 64, 65, 4096, 70_001] {
        let jobs = peer_blocks(&scratch.0, 3, n_blocks, options);
        for (thread_number, theirs) in (1..).zip(jobs) {
            assert!(theirs == ours(thread_number, n_blocks), "{n_blocks} blocks, job {thread_number}");
        }
    }
}

fn uniform(kind: GeneratorKind) -> impl Fn(u64, u64) -> Vec<u64> {
    move |thread_number, n_blocks| {
        let mut stream = Generator::new(kind, peer_offset_seed(thread_number));
        (0..n_blocks).map(|_| stream.below(n_blocks)).collect()
    }
}

#[test]
fn taus88_offsets() {
    compare("taus88_offsets", &["--norandommap"], uniform(GeneratorKind::Taus88));
}

#[test]
fn taus258_offsets() {
    let options = ["--norandommap", "--random_generator=tausworthe64"];
    compare("taus258_offsets", &options, uniform(GeneratorKind::Taus258));
}

#[test]
fn lfsr_offsets() {
    compare("lfsr_offsets", &["--random_generator=lfsr"], |thread_number, n_blocks| {
        // Job 3 cannot start a register of 3 bits: the low bits of its seed are 111. The peer then reads nothing.
        let mut register = Lfsr::new(n_blocks, peer_offset_seed(thread_number)).ok();
        std::iter::from_fn(|| register.as_mut()?.next_block()).collect()
    });
}

/// A block that is taken is replaced by the next free one, so that every block is read once.
#[test]
fn offsets_with_a_random_map() {
    compare("offsets_with_a_random_map", &[], |thread_number, n_blocks| {
        let mut stream = Generator::new(GeneratorKind::Taus88, peer_offset_seed(thread_number));
        let mut map = RandomMap::new(n_blocks).unwrap();
        let mut visit = || {
            let block = map.next_free(stream.below(n_blocks))?;
            map.mark(block, 1);
            Some(block)
        };
        std::iter::from_fn(&mut visit).collect()
    });
}

/// Far above 2^21 blocks, where the rounding of the double product can show.
#[test]
fn offsets_in_a_large_range() {
    let test = "offsets_in_a_large_range";
    if !peer_is_installed(test) {
        return;
    }
    let scratch = Scratch::new(test);
    let n_blocks = 3_221_225_471;
    let options = ["--norandommap", "--number_ios=50000"];
    let theirs = peer_blocks(&scratch.0, 1, n_blocks, &options);
    let mut stream = Generator::new(GeneratorKind::Taus88, peer_offset_seed(1));
    let ours: Vec<u64> = (0..50_000).map(|_| stream.below(n_blocks)).collect();
    assert!(theirs[0] == ours);
}
