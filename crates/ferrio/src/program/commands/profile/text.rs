//! A profile as text.
//!
//! Must not know: how it is made. Start reading at [`outcome`].

use crate::ui::columns::aligned;
use crate::ui::durations::time_text;
use ferrio::profile::{ProfileOutcome, ProfileTarget, SheetRow};
use ferrio_formats::native::{DOUBT_MARK, findings, text_width, wrap};
use ferrio_stats::{Finding, Severity};
use ferrio_units::glance::{bytes_text, counted, duration_text, thousands, three_digits};
use std::fmt::Write as _;
use std::time::Duration;

/// Headings of the data sheet.
pub(super) const COLUMNS: [&str; 6] = ["measured", "at", "IOPS", "MB/s", "p50", "p99"];

fn width() -> usize {
    text_width(ferrio_sys::terminal::columns(std::io::stdout()))
}

/// What is going to be done.
pub(super) fn before(target: &ProfileTarget, time_ms: u64, n_runs: usize) -> String {
    let what = if target.is_written { "a file of at most" } else { "reads of a device of" };
    let time = time_text(Duration::from_millis(time_ms));
    wrap(
        &format!(
            "{} in {time}: {what} {}, {}",
            counted(n_runs as u64, "run", "runs"),
            bytes_text(target.bytes),
            target.engine
        ),
        "",
        width(),
    ) + "\n"
}

/// The cells of a row of the data sheet.
pub(super) fn cells(row: &SheetRow) -> [String; 6] {
    let text = |value: Option<f64>, of: fn(f64) -> String| value.map_or(String::new(), of);
    [
        row.what.clone(),
        row.at.clone(),
        text(row.iops, |iops| thousands(iops.round() as u64)),
        text(row.bytes_per_sec, |bytes| three_digits(bytes / 1e6)),
        text(row.p50_ns, duration_text),
        text(row.p99_ns, duration_text),
    ]
}

/// The data sheet, what was not measured, and the findings.
pub(super) fn outcome(outcome: &ProfileOutcome) -> String {
    let width = width();
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    for row in &outcome.sheet {
        let mut cells = cells(row).to_vec();
        if !row.is_believable {
            cells[0].push_str(DOUBT_MARK);
        }
        rows.push(cells);
    }
    let mut text = aligned(&rows, 2) + "\n";
    text += &wrap(
        &format!(
            "{DOUBT_MARK}: a finding contradicts the figures. MB/s: millions of bytes a second. Latencies are from submission to completion; of users who do not wait, from the time at which they came; of syncs, their own."
        ),
        "",
        width,
    );
    text.push_str("\nNot measured:\n");
    for sentence in &outcome.not_measured {
        text += &wrap(sentence, "- ", width);
    }
    let has_colour = crate::ui::console::has_colour();
    for found in outcome.findings.iter().filter(|found| found.finding.severity != Severity::Note) {
        // Writing to a text cannot fail.
        let _ = write!(text, "\n{}", wrap(&format!("{}:", found.sections.join("; ")), "", width));
        text += &findings(std::slice::from_ref::<Finding>(&found.finding), width, has_colour);
    }
    text
}
