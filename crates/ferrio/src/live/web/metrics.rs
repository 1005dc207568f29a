//! The figures as text for Prometheus: in `OpenMetrics`, or in the older form.
//!
//! Must not know: requests. Start reading at [`metrics_text`].

use crate::live::board::{JobBoard, LiveBoard};
use crate::live::hosts::{HostBoard, HostsBoard};
use crate::live::totals::{DirectionTotals, N_LATENCY_BOUNDS, latency_bound_us};
use ferrio_units::DataDirection;
use std::collections::HashSet;
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricsForm {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus.
    Text,
}

impl MetricsForm {
    /// `OpenMetrics` where a header `Accept` names it.
    pub(super) fn of_accept(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Text }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

impl MetricKind {
    fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric: its name without suffixes, its unit (part of the name) and what it is.
struct MetricFamily {
    name: &'static str,
    unit: &'static str,
    kind: MetricKind,
    help: &'static str,
}

const IOS: MetricFamily =
    MetricFamily { name: "ferrio_ios", unit: "", kind: MetricKind::Counter, help: "I/Os that completed." };
const BYTES: MetricFamily = MetricFamily {
    name: "ferrio_bytes",
    unit: "bytes",
    kind: MetricKind::Counter,
    help: "Bytes read, written or trimmed.",
};
const ERRORS: MetricFamily = MetricFamily {
    name: "ferrio_errors",
    unit: "",
    kind: MetricKind::Counter,
    help: "Failed I/Os that the job went on after.",
};
const LATENCY: MetricFamily = MetricFamily {
    name: "ferrio_latency_seconds",
    unit: "seconds",
    kind: MetricKind::Histogram,
    help: "Completion latency, or total latency where the job has percentiles of that one.",
};
const SYNCS: MetricFamily = MetricFamily {
    name: "ferrio_syncs",
    unit: "",
    kind: MetricKind::Counter,
    help: "Syncs of any kind that returned.",
};
const SYNC_LATENCY: MetricFamily = MetricFamily {
    name: "ferrio_sync_latency_seconds",
    unit: "seconds",
    kind: MetricKind::Histogram,
    help: "Latency of syncs.",
};
const IN_FLIGHT: MetricFamily = MetricFamily {
    name: "ferrio_in_flight",
    unit: "",
    kind: MetricKind::Gauge,
    help: "Mean number of I/Os in flight over the last second.",
};

const HOST_RATE: MetricFamily = MetricFamily {
    name: "ferrio_host_ios_per_second",
    unit: "",
    kind: MetricKind::Gauge,
    help: "I/Os a second of a host over the last second.",
};
const HOST_LOST: MetricFamily =
    MetricFamily { name: "ferrio_host_lost", unit: "", kind: MetricKind::Gauge, help: "1: the host is lost." };

pub(super) fn metrics_text(board: &LiveBoard, form: MetricsForm) -> String {
    let jobs: Vec<(String, &JobBoard)> = names(board).into_iter().zip(&board.jobs).collect();
    let mut text = String::new();
    counter(&mut text, (&IOS, form), &jobs, |totals| totals.n_ios);
    counter(&mut text, (&BYTES, form), &jobs, |totals| totals.bytes);
    begin(&mut text, &ERRORS, form);
    for (name, job) in &jobs {
        let of_data = directions(name, job).map(|(labels, totals)| (labels, totals.n_errors));
        let of_syncs = (format!("job=\"{name}\",direction=\"sync\""), job.totals.n_sync_errors());
        for (labels, n_errors) in of_data.chain([of_syncs]) {
            let _ = writeln!(text, "{}_total{{{labels}}} {n_errors}", ERRORS.name);
        }
    }
    begin(&mut text, &LATENCY, form);
    for (labels, totals) in jobs.iter().flat_map(|(name, job)| directions(name, job)) {
        latencies(&mut text, &LATENCY, &labels, totals);
    }
    let with_syncs = jobs.iter().filter(|(_, job)| job.totals.syncs.n_ios > 0);
    let with_syncs: Vec<(String, &DirectionTotals)> =
        with_syncs.map(|(name, job)| (format!("job=\"{name}\""), &job.totals.syncs)).collect();
    begin(&mut text, &SYNCS, form);
    for (labels, totals) in &with_syncs {
        let _ = writeln!(text, "{}_total{{{labels}}} {}", SYNCS.name, totals.n_ios);
    }
    begin(&mut text, &SYNC_LATENCY, form);
    for (labels, totals) in &with_syncs {
        latencies(&mut text, &SYNC_LATENCY, labels, totals);
    }
    begin(&mut text, &IN_FLIGHT, form);
    for (name, job) in &jobs {
        let depths = board.depths_of(job);
        for (direction, depth) in depths.iter().filter(|(direction, _)| is_shown(job, *direction)) {
            let _ = writeln!(text, "{}{{{}}} {depth}", IN_FLIGHT.name, labels(name, direction));
        }
    }
    if !board.hosts.hosts.is_empty() {
        hosts(&mut text, &board.hosts, form);
    }
    text.push_str("# EOF\n");
    text
}

/// The hosts of a fleet. Their rank tells hosts of one name apart.
fn hosts(text: &mut String, board: &HostsBoard, form: MetricsForm) {
    let labels = |(rank, host): (usize, &HostBoard)| format!("host=\"{}\",rank=\"{rank}\"", escaped(&host.name));
    let all: Vec<(String, &HostBoard)> = board.hosts.iter().enumerate().map(|host| (labels(host), host.1)).collect();
    begin(text, &HOST_RATE, form);
    for (labels, host) in &all {
        let _ = writeln!(text, "{}{{{labels}}} {}", HOST_RATE.name, board.now_of(host).iops);
    }
    begin(text, &HOST_LOST, form);
    for (labels, host) in &all {
        let _ = writeln!(text, "{}{{{labels}}} {}", HOST_LOST.name, u8::from(host.lost.is_some()));
    }
}

/// A count of each job and direction.
fn counter(
    text: &mut String,
    (family, form): (&MetricFamily, MetricsForm),
    jobs: &[(String, &JobBoard)],
    count: impl Fn(&DirectionTotals) -> u64,
) {
    begin(text, family, form);
    for (labels, totals) in jobs.iter().flat_map(|(name, job)| directions(name, job)) {
        let _ = writeln!(text, "{}_total{{{labels}}} {}", family.name, count(totals));
    }
}

/// The lines before the values of a metric. The older form gives a counter the name of its values.
fn begin(text: &mut String, family: &MetricFamily, form: MetricsForm) {
    let MetricFamily { name, unit, kind, help } = *family;
    let suffix = if form == MetricsForm::Text && kind == MetricKind::Counter { "_total" } else { "" };
    let _ = writeln!(text, "# TYPE {name}{suffix} {}", kind.word());
    if form == MetricsForm::OpenMetrics && !unit.is_empty() {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name}{suffix} {help}");
}

/// The escaped names of the jobs. A name that an earlier job has too gets a number, because each value has labels of its own.
fn names(board: &LiveBoard) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut name_of = |job: &JobBoard| {
        let name = escaped(&job.name.name);
        let numbered = (2_u32..).map(|number| format!("{name} ({number})"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|candidate| !taken.contains(candidate)).unwrap_or(name);
        taken.insert(free.clone());
        free
    };
    board.jobs.iter().map(&mut name_of).collect()
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn labels(name: &str, direction: DataDirection) -> String {
    format!("job=\"{name}\",direction=\"{}\"", direction.name())
}

/// A job does I/O in this direction, or has done some.
fn is_shown(job: &JobBoard, direction: DataDirection) -> bool {
    job.name.directions[direction] || job.totals.directions[direction].n_ios > 0
}

/// The directions that are shown: their labels and counts.
fn directions<'a>(name: &'a str, job: &'a JobBoard) -> impl Iterator<Item = (String, &'a DirectionTotals)> {
    let all = job.totals.directions.iter();
    all.filter(|(direction, _)| is_shown(job, *direction)).map(|(direction, totals)| (labels(name, direction), totals))
}

/// A histogram: the latencies below each bound, all of them, their sum and their number.
fn latencies(text: &mut String, family: &MetricFamily, labels: &str, totals: &DirectionTotals) {
    let name = family.name;
    let mut n_below: u64 = 0;
    for index in 0..N_LATENCY_BOUNDS {
        n_below = n_below.saturating_add(totals.latencies.get(index).copied().unwrap_or(0));
        let bound = bound_text(latency_bound_us(index));
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {n_below}");
    }
    let n_all = n_below.saturating_add(totals.latencies.get(N_LATENCY_BOUNDS).copied().unwrap_or(0));
    let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {n_all}");
    let (seconds, rest_ns) = (totals.latency_sum_ns / 1_000_000_000, totals.latency_sum_ns % 1_000_000_000);
    let _ = writeln!(text, "{name}_sum{{{labels}}} {seconds}.{rest_ns:09}");
    let _ = writeln!(text, "{name}_count{{{labels}}} {n_all}");
}

/// A bound in seconds, in the form that `OpenMetrics` wants of bounds: as `%g` of C and Go, with an exponent below 0.0001.
fn bound_text(bound_us: u64) -> String {
    match bound_us {
        0..10 => format!("{bound_us}e-06"),
        10..100 => format!("{}.{}e-05", bound_us / 10, bound_us % 10),
        _ => format!("{}.{:06}", bound_us / 1_000_000, bound_us % 1_000_000).trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::frame::{HostInterval, JobName, LiveFrame};
    use crate::live::totals::JobTotals;
    use ferrio_units::PerDirection;

    fn board(names: &[&str]) -> LiveBoard {
        let job = |name: &&str| JobName {
            name: (*name).to_owned(),
            n_clones: 1,
            directions: PerDirection([true, false, false]),
        };
        let jobs = names.iter().map(job).collect();
        let mut board = LiveBoard::default();
        board.apply(LiveFrame::Begin { title: String::new(), jobs, devices: Vec::new() });
        board
    }

    /// The value behind a name with its labels.
    fn value<'a>(text: &'a str, name: &str) -> &'a str {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}"))
    }

