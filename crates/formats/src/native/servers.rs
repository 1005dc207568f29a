//! Lines below the table about the servers of jobs: the steps to a connection, those of a request, what was repeated.
//!
//! Must not know: protocols. Start reading at [`lines`].

use super::headline::Headline;
use super::table::name;
use ferrio_stats::{LatencyStat, ServerSteps};
use ferrio_units::humanize::{duration_text, thousands};
use std::fmt::Write;

/// More jobs than this with a server are one line.
const MOST_JOBS: usize = 5;

/// A line for each job with a server; of many jobs one line.
pub(super) fn lines(headlines: &[Headline]) -> Vec<String> {
    let mut jobs: Vec<(&str, &ServerSteps)> =
        headlines.iter().filter_map(|headline| Some((headline.job.as_str(), headline.server.as_deref()?))).collect();
    // A job has a row for each direction; two jobs may have one name.
    jobs.dedup();
    if jobs.len() <= MOST_JOBS {
        return jobs.into_iter().map(|(job, steps)| line(&format!("Server of {}", name(job)), steps)).collect();
    }
    let mut all = ServerSteps::default();
    for (_, steps) in &jobs {
        all.merge(steps);
    }
    vec![line(&format!("Servers of {} jobs", jobs.len()), &all)]
}

fn line(subject: &str, steps: &ServerSteps) -> String {
    let ServerSteps {
        n_connections,
        n_reconnects,
        n_retries,
        n_resent,
        n_throttled,
        connect,
        tls,
        agree,
        first_byte,
        body,
        network,
        requests: _,
    } = steps;
    let mean = |what: &str, stat: &LatencyStat| {
        (stat.n_samples > 0).then(|| format!("{what} {}", duration_text(stat.mean_ns())))
    };
    let list = |parts: &[Option<String>]| parts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    let of_connection = list(&[
        mean("connect", connect),
        mean("TLS", tls),
        mean("agreement", agree),
        mean("round trip", &network.round_trip),
    ]);
    let of_request = list(&[mean("first byte after", first_byte), mean("the rest in", body)]);
    let count = |number: u64, one: &str, many: &str| {
        (number > 0).then(|| format!("{} {}", thousands(number), if number == 1 { one } else { many }))
    };
    let again = list(&[
        count(*n_reconnects, "connection was lost and made again", "connections were lost and made again"),
        count(*n_retries, "request was sent again", "requests were sent again"),
        count(
            *n_resent,
            "request was sent again because its connection had been closed",
            "requests were sent again because their connections had been closed",
        ),
        count(*n_throttled, "reply asked for fewer requests", "replies asked for fewer requests"),
    ]);
    let lost_segments = (network.n_sent_again > 0).then(|| {
        format!("{} of {} segments were sent again", thousands(network.n_sent_again), thousands(network.n_sent))
    });
    let again = list(&[(!again.is_empty()).then_some(again), lost_segments]);
    let connections = count(*n_connections, "connection", "connections").unwrap_or_else(|| "no connection".to_owned());
    let mut text = format!("{subject}: {connections}");
    let is_several = connect.n_samples > 1 || first_byte.n_samples > 1;
    if !of_connection.is_empty() {
        let _ = write!(text, " ({of_connection})");
    }
    for part in [of_request, again].iter().filter(|part| !part.is_empty()) {
        let _ = write!(text, "; {part}");
    }
    text.push_str(if is_several { "; times are means." } else { "." });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_there_is() {
        let mut steps = ServerSteps { n_connections: 1, ..ServerSteps::default() };
        steps.connect.record(120_000);
        assert_eq!(line("Server of a", &steps), "Server of a: 1 connection (connect 120 us).");
        steps.tls.record(2_000_000);
        steps.n_connections = 2;
        steps.n_reconnects = 1;
        steps.n_retries = 1_000;
        steps.first_byte.record(1_000_000);
        steps.first_byte.record(3_000_000);
        steps.body.record(500_000);
        let expected = "Server of a: 2 connections (connect 120 us, TLS 2.00 ms); first byte after 2.00 ms, the rest in 500 us; \
                        1 connection was lost and made again, 1,000 requests were sent again; times are means.";
        assert_eq!(line("Server of a", &steps), expected);
    }
}
