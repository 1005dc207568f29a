//! The checksums kept for a write are those of its block, and no verdict changes.

use super::super::super::block::{Expected, Write};
use super::*;
use ferrio_spec::{HeaderLayout, VerifyCompression, VerifyContentSpec, VerifyMethod, VerifyPattern};
use proptest::prelude::*;

const METHODS: [VerifyMethod; 6] = [
    VerifyMethod::Md5,
    VerifyMethod::Sha1,
    VerifyMethod::Sha256,
    VerifyMethod::Sha512,
    VerifyMethod::Sha3_224,
    VerifyMethod::Xxhash,
];

fn spec(method: VerifyMethod, layout: HeaderLayout) -> VerifyContentSpec {
    VerifyContentSpec { layout, ..VerifyContentSpec::of(method) }
}

fn specs() -> impl Strategy<Value = VerifyContentSpec> {
    let layouts = [HeaderLayout::V2, HeaderLayout::V3];
    let form = (0..METHODS.len(), 0..layouts.len(), prop::sample::select(vec![0, 512, 1000, 1536, 4096]));
    let place = (prop::sample::select(vec![0, 200, 300]), prop::option::of(0..=100u32));
    (form, place).prop_map(move |((method, layout, interval_bytes), (header_at, percent))| VerifyContentSpec {
        interval_bytes,
        header_at,
        compression: percent.map(|percent| VerifyCompression { percent, piece_bytes: 0, tail: vec![1, 2, 3] }),
        ..spec(METHODS[method], layouts[layout])
    })
}

fn stamped(rules: &BlockRules, number: u64, seed: u64, length_bytes: usize) -> Vec<u8> {
    let mut block = vec![0; length_bytes];
    rules.stamp(&mut block, &Write { offset_bytes: number * 4096, seed, sequence: number, start_ns: 5 });
    block
}

fn seed_of(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

proptest! {
    /// Whole blocks, blocks damaged anywhere, and blocks of other writes.
    #[test]
    fn every_verdict_is_that_without_it(
        spec in specs(),
        lengths in prop::collection::vec(prop::sample::select(vec![512usize, 2048, 4095, 4096]), 1..8),
        damage in prop::option::of((any::<prop::sample::Index>(), 1..=255u8)),
        read in any::<prop::sample::Index>(),
        found in any::<prop::sample::Index>(),
    ) {
        let rules = BlockRules::new(spec, 1);
        let Some(mut written) = WrittenChecksums::new(&rules, 4096) else { return Ok(()) };
        for (number, length_bytes) in (0..).zip(&lengths) {
            written.keep(number, seed_of(number), &stamped(&rules, number, seed_of(number), *length_bytes));
        }
        let (read, found) = (read.index(lengths.len()), found.index(lengths.len()));
        let (number, length_bytes) = (read as u64, lengths[read]);
        for found in [number, found as u64] {
            let mut block = stamped(&rules, found, seed_of(found), length_bytes);
            if let Some((at, flip)) = damage {
                block[at.index(length_bytes)] ^= flip;
            }
            let seed = seed_of(number);
            let expected =
                Expected { offset_bytes: number * 4096, seed: Some(seed), sequence: Some(number), is_trimmed: false };
            for expected in [expected, Expected { seed: None, sequence: None, ..expected }] {
                let plain = rules.check(&mut block, &expected);
                prop_assert!(found != number || damage.is_some() || plain.is_ok() || length_bytes < 512);
                let known = written.block(number, seed, length_bytes);
                prop_assert!(known.is_some());
                prop_assert_eq!(rules.check_from(&mut block, &expected, known), plain);
            }
        }
    }
}

/// With more writes than can be kept, the last ones are kept; memory stays below its bound.
#[test]
fn the_last_writes_are_kept() {
    let rules = BlockRules::new(spec(VerifyMethod::Xxhash, HeaderLayout::V3), 1);
    let mut written = WrittenChecksums::new(&rules, 512).unwrap();
    let n_most = written.n_most as u64;
    assert!((1 << 20..1 << 22).contains(&n_most));
    let block = stamped(&rules, 0, 1, 512);
    for number in 0..n_most + 10 {
        written.keep(number, seed_of(number), &block);
    }
    let has = |number| written.has(number, seed_of(number), 512);
    assert!(!has(0) && !has(9) && has(10) && has(n_most) && has(n_most + 9) && !has(n_most + 10));
    assert!(!written.has(10, seed_of(11), 512) && !written.has(10, seed_of(10), 256));
    assert!(written.n_bytes() <= MAX_BYTES + 512, "{}", written.n_bytes());
}

#[test]
fn what_was_not_written_is_not_known() {
    let rules = BlockRules::new(spec(VerifyMethod::Sha1, HeaderLayout::V3), 1);
    let mut written = WrittenChecksums::new(&rules, 4096).unwrap();
    assert!(!written.has(0, 0, 0) && written.block(0, 0, 0).is_none());
    written.keep(3, 7, &stamped(&rules, 3, 7, 4096));
    assert!(!written.has(0, 0, 0) && !written.has(u64::MAX, 7, 4096) && written.has(3, 7, 4096));
    assert!(written.block(2, 7, 4096).is_none());
}

#[test]
fn what_gains_nothing_is_not_kept() {
    let of = |spec, block_bytes| WrittenChecksums::new(&BlockRules::new(spec, 1), block_bytes).is_some();
    let plain = |method| spec(method, HeaderLayout::V3);
    let pattern = Some(VerifyPattern { bytes: vec![1, 2], offsets_at: Vec::new() });
    assert!(of(plain(VerifyMethod::Md5), 4096) && of(plain(VerifyMethod::Crc7), 1 << 20));
    assert!(!of(VerifyContentSpec { pattern, ..plain(VerifyMethod::Md5) }, 4096));
    assert!(!of(plain(VerifyMethod::Crc32c), 4096) && !of(plain(VerifyMethod::Meta), 4096));
    assert!(!of(VerifyContentSpec { interval_bytes: 40, ..plain(VerifyMethod::Md5) }, 4096), "no room for data");
    assert!(!of(plain(VerifyMethod::Md5), usize::MAX) && !of(plain(VerifyMethod::Md5), 9 << 20));
    assert!(!of(VerifyContentSpec { interval_bytes: 128, ..plain(VerifyMethod::Md5) }, 8 << 20), "too many intervals");
}
