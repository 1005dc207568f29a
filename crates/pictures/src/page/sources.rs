//! Where the figures come from: disks, machine, and the jobs as they were run.
//!
//! Must not know: figures of jobs. Start reading at [`sources`].

use ferrio_formats::{JobResult, RunResult};
use ferrio_units::humanize::{bytes_text, thousands};
use maud::{Markup, html};

/// Most jobs whose options are shown.
const MOST_JOBS: usize = 100;

/// All of it.
pub(super) fn sources(result: &RunResult, is_one_of_several: bool) -> Markup {
    html! {
        section {
            @if is_one_of_several { h2 { "Sources of " (result.name) } } @else { h2 { "Sources" } }
            (disks(result))
            h3 { "Jobs as run" }
            pre tabindex="0" aria-label="Job file" { (job_file(result)) }
            @if let Some(provenance) = &result.provenance {
                details {
                    summary { "Machine" }
                    pre tabindex="0" aria-label="Machine" { (format!("{:#}", provenance.to_document())) }
                }
            }
        }
    }
}

fn disks(result: &RunResult) -> Markup {
    html! {
        @if !result.disks.is_empty() {
            h3 { "Disks during the run" }
            div class="scrolls" tabindex="0" role="region" aria-label="Table of disks" {
                table {
                    thead { tr {
                        th scope="col" { "disk" } th scope="col" { "reads" } th scope="col" { "writes" } th scope="col" { "read" }
                        th scope="col" { "written" } th scope="col" { "busy" }
                    } }
                    tbody { @for disk in &result.disks { tr {
                        th scope="row" { (disk.name) }
                        td { (thousands(disk.n_reads)) }
                        td { (thousands(disk.n_writes)) }
                        td { (bytes_or_unknown(disk.read_bytes)) }
                        td { (bytes_or_unknown(disk.written_bytes)) }
                        td { (format!("{:.1} %", disk.busy_percent)) }
                    } } }
                }
            }
        }
    }
}

fn bytes_or_unknown(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".to_owned(), bytes_text)
}

fn job_file(result: &RunResult) -> String {
    let mut lines = Vec::new();
    let mut section = |name: &str, options: &[(String, String)]| {
        lines.push(format!("[{name}]"));
        for (option, value) in options.iter().filter(|(option, _)| option != "name") {
            lines.push(if value.is_empty() { option.clone() } else { format!("{option}={value}") });
        }
        lines.push(String::new());
    };
    if !result.global_options.is_empty() {
        section("global", &result.global_options);
    }
    // Clones of a job are one section, which has their number (numjobs).
    let is_clone = |one: &JobResult, next: &JobResult| (&one.name, &one.options) == (&next.name, &next.options);
    let jobs: Vec<&JobResult> = result.jobs.chunk_by(is_clone).filter_map(<[JobResult]>::first).collect();
    for job in jobs.iter().take(MOST_JOBS) {
        section(&job.name, &job.options);
    }
    if jobs.len() > MOST_JOBS {
        lines.push(format!("; {} more jobs", jobs.len() - MOST_JOBS));
    }
    lines.join("\n")
}

/// The program and the time of a result.
pub(super) fn source(result: &RunResult) -> String {
    let program = if result.program.is_empty() { "an unknown program" } else { &result.program };
    let time = result
        .timestamp_ms
        .and_then(|ms| i64::try_from(ms).ok())
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    match time {
        Some(time) => format!("Measured by {program}, report of {} UTC.", time.strftime("%Y-%m-%d %H:%M:%S")),
        None => format!("Measured by {program}."),
    }
}
