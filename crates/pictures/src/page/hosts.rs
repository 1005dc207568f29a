//! The hosts of a run on several: a line for each, which opens for its findings and figures.
//!
//! Must not know: charts. Start reading at [`hosts`].

use super::{findings, headline, precision, summary};
use ferrio_formats::{HostResult, RunResult};
use maud::{Markup, html};

/// All hosts, by rank; nothing: the run was one of a single host.
pub(super) fn hosts(result: &RunResult) -> Markup {
    html! {
        @if !result.hosts.is_empty() {
            h3 { "Hosts" }
            @for host in &result.hosts { (self::host(host)) }
        }
    }
}

fn host(host: &HostResult) -> Markup {
    html! {
        details class="host" {
            summary {
                strong { (host.name) } ": " (summary::sentence(&host.result))
                @if let Some(reason) = &host.lost { " " strong { "Lost: " (reason) "." } }
            }
            (findings::findings(&host.result))
            (headline::headline(&host.result))
            (precision::precision(&host.result))
            (summary::steady(&host.result))
        }
    }
}
