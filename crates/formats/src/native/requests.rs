//! Lines below the table about the requests of jobs to servers of objects: how many of each kind, and their times.
//!
//! Must not know: protocols. Start reading at [`lines`].

use super::headline::Headline;
use super::table::name;
use ferrio_stats::{ObjectRequestKind, RequestFigures, full_percentiles, has_few_beyond, per_second};
use ferrio_units::humanize::{duration_text, thousands};
use std::fmt::Write;

/// A line for each job and kind of request.
pub(super) fn lines(headlines: &[Headline]) -> Vec<String> {
    // Two jobs may have one name.
    let jobs = headlines.chunk_by(|one, next| one.job == next.job && one.server == next.server);
    jobs.flat_map(|rows| {
        let runtime_ns = rows.iter().map(|row| row.figures.runtime_ns).max().unwrap_or_default();
        let requests = rows.first().and_then(|row| row.server.as_deref()).map(|server| server.requests.0.as_slice());
        requests.unwrap_or_default().iter().map(move |figures| line(&name(&rows[0].job), figures, runtime_ns))
    })
    .collect()
}

fn line(job: &str, figures: &RequestFigures, runtime_ns: u64) -> String {
    let RequestFigures { kind, n_absent, n_short, n_names, time, .. } = figures;
    let count = time.n_samples;
    let what = match (kind, count) {
        (ObjectRequestKind::List, 1) => "list",
        (ObjectRequestKind::List, _) => "lists",
        (_, 1) => "object",
        _ => "objects",
    };
    let rate = thousands(per_second(count, runtime_ns).round() as u64);
    let mut text = format!("{} of {job}: {} {what}, {rate} a second", kind.name(), thousands(count));
    if *kind == ObjectRequestKind::List && count > 0 {
        let _ = write!(text, ", {} names each", thousands((*n_names as f64 / count as f64).round() as u64));
    }
    let _ = write!(text, "; mean {}", duration_text(time.mean_ns()));
    let tail = time.histogram.as_ref().map(|histogram| full_percentiles(histogram, &[99.0]));
    if let Some((percent, within_ns)) = tail.and_then(|found| found.first().copied())
        && !has_few_beyond(percent, count)
    {
        let _ = write!(text, ", p99 {}", duration_text(within_ns as f64));
    }
    if *n_absent > 0 {
        let _ = write!(text, "; {} were not there", thousands(*n_absent));
    }
    if *n_short > 0 {
        let _ = write!(text, "; {} had fewer bytes than were asked for", thousands(*n_short));
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{ObjectRequest, ObjectRequests};

    #[test]
    fn a_line_says_what_was_asked_for() {
        let mut requests = ObjectRequests::default();
        let request = |kind, n_names, is_absent| ObjectRequest {
            kind,
            bytes: 0,
            is_absent,
            is_short: is_absent,
            n_names,
            time_ns: 2_000_000,
        };
        (0..2_000).for_each(|n| requests.record(&request(ObjectRequestKind::Head, 0, n < 5)));
        requests.record(&request(ObjectRequestKind::List, 1_000, false));
        let lines: Vec<_> = requests.0.iter().map(|figures| line("a", figures, 4_000_000_000)).collect();
        let expected = [
            "head of a: 2,000 objects, 500 a second; mean 2.00 ms, p99 2.01 ms; 5 were not there; 5 had fewer bytes than were asked for.",
            "list of a: 1 list, 0 a second, 1,000 names each; mean 2.00 ms.",
        ];
        assert_eq!(lines, expected);
    }
}
