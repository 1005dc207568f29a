//! The figures of a scan as text and as JSON.
//!
//! Must not know: how a target is read. Start reading at [`text`].

use ferrio_run::repeats::RepeatFigures;
use ferrio_units::errno_text;
use ferrio_units::humanize::{bytes_text, counted, thousands};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The figures, and options for a job that writes such data.
pub(super) fn text(repeats: &RepeatFigures) -> String {
    let mut text = String::new();
    for (name, value) in rows(repeats) {
        // A string takes everything.
        let _ = writeln!(text, "{name:<22}{value}");
    }
    if repeats.was_stopped {
        let _ = writeln!(
            text,
            "Stopped after {:.1} % of the blocks: the figures are those of the blocks that were read.",
            share(repeats.n_blocks, repeats.n_blocks_of_target)
        );
    }
    if !repeats.most_repeated.is_empty() {
        text += "\n       times  first offset\n";
        for block in &repeats.most_repeated {
            let _ = writeln!(text, "{:>12}  {}", thousands(block.n_times), block.first_offset_bytes);
        }
    }
    text += "\nOptions of a job that writes such data:\n";
    for (name, value) in options(repeats) {
        let _ = writeln!(text, "  {name}={value}");
    }
    text
}

fn rows(repeats: &RepeatFigures) -> Vec<(&'static str, String)> {
    let RepeatFigures { block_bytes, n_blocks, n_distinct, .. } = *repeats;
    let blocks = |n: u64| format!("{} ({}, {:.2} %)", thousands(n), bytes_text(n * block_bytes), share(n, n_blocks));
    let mut rows = vec![
        (
            "blocks read",
            format!("{} of {block_bytes} bytes ({})", thousands(n_blocks), bytes_text(n_blocks * block_bytes)),
        ),
        ("different blocks", blocks(n_distinct)),
        ("repeats of others", blocks(n_blocks - n_distinct)),
        ("  occur several times", format!("{} different blocks", thousands(repeats.n_repeated))),
        ("blocks of zeroes", blocks(repeats.n_zero_blocks)),
    ];
    if let Some(packed) = repeats.packed {
        rows.push(("compressed", of_whole(packed.all_bytes, n_blocks * block_bytes)));
        rows.push(("different, compressed", of_whole(packed.distinct_bytes, n_blocks * block_bytes)));
    }
    if repeats.sampled_one_in > 1 {
        let n_counted = repeats.n_counted.max(1);
        rows.push((
            "estimates",
            format!(
                "of 1 in {} hash values ({} counted): within {:.1} % in 95 of 100 cases",
                repeats.sampled_one_in,
                thousands(n_counted),
                // Two standard deviations of a count.
                200.0 / (n_counted as f64).sqrt()
            ),
        ));
    }
    let tail = repeats.size_bytes % block_bytes;
    if tail > 0 {
        rows.push(("not looked at", format!("{tail} bytes at the end, less than a block")));
    }
    rows
}

fn of_whole(part_bytes: u64, whole_bytes: u64) -> String {
    format!("{} ({:.2} % of what was read)", bytes_text(part_bytes), share(part_bytes, whole_bytes))
}

/// Options of fio with their values.
fn options(repeats: &RepeatFigures) -> Vec<(&'static str, u64)> {
    let whole_percent = |share: f64| (share * 100.0).round() as u64;
    let mut options = vec![("dedupe_percentage", whole_percent(repeats.repeating_share()))];
    if let Some(share) = repeats.compressible_share() {
        options.push(("buffer_compress_percentage", whole_percent(share)));
        options.push(("buffer_compress_chunk", repeats.block_bytes));
    }
    options
}

/// Percent; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// The complaint about what could not be read.
pub(super) fn unreadable(repeats: &RepeatFigures) -> Option<String> {
    repeats.unreadable.map(|unreadable| {
        let why = unreadable.errno.map_or_else(|| "the file has become shorter".to_owned(), errno_text);
        format!(
            "{} cannot be read, the first at offset {}: {why}",
            counted(unreadable.n_blocks, "block", "blocks"),
            unreadable.first_offset_bytes
        )
    })
}

pub(super) fn document(target: &Path, repeats: &RepeatFigures) -> Value {
    let block = |block: &ferrio_run::repeats::RepeatedBlock| json!({ "n_times": block.n_times, "first_offset_bytes": block.first_offset_bytes });
    let packed =
        repeats.packed.map(|packed| json!({ "all_bytes": packed.all_bytes, "distinct_bytes": packed.distinct_bytes }));
    let unreadable = repeats.unreadable.map(|unreadable| {
        json!({
            "n_blocks": unreadable.n_blocks,
            "first_offset_bytes": unreadable.first_offset_bytes,
            "errno": unreadable.errno,
        })
    });
    json!({
        "target": target.display().to_string(),
        "size_bytes": repeats.size_bytes,
        "block_bytes": repeats.block_bytes,
        "n_blocks_of_target": repeats.n_blocks_of_target,
        "n_blocks": repeats.n_blocks,
        "n_distinct": repeats.n_distinct,
        "n_repeated": repeats.n_repeated,
        "n_zero_blocks": repeats.n_zero_blocks,
        "sampled_one_in": repeats.sampled_one_in,
        "n_counted": repeats.n_counted,
        "compressed": packed,
        "most_repeated": repeats.most_repeated.iter().map(block).collect::<Vec<_>>(),
        "unreadable": unreadable,
        "was_stopped": repeats.was_stopped,
        "options": options(repeats).into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect::<serde_json::Map<_, _>>(),
    })
}