    #[test]
    fn a_histogram_is_cumulative_and_has_sum_and_count() {
        let mut board = board(&["a"]);
        let mut latencies = vec![0; N_LATENCY_BOUNDS + 1];
        (latencies[0], latencies[7], latencies[N_LATENCY_BOUNDS]) = (5, 3, 1);
        let read = DirectionTotals { n_ios: 9, bytes: 36_864, n_errors: 1, latency_sum_ns: 70_000_000_405, latencies };
        let directions = PerDirection([read, DirectionTotals::default(), DirectionTotals::default()]);
        board.apply(LiveFrame::Totals(JobTotals {
            job: 0,
            directions,
            syncs: DirectionTotals::default(),
            n_errors: 2,
        }));
        let text = metrics_text(&board, MetricsForm::OpenMetrics);
        let labels = "job=\"a\",direction=\"read\"";
        assert_eq!(value(&text, &format!("ferrio_ios_total{{{labels}}}")), "9");
        assert_eq!(value(&text, &format!("ferrio_bytes_total{{{labels}}}")), "36864");
        assert_eq!(value(&text, &format!("ferrio_errors_total{{{labels}}}")), "1");
        assert_eq!(value(&text, "ferrio_errors_total{job=\"a\",direction=\"sync\"}"), "1");
        let bucket = |bound: &str| value(&text, &format!("ferrio_latency_seconds_bucket{{{labels},le=\"{bound}\"}}"));
        let bounds = ["1e-06", "6.4e-05", "0.000128", "0.000256", "1.048576", "67.108864", "+Inf"];
        assert_eq!(bounds.map(bucket), ["5", "5", "8", "8", "8", "8", "9"]);
        assert_eq!(text.matches("_bucket{").count(), 28);
        assert_eq!(value(&text, &format!("ferrio_latency_seconds_sum{{{labels}}}")), "70.000000405");
        assert_eq!(value(&text, &format!("ferrio_latency_seconds_count{{{labels}}}")), "9");
        assert!(!text.contains("write") && text.ends_with("# EOF\n"));
        assert!(
            text.contains("# TYPE ferrio_ios counter\n# HELP ferrio_ios I/Os")
                && text.contains("# UNIT ferrio_bytes bytes\n")
        );
        let older = metrics_text(&board, MetricsForm::Text);
        assert!(older.contains("# TYPE ferrio_ios_total counter\n") && !older.contains("# UNIT"), "{older}");
    }

