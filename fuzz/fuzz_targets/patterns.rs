//! Any text as `verify_pattern` and as `buffer_pattern`: gives a pattern that is not empty, or an error, never a panic;
//! data written with the pattern passes its check.
//!
//! The first two bytes are the length of a block and of the intervals at which the pattern starts again, the rest is
//! the text.
#![no_main]

use ferrio_fuzz::World;
use ferrio_job::message::UserMessages;
use ferrio_job::options::draft::{ApplyContext, Draft};
use ferrio_job::options::{OPTIONS, set::set};
use ferrio_spec::{HeaderLayout, VerifyContentSpec, VerifyMethod, VerifyPattern};
use ferrio_workload::verify::block::{BlockRules, Expected, Write};
use libfuzzer_sys::fuzz_target;

fn check_blocks(pattern: &VerifyPattern, block_bytes: usize, pattern_interval_bytes: u32) {
    for method in [VerifyMethod::Pattern, VerifyMethod::PatternHeader, VerifyMethod::Crc32c] {
        let spec = VerifyContentSpec {
            method,
            layout: HeaderLayout::V3,
            interval_bytes: 0,
            header_at: 0,
            pattern: Some(pattern.clone()),
            pattern_interval_bytes,
            compression: None,
        };
        let rules = BlockRules::new(spec, 1);
        let mut block = vec![0; block_bytes];
        rules.stamp(&mut block, &Write { offset_bytes: 1 << 40, seed: 7, sequence: 1, start_ns: 5 });
        let expected = Expected { offset_bytes: 1 << 40, seed: Some(7), sequence: Some(1), is_trimmed: false };
        if block_bytes > rules.area_bytes() {
            assert!(rules.check(&mut block, &expected).is_ok());
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [length, interval, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    for name in ["verify_pattern", "buffer_pattern"] {
        let Some(def) = OPTIONS.iter().find(|def| def.name == name) else { continue };
        let mut messages = UserMessages::default();
        let mut context = ApplyContext { environment: &World(&[]), readonly: false, messages: &mut messages };
        let mut draft = Draft::new();
        if set(&mut draft, def, Some(text), &mut context).is_ok()
            && let Some(pattern) = &draft.open.verify.pattern
        {
            assert!(!pattern.bytes.is_empty());
            check_blocks(pattern, usize::from(*length) * 8, u32::from(*interval) * 4);
        }
    }
});
