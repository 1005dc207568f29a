//! The table of headline figures, its marks and its legend.
//!
//! Must not know: how figures are computed. Start reading at [`table`].

use super::columns::{ColumnLayout, NOTHING};
use super::headline::Headline;
use super::{requests, servers};
use ferrio_stats::{
    Estimate, Figures, ImprecisionReason, IoKind, JobPrecision, LEAST_IOS_OF_RATE, LEAST_NS_OF_RATE, LatencyFigures,
    Metric,
};
use ferrio_units::humanize::{duration_text, thousands};
use ferrio_units::terminal_text::escape_name;

/// Marks a percentile that is based on few I/Os.
pub const DOUBT_MARK: &str = "*";
/// Marks a rate that is based on little.
pub const THIN_MARK: &str = "~";
/// Longer names are cut, so that the table keeps its columns.
const MAX_NAME: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Job,
    Kind,
    /// The number of I/Os: shown where a job has syncs, whose number is not that of the writes.
    Count,
    Figure(Metric),
    Cpu,
    /// Shown where a job had errors.
    Errors,
}

impl Column {
    const ALL: [Self; 11] = [
        Self::Job,
        Self::Kind,
        Self::Count,
        Self::Figure(Metric::Bandwidth),
        Self::Figure(Metric::Iops),
        Self::Figure(Metric::P50),
        Self::Figure(Metric::P99),
        Self::Figure(Metric::P999),
        Self::Figure(Metric::Max),
        Self::Cpu,
        Self::Errors,
    ];

    const fn heading(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Kind => "",
            Self::Count => "I/Os",
            Self::Figure(metric) => metric.heading(),
            Self::Cpu => "CPU/I/O",
            Self::Errors => "errors",
        }
    }

    fn is_shown(self, headlines: &[Headline]) -> bool {
        match self {
            Self::Count => headlines.iter().any(|headline| headline.kind == IoKind::Sync),
            Self::Errors => headlines.iter().any(|headline| headline.n_errors > 0 || headline.error != 0),
            _ => true,
        }
    }

    /// The cell in the row of a job's figures.
    fn cell(self, headline: &Headline) -> String {
        let figures = &headline.figures;
        let is_sync = headline.kind == IoKind::Sync;
        match self {
            Self::Job => name(&headline.job),
            Self::Kind => headline.kind.name().to_owned(),
            Self::Count => thousands(figures.n_ios),
            // Syncs move no data, and the errors and the CPU time are those of the whole job.
            Self::Figure(Metric::Bandwidth) | Self::Cpu | Self::Errors if is_sync => NOTHING.to_owned(),
            Self::Figure(metric) => figure(metric, figures, figures.latency().map(|(_, latency)| latency)),
            Self::Cpu => duration_text(headline.cpu_ns_per_io),
            Self::Errors if headline.error != 0 => "failed".to_owned(),
            Self::Errors => thousands(headline.n_errors),
        }
    }

    /// The cell in the row of the response latencies.
    fn response(self, latency: &LatencyFigures) -> String {
        match self {
            Self::Job => "  (response)".to_owned(),
            Self::Figure(metric) if metric.is_latency() => figure(metric, &Figures::default(), Some(latency)),
            _ => String::new(),
        }
    }

    /// The cell in the row of the precision.
    fn precision(self, precision: &JobPrecision) -> String {
        let estimate = match self {
            Self::Job => return "  (95 %)".to_owned(),
            Self::Figure(metric) => metric.precision(precision),
            _ => None,
        };
        estimate
            .and_then(|told| told.interval().copied())
            .map_or_else(String::new, |interval| within(interval.percent()))
    }
}

/// The headlines as a table: names to the left, figures to the right, and their precision below.
pub fn table(headlines: &[Headline]) -> String {
    let columns: Vec<Column> = Column::ALL.into_iter().filter(|column| column.is_shown(headlines)).collect();
    let heading = columns.iter().map(|column| column.heading().to_owned()).collect();
    let rows: Vec<Vec<String>> =
        std::iter::once(heading).chain(headlines.iter().flat_map(|headline| rows(headline, &columns))).collect();
    let layout = ColumnLayout::of(&rows, |at| matches!(columns[at], Column::Job | Column::Kind));
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        text.push_str(&layout.line(row));
        if index == 0 {
            text.push_str(&layout.rule());
        }
    }
    text
}

