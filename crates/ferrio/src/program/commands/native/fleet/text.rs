//! The outcome of a fleet: as text, as JSON, as a page.

use crate::shared::audited_text::audit_text;
use crate::ui::console::Console;
use anyhow::anyhow;
use ferrio::fleet::{FleetOutcome, HostOutcome};
use ferrio::session::VERSION;
use ferrio_formats::native::{Headline, TEXT_WIDTH, headlines, note_text, table, wrap};
use ferrio_stats::RunRecord;
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use ferrio_units::humanize::three_digits;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The headline of a fleet, a table with the jobs of all hosts and of each, and the findings.
pub(super) fn report_text(outcome: &FleetOutcome, merged: &RunRecord) -> String {
    let mut text = wrap(&summary(outcome), "", TEXT_WIDTH);
    for host in outcome.hosts.iter().filter(|host| host.lost.is_some()) {
        let reason = host.lost.as_deref().unwrap_or_default();
        text.push_str(&wrap(
            &format!("{} was lost ({reason}): its figures are those of its intervals until then.", host.name),
            "",
            TEXT_WIDTH,
        ));
    }
    let rows = rows(outcome, merged);
    text.push('\n');
    text.push_str(&if rows.is_empty() { "No job has done any I/O.\n".to_owned() } else { table(&rows) });
    if let Some(audit) = &merged.audit {
        text.push('\n');
        text.push_str(&audit_text(audit));
    }
    text
}

/// The hosts, and how well they ran together.
fn summary(outcome: &FleetOutcome) -> String {
    let names: Vec<&str> = outcome.hosts.iter().map(|host| host.name.as_str()).collect();
    let together = match outcome.start_spread_ns() {
        Some(spread_ns) => format!(
            ", started within {} ms, all of them ran together for {} s",
            three_digits(spread_ns as f64 / 1e6),
            three_digits(outcome.common_ns() as f64 / 1e9)
        ),
        None => String::new(),
    };
    format!("{} hosts ({}){together}.", names.len(), names.join(", "))
}

/// The rows of each job: all hosts, then each one.
fn rows(outcome: &FleetOutcome, merged: &RunRecord) -> Vec<Headline> {
    let mut by_host: Vec<(&HostOutcome, Vec<Headline>)> =
        outcome.hosts.iter().map(|host| (host, headlines(&host.outcome.record))).collect();
    let mut rows = Vec::new();
    for all in headlines(merged) {
        // Jobs may have the same name: each row is taken once, in the order of the jobs.
        let own = by_host.iter_mut().filter_map(|(host, own)| {
            let place = own.iter().position(|row| row.job == all.job && row.kind == all.kind)?;
            Some(Headline { job: format!("  {}", host.name), ..own.remove(place) })
        });
        let own: Vec<Headline> = own.collect();
        rows.push(all);
        rows.extend(own);
    }
    rows
}

/// The report as JSON.
pub(super) fn document(outcome: &FleetOutcome, merged: &RunRecord) -> String {
    let hosts: Vec<Value> = outcome.hosts.iter().map(host_document).collect();
    let document = json!({
        "version": VERSION,
        "timestamp_ms": merged.timestamp_ms,
        "elapsed_ns": merged.elapsed_ns,
        "global_options": merged.global_options,
        "fleet": {
            "start_spread_ns": outcome.start_spread_ns(),
            "common_ns": outcome.common_ns(),
        },
        "jobs": headlines(merged),
        "findings": merged.audit.as_ref().map(|audit| &audit.findings),
        "unexamined": merged.audit.as_ref().map(|audit| &audit.unexamined),
        "hosts": hosts,
    });
    format!("{document:#}\n")
}

fn host_document(host: &HostOutcome) -> Value {
    let record = &host.outcome.record;
    let messages: Vec<String> =
        record.messages.kept().iter().map(|message| note_text(&message.note).trim().to_owned()).collect();
    json!({
        "host": host.name,
        "rank": host.rank,
        "lost": host.lost,
        "is_partial": host.is_partial,
        "clock_offset_ns": host.clock_offset_ns,
        "clock_uncertainty_ns": host.clock_uncertainty_ns,
        "elapsed_ns": record.elapsed_ns,
        "n_intervals_lost": host.outcome.n_intervals_lost,
        "jobs": headlines(record),
        "findings": record.audit.as_ref().map(|audit| &audit.findings),
        "provenance": record.provenance.as_ref().map(|provenance| provenance.to_document()),
        "messages": messages,
    })
}

/// The file of `--html`, which is open before the run.
pub(super) struct Page {
    path: PathBuf,
    file: AtomicFile,
}

impl Page {
    /// Opens the file, which replaces none of those that are kept.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path, kept: ProtectedPaths) -> anyhow::Result<Self> {
        let file = AtomicFile::create(path, &Arc::new(kept)).map_err(|error| {
            anyhow!("cannot write the page {}: {}", path.display(), ferrio_units::error_text(&error))
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes the page: all hosts first, then each.
    pub(super) fn write(self, outcome: &FleetOutcome, merged: &RunRecord, console: &mut Console) {
        let mut all = ferrio_formats::of_record(merged);
        "all hosts".clone_into(&mut all.name);
        let each = outcome.hosts.iter().map(|host| {
            let mut result = ferrio_formats::of_record(&host.outcome.record);
            result.name.clone_from(&host.name);
            result
        });
        let results: Vec<_> = std::iter::once(all).chain(each).collect();
        if let Err(error) = self.file.write(ferrio_pictures::page::page(&results).as_bytes()) {
            console.error(&format!(
                "cannot write the page {}: {}\n",
                self.path.display(),
                ferrio_units::error_text(&error)
            ));
            console.has_failed = true;
        }
    }
}
