//! Uniform random blocks, with a map of visited blocks and without.

use super::chi_square::{assert_fits, assert_uniform, counts};
use super::jobs::{blocks, random_reads};
use ferrio_spec::RandomGenerator;
use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable};

const GENERATORS: [Option<RandomGenerator>; 2] = [None, Some(RandomGenerator::Tausworthe64)];

#[test]
fn without_a_map() {
    for random_generator in GENERATORS {
        for thread_number in 1..4 {
            for n_blocks in [7, 256, 1_000] {
                let mut plan = random_reads(n_blocks as u64);
                plan.pattern.random_generator = random_generator;
                plan.seeds = SeedTable::new(DEFAULT_RAND_SEED, thread_number);
                let drawn = blocks(plan, 200_000);
                if n_blocks == 7 {
                    let pairs = drawn.chunks_exact(2).map(|pair| pair[0] * 7 + pair[1]);
                    assert_uniform("blocks one after another", 49, pairs);
                }
                assert_uniform("blocks", n_blocks, drawn);
            }
        }
    }
}

/// A draw that hits a visited block takes the next free one. So each pass visits all blocks once, its first block is
/// uniform, and the second is the one behind it twice as often as any other.
#[test]
fn with_a_map() {
    let n_blocks = 8;
    for random_generator in GENERATORS {
        let mut plan = random_reads(n_blocks as u64);
        (plan.pattern.norandommap, plan.pattern.random_generator) = (false, random_generator);
        let drawn = blocks(plan, 40_000 * n_blocks);
        let passes = || drawn.chunks_exact(n_blocks);
        for pass in passes() {
            assert_eq!(counts(n_blocks, pass.iter().copied()), [1; 8]);
        }
        assert_uniform("first of a pass", n_blocks, passes().map(|pass| pass[0]));
        let steps = counts(n_blocks, passes().map(|pass| (pass[1] + n_blocks - pass[0]) % n_blocks));
        let shares = [0.0, 0.25, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125];
        assert_fits("from the first to the second", steps.into_iter().zip(shares));
    }
}

/// The third generator is a register that goes through all blocks: it repeats and omits none in a pass, and each part
/// of a pass has blocks from all parts of the file.
#[test]
fn with_a_register() {
    for n_blocks in [256_usize, 1_000, 5_000] {
        for thread_number in 1..4 {
            let mut plan = random_reads(n_blocks as u64);
            (plan.pattern.norandommap, plan.pattern.random_generator) = (false, Some(RandomGenerator::Lfsr));
            plan.seeds = SeedTable::new(DEFAULT_RAND_SEED, thread_number);
            let drawn = blocks(plan, 3 * n_blocks);
            for pass in drawn.chunks_exact(n_blocks) {
                assert_eq!(counts(n_blocks, pass.iter().copied()), vec![1; n_blocks]);
            }
            if n_blocks == 5_000 {
                // Quarters of a pass by quarters of the file: 16 equally likely combinations.
                let cells = drawn[..n_blocks]
                    .iter()
                    .enumerate()
                    .map(|(at, block)| at * 4 / n_blocks * 4 + block * 4 / n_blocks);
                assert_uniform("quarters", 16, cells);
            }
        }
    }
}
