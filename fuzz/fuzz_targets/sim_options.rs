//! Any text as the options of the simulated device: a device or an error, never a panic.
//!
//! A zero byte ends an option; they come in the order of the list.
#![no_main]

use ferrio_engine::EngineOptions;
use ferrio_spec::engines::options::from_texts;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 6] = ["sim_service", "sim_write_cache", "sim_stall", "sim_burst", "sim_fault", "sim_read_cache"];

fuzz_target!(|data: &[u8]| {
    let texts: Vec<_> = data.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let pairs = NAMES.iter().zip(&texts).filter(|(_, text)| !text.is_empty());
    let Some(given) = from_texts("sim", pairs.map(|(name, text)| (*name, text.as_ref()))) else { return };
    let Some(prepare) = ferrio_engine::find("sim").and_then(|kind| kind.io()) else { return };
    let _ = prepare(&EngineOptions::new(given));
});
