//! Stamped blocks pass the check; damaged ones do not, and the fault describes the damage.

use super::*;
use crate::verify::fault::{Damage, diagnose};
use ferrio_spec::{VERIFY_METHODS, VerifyMethod, VerifyPattern};
use proptest::prelude::*;

fn spec(method: VerifyMethod, layout: HeaderLayout) -> VerifyContentSpec {
    let needs_pattern = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
    let pattern = needs_pattern.then(|| VerifyPattern { bytes: vec![0xaa, 0x55, 0x11], offsets_at: Vec::new() });
    VerifyContentSpec { layout, pattern, ..VerifyContentSpec::of(method) }
}

const WRITE: Write = Write { offset_bytes: 8192, seed: 0x1234_5678_9abc_def1, sequence: 7, start_ns: 3_000_000_004 };
const EXPECTED: Expected =
    Expected { offset_bytes: 8192, seed: Some(WRITE.seed), sequence: Some(7), is_trimmed: false };

fn stamped(rules: &BlockRules, n_bytes: usize) -> Vec<u8> {
    let mut block = vec![0; n_bytes];
    rules.stamp(&mut block, &WRITE);
    block
}

#[test]
fn every_method_and_layout_accepts_its_own_blocks() {
    for def in VERIFY_METHODS {
        for layout in [HeaderLayout::V2, HeaderLayout::V3] {
            for (interval_bytes, header_at) in [(0, 0), (512, 0), (512, 200), (0, 300)] {
                let spec = VerifyContentSpec { interval_bytes, header_at, ..spec(def.method, layout) };
                let rules = BlockRules::new(spec, 1);
                let mut block = stamped(&rules, 4096);
                assert_eq!(rules.check(&mut block, &EXPECTED), Ok(()), "{} {layout:?} {interval_bytes}", def.name);
            }
        }
    }
}

/// Faults that a method can find: `null` none, `meta` without a pattern those in the header, all others every flipped
/// bit.
#[test]
fn a_flipped_bit_is_found() {
    for def in VERIFY_METHODS {
        let rules = BlockRules::new(spec(def.method, HeaderLayout::V3), 1);
        let whole = stamped(&rules, 1024);
        for at in [1000, rules.area_bytes() + 3] {
            let mut block = whole.clone();
            block[at] ^= 4;
            let found = rules.check(&mut block.clone(), &EXPECTED);
            let blind = matches!(def.method, VerifyMethod::Null | VerifyMethod::Meta);
            assert_eq!(found.is_ok(), blind, "{} at {at}", def.name);
            if let Err(fault) = found {
                assert_eq!(diagnose(&fault, &block, Some(&whole), None), Some(Damage::FlippedBits { n_bits: 1 }));
            }
        }
    }
}

/// In fio 3.33's layout SHA-512 covers only the end of the data; with the seed known, every bit is checked all the
/// same.
#[test]
fn what_a_checksum_does_not_cover_is_compared() {
    for (interval_bytes, header_at) in [(0, 0), (1024, 0), (0, 2000), (1024, 500)] {
        let spec = VerifyContentSpec { interval_bytes, header_at, ..spec(VerifyMethod::Sha512, HeaderLayout::V2) };
        let rules = BlockRules::new(spec, 1);
        let whole = stamped(&rules, 4096);
        let unknown = Expected { seed: None, ..EXPECTED };
        let mut n_found = [0, 0];
        for at in 0..4096 {
            let mut block = whole.clone();
            block[at] ^= 1;
            for (expected, n_found) in [EXPECTED, unknown].iter().zip(&mut n_found) {
                *n_found += usize::from(rules.check(&mut block, expected).is_err());
            }
        }
        assert_eq!(n_found[0], 4096, "{interval_bytes} {header_at}");
        assert!(n_found[1] < 4096, "{interval_bytes} {header_at}");
    }
    let rules = BlockRules::new(spec(VerifyMethod::Sha512, HeaderLayout::V2), 1);
    let mut block = stamped(&rules, 4096);
    block[1000] ^= 0x40;
    let fault = rules.check(&mut block.clone(), &EXPECTED).unwrap_err();
    let (found, wanted) = (block[1000], block[1000] ^ 0x40);
    assert_eq!(fault.kind, FaultKind::Uncovered { at: 1000, found, wanted });
    let regenerated = rules.regenerate(&block, &EXPECTED);
    assert_eq!(diagnose(&fault, &block, regenerated.as_deref(), None), Some(Damage::FlippedBits { n_bits: 1 }));
}

