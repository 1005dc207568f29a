//! The report of a run as text: its table, and the findings of its audit.

use crate::shared::hosts_report::{summary, with_rows_of_hosts};
use crate::ui::console::has_colour;
use ferrio_formats::native::{
    DrawnRuntimes, TEXT_WIDTH, accounts_lines, drawn_runtimes, ending_text, headlines, legend, table, totals, wrap,
};
use ferrio_stats::{Audit, RunRecord};

/// Explanation of the table's columns.
const LEGEND: &str = "MB/s: millions of bytes a second. 1 s = 1,000 ms, 1 ms = 1,000 us. p99: 99 of 100 I/Os took no longer, from \
                      submission to completion. CPU: user and system time of the job.";

/// The table, its legend, and the findings.
pub(crate) fn report_text(record: &RunRecord) -> String {
    let rows = with_rows_of_hosts(record, headlines(record));
    let accounts = record.audit.as_ref().and_then(|audit| audit.accounts.as_deref());
    let mut text = accounts
        .and_then(|accounts| ending_text(&accounts.ending))
        .map_or_else(String::new, |line| wrap(&line, "", TEXT_WIDTH) + "\n");
    text.push_str(&summary(record));
    text.push_str(&if rows.is_empty() {
        "No job has done any I/O.\n".to_owned()
    } else {
        table(&[&rows[..], &totals(record)].concat())
    });
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&wrap(LEGEND, "", TEXT_WIDTH));
        for line in legend(&rows).into_iter().chain(drawn_runtimes(record).iter().map(DrawnRuntimes::text)) {
            text.push_str(&wrap(&line, "", TEXT_WIDTH));
        }
    }
    let lines = accounts.filter(|_| !rows.is_empty()).map(accounts_lines).unwrap_or_default();
    if !lines.is_empty() {
        text.push('\n');
        text.extend(lines.iter().map(|line| wrap(line, "", TEXT_WIDTH)));
    }
    // Without figures there is nothing to be judged, but the reason may be a finding.
    if let Some(audit) = record.audit.as_ref().filter(|audit| !rows.is_empty() || !audit.findings.is_empty()) {
        text.push('\n');
        text.push_str(&audit_text(audit));
    }
    text
}

/// The outcome of an audit as text, with the width and colours of the terminal if the standard output is one.
pub(crate) fn audit_text(audit: &Audit) -> String {
    let stdout = std::io::stdout();
    let width = ferrio_formats::native::text_width(ferrio_sys::terminal::columns(&stdout));
    ferrio_formats::native::audit(audit, width, has_colour())
}
