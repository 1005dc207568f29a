//! Any bytes as a block on media: whole or a fault, and a guess at the damage, never a panic. A block that was made by the same
//! rules is whole, and each flipped bit of it is found.
//!
//! The first four bytes choose method, layout and shape; the rest is the block, tested unchanged and with a valid
//! header.
#![no_main]

use ferrio_spec::{HeaderLayout, VERIFY_METHODS, VerifyCompression, VerifyContentSpec, VerifyForm, VerifyPattern};
use ferrio_stats::note::{BadBlock, VerifyNote};
use ferrio_workload::verify::block::{BlockRules, Expected, Write};
use ferrio_workload::verify::fault::{Damage, diagnose};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [method, shape, interval, at, block @ ..] = data else { return };
    let spec = VerifyContentSpec {
        method: VERIFY_METHODS[usize::from(*method) % VERIFY_METHODS.len()].method,
        layout: if shape & 1 == 0 { HeaderLayout::V3 } else { HeaderLayout::V2 },
        interval_bytes: if shape & 2 == 0 { 0 } else { u32::from(*interval) * 16 },
        header_at: if shape & 4 == 0 { 0 } else { u32::from(*at) * 4 },
        pattern: (shape & 8 > 0).then(|| VerifyPattern { bytes: vec![1, 2, 3], offsets_at: Vec::new() }),
        pattern_interval_bytes: u32::from(shape & 16) * 8,
        compression: (shape & 32 > 0).then(|| VerifyCompression {
            percent: u32::from(*interval) % 99 + 1,
            piece_bytes: u32::from(shape & 128) * 4,
            tail: vec![7; usize::from(at % 3)],
        }),
    };
    let has_pattern = spec.pattern.is_some();
    let (interval_bytes, header_at) = (spec.interval_bytes as usize, spec.header_at as usize);
    let form = spec.method.def().form;
    let is_blind = match form {
        VerifyForm::Nothing => true,
        VerifyForm::Header(None) | VerifyForm::Bare => !has_pattern,
        VerifyForm::Header(Some(_)) => false,
    };
    let rules = BlockRules::new(spec, 1);
    let rules = if shape & 64 == 0 { rules } else { rules.recognising() };
    let check = |received: &[u8], seed| {
        let expected = Expected { offset_bytes: 4096, seed, sequence: None, is_trimmed: false };
        let mut block = received.to_vec();
        let Err(fault) = rules.check(&mut block, &expected) else { return true };
        assert_eq!(block, received);
        let foreign = rules.foreign_layout(&block, 4096).map(Damage::OtherLayout);
        let (wanted, own) = (rules.regenerate(&block, &expected), rules.regenerate_own(&block, 4096));
        let damage = foreign.or_else(|| diagnose(&fault, &block, wanted.as_deref(), own.as_deref()));
        let (file, length_bytes) = ("f".to_owned(), block.len() as u64);
        let bad = BadBlock { file, offset_bytes: 4096, length_bytes, fault, dumps: Vec::new(), damage };
        let _ = ferrio_formats::words::note(&VerifyNote::BadBlock(Box::new(bad)).into());
        false
    };
    check(block, None);
    check(block, Some(7));
    let mut stamped = block.to_vec();
    rules.stamp(&mut stamped, &Write { offset_bytes: 4096, seed: 7, sequence: 1, start_ns: 5 });
    let is_whole = check(&stamped, Some(7));
    // As a job's options guarantee: intervals divide the block and have room for header and checksum.
    let interval_bytes = if interval_bytes == 0 { block.len() } else { interval_bytes };
    let area_bytes = rules.area_bytes();
    let has_room = interval_bytes > area_bytes
        && block.len().is_multiple_of(interval_bytes)
        && (header_at == 0 || (header_at >= area_bytes && header_at + area_bytes <= interval_bytes));
    assert!(is_whole || !has_room);
    if let Some(byte) = stamped.get_mut(usize::from(*at)) {
        *byte ^= 1;
        let is_whole = check(&stamped, Some(7));
        assert!(!is_whole || is_blind || !has_room);
    }
});
