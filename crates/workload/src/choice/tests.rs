//! The blocks that the general stream takes from each distribution.

use crate::next::Next;
use crate::plan::{FileRange, Rounds, WorkForm, WorkloadError, WorkloadPlan};
use crate::stream::Stream;
use crate::zoning::Unzoned;
use ferrio_spec::JobSpec;
use ferrio_spec::{BlockRange, FileService, PatternSpec, RandomDistribution, RankLaw};
use ferrio_stats::note::StreamFault;
use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable, file_distribution_seed};
use ferrio_units::{PerDirection, jhash};
use proptest::prelude::*;

const BLOCK_BYTES: u64 = 4096;
const NAME: &[u8] = b"a-rather-long-file-name.dat";

/// Random reads of one file by job 1 with the default seed.
fn plan(distribution: RandomDistribution, range: (u64, u64)) -> WorkloadPlan {
    let seeds = SeedTable::new(DEFAULT_RAND_SEED, 1);
    let (start_bytes, length_bytes) = range;
    WorkloadPlan {
        pattern: PatternSpec {
            random: true,
            rw_postfix: 1,
            block_size: PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: BLOCK_BYTES }),
            distribution,
            ..JobSpec::default().pattern
        },
        strided: None,
        sequential: None,
        syncs: crate::plan::SyncIntervals::default(),
        files: vec![FileRange {
            start_bytes,
            length_bytes,
            file_bytes: start_bytes + length_bytes,
            distribution_seed: file_distribution_seed(NAME, 1, &seeds),
        }],
        openfiles: 1,
        form: WorkForm::Blocks,
        file_service: FileService::RoundRobin,
        file_service_count: 1,
        seeds,
        reseed_each_pass: false,
        limits: crate::plan::WorkLimits::NONE,
        time_based: false,
        rounds: Rounds::None,
        compatibility: ferrio_spec::Compatibility::Fio,
    }
}

/// Block numbers, counted from the start of the range, of the first I/Os.
fn blocks(plan: WorkloadPlan, n_ios: usize) -> Vec<u64> {
    let start_bytes = plan.files[0].start_bytes;
    let mut stream = Stream::new(plan, Unzoned).expect("the plan is possible");
    let mut blocks = Vec::new();
    while blocks.len() < n_ios {
        match stream.draw() {
            Next::Io(io) => {
                assert_eq!(io.offset_bytes % BLOCK_BYTES, start_bytes % BLOCK_BYTES);
                blocks.push((io.offset_bytes - start_bytes) / BLOCK_BYTES);
            }
            Next::PassEnd => break,
            Next::Close(_)
            | Next::Restart(_)
            | Next::Wait
            | Next::Open(_)
            | Next::Drain
            | Next::Held
            | Next::Failed => {}
        }
    }
    blocks
}

const ZIPF: RandomDistribution = RandomDistribution::Zipf { theta: 1.2, center: None };

/// Expected values: a trace that fio wrote.
#[test]
fn skewed_blocks_are_those_of_the_reference() {
    let normal = |deviation_percent| RandomDistribution::Normal { deviation_percent, center: None };
    for (distribution, expected) in [
        (ZIPF, [188, 17, 0, 91, 38, 59, 235, 59, 101, 80, 26, 122, 252, 231, 251, 101]),
        (
            RandomDistribution::Pareto { h: 0.3, center: None },
            [157, 197, 66, 186, 4, 0, 217, 214, 17, 168, 76, 122, 71, 159, 220, 17],
        ),
        (normal(0.0), [44, 23, 241, 40, 153, 250, 166, 216, 2, 23, 61, 170, 166, 57, 103, 241]),
        (normal(10.0), [40, 237, 111, 208, 31, 32, 233, 212, 136, 61, 250, 212, 145, 250, 170, 199]),
    ] {
        for start_bytes in [0, 8192] {
            assert_eq!(blocks(plan(distribution.clone(), (start_bytes, 1 << 20)), 16), expected, "{distribution:?}");
        }
    }
}

// Rank 99 of zipf:1.2 has one in 900 of the draws.
#[test]
fn a_permuted_distribution_reaches_every_block() {
    let reached = |distribution: RandomDistribution, n_blocks: u64| {
        let mut blocks = blocks(plan(distribution, (8192, n_blocks * BLOCK_BYTES)), 20_000);
        assert_eq!(blocks.len(), 20_000);
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len() as u64
    };
    for n_blocks in [1, 2, 64, 100] {
        for law in [RankLaw::Zipf { theta: 1.2 }, RankLaw::Pareto { h: 0.2 }] {
            for center in [None, Some(0.5)] {
                assert_eq!(reached(RandomDistribution::Permuted { law, center }, n_blocks), n_blocks, "{law:?}");
            }
        }
    }
    assert!(reached(ZIPF, 100) < 100);
}

#[test]
fn a_part_of_a_block_is_not_drawn() {
    let permuted = RandomDistribution::Permuted { law: RankLaw::Zipf { theta: 0.5 }, center: None };
    let drawn = blocks(plan(permuted, (0, 10 * BLOCK_BYTES + 100)), 1_000);
    assert!(drawn.len() == 1_000 && drawn.iter().all(|block| *block < 10));
}

// As seen on fio 3.41: a job ends at the first I/O that does not fit behind the block drawn for it.
#[test]
fn blocks_are_counted_in_the_smaller_of_reads_and_writes() {
    let mut plan = plan(ZIPF, (0, 64 << 10));
    plan.pattern.block_size.0[1] = BlockRange { min_bytes: BLOCK_BYTES / 4, max_bytes: BLOCK_BYTES };
    // Draws choose among 64 blocks, of which 16 can be read.
    let drawn = blocks(plan, 1_000);
    assert!(drawn.len() < 100 && drawn.iter().all(|block| *block < 16), "{drawn:?}");
}

#[test]
fn a_distribution_that_cannot_be_is_an_error() {
    let plan = plan(RandomDistribution::Zipf { theta: 1.0, center: None }, (0, 1 << 20));
    assert!(matches!(Stream::new(plan, Unzoned), Err(WorkloadError(StreamFault::Distribution { file_index: 0, .. }))));
}

proptest! {
    #[test]
    fn offsets_stay_in_the_range(
        start_blocks in 0_u64..100,
        length_bytes in BLOCK_BYTES..4_000_000,
        name: [u8; 4],
        theta in 0.0_f64..0.9,
        center in proptest::option::of(0.0_f64..=1.0),
    ) {
        for distribution in [
            RandomDistribution::Zipf { theta, center },
            RandomDistribution::Pareto { h: theta.mul_add(0.5, 0.01), center },
            RandomDistribution::Normal { deviation_percent: theta * 100.0, center },
        ] {
            let mut plan = plan(distribution, (start_blocks * BLOCK_BYTES, length_bytes));
            plan.files[0].distribution_seed = jhash(&name);
            let n_fitting = length_bytes / BLOCK_BYTES;
            prop_assert!(blocks(plan, 50).into_iter().all(|block| block < n_fitting));
        }
    }
}
