//! The `lat (nsec)`, `lat (usec)`, `lat (msec)` lines.
//!
//! Must not know: directions. Start reading at [`write()`].

use crate::direction_block::{LATENCY_LABELS, latency_percent};
use crate::text::put;
use ferrio_stats::ThreadStats;

const N_PER_LINE: usize = 5;

/// Appends the lines of the buckets that are not empty.
pub(super) fn write(out: &mut String, stats: &ThreadStats) {
    let buckets = &stats.latency_buckets;
    let units: [(&str, &[u64]); 3] = [("nsec", &buckets.ns), ("usec", &buckets.us), ("msec", &buckets.ms)];
    for (unit, counts) in units {
        let filled: Vec<_> = LATENCY_LABELS.iter().zip(counts).filter(|(_, count)| **count > 0).collect();
        for line in filled.chunks(N_PER_LINE) {
            let cells: Vec<String> = line
                .iter()
                .map(|(label, count)| format!("{label}={:3.2}%", latency_percent(**count, stats.n_issued())))
                .collect();
            put!(out, "  lat ({unit})   : {}\n", cells.join(", "));
        }
    }
}
