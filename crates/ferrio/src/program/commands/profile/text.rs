//! A profile as text.
//!
//! Must not know: how it is made. Start reading at [`outcome`].

use crate::ui::step_bar::time_text;
use ferrio::profile::{ProfileOutcome, ProfileTarget, SheetRow};
use ferrio_formats::native::{DOUBT_MARK, aligned, findings, text_width, wrap};
use ferrio_stats::{Finding, Metric, Severity};
use ferrio_units::humanize::{bytes_text, counted, duration_text};
use std::fmt::Write as _;
use std::time::Duration;

/// Headings of the data sheet.
pub(super) fn columns() -> Vec<&'static str> {
    ["measured", "at"].into_iter().chain(SHOWN.map(Metric::heading)).collect()
}
/// The figures of the data sheet.
const SHOWN: [Metric; 4] = [Metric::Iops, Metric::Bandwidth, Metric::P50, Metric::P99];

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

pub(super) fn cells(row: &SheetRow) -> Vec<String> {
    let figures = SHOWN.map(|metric| metric.cell_or(row.figure(metric), ""));
    [row.what.clone(), row.at.clone()].into_iter().chain(figures).collect()
}

/// The figures of a data sheet that most people ask for: the highest rates, and what one I/O takes. Empty: there are none of them.
pub(super) fn answer(sheet: &[SheetRow]) -> String {
    let most = |parts: &[&str], rate: fn(&SheetRow) -> Option<f64>| {
        let of_parts = sheet.iter().filter(|row| parts.contains(&row.part) && rate(row).is_some());
        of_parts.max_by(|one, other| rate(one).unwrap_or_default().total_cmp(&rate(other).unwrap_or_default()))
    };
    let doubt = |row: &SheetRow| if row.is_believable { "" } else { ", which a finding contradicts" };
    let rate = |parts: &[&str], kind: &str| {
        let iops = most(&parts[..1], |row| row.iops)?;
        let bytes = most(parts, |row| row.bytes_per_sec)?;
        Some(format!(
            "up to {} {kind} a second ({}{}) and {} MB/s ({}{})",
            Metric::Iops.cell(iops.iops?),
            iops.at,
            doubt(iops),
            Metric::Bandwidth.cell(bytes.bytes_per_sec?),
            bytes.at,
            doubt(bytes)
        ))
    };
    let alone = |part: &str, what: &str| {
        let row = sheet.iter().find(|row| row.part == part && row.p50_ns.is_some())?;
        Some(format!("{what} takes {}{}", duration_text(row.p50_ns?), doubt(row)))
    };
    let rates = [rate(&["reads", "sequential-reads"], "reads"), rate(&["writes", "sequential-writes"], "writes")];
    let times = [
        alone("read-alone", "one read of 4 KiB"),
        alone("write-alone", "one write"),
        alone("syncs", "the sync of a write"),
    ];
    let sentence = |parts: Vec<String>, joint: &str, end: &str| {
        let mut text = parts.join(joint);
        text.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
        if text.is_empty() { text } else { format!("{text}{end}") }
    };
    let rates = sentence(rates.into_iter().flatten().collect(), "; ", ".");
    let times = sentence(times.into_iter().flatten().collect(), ", ", " (half of them take less).");
    format!("{rates} {times}").trim().to_owned()
}

/// The data sheet, what was not measured, and the findings.
pub(super) fn outcome(outcome: &ProfileOutcome) -> String {
    let width = width();
    let answer = answer(&outcome.sheet);
    let answer = if answer.is_empty() { answer } else { wrap(&answer, "", width) + "\n" };
    let mut rows = vec![columns().into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for row in &outcome.sheet {
        let mut cells = cells(row);
        if !row.is_believable {
            cells[0].push_str(DOUBT_MARK);
        }
        rows.push(cells);
    }
    let mut text = answer + &aligned(&rows, 2) + "\n";
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(part: &'static str, at: &str, iops: f64, is_believable: bool) -> SheetRow {
        SheetRow {
            part,
            what: String::new(),
            at: at.to_owned(),
            iops: Some(iops),
            bytes_per_sec: Some(iops * 65_536.0),
            p50_ns: Some(1e9 / iops),
            p99_ns: None,
            is_believable,
        }
    }

    #[test]
    fn the_answer_has_the_highest_rates_and_one_io() {
        let sheet = [
            row("read-alone", "", 10_000.0, true),
            row("reads", "bs=4k iodepth=16", 40_000.0, true),
            row("reads", "bs=1m iodepth=4", 2_000.0, true),
            row("sequential-reads", "iodepth=8", 50_000.0, false),
            row("reads-through-cache", "direct=0", 90_000.0, true),
            row("syncs", "fdatasync=1 fsync=0", 500.0, true),
        ];
        assert_eq!(
            answer(&sheet),
            "Up to 40,000 reads a second (bs=4k iodepth=16) and 3,277 MB/s (iodepth=8, which a finding contradicts). \
             One read of 4 KiB takes 100 us, the sync of a write takes 2.00 ms (half of them take less)."
        );
        assert_eq!(answer(&[]), "");
    }
}
