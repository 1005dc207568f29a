//! The `Run status group` block.
//!
//! Must not know: jobs. Start reading at [`write()`].

use crate::direction_block;
use crate::text::put;
use crate::view::{GroupDirection, GroupReport};

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

/// The line of a direction; none if it did not run.
fn line(out: &mut String, group: &GroupReport, name: &str, direction: GroupDirection) {
    if !direction.ran() {
        return;
    }
    let style = direction_block::style(group.kb_base, group.unit_bits, group.significant_figures);
    let bw = style.rate(direction.bw_bytes_per_sec);
    let low = style.rate(direction.min_bw_bytes_per_sec);
    let high = style.rate(direction.max_bw_bytes_per_sec);
    let io = style.amount(direction.bytes);
    put!(
        out,
        "  {name:>5}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n",
        bw.primary,
        bw.alternate,
        low.primary,
        high.primary,
        low.alternate,
        high.alternate,
        io.primary,
        io.alternate,
        direction.min_runtime_ms,
        direction.max_runtime_ms
    );
}
