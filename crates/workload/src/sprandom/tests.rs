//! Passes as two devices would see them: one without a cache, and one that writes its space as a ring. Expected values
//! come from the model: see docs/sprandom.md.

use super::schedule::decay;
use super::*;
use ferrio_units::random::DEFAULT_RAND_SEED;
use proptest::prelude::*;

fn spec(over_provisioning: f64, n_regions: u32, cache_bytes: u64) -> SpRandomSpec {
    SpRandomSpec { n_regions, over_provisioning, cache_bytes }
}

/// Blocks of one byte.
fn blocks(spec: SpRandomSpec, n_blocks: u64, thread_number: u64) -> Option<SpRandomBlocks> {
    SpRandomBlocks::new(spec, n_blocks, 1, &SeedTable::new(DEFAULT_RAND_SEED, thread_number), 0)
}

fn pass(blocks: &mut SpRandomBlocks) -> Vec<u64> {
    std::iter::from_fn(|| blocks.next_block()).collect()
}

/// Share of the oldest part that is valid at the end.
fn valid_at_the_end(over_provisioning: f64) -> f64 {
    (-decay(over_provisioning)).exp()
}

/// L. Xiang and B. M. Kurkoski, "An improved analytic expression for write amplification in NAND flash", 2012, give
/// 2.36 at an over-provisioning of 0.3. The number of valid blocks equals the number of blocks, whatever the
/// over-provisioning.
#[test]
fn the_model_is_that_of_the_literature() {
    let amplification = 1.0 / (1.0 - valid_at_the_end(0.3));
    assert!((amplification - 2.36).abs() < 0.005, "{amplification}");
    for over_provisioning in [1e-6, 0.01, 0.07, 0.15, 0.28, 1.0, 9.0, 100.0] {
        let k = decay(over_provisioning);
        let mean = -(-k).exp_m1() / k;
        assert!((mean * (1.0 + over_provisioning) - 1.0).abs() < 1e-9, "{over_provisioning}: {mean}");
    }
}

/// The deviation of the parts' shares from the model: the sum of the squared deviations of 20 parts, each divided by
/// its variance.
fn misfit(pass: &[u64], k: f64) -> f64 {
    const N_PARTS: usize = 20;
    let mut last = vec![usize::MAX; pass.len()];
    pass.iter().enumerate().for_each(|(at, block)| last[*block as usize] = at);
    let bound = |part: usize| part * pass.len() / N_PARTS;
    (0..N_PARTS)
        .map(|part| {
            let places = bound(part)..bound(part + 1);
            let n = places.len() as f64;
            let n_valid = places.clone().filter(|at| last[pass[*at] as usize] == *at).count() as f64;
            // The mean of exp(-k * age) over the part.
            let [oldest, newest] = [places.start, places.end].map(|at| 1.0 - at as f64 / pass.len() as f64);
            let share = ((-k * newest).exp() - (-k * oldest).exp()) / (k * (oldest - newest));
            (n_valid - n * share).powi(2) / (n * share * (1.0 - share))
        })
        .sum()
}

/// Chi-square with 20 degrees of freedom: one seed in a thousand is above 45.315 (NIST/SEMATECH e-Handbook, section
/// 1.3.6.7.4). All parts together have as many valid blocks as there are blocks, so that the true number of degrees is
/// smaller.
#[test]
fn what_is_valid_decays_as_the_model_says() {
    for over_provisioning in [0.07, 0.15, 0.28, 1.0] {
        for thread_number in 1..4 {
            let of_regions = |n_regions, cache| {
                let mut blocks = blocks(spec(over_provisioning, n_regions, cache), 200_000, thread_number).unwrap();
                pass(&mut blocks)
            };
            let k = decay(over_provisioning);
            let fit = misfit(&of_regions(100, 0), k);
            assert!(fit < 45.315, "{over_provisioning}: {fit}");
            // A cache of a thousandth of the device shifts the ages by as much.
            let fit = misfit(&of_regions(100, 200), k);
            assert!(fit < 45.315, "{over_provisioning} with a cache: {fit}");
            // The test tells other schedules from the right one: one region has its overwrites evenly spread, and
            // another over-provisioning has another decay.
            assert!(misfit(&of_regions(1, 0), k) > 200.0, "{over_provisioning}");
            assert!(misfit(&of_regions(100, 0), decay(over_provisioning * 1.2)) > 200.0, "{over_provisioning}");
        }
    }
}

/// A log as long as the physical space: its oldest page is dropped, or written once more if it is valid.
struct Device {
    log: std::collections::VecDeque<(u64, u64)>,
    newest: Vec<u64>,
    n_pages: usize,
    n_written: u64,
}

impl Device {
    fn new(n_blocks: u64, n_pages: usize) -> Self {
        Self {
            log: std::collections::VecDeque::new(),
            newest: vec![u64::MAX; n_blocks as usize],
            n_pages,
            n_written: 0,
        }
    }

