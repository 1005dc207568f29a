//! Hits as a table, as CSV and as JSON.
//!
//! Must not know: how hits are drawn. Start reading at [`table`].

use super::DrawnHits;
use ferrio_units::humanize::{bytes_text, thousands};
use ferrio_units::random::HitCounts;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Text that is given away at once, bytes.
const PIECE_BYTES: usize = 64 << 10;

const LEGEND: &str = "\
rows: blocks that were hit, the most frequent first; data: their size;
share, sum: of all hits; I/O: hits x block size
";

/// The table, with lines before it that say what was drawn.
pub(super) fn table(drawn: &DrawnHits, n_rows: usize, percent: Option<f64>) -> String {
    let DrawnHits { hits, block_bytes, .. } = drawn;
    let mut text = head(drawn);
    if let Some(percent) = percent {
        let n_blocks = hits.blocks_of_share(percent);
        // A string takes everything.
        let _ = writeln!(
            text,
            "{percent} % of the hits are in {} blocks ({} of data).",
            thousands(n_blocks),
            bytes_text(n_blocks * block_bytes)
        );
    }
    let _ = writeln!(
        text,
        "\n{:<14}{:>12}{:>15}{:>9}{:>10}{:>12}\n{}",
        "rows",
        "data",
        "hits",
        "share",
        "sum",
        "I/O",
        "-".repeat(72)
    );
    let mut n_hits = 0;
    for (index, row) in hits.rows(n_rows).enumerate() {
        n_hits += row.n_hits;
        let _ = writeln!(
            text,
            "{} {:>6.2} %{:>12}{:>15}{:>7.2} %{:>8.2} %{:>12}",
            if index == 0 { "top  " } else { "up to" },
            share(index as u64 + 1, n_rows as u64),
            bytes_text(row.n_blocks * block_bytes),
            thousands(row.n_hits),
            share(row.n_hits, hits.n_blocks()),
            share(n_hits, hits.n_blocks()),
            bytes_text(row.n_hits * block_bytes),
        );
    }
    text + LEGEND
}

fn head(drawn: &DrawnHits) -> String {
    let DrawnHits { distribution, input, block_bytes, hits } = drawn;
    let n_hit = hits.counts().len() as u64;
    format!(
        "{}:{input} over {} in {} blocks of {block_bytes} bytes, hit {} times\n{} blocks ({}) are hit at all: {:.2} % of the \
         data.\n",
        distribution.name(),
        bytes_text(hits.n_blocks() * block_bytes),
        thousands(hits.n_blocks()),
        thousands(hits.n_blocks()),
        thousands(n_hit),
        bytes_text(n_hit * block_bytes),
        share(n_hit, hits.n_blocks()),
    )
}

/// Percent; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Lines of rank and hits, in pieces, because there may be as many as blocks. They are those of fio's program.
pub(super) fn csv(hits: &HitCounts, give: &mut dyn FnMut(&str)) {
    let mut piece = "rank, count\n".to_owned();
    for (rank, count) in hits.counts().iter().enumerate() {
        // A string takes everything.
        let _ = writeln!(piece, "{rank}, {count}");
        if piece.len() > PIECE_BYTES {
            give(&std::mem::take(&mut piece));
        }
    }
    give(&piece);
}

/// The table as JSON.
pub(super) fn document(drawn: &DrawnHits, n_rows: usize, percent: Option<f64>) -> Value {
    let DrawnHits { distribution, input, block_bytes, hits } = drawn;
    let row = |row: ferrio_units::random::HitRow| {
        json!({
            "n_blocks": row.n_blocks,
            "n_hits": row.n_hits,
            "share_of_hits": share(row.n_hits, hits.n_blocks()) / 100.0,
        })
    };
    let of_percent = percent.map(|percent| {
        let n_blocks = hits.blocks_of_share(percent);
        json!({ "percent": percent, "n_blocks": n_blocks, "data_bytes": n_blocks * block_bytes })
    });
    json!({
        "distribution": distribution.name(),
        "input": input,
        "block_bytes": block_bytes,
        "n_blocks": hits.n_blocks(),
        "n_draws": hits.n_blocks(),
        "n_blocks_hit": hits.counts().len(),
        "rows": hits.rows(n_rows).map(row).collect::<Vec<_>>(),
        "percent_of_hits": of_percent,
    })
}
