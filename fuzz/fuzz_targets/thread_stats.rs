//! Any bytes as the statistics that a worker sends: statistics that can be merged, or an error, never a panic.
#![no_main]

use ferrio_stats::thread_stats::ThreadStats;
use ferrio_stats::wire;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(mut stats) = wire::from_bytes::<ThreadStats>(data) else { return };
    stats.merge(&stats.clone());
    stats.unify();
    // Bytes are compared: a figure that is no number is not equal to itself.
    let bytes = wire::to_bytes(&stats);
    assert_eq!(wire::from_bytes::<ThreadStats>(&bytes).map(|stats| wire::to_bytes(&stats)), Ok(bytes));
});