    fn append(&mut self, block: u64) {
        self.log.push_back((block, self.n_written));
        self.newest[block as usize] = self.n_written;
        self.n_written += 1;
    }

    fn write(&mut self, block: u64) {
        self.append(block);
        while self.log.len() > self.n_pages {
            let oldest = self.log.pop_front();
            if let Some((block, _)) = oldest.filter(|(block, number)| self.newest[*block as usize] == *number) {
                self.append(block);
            }
        }
    }

    /// Pages written per write, for this number of random writes.
    fn amplification(&mut self, n_writes: u64, stream: &mut Taus258) -> f64 {
        let before = self.n_written;
        let n_blocks = self.newest.len() as u64;
        (0..n_writes).for_each(|_| self.write(stream.below(n_blocks)));
        (self.n_written - before) as f64 / n_writes as f64
    }
}

/// Random writes after a pass cost from the start what they will cost for ever, to six percent, which is three and a
/// half times the scatter of such parts. After as many plain random writes they do not.
#[test]
fn after_a_pass_the_device_is_steady() {
    let n_blocks = 100_000_u64;
    for (over_provisioning, thread_number) in [(0.07, 1), (0.15, 2), (0.28, 3)] {
        let expected = 1.0 / (1.0 - valid_at_the_end(over_provisioning));
        let mut blocks = blocks(spec(over_provisioning, 100, 0), n_blocks, thread_number).unwrap();
        let pass = pass(&mut blocks);
        let mut stream = Taus258::new(thread_number);
        let mut device = Device::new(n_blocks, pass.len());
        for block in &pass {
            device.write(*block);
        }
        assert_eq!(device.n_written, pass.len() as u64, "nothing was cleaned yet");
        for part in 0..20 {
            let amplification = device.amplification(n_blocks / 40, &mut stream);
            assert!((amplification / expected - 1.0).abs() < 0.06, "{over_provisioning} {part}: {amplification}");
        }
        // The same number of plain random writes, without a model.
        let mut device = Device::new(n_blocks, pass.len());
        device.amplification(pass.len() as u64, &mut stream);
        let amplification = device.amplification(n_blocks / 40, &mut stream);
        assert!((amplification / expected - 1.0).abs() > 0.2, "{over_provisioning}: {amplification}");
    }
}

#[test]
fn passes_go_on_or_begin_anew() {
    let mut blocks = blocks(spec(0.15, 100, 10), 1_000, 1).unwrap();
    blocks.rewind();
    let first = pass(&mut blocks);
    assert_eq!(blocks.next_block(), None);
    blocks.rewind();
    let second = pass(&mut blocks);
    assert_ne!(first, second);
    assert_eq!(first.len(), second.len());
    blocks.rewind();
    blocks.reseed();
    assert_eq!(pass(&mut blocks), first);
    let of_file = |file_index| {
        SpRandomBlocks::new(spec(0.15, 100, 10), 1_000, 1, &SeedTable::new(DEFAULT_RAND_SEED, 1), file_index).unwrap()
    };
    assert_eq!(pass(&mut of_file(0)), first);
    assert_ne!(pass(&mut of_file(1)), first);
}

#[test]
fn a_cache_is_at_most_a_quarter_of_the_file() {
    assert!(blocks(spec(0.15, 100, 25), 100, 1).is_some());
    assert!(blocks(spec(0.15, 100, 26), 100, 1).is_none());
    assert!(blocks(spec(0.15, 100, 1), 3, 1).is_none());
}

proptest! {
    #[test]
    fn every_block_is_written_and_none_again_from_the_cache(
        n_blocks in 0_u64..2_000,
        over_provisioning in prop_oneof![0.001_f64..0.5, 0.5_f64..20.0],
        n_regions in prop_oneof![1_u32..200, Just(u32::MAX)],
        cached in 0.0_f64..=1.0,
        thread_number in 1_u64..1_000,
    ) {
        let n_cached = (n_blocks as f64 / 4.0 * cached) as u64;
        let mut blocks = blocks(spec(over_provisioning, n_regions, n_cached), n_blocks, thread_number).unwrap();
        let pass = pass(&mut blocks);
        let expected = n_blocks + (n_blocks as f64 * over_provisioning).round() as u64;
        prop_assert_eq!(pass.len() as u64, expected);
        let mut last = vec![None; n_blocks as usize];
        for (at, block) in pass.iter().enumerate() {
            if let Some(before) = last[*block as usize].replace(at as u64) {
                prop_assert!(at as u64 - before > n_cached, "{block} at {before} and {at}, {n_cached} apart");
            }
        }
        prop_assert!(last.iter().all(Option::is_some), "a block was left out");
    }
}
