//! A job's block: header, directions, buckets, syncs, usage.
//!
//! Must not know: groups, devices. Start reading at [`write()`].

use crate::direction_block::DirectionBlock;
use crate::normal::{block_states, buckets, direction, latency, percentiles, steady_state, usage};
use crate::text::put;
use crate::view::{FioView, JobReport};

/// Length of the text in the brackets of an error, bytes.
const MAX_ERROR_TEXT_BYTES: usize = 127;

/// Appends the block of `job`.
pub(super) fn write(out: &mut String, result: &FioView<'_>, job: &JobReport<'_>, date: &str) {
    header(out, job, date);
    for block in DirectionBlock::all(result, job) {
        direction::write(out, job, &block);
    }
    buckets::write(out, &job.stats);
    syncs(out, job);
    usage::write(out, &job.stats);
    errors(out, job);
    usage::write_latency_target(out, job);
    block_states::write(out, &job.settings, job.stats.features.block_states.as_ref());
    steady_state::write(out, &job.settings, job.steady_state.as_deref());
}

fn header(out: &mut String, job: &JobReport<'_>, date: &str) {
    if let Some(host) = &job.host {
        put!(out, "<{host}> ");
    }
    put!(out, "{}: (groupid={}, jobs={}): err={:2}", job.name, job.group_index, job.n_members, job.stats.errno);
    if job.stats.errno != 0 {
        put!(out, " ({})", shortened(&job.failure_text));
    }
    put!(out, ": pid={}: {date}\n", job.pid);
    if let Some(description) = &job.description {
        put!(out, "  Description  : [{description}]\n");
    }
}

fn shortened(text: &str) -> &str {
    // At most three bytes of a character are cut off.
    let end = (0..=MAX_ERROR_TEXT_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Appends the latencies of syncs; none without syncs.
pub(super) fn syncs(out: &mut String, job: &JobReport<'_>) {
    let sync = &job.stats.sync;
    if sync.n_samples == 0 {
        return;
    }
    out.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
    latency::write(out, "sync", sync);
    percentiles::write(out, "sync", sync, &job.settings);
}

fn errors(out: &mut String, job: &JobReport<'_>) {
    if !job.settings.show_errors {
        return;
    }
    let errors = &job.stats.tolerated;
    put!(
        out,
        "     errors    : total={}, first_error={}/<{}>\n",
        errors.n_total,
        errors.first_errno,
        ferrio_units::errno_text(errors.first_errno)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_texts_are_cut_between_characters() {
        assert_eq!(shortened("file:x.c:1"), "file:x.c:1");
        assert_eq!(shortened(&"a".repeat(200)).len(), 127);
        assert_eq!(shortened(&"\u{e9}".repeat(100)).len(), 126);
        assert_eq!(shortened(""), "");
    }
}