/// The pattern is made once for a block, not for each of its intervals, and a fault in each interval is found.
#[test]
fn patterns_of_many_intervals_are_compared_once() {
    let spec = VerifyContentSpec { interval_bytes: 96, ..spec(VerifyMethod::PatternHeader, HeaderLayout::V3) };
    let rules = BlockRules::new(spec, 1);
    // This would take minutes if the pattern were made for each interval.
    let whole = stamped(&rules, 96 << 15);
    assert_eq!(rules.check(&mut whole.clone(), &EXPECTED), Ok(()));
    for interval in [0, 1, 1000, (1 << 15) - 1] {
        let mut block = whole.clone();
        let at = interval * 96 + 90;
        block[at] ^= 1;
        let fault = rules.check(&mut block.clone(), &EXPECTED).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Pattern { at, found: block[at], wanted: block[at] ^ 1 });
    }
}

#[test]
fn what_was_trimmed_is_zeroes() {
    let rules = BlockRules::new(spec(VerifyMethod::Crc32c, HeaderLayout::V3), 1);
    let expected = Expected { is_trimmed: true, ..EXPECTED };
    let written = stamped(&rules, 4096);
    let kind_of = |block: &[u8]| {
        let fault = rules.check(&mut block.to_vec(), &expected).err()?;
        let damage = diagnose(&fault, block, rules.regenerate(&written, &expected).as_deref(), None);
        Some((fault.kind, damage))
    };
    assert_eq!(kind_of(&[0; 4096]), None);
    assert_eq!(kind_of(&written), Some((FaultKind::NotZero { at: 0 }, Some(Damage::NotTrimmed))));
    let mut half = written.clone();
    half[..1024].fill(0);
    let damage = Some(Damage::TrimmedInPart { n_bad: 6, n_sectors: 8 });
    assert_eq!(kind_of(&half), Some((FaultKind::NotZero { at: 1024 }, damage)));
}

/// Each single byte that differs, with its position, in zeroes and in patterns with and without offsets.
#[test]
fn each_byte_of_zeroes_and_patterns_is_compared() {
    let of = |bytes: &[u8], offsets_at: &[usize]| {
        let pattern = VerifyPattern { bytes: bytes.to_vec(), offsets_at: offsets_at.to_vec() };
        let pattern = Some(pattern);
        BlockRules::new(VerifyContentSpec { pattern, ..spec(VerifyMethod::Pattern, HeaderLayout::V3) }, 1)
    };
    for rules in [of(&[0xaa], &[]), of(&[1, 2, 3], &[]), of(&[0xde, 0, 0, 0, 0, 0, 0, 0, 0, 0xad], &[1])] {
        for (is_trimmed, mut block) in [(true, vec![0; 100]), (false, stamped(&rules, 100))] {
            let expected = Expected { is_trimmed, ..EXPECTED };
            assert_eq!(rules.check(&mut block, &expected), Ok(()));
            for place in 0..100 {
                block[place] ^= 0x40;
                let kind = rules.check(&mut block, &expected).unwrap_err().kind;
                let (found, wanted) = (block[place], block[place] ^ 0x40);
                let told = FaultKind::Pattern { at: place, found, wanted };
                assert_eq!(kind, if is_trimmed { FaultKind::NotZero { at: place } } else { told });
                block[place] = wanted;
            }
        }
    }
    assert_eq!(of(&[1], &[]).check(&mut [], &Expected { is_trimmed: true, ..EXPECTED }), Ok(()), "nothing");
}