/// What [`THIN_MARK`] means.
pub fn thin_legend() -> String {
    format!(
        "{THIN_MARK}: a rate of fewer than {LEAST_IOS_OF_RATE} I/Os or of less than {} s is no rate of the storage. Run longer.",
        LEAST_NS_OF_RATE as f64 / 1e9
    )
}

/// The cell of a figure with this latency, and its mark.
fn figure(metric: Metric, figures: &Figures, latency: Option<&LatencyFigures>) -> String {
    let is_doubtful = latency.and_then(|latency| metric.percentile(latency)).is_some_and(|found| found.is_doubtful);
    let is_thin = matches!(metric, Metric::Bandwidth | Metric::Iops) && figures.has_thin_rates();
    let mark = match (is_doubtful, is_thin) {
        (true, _) => DOUBT_MARK,
        (false, true) => THIN_MARK,
        (false, false) => "",
    };
    metric.of(figures, latency).map_or_else(|| NOTHING.to_owned(), |value| metric.cell(value) + mark)
}

/// The figures, and below them their precision and their response latencies.
fn rows(headline: &Headline, columns: &[Column]) -> Vec<Vec<String>> {
    let row = |cell: &dyn Fn(Column) -> String| columns.iter().map(|column| cell(*column)).collect();
    let mut rows = vec![row(&|column| column.cell(headline))];
    if let Some(precision) = headline.precision.as_ref().filter(|precision| has_interval(precision)) {
        rows.push(row(&|column| column.precision(precision)));
    }
    if let Some(response) = &headline.figures.response {
        rows.push(row(&|column| column.response(response)));
    }
    rows
}

/// What the table does not explain itself: its marks, and why figures have no precision.
pub fn legend(headlines: &[Headline]) -> Vec<String> {
    let mut lines = Vec::new();
    let intervals = || headlines.iter().filter_map(|headline| headline.precision.as_ref());
    if headlines.iter().any(|headline| headline.kind == IoKind::Sync) {
        lines.push(
            "sync: the calls of fsync, fdatasync and the like between the writes. A write into the cache is on the disk \
             when the sync behind it has returned."
                .to_owned(),
        );
    }
    if headlines.iter().any(|headline| headline.figures.response.is_some()) {
        lines.push("(response): latencies from the time at which the rate wanted an I/O to start.".to_owned());
    }
    if intervals().any(has_interval) {
        lines.push(
            "±: with a probability of 95 % the true value is not farther away, as far as the course of the run shows (ferrio help precision)."
                .to_owned(),
        );
        lines.extend(rates_without_interval(headlines));
    } else if let Some(Estimate::Unknown(reason)) = intervals().map(|precision| precision.ios_per_sec).next() {
        lines.push(format!("No ± for these figures: {}.", reason_words(reason)));
    }
    lines.extend(helper_lines(headlines));
    lines.extend(servers::lines(headlines));
    lines.extend(requests::lines(headlines));
    if headlines.iter().any(|headline| headline.figures.has_thin_rates()) {
        lines.push(thin_legend());
    }
    if headlines.iter().any(is_doubtful) {
        lines.push(format!("{DOUBT_MARK}: fewer than 10 I/Os took longer than this, so take it as a hint."));
    }
    lines
}

/// More jobs than this with one reason are not all named.
const MOST_NAMED: usize = 3;

