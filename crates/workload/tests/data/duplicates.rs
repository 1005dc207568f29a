//! `dedupe_percentage` and `dedupe_mode`, measured with a store that keeps each block once.

use super::{Written, assert_near, buffers};
use ferrio_spec::DedupeMode;
use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable};
use ferrio_workload::contents::{ContentsPlan, DedupeSet};
use std::collections::BTreeSet;

const BLOCK_BYTES: usize = 512;

/// One standard deviation of a share of so many draws is at most 0.32 points.
const N_BLOCKS: usize = 25_000;

#[test]
fn repeated_blocks_have_the_share_asked_for() {
    for percent in (10..=90).step_by(10) {
        let written =
            Written::new(&buffers(|spec| spec.dedupe = Some((percent, DedupeMode::Repeat))), BLOCK_BYTES, N_BLOCKS);
        assert_near(written.duplicate_percent(), percent.into(), "repeat");
    }
}

/// Blocks of the set count among those written once, so they do not reduce the share. The set and the share together
/// are at most 100 %, or the job is refused.
#[test]
fn a_working_set_has_the_share_asked_for() {
    for set_percent in [1, 5, 10, 20, 50] {
        for percent in (10..=90).step_by(10).filter(|percent| percent + set_percent <= 100) {
            let mode = DedupeMode::WorkingSet { percent: set_percent };
            let written = Written::new(&buffers(|spec| spec.dedupe = Some((percent, mode))), BLOCK_BYTES, N_BLOCKS);
            let what = format!("a set of {set_percent} %");
            assert_near(written.duplicate_percent(), percent.into(), &what);
            let first = written.first_equal();
            let repeated: BTreeSet<_> =
                first.iter().enumerate().filter(|(index, first)| index != *first).map(|(_, first)| first).collect();
            assert!(repeated.len() <= N_BLOCKS * set_percent as usize / 100, "{what}: {} repeated", repeated.len());
        }
    }
}

#[test]
fn all_blocks_or_none() {
    let all = Written::new(&buffers(|spec| spec.dedupe = Some((100, DedupeMode::Repeat))), BLOCK_BYTES, 1_000);
    assert!(all.first_equal().iter().all(|first| *first == 0));
    let none = Written::new(&buffers(|spec| spec.refill = true), BLOCK_BYTES, 1_000);
    assert!(none.duplicate_percent() == 0.0);
}

/// A store that keeps each block once, compressed: each option acts on what the other leaves.
#[test]
fn both_shares_hold_together() {
    for mode in [DedupeMode::Repeat, DedupeMode::WorkingSet { percent: 10 }] {
        for (dedupe_percent, compress_percent) in [(20, 20), (20, 80), (50, 50), (80, 20), (80, 80)] {
            for chunk_bytes in [512, 4_096, 0] {
                let spec = buffers(|spec| {
                    spec.dedupe = Some((dedupe_percent, mode));
                    (spec.compress_percent, spec.compress_chunk_bytes) = (compress_percent, chunk_bytes);
                });
                let written = Written::new(&spec, 1_024, 3_000);
                let what = format!("{mode:?} {compress_percent} % in pieces of {chunk_bytes}");
                assert_near(written.duplicate_percent(), dedupe_percent.into(), &what);
                let kept = written.without_duplicates();
                assert_near(kept.compressed_percent(), compress_percent.into(), &what);
            }
        }
    }
}

/// Expected values: fio 3.41, 200 blocks of 4 KiB with a working set and its default seeds; for each of the first
/// blocks, the block that it repeats.
#[test]
fn members_of_a_set_are_those_of_the_peer() {
    let half = [0, 1, 2, 1, 4, 5, 6, 5, 8, 9, 10, 0, 1, 6, 2, 8, 1, 10, 18, 19, 20, 21, 22, 2, 9, 5, 26, 27, 5, 29];
    let third =
        [0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 10, 9, 12, 13, 14, 15, 4, 17, 12, 19, 20, 2, 15, 23, 20, 19, 26, 3, 28, 29];
    for (percent, set_percent, expected, n_different) in [(50, 5, half, 96), (30, 10, third, 136)] {
        let mode = DedupeMode::WorkingSet { percent: set_percent };
        let written = Written::new(&buffers(|spec| spec.dedupe = Some((percent, mode))), 4_096, 200);
        let first = written.first_equal();
        assert_eq!(first[..expected.len()], expected);
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), n_different);
    }
}