#[test]
fn each_field_of_the_header_is_checked_in_its_turn() {
    let rules = BlockRules::new(spec(VerifyMethod::Crc32c, HeaderLayout::V3), 1);
    let block = stamped(&rules, 4096);
    let kind_of = |change: &dyn Fn(&mut Vec<u8>), expected: &Expected| {
        let mut block = block.clone();
        change(&mut block);
        rules.check(&mut block, expected).unwrap_err().kind
    };
    let as_it_is = |_: &mut Vec<u8>| ();
    assert_eq!(kind_of(&|block| block[..2].fill(0x5a), &EXPECTED), FaultKind::Magic { found: 0x5a5a, wanted: 0xacca });
    assert_eq!(kind_of(&|block| block[2] = 0x80, &EXPECTED), FaultKind::Version { found: 0x80, wanted: 0x81 });
    let elsewhere = Expected { offset_bytes: 0, ..EXPECTED };
    assert_eq!(kind_of(&as_it_is, &elsewhere), FaultKind::Offset { found: 8192, wanted: 0 });
    let newer = Expected { sequence: Some(9), ..EXPECTED };
    assert_eq!(kind_of(&as_it_is, &newer), FaultKind::Sequence { found: 7, wanted: 9 });
    let other = Expected { seed: Some(1), ..EXPECTED };
    assert_eq!(kind_of(&as_it_is, &other), FaultKind::Seed { found: WRITE.seed, wanted: 1 });
    assert!(matches!(kind_of(&|block| block[24] ^= 1, &EXPECTED), FaultKind::HeaderCrc { .. }));
    let short = |block: &mut Vec<u8>| block.truncate(2048);
    assert_eq!(kind_of(&short, &EXPECTED), FaultKind::Length { found: 4096, wanted: 2048 });
    let sha = BlockRules::new(spec(VerifyMethod::Sha1, HeaderLayout::V3), 1);
    let mut of_sha = stamped(&sha, 4096);
    assert_eq!(rules.check(&mut of_sha, &EXPECTED).unwrap_err().kind, FaultKind::Method { found: 16, wanted: 5 });
}

/// Headers at the start and at `verify_offset`, one for the block and one for each interval: the report is the same.
#[test]
fn damage_is_told_apart() {
    for (interval_bytes, header_at) in [(0, 0), (0, 600), (512, 0), (512, 200)] {
        let spec = VerifyContentSpec { interval_bytes, header_at, ..spec(VerifyMethod::Xxhash, HeaderLayout::V3) };
        let rules = BlockRules::new(spec, 1);
        let whole = stamped(&rules, 4096);
        let damage = |received: &[u8]| {
            let mut checked = received.to_vec();
            let fault = rules.check(&mut checked, &EXPECTED).unwrap_err();
            assert_eq!(checked, received, "the block is left as it was");
            let (wanted, own) = (rules.regenerate(&checked, &EXPECTED), rules.regenerate_own(&checked, 8192));
            diagnose(&fault, &checked, wanted.as_deref(), own.as_deref()).unwrap()
        };
        assert_eq!(damage(&[0; 4096]), Damage::Zeroed);
        let mut flipped = whole.clone();
        flipped[4000] ^= 0x10;
        assert_eq!(damage(&flipped), Damage::FlippedBits { n_bits: 1 }, "{interval_bytes} {header_at}");
        let mut torn = whole.clone();
        let mut old = vec![0; 4096];
        rules.stamp(&mut old, &Write { seed: 99, sequence: 3, ..WRITE });
        torn[2048..].copy_from_slice(&old[2048..]);
        assert_eq!(damage(&torn), Damage::Torn { n_bad: 4, n_sectors: 8 }, "{interval_bytes} {header_at}");
        assert_eq!(damage(&old), Damage::Stale);
        let mut elsewhere = vec![0; 4096];
        rules.stamp(&mut elsewhere, &Write { offset_bytes: 65_536, ..WRITE });
        assert_eq!(damage(&elsewhere), Damage::Misdirected { belongs_at: 65_536 });
    }
}

#[test]
fn what_ought_to_be_is_made_again() {
    for method in [VerifyMethod::Md5, VerifyMethod::PatternHeader, VerifyMethod::Pattern] {
        let rules = BlockRules::new(spec(method, HeaderLayout::V3), 1);
        let whole = stamped(&rules, 4096);
        let mut damaged = whole.clone();
        damaged[3000] ^= 0xff;
        assert!(rules.regenerate(&damaged, &EXPECTED).unwrap() == whole, "{method:?}");
    }
}

