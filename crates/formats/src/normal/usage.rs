//! The lines about CPU, depths, counts and the latency target.
//!
//! Must not know: latencies. Start reading at [`write()`].

use crate::direction_block::{BATCH_LABELS, DEPTH_LABELS, cpu_percent, depth_percents};
use crate::text::put;
use crate::view::JobReport;
use ferrio_stats::ThreadStats;
use ferrio_units::DataDirection::{Read, Trim, Write};

/// Appends the lines from `cpu` to `issued rwts`.
pub(super) fn write(out: &mut String, stats: &ThreadStats) {
    cpu(out, stats);
    shares(out, "  IO depths    ", DEPTH_LABELS, depth_percents(&stats.depth.0, stats.n_issued()));
    shares(out, "     submit    ", BATCH_LABELS, depth_percents(&stats.submit.0, stats.submit.n_calls()));
    shares(out, "     complete  ", BATCH_LABELS, depth_percents(&stats.complete.0, stats.complete.n_calls()));
    issued(out, stats);
}

fn cpu(out: &mut String, stats: &ThreadStats) {
    let usage = &stats.usage;
    put!(
        out,
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}\n",
        cpu_percent(usage.user_ns, stats.total_runtime_ns),
        cpu_percent(usage.system_ns, stats.total_runtime_ns),
        usage.context_switches,
        usage.major_faults,
        usage.minor_faults
    );
}

fn shares(out: &mut String, head: &str, labels: [&str; 7], percents: [f64; 7]) {
    let cells: Vec<String> =
        labels.iter().zip(percents).map(|(label, percent)| format!("{label}={percent:3.1}%")).collect();
    put!(out, "{head}: {}\n", cells.join(", "));
}

/// Appends the line with the numbers of I/Os.
pub(super) fn issued(out: &mut String, stats: &ThreadStats) {
    let directions = &stats.directions;
    let total = [Read, Write, Trim].map(|direction| directions[direction].n_issued);
    let short = [Read, Write, Trim].map(|direction| directions[direction].n_short);
    let dropped = [Read, Write, Trim].map(|direction| directions[direction].n_dropped);
    put!(
        out,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={},{},{},0\n",
        total[0],
        total[1],
        total[2],
        stats.n_syncs_issued,
        short[0],
        short[1],
        short[2],
        dropped[0],
        dropped[1],
        dropped[2]
    );
}

/// Appends the line about the latency target, which is also there without a target; none for a job without a depth.
pub(super) fn write_latency_target(out: &mut String, job: &JobReport<'_>) {
    if job.latency_depth == 0 {
        return;
    }
    let target = &job.stats.latency_search.target;
    put!(
        out,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}\n",
        scaled_time(target.target_ns),
        scaled_time(target.window_ns),
        target.percentile,
        job.latency_depth
    );
}

/// A time in the largest unit in which it is at least 2.
fn scaled_time(duration_ns: u64) -> String {
    let (divisor, unit) = match duration_ns {
        0..2_000 => (1.0, "ns"),
        2_000..2_000_000 => (1e3, "us"),
        2_000_000..2_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2}{unit}", duration_ns as f64 / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_units() {
        let table = [
            (0, "0.00ns"),
            (1_999, "1999.00ns"),
            (2_000, "2.00us"),
            (800_000, "800.00us"),
            (500_000_000, "500.00ms"),
            (2_000_000_000, "2.00s"),
        ];
        for (duration_ns, text) in table {
            assert_eq!(scaled_time(duration_ns), text);
        }
    }
}
