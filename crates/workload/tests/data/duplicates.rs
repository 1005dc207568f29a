//! `dedupe_percentage` and `dedupe_mode` as a store sees them that keeps each block once.

use super::{Written, assert_near, buffers};
use ferrio_job::spec::DedupeMode;
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

/// Blocks of the set are part of what is written once, so that they do not take from the share. The set and the share
/// together are at most 100 %, or the job is refused.
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

/// A store that keeps each block once, compressed: both options act on what the other leaves.
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

/// Debian's fio 3.33, 200 blocks of 4 KiB with a working set and its default seeds: which block each of the first repeats.
/// It has filled its buffer once before the first write, which takes the first of our blocks.
#[test]
fn members_of_a_set_are_those_of_the_peer() {
    let half = [0, 1, 2, 1, 4, 5, 6, 5, 8, 9, 10, 0, 1, 6, 2, 8, 1, 10, 18, 19, 20, 21, 22, 2, 9, 5, 26, 27, 5, 29];
    let third =
        [0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 10, 9, 12, 13, 14, 15, 4, 17, 12, 19, 20, 2, 15, 23, 20, 19, 26, 3, 28, 29];
    for (percent, set_percent, expected, n_different) in [(50, 5, half, 96), (30, 10, third, 136)] {
        let mode = DedupeMode::WorkingSet { percent: set_percent };
        let mut written = Written::new(&buffers(|spec| spec.dedupe = Some((percent, mode))), 4_096, 201);
        written.bytes.drain(..4_096);
        let first = written.first_equal();
        assert_eq!(first[..expected.len()], expected);
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), n_different);
    }
}