/// A line for each reason for which rates have no interval, and one for syncs, which never have any. Said where other rows have intervals.
fn rates_without_interval(headlines: &[Headline]) -> Vec<String> {
    let mut jobs: Vec<(&'static str, Vec<String>)> = Vec::new();
    for headline in headlines {
        let Some(Estimate::Unknown(reason)) = headline.precision.as_ref().map(|precision| precision.ios_per_sec) else {
            continue;
        };
        let (reason, row) = (reason_words(reason), format!("{} ({})", name(&headline.job), headline.kind.name()));
        match jobs.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, rows)) => rows.push(row),
            None => jobs.push((reason, vec![row])),
        }
    }
    let line = |(reason, rows): (&str, Vec<String>)| {
        let named = rows[..rows.len().min(MOST_NAMED)].join(", ");
        let more = rows.len().checked_sub(MOST_NAMED).filter(|n| *n > 0);
        let more = more.map_or_else(String::new, |n| format!(" and {n} more"));
        format!("No ± for the rates of {named}{more}: {reason}.")
    };
    let mut lines: Vec<String> = jobs.into_iter().map(line).collect();
    if headlines.iter().any(|headline| headline.kind == IoKind::Sync) {
        lines.push("No ± for syncs: repeat the run to see how much their figures vary.".to_owned());
    }
    lines
}

/// More jobs than this with helpers are one line.
const MOST_HELPED: usize = 5;

/// A line for each job of which helpers took a part of the CPU time that matters; of many jobs one line.
fn helper_lines(headlines: &[Headline]) -> Vec<String> {
    let has_helpers = |headline: &&Headline| headline.helper_cpu_ns_per_io > 0.1 * headline.cpu_ns_per_io;
    let mut helped: Vec<&Headline> = headlines.iter().filter(has_helpers).collect();
    helped.dedup_by(|headline, first| headline.job == first.job);
    if helped.len() > MOST_HELPED {
        let times = || helped.iter().map(|headline| headline.helper_cpu_ns_per_io);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        return vec![format!(
            "Of the CPU per I/O of {} jobs, {} to {} is that of the kernel's workers and of other threads beside the job's own.",
            helped.len(),
            duration_text(least),
            duration_text(most)
        )];
    }
    let line = |headline: &Headline| {
        format!(
            "Of the CPU per I/O of {}, {} is that of the kernel's workers and of other threads beside the job's own.",
            name(&headline.job),
            duration_text(headline.helper_cpu_ns_per_io)
        )
    };
    helped.into_iter().map(line).collect()
}

/// Why the exactness of figures is unknown, to be put behind "unknown:".
pub fn reason_words(reason: ImprecisionReason) -> &'static str {
    match reason {
        ImprecisionReason::TooFewIntervals => "the run is too short to tell how they vary",
        ImprecisionReason::TooDependent => "they changed so slowly that the run shows too little of it",
        ImprecisionReason::TooFewSamples => "there were too few I/Os",
        ImprecisionReason::ClonesApart => "the clones of the job did not run at the same time",
        ImprecisionReason::HostLost => "a host was lost, and its course is not known",
        ImprecisionReason::NotMeasured => "they were not measured by interval",
    }
}

fn has_interval(precision: &JobPrecision) -> bool {
    let JobPrecision { ios_per_sec, bytes_per_sec, p50_ns, p99_ns, p999_ns, .. } = precision;
    [ios_per_sec, bytes_per_sec, p50_ns, p99_ns, p999_ns].iter().any(|estimate| estimate.interval().is_some())
}

/// True if a percentile of a row has the mark.
fn is_doubtful(headline: &Headline) -> bool {
    let shown = headline.figures.latency().map(|(_, latency)| latency).into_iter().chain(&headline.figures.response);
    let percentiles = shown.flat_map(|latency| Metric::PERCENTILES.map(|metric| metric.percentile(latency)));
    percentiles.flatten().any(|found| found.is_doubtful)
}

/// A distance in percent, as short as it matters.
fn within(percent: f64) -> String {
    match percent {
        percent if percent < 0.1 => "±<0.1 %".to_owned(),
        percent if percent < 9.95 => format!("±{percent:.1} %"),
        percent if percent < 999.5 => format!("±{percent:.0} %"),
        // Not even the order of magnitude is known.
        _ => "±?".to_owned(),
    }
}

