//! Any bytes as two traces of blktrace that are merged: records by their times, or an error, never a panic.
//!
//! The first three bytes choose where the one ends, how often each is run through and how its times are scaled.
#![no_main]

use ferrio_workload::replay::{Merge, MergeInput, TraceBytes};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let [end, passes, scale, rest @ ..] = data else { return };
    let (first, second) = rest.split_at(rest.len() * usize::from(*end) / 256);
    let input = |part: &[u8], shift: u8| MergeInput {
        bytes: Arc::new(part.to_vec()) as Arc<dyn TraceBytes>,
        time_scale_ppm: [1, 500_000, 1_000_000, u64::MAX][usize::from(scale >> shift & 3)],
        n_passes: 1 + u32::from(passes >> shift & 3),
    };
    let Ok(mut merge) = Merge::new(vec![input(first, 0), input(second, 2)]) else { return };
    while let Ok(Some(_)) = merge.next_record() {}
    let _ = merge.into_remarks();
});