/// Expected values: fio 3.41 with `randseed=137`, `dedupe_percentage=50` and blocks of 4 KiB at several depths; `1`
/// marks a block that equals the one before.
#[test]
fn repeated_blocks_are_those_of_the_peer_at_every_depth() {
    for (iodepth, expected) in [
        (1, "..111.11....1...1111....111..1...1...1...1.11.1...1..11.11.1"),
        (2, ".111.11....1...1111....111..1...1...1...1.11.1...1..11.11.11"),
        (4, ".1.11....1...1111....111..1...1...1...1.11.1...1..11.11.11.1"),
        (8, ".....1...1111....111..1...1...1...1.11.1...1..11.11.11.1.1.1"),
        (16, ".1111....111..1...1...1...1.11.1...1..11.11.11.1.1.111.1..11"),
    ] {
        let plan = ContentsPlan { iodepth, ..ContentsPlan::of_blocks(4_096) };
        let spec = buffers(|spec| spec.dedupe = Some((50, DedupeMode::Repeat)));
        let written = Written::by(&spec, &plan, &SeedTable::new(137, 1), &[4_096; 60]);
        let blocks: Vec<&[u8]> = written.bytes.chunks(4_096).collect();
        let repeats = (0..60).map(|n| if n > 0 && blocks[n] == blocks[n - 1] { '1' } else { '.' });
        assert_eq!(repeats.collect::<String>(), expected, "depth {iodepth}");
    }
}

/// The share is that of the smallest blocks, whatever the mix of sizes.
#[test]
fn blocks_of_several_sizes_have_the_share_asked_for() {
    let sizes: Vec<usize> = (0..8_000).map(|n| [512, 1_024, 4_096, 512, 2_048][n % 5]).collect();
    for mode in [DedupeMode::Repeat, DedupeMode::WorkingSet { percent: 10 }] {
        for percent in [10, 30, 60, 90] {
            let size_bytes = sizes.iter().sum::<usize>() as u64;
            let plan = ContentsPlan { size_bytes, ..ContentsPlan::of_blocks(512) };
            let spec = buffers(|spec| spec.dedupe = Some((percent, mode)));
            let written = Written::by(&spec, &plan, &SeedTable::new(DEFAULT_RAND_SEED, 1), &sizes);
            assert_near(written.duplicate_percent(), percent.into(), &format!("{mode:?}"));
        }
    }
}

/// Three jobs with sets of 20 %. Alone, each has half of its blocks twice and none in common with the others. With
/// shared sets, all three together have no more different blocks, and each repeats blocks of the others as often as its
/// own.
#[test]
fn shared_sets_are_repeated_by_all() {
    let mode = DedupeMode::WorkingSet { percent: 20 };
    let spec = buffers(|spec| spec.dedupe = Some((50, mode)));
    let n_blocks = 6_000;
    let alone = ContentsPlan { size_bytes: n_blocks * 512, ..ContentsPlan::of_blocks(512) };
    let seeds = [1, 2, 3].map(|thread| SeedTable::new(DEFAULT_RAND_SEED, thread));
    let sets: Vec<DedupeSet> = seeds.iter().map(|seeds| DedupeSet::new(seeds, 20, alone.size_bytes, 512)).collect();
    let shared = ContentsPlan { shared_sets: sets.into(), ..alone.clone() };
    let sizes = vec![512; n_blocks as usize];
    let different = |plan: &ContentsPlan| {
        let all = seeds.each_ref().map(|seeds| Written::by(&spec, plan, seeds, &sizes));
        let of = |written: &Written| written.bytes.chunks(512).map(<[u8]>::to_vec).collect::<BTreeSet<_>>();
        let [one, two, three] = all.each_ref().map(of);
        let union: BTreeSet<_> = one.iter().chain(&two).chain(&three).collect();
        (union.len(), one.intersection(&two).count())
    };
    let (n_alone, n_common_alone) = different(&alone);
    let (n_shared, n_common) = different(&shared);
    assert_eq!(n_common_alone, 0);
    // Half of 18,000, within five standard deviations of the draws: 5 * sqrt(18000 / 4) = 335.
    assert!(n_alone.abs_diff(9_000) < 335 && n_shared.abs_diff(9_000) < 335, "{n_alone} {n_shared}");
    // Each job draws 1,000 times from each set of 1,200, so it misses a member with probability (1 - 1/1200)^1000 =
    // 0.43. The first two jobs have in common the members of either's set that the other drew, and those of the third
    // set that both drew: 1200 * (2 * 0.57 + 0.32).
    assert!(n_common.abs_diff(1_752) < 150, "{n_common}");
}
