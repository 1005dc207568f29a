//! A run on several hosts in reports: how well they ran together, the rows of each, and each in documents.
//!
//! Must not know: how hosts are reached. Start reading at [`summary`] and [`with_rows_of_hosts`].

use ferrio_formats::native::{Headline, TEXT_WIDTH, headlines, note_text, wrap};
use ferrio_stats::{HostPart, RunRecord};
use ferrio_units::humanize::three_digits;
use serde_json::{Value, json};

/// The hosts, how well they ran together, and those that were lost; empty: the run was one of a single host.
pub(crate) fn summary(record: &RunRecord) -> String {
    let hosts = record.hosts();
    if hosts.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let together = record.hosts_together();
    let ran = together.start_spread_ns.map_or_else(String::new, |spread_ns| {
        format!(
            ", started within {} ms, all of them ran together for {} s",
            three_digits(spread_ns as f64 / 1e6),
            three_digits(together.common_ns as f64 / 1e9)
        )
    });
    let mut text = wrap(&format!("{} hosts ({}){ran}.", names.len(), names.join(", ")), "", TEXT_WIDTH);
    for host in hosts {
        let Some(reason) = &host.lost else { continue };
        let lost = format!("{} was lost ({reason}): its figures are those of its intervals until then.", host.name);
        text.push_str(&wrap(&lost, "", TEXT_WIDTH));
    }
    text.push('\n');
    text
}

/// The rows of each job of a run on several hosts: all hosts, then each one. The rows of a run on one host stay alone.
pub(crate) fn with_rows_of_hosts(record: &RunRecord, all: Vec<Headline>) -> Vec<Headline> {
    let of_host = |host: &HostPart| (host.name.clone(), headlines(&record.of_host(host)));
    let mut by_host: Vec<(String, Vec<Headline>)> = record.hosts().iter().map(of_host).collect();
    let mut rows = Vec::new();
    for row in all {
        // Jobs may have the same name: each row is taken once, in the order of the jobs.
        let own = by_host.iter_mut().filter_map(|(host, own)| {
            let place = own.iter().position(|own| own.job == row.job && own.kind == row.kind)?;
            Some(Headline { job: format!("  {host}"), ..own.remove(place) })
        });
        let own: Vec<Headline> = own.collect();
        rows.push(row);
        rows.extend(own);
    }
    rows
}

/// How well the hosts ran together.
pub(crate) fn together_document(record: &RunRecord) -> Value {
    let together = record.hosts_together();
    json!({ "start_spread_ns": together.start_spread_ns, "common_ns": together.common_ns })
}

/// The report of each host.
pub(crate) fn documents(record: &RunRecord) -> Vec<Value> {
    record.hosts().iter().map(|host| document(host, &record.of_host(host))).collect()
}

fn document(host: &HostPart, record: &RunRecord) -> Value {
    let messages: Vec<String> =
        record.messages.kept().iter().map(|message| note_text(&message.note).trim().to_owned()).collect();
    json!({
        "host": host.name,
        "rank": host.rank,
        "lost": host.lost,
        "is_partial": host.is_partial,
        "start_ns": host.start_ns,
        "clock_offset_ns": host.clock_offset_ns,
        "clock_uncertainty_ns": host.clock_uncertainty_ns,
        "elapsed_ns": record.elapsed_ns,
        "n_intervals_lost": host.n_intervals_lost,
        "jobs": headlines(record),
        "findings": record.audit.as_ref().map(|audit| &audit.findings),
        "provenance": record.provenance.as_ref().map(|provenance| provenance.to_document()),
        "messages": messages,
    })
}
