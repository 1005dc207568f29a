//! Any bytes as the statistics that a worker sends: statistics that can be merged, or an error, never a panic.
#![no_main]

use ferrio_stats::thread_stats::ThreadStats;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(mut stats) = postcard::from_bytes::<ThreadStats>(data) else { return };
    stats.merge(&stats.clone());
    stats.unify();
    // Bytes are compared: a figure that is no number is not equal to itself.
    let encode = |stats: &ThreadStats| postcard::to_stdvec(stats).expect("lists and numbers");
    let bytes = encode(&stats);
    assert_eq!(postcard::from_bytes(&bytes).as_ref().map(encode), Ok(bytes));
});