    #[test]
    fn syncs_have_metrics_of_their_own() {
        let mut board = board(&["a", "b"]);
        let mut latencies = vec![0; N_LATENCY_BOUNDS + 1];
        latencies[12] = 4;
        let syncs = DirectionTotals { n_ios: 4, latency_sum_ns: 12_000_000, latencies, ..DirectionTotals::default() };
        board.apply(LiveFrame::Totals(JobTotals { job: 0, syncs, ..JobTotals::default() }));
        let text = metrics_text(&board, MetricsForm::OpenMetrics);
        assert_eq!(value(&text, "ferrio_syncs_total{job=\"a\"}"), "4");
        assert_eq!(value(&text, "ferrio_sync_latency_seconds_bucket{job=\"a\",le=\"0.002048\"}"), "0");
        assert_eq!(value(&text, "ferrio_sync_latency_seconds_bucket{job=\"a\",le=\"0.004096\"}"), "4");
        assert_eq!(value(&text, "ferrio_sync_latency_seconds_sum{job=\"a\"}"), "0.012000000");
        assert!(!text.contains("ferrio_syncs_total{job=\"b\"}"));
    }

    #[test]
    fn hosts_have_a_rate_and_say_whether_they_are_lost() {
        let mut board = board(&["a"]);
        assert!(!metrics_text(&board, MetricsForm::Text).contains("ferrio_host"));
        board.apply(LiveFrame::Hosts(vec!["x\"y".to_owned(), "x\"y".to_owned()]));
        let (start_ns, end_ns) = (0, 1_000_000_000);
        let interval = HostInterval { rank: 1, job: 0, start_ns, end_ns, iops: 2.5, bw_bytes: 0.0, p99_ns: None };
        board.apply(LiveFrame::HostInterval(interval));
        board.apply(LiveFrame::HostLost { rank: 0, reason: "gone".to_owned() });
        let text = metrics_text(&board, MetricsForm::OpenMetrics);
        let of = |name: &str, rank: u32| {
            value(&text, &format!("ferrio_host_{name}{{host=\"x\\\"y\",rank=\"{rank}\"}}")).to_owned()
        };
        assert_eq!([of("ios_per_second", 0), of("ios_per_second", 1)], ["0", "2.5"]);
        assert_eq!([of("lost", 0), of("lost", 1)], ["1", "0"]);
    }

    #[test]
    fn names_of_jobs_are_escaped_and_no_two_are_equal() {
        let board = board(&["a\"b\\c\nd", "a", "a", "a (2)", "a"]);
        let text = metrics_text(&board, MetricsForm::OpenMetrics);
        let labels = ["a\\\"b\\\\c\\nd", "a", "a (2)", "a (2) (2)", "a (3)"];
        for label in labels {
            assert_eq!(value(&text, &format!("ferrio_ios_total{{job=\"{label}\",direction=\"read\"}}")), "0");
        }
        assert_eq!(text.matches("ferrio_ios_total{").count(), labels.len());
    }

    #[test]
    fn the_form_is_that_which_the_reader_asks_for() {
        let accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
        assert_eq!(MetricsForm::of_accept(accept), MetricsForm::OpenMetrics);
        assert_eq!([MetricsForm::of_accept("*/*"), MetricsForm::of_accept("")], [MetricsForm::Text; 2]);
    }
}