proptest! {
    #[test]
    fn no_block_makes_the_check_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..700),
        method in 0..VERIFY_METHODS.len(),
        interval_bytes in 0u32..200,
        header_at in 0u32..200,
    ) {
        for layout in [HeaderLayout::V2, HeaderLayout::V3] {
            let spec = VerifyContentSpec { interval_bytes, header_at, ..spec(VERIFY_METHODS[method].method, layout) };
            let rules = BlockRules::new(spec, 1);
            let mut block = bytes.clone();
            let _ = rules.check(&mut block, &EXPECTED);
            let _ = rules.regenerate(&bytes, &EXPECTED);
        }
    }
}

proptest! {
    /// Any bytes on the medium, and blocks of any shape: the check passes or reports a fault with a text and a guess,
    /// and never panics.
    #[test]
    fn no_bytes_make_the_check_panic(
        received in prop::collection::vec(any::<u8>(), 0..700),
        method in 0..VERIFY_METHODS.len(),
        (is_old, is_known) in any::<(bool, bool)>(),
        (interval_bytes, header_at) in (0_u32..300, 0_u32..300),
    ) {
        let layout = if is_old { HeaderLayout::V2 } else { HeaderLayout::V3 };
        let rules = BlockRules::new(
            VerifyContentSpec { interval_bytes, header_at, ..spec(VERIFY_METHODS[method].method, layout) },
            1,
        );
        let expected = Expected { seed: is_known.then_some(1), ..EXPECTED };
        let mut stamped = received.clone();
        rules.stamp(&mut stamped, &WRITE);
        for mut block in [received, stamped] {
            let _ = rules.whole_write(&block, WRITE.offset_bytes);
            if let Err(fault) = rules.check(&mut block, &expected) {
                let wanted = rules.regenerate(&block, &expected);
                let own = rules.regenerate_own(&block, WRITE.offset_bytes);
                let _ = diagnose(&fault, &block, wanted.as_deref(), own.as_deref());
            }
        }
    }
}

/// A job that only reads accepts either layout, in every shape, and finds the same damage. A job that wrote the blocks
/// accepts only its own layout: with the same seed, an old block of the other layout would hide that a write was lost.
#[test]
fn either_layout_is_recognised_by_who_reads_only() {
    for def in VERIFY_METHODS {
        let VerifyForm::Header(_) = def.form else { continue };
        for (written, read) in [(HeaderLayout::V2, HeaderLayout::V3), (HeaderLayout::V3, HeaderLayout::V2)] {
            for (interval_bytes, header_at) in [(0, 0), (512, 0), (512, 200), (0, 300)] {
                let of = |layout| {
                    let content = VerifyContentSpec { interval_bytes, header_at, ..spec(def.method, layout) };
                    BlockRules::new(content, 1)
                };
                let name = format!("{} {written:?} {interval_bytes} {header_at}", def.name);
                let whole = stamped(&of(written), 4096);
                let fault = of(read).check(&mut whole.clone(), &EXPECTED);
                assert!(fault.is_err(), "{name}");
                assert_eq!(of(read).foreign_layout(&whole, 8192), Some(written), "{name}");
                let reader = of(read).recognising();
                let mut block = whole.clone();
                assert_eq!(reader.check(&mut block, &EXPECTED), Ok(()), "{name}");
                assert_eq!(reader.regenerate(&whole, &EXPECTED).as_deref(), Some(&whole[..]), "{name}");
                assert_eq!(
                    (reader.foreign_layout(&whole, 8192), of(written).foreign_layout(&whole, 8192)),
                    (None, None),
                    "{name}"
                );
                for at in [0, 3, 5, 9, 17, 25, 37, 500, 1000, 4000] {
                    block.copy_from_slice(&whole);
                    block[at] ^= 0x10;
                    let is_found = reader.check(&mut block, &EXPECTED).is_err();
                    assert_eq!(is_found, of(written).check(&mut block, &EXPECTED).is_err(), "{name} at {at}");
                }
                let elsewhere = Expected { offset_bytes: 4096, ..EXPECTED };
                assert!(reader.check(&mut whole.clone(), &elsewhere).is_err(), "{name}");
                let later = Expected { sequence: Some(8), ..EXPECTED };
                assert!(reader.check(&mut whole.clone(), &later).is_err(), "{name}");
            }
        }
    }
}
