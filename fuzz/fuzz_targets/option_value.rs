//! Any text as the value of any option: an error at worst, never a panic.
//!
//! The first two bytes choose the option, the rest is its value; without a rest the option has no value.
#![no_main]

use ferrio_fuzz::World;
use ferrio_job::message::UserMessages;
use ferrio_job::options::draft::{ApplyContext, Draft};
use ferrio_job::options::{OPTIONS, set::set};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [low, high, value @ ..] = data else { return };
    let def = &OPTIONS[usize::from(u16::from_le_bytes([*low, *high])) % OPTIONS.len()];
    let Ok(text) = std::str::from_utf8(value) else { return };
    let mut messages = UserMessages::default();
    let mut context = ApplyContext { environment: &World(&[]), readonly: false, messages: &mut messages };
    let _ = set(&mut Draft::new(), def, (!text.is_empty()).then_some(text), &mut context);
});
