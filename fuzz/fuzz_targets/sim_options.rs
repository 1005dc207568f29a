//! Any text as the options of the simulated device: a device or an error, never a panic.
//!
//! A zero byte ends an option; they come in the order of the list.
#![no_main]

use ferrio_engine::{EngineOptions, EngineValue};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 7] =
    ["sim_service", "sim_write_cache", "sim_stall", "sim_burst", "sim_fault", "sim_capacity", "sim_read_cache"];

fuzz_target!(|data: &[u8]| {
    let texts = data.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let given = NAMES.iter().zip(texts).filter(|(_, text)| !text.is_empty());
    let entries = given.map(|(name, text)| ((*name).to_owned(), EngineValue::Text(text.into_owned()))).collect();
    let Some(kind) = ferrio_engine::find("sim") else { return };
    let _ = (kind.prepare)(&EngineOptions::new(entries));
});
