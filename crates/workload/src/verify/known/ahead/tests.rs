//! Blocks made ahead equal those made one by one, and no verdict changes.

use super::super::super::block::{Expected, Write};
use super::*;
use ferrio_spec::{HeaderLayout, VerifyCompression, VerifyContentSpec, VerifyMethod, VerifyPattern};
use ferrio_testing::skip;
use std::cell::Cell;

fn spec(method: VerifyMethod) -> VerifyContentSpec {
    VerifyContentSpec { layout: HeaderLayout::V2, ..VerifyContentSpec::of(method) }
}

const METHODS: [VerifyMethod; 3] = [VerifyMethod::Md5, VerifyMethod::Sha1, VerifyMethod::Sha256];

/// Kinds of contents that can be made ahead.
fn specs() -> impl Iterator<Item = VerifyContentSpec> {
    METHODS.into_iter().flat_map(|method| {
        let compression = Some(VerifyCompression { percent: 40, piece_bytes: 0, tail: vec![1, 2, 3] });
        [
            spec(method),
            VerifyContentSpec { interval_bytes: 512, header_at: 200, ..spec(method) },
            VerifyContentSpec { interval_bytes: 1536, layout: HeaderLayout::V3, ..spec(method) },
            VerifyContentSpec { compression, ..spec(method) },
        ]
    })
}

/// `None` on a CPU without the instructions: there, all blocks are made one by one, which other tests cover.
fn ahead(rules: &BlockRules, n_in_flight: usize) -> Option<Ahead> {
    let ahead = Ahead::new(rules, 4096, n_in_flight);
    if ahead.is_none() {
        skip!(ferrio_testing::this_test(), "the CPU has no AVX2");
    }
    ahead
}

/// Seeds for a group of any size that the CPU supports.
fn seeds_from(seed: u64) -> [u64; MAX_LANES] {
    std::array::from_fn(|index| seed + index as u64 * 0x1_0000_0001)
}

/// Puts the first of some seeds into the places of a group.
fn give(seeds: &[u64], places: &mut [u64]) -> bool {
    places.copy_from_slice(&seeds[..places.len()]);
    true
}

#[test]
fn blocks_made_ahead_are_those_made_one_by_one() {
    for spec in specs() {
        let rules = BlockRules::new(spec.clone(), 1);
        let Some(mut ahead) = ahead(&rules, 1) else { return };
        for length_bytes in [4096, 4095, 2048] {
            let seeds = seeds_from(length_bytes as u64);
            let n_blocks = rules.groups_that_gain(length_bytes)[0];
            for (sequence, seed) in (0..).zip(seeds).take(n_blocks) {
                ahead.prepare(seed, length_bytes, |places| {
                    assert_eq!((sequence, places.len()), (0, n_blocks), "the first brings all");
                    give(&seeds, places)
                });
                let write = Write { offset_bytes: sequence * 4096, seed, sequence, start_ns: 5 };
                let (mut from_known, mut plain) = (vec![0xee; length_bytes], vec![0; length_bytes]);
                let known = ahead.take(seed, length_bytes);
                assert!(known.is_some());
                rules.stamp_from(&mut from_known, &write, known);
                rules.stamp(&mut plain, &write);
                assert_eq!(from_known, plain, "{spec:?}");
            }
        }
    }
}

/// Changes each byte of a block in header, checksum and data, and also passes a whole block with another seed.
#[test]
fn every_verdict_is_that_without_it() {
    for spec in specs() {
        let rules = BlockRules::new(spec, 1);
        let Some(mut ahead) = ahead(&rules, 1) else { return };
        let seeds = seeds_from(99);
        let expected = Expected { offset_bytes: 0, seed: Some(seeds[3]), sequence: Some(3), is_trimmed: false };
        ahead.prepare(seeds[0], 4096, |places| give(&seeds, places));
        let mut block = vec![0; 4096];
        rules.stamp(&mut block, &Write { offset_bytes: 0, seed: seeds[3], sequence: 3, start_ns: 5 });
        assert_eq!(rules.check_from(&mut block, &expected, ahead.take(seeds[3], 4096)), Ok(()));
        for at in 0..4096 {
            block[at] ^= 0x10;
            let plain = rules.check(&mut block, &expected);
            assert_eq!(rules.check_from(&mut block, &expected, ahead.take(seeds[3], 4096)), plain, "{at}");
            block[at] ^= 0x10;
        }
        let anyone = Expected { seed: None, ..expected };
        assert_eq!(rules.check_from(&mut block, &anyone, ahead.take(seeds[5], 4096)), Ok(()), "of another seed");
    }
}

#[test]
fn what_gains_nothing_is_not_made() {
    let of = |spec| Ahead::new(&BlockRules::new(spec, 1), 4096, 1).is_some();
    let pattern = Some(VerifyPattern { bytes: vec![1, 2], offsets_at: Vec::new() });
    assert!(!of(VerifyContentSpec { pattern, ..spec(VerifyMethod::Md5) }));
    assert!(!of(spec(VerifyMethod::Crc32c)) && !of(spec(VerifyMethod::Sha512)));
    assert!(!of(VerifyContentSpec { interval_bytes: 40, ..spec(VerifyMethod::Md5) }), "no room for data");
    let rules = BlockRules::new(spec(VerifyMethod::Md5), 1);
    assert!(Ahead::new(&rules, 2 << 20, 1).is_none() && Ahead::new(&rules, usize::MAX, 1).is_none());
}

/// Blocks in flight stay known until they come back.
#[test]
fn blocks_in_flight_are_kept() {
    let Some(mut ahead) = ahead(&BlockRules::new(spec(VerifyMethod::Md5), 1), 20) else { return };
    let all: Vec<u64> = (1..=80).map(|index| index * 0x9e37_79b9).collect();
    for (index, seed) in all.iter().enumerate() {
        ahead.prepare(*seed, 4096, |places| all.len() - index >= places.len() && give(&all[index..], places));
        assert!(index < 20 || ahead.take(all[index - 19], 4096).is_some(), "{index}");
    }
}

/// If most of each group is not needed, groups become rare.
#[test]
fn groups_that_are_not_needed_become_rare() {
    let Some(mut ahead) = ahead(&BlockRules::new(spec(VerifyMethod::Sha1), 1), 1) else { return };
    let n_made = Cell::new(0);
    for index in 0..1000 {
        let length_bytes = if index % 2 == 0 { 4096 } else { 512 };
        let seeds = seeds_from(index);
        ahead.prepare(index, length_bytes, |places| {
            n_made.set(n_made.get() + 1);
            give(&seeds, places)
        });
        ahead.take(index, length_bytes);
    }
    assert!((10..=20).contains(&n_made.get()), "{n_made:?}");
}

/// If there are fewer seeds than the largest group has, a smaller group is made.
#[test]
fn fewer_are_made_where_there_are_no_more() {
    let rules = BlockRules::new(spec(VerifyMethod::Md5), 1);
    let Some(mut ahead) = ahead(&rules, 1) else { return };
    let seeds = seeds_from(7);
    for n_blocks in rules.groups_that_gain(4096) {
        let there = &seeds[..*n_blocks];
        ahead.prepare(there[0], 4096, |places| places.len() <= *n_blocks && give(there, places));
        assert!(there.iter().all(|seed| ahead.take(*seed, 4096).is_some()), "{n_blocks}");
        ahead = Ahead::new(&rules, 4096, 1).unwrap();
        ahead.prepare(there[0], 4096, |places| places.len() < 8);
        assert!(ahead.take(there[0], 4096).is_none());
    }
}
