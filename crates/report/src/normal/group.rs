//! The `Run status group` block.
//!
//! Must not know: jobs. Start reading at [`write`].

use crate::scale::{Unit, scaled};
use crate::text::put;
use ferrio_stats::{GroupDirection, GroupReport};

/// Appends the block of a group.
pub(super) fn write(out: &mut String, group_index: usize, group: &GroupReport) {
    put!(out, "\nRun status group {group_index} (all jobs):\n");
    let [read, write, trim] = group.directions.0;
    if group.unified_mixed {
        line(out, group, "MIXED", read);
        return;
    }
    line(out, group, "READ", read);
    line(out, group, "WRITE", write);
    line(out, group, "TRIM", trim);
    if group.unified_both {
        line(out, group, "MIXED", group.unified());
    }
}

/// The line of a direction, none if it did not run.
fn line(out: &mut String, group: &GroupReport, name: &str, direction: GroupDirection) {
    if !direction.ran() {
        return;
    }
    let unit = if group.unit_bits { Unit::BitsPerSec } else { Unit::BytesPerSec };
    let primary_iec = group.kb_base == 1024;
    let digits = group.significant_figures;
    let primary = |bw| scaled(bw, digits, primary_iec, 0, unit);
    let other = |bw| scaled(bw, digits, !primary_iec, 0, unit);
    let (low, high) = (direction.min_bw_bytes_per_sec, direction.max_bw_bytes_per_sec);
    put!(out, "  {name:>5}: bw={} ({}), ", primary(direction.bw_bytes_per_sec), other(direction.bw_bytes_per_sec));
    put!(out, "{}-{} ({}-{}), ", primary(low), primary(high), other(low), other(high));
    put!(
        out,
        "io={} ({}), run={}-{}msec\n",
        scaled(direction.bytes, digits, primary_iec, 0, Unit::Bytes),
        scaled(direction.bytes, digits, !primary_iec, 0, Unit::Bytes),
        direction.min_runtime_ms,
        direction.max_runtime_ms
    );
}