/// A name without the characters that steer a terminal.
pub(super) fn name(job: &str) -> String {
    let plain = escape_name(job);
    if plain.chars().count() <= MAX_NAME {
        return plain;
    }
    plain.chars().take(MAX_NAME - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::headline::headlines;
    use super::*;
    use ferrio_stats::{Confidence, LatencyStat, ResourceUsage, RunRecord, ThreadStats, WorkerRecord};
    use ferrio_units::DataDirection;

    /// 1000 reads of 4 KiB in 2 s of 1 ms each.
    fn worker(name: &str, job_index: u32) -> WorkerRecord {
        let mut stats = ThreadStats::default();
        let read = &mut stats.directions[DataDirection::Read];
        (read.n_completed, read.bytes, read.runtime_ns) = (1_000, 4_096_000, 2_000_000_000);
        read.clat = LatencyStat::new(true);
        (0..1_000).for_each(|_| read.clat.record(1_000_000));
        stats.usage = ResourceUsage { user_ns: 1_000_000, system_ns: 3_000_000, ..ResourceUsage::default() };
        WorkerRecord { name: name.to_owned(), job_index, stats: Box::new(stats), ..WorkerRecord::default() }
    }

    #[test]
    fn clones_are_one_row() {
        let workers = vec![worker("a", 0), worker("a", 0), worker("b", 1)];
        let lines = headlines(&RunRecord { workers, ..RunRecord::default() });
        let figures: Vec<_> =
            lines.iter().map(|line| (line.job.as_str(), line.n_clones, line.figures.ios_per_sec)).collect();
        assert_eq!(figures, [("a", 2, 1000.0), ("b", 1, 500.0)]);
        assert_eq!((lines[0].figures.bytes_per_sec, lines[0].cpu_ns_per_io), (4_096_000.0, 4_000.0));
        let (_, latency) = lines[1].figures.latency().expect("a latency");
        assert_eq!((latency.max_ns, latency.mean_ns), (1_000_000, 1_000_000.0));
    }

    #[test]
    fn the_table_of_known_figures() {
        let record = RunRecord { workers: vec![worker("random-read", 0)], ..RunRecord::default() };
        let expected = [
            "job                MB/s  IOPS      p50      p99     p99.9      max  CPU/I/O",
            "---------------------------------------------------------------------------",
            "random-read  read  2.05   500  1.00 ms  1.00 ms  1.00 ms*  1.00 ms  4.00 us",
            "",
        ];
        // Of 1,000 I/Os one is beyond the last percentile.
        assert_eq!(table(&headlines(&record)).split('\n').collect::<Vec<_>>(), expected);
        assert_eq!(legend(&headlines(&record)), ["*: fewer than 10 I/Os took longer than this, so take it as a hint."]);
    }

    /// 64 I/Os in 3 ms are no 21,333 I/Os a second.
    #[test]
    fn a_rate_of_little_is_marked() {
        let shown = |n_ios: u64, runtime_ns: u64| {
            let mut worker = worker("a", 0);
            let read = &mut worker.stats.directions[DataDirection::Read];
            (read.n_completed, read.runtime_ns) = (n_ios, runtime_ns);
            let rows = headlines(&RunRecord { workers: vec![worker], ..RunRecord::default() });
            let row = table(&rows).lines().nth(2).map(str::to_owned).unwrap_or_default();
            let is_told = legend(&rows).iter().any(|line| line.starts_with(THIN_MARK));
            (row.matches(THIN_MARK).count(), is_told)
        };
        assert_eq!(shown(64, 3_000_000), (2, true));
        assert_eq!(shown(99, 10_000_000_000), (2, true));
        assert_eq!(shown(100_000, 99_000_000), (2, true));
        assert_eq!(shown(100, 100_000_000), (0, false));
    }

    #[test]
    fn precision_stands_below_the_figures() {
        let estimate = |value: f64, low: f64, high: f64| Estimate::Interval(Confidence { value, low, high });
        let precision = JobPrecision {
            job_index: 0,
            job: "random-read".to_owned(),
            direction: "read".to_owned(),
            confidence_percent: 95.0,
            interval_ns: 100_000_000,
            n_intervals: 40,
            autocorrelation: Some(0.2),
            n_effective: Some(30.0),
            ios_per_sec: estimate(500.0, 490.0, 508.0),
            bytes_per_sec: estimate(2.0, 1.0, 2.5),
            p50_ns: estimate(1e6, 1e6, 1.0001e6),
            p99_ns: estimate(1.0, 0.5, 20.0),
            p999_ns: Estimate::Unknown(ImprecisionReason::TooFewSamples),
            mean_ns: estimate(2.0, 1.0, 3.0),
        };
        let mut record = RunRecord { workers: vec![worker("random-read", 0)], ..RunRecord::default() };
        record.precision = Some(vec![precision.clone()]);
        let text = table(&headlines(&record));
        let line = "  (95 %)           ±50 %  ±2.0 %  ±<0.1 %       ±?";
        assert_eq!(text.lines().nth(3), Some(line), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
        assert!(legend(&headlines(&record))[0].starts_with("±: with a probability of 95 %"));
        // A rate that changes slowly may have none where a percentile has one.
        let slow = Estimate::Unknown(ImprecisionReason::TooDependent);
        record.precision = Some(vec![JobPrecision { ios_per_sec: slow, bytes_per_sec: slow, ..precision.clone() }]);
        let text = table(&headlines(&record));
        let cells: Vec<&str> = text.lines().nth(3).unwrap().split_whitespace().collect();
        assert_eq!(cells, ["(95", "%)", "±<0.1", "%", "±?"], "{text}");
        let reason =
            "No ± for the rates of random-read (read): they changed so slowly that the run shows too little of it.";
        assert_eq!(legend(&headlines(&record))[1], reason);
        let short = Estimate::Unknown(ImprecisionReason::TooFewIntervals);
        let (ios_per_sec, bytes_per_sec, p50_ns, p99_ns) = (short, short, short, short);
        record.precision = Some(vec![JobPrecision { ios_per_sec, bytes_per_sec, p50_ns, p99_ns, ..precision }]);
        assert_eq!(table(&headlines(&record)).lines().count(), 3);
        assert_eq!(
            legend(&headlines(&record))[0],
            "No ± for these figures: the run is too short to tell how they vary."
        );
    }

    #[test]
    fn names_steer_no_terminal_and_stay_short() {
        assert_eq!(name("a\x1b[2Jb"), "a\\x1b[2Jb");
        assert_eq!(name(&"x".repeat(30)), format!("{}...", "x".repeat(21)));
    }

    #[test]
    fn syncs_responses_and_errors_have_a_place() {
        let mut worker = worker("log", 0);
        let stats = &mut worker.stats;
        stats.directions.0.swap(0, 1);
        stats.n_syncs_issued = 1_000;
        stats.sync = LatencyStat::new(true);
        (0..1_000).for_each(|_| stats.sync.record(1_700_000));
        let write = &mut stats.directions[DataDirection::Write];
        write.response = LatencyStat::new(true);
        (0..1_000).for_each(|_| write.response.record(30_000_000));
        stats.tolerated.n_total = 3;
        let rows = headlines(&RunRecord { workers: vec![worker], ..RunRecord::default() });
        let expected = [
            "job                   I/Os  MB/s  IOPS      p50      p99     p99.9      max  CPU/I/O  errors",
            "--------------------------------------------------------------------------------------------",
            "log           write  1,000  2.05   500  1.00 ms  1.00 ms  1.00 ms*  1.00 ms  4.00 us       3",
            "  (response)                            30.0 ms  30.0 ms  30.0 ms*  30.0 ms",
            "log           sync   1,000     -   500  1.70 ms  1.70 ms  1.70 ms*  1.70 ms        -       -",
            "",
        ];
        assert_eq!(table(&rows).split('\n').collect::<Vec<_>>(), expected);
        let document = serde_json::to_value(&rows).expect("serialises");
        assert_eq!((&document[1]["direction"], &document[1]["n_ios"]), (&"sync".into(), &1_000.into()));
        // 1.7 ms lies in the bucket from 103 * 2^14 ns on, 2^14 ns long, whose middle is its percentile.
        let p99_ns = 103 * (1 << 14) + (1 << 13);
        assert_eq!((&document[1]["p99_ns"], &document[1]["max_ns"]), (&p99_ns.into(), &1_700_000.into()));
        assert_eq!((&document[0]["response"]["max_ns"], &document[0]["n_errors"]), (&30_000_000.into(), &3.into()));
    }
}
