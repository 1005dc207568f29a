//! The figures that most readers look for, one row a job and direction, and the table of them.
//!
//! Must not know: conclusions from the figures. Start reading at [`headlines`].

use ferrio_stats::{
    DirectionStats, Estimate, ImprecisionReason, JobPrecision, RunRecord, ThreadStats, WorkerRecord, has_few_beyond,
    percentiles,
};
use ferrio_units::DataDirection;
use ferrio_units::glance::{duration_text, thousands, three_digits};
use serde::Serialize;

const N_COLUMNS: usize = 8;
const HEADINGS: [&str; N_COLUMNS] = ["job", "", "MB/s", "IOPS", "p50", "p99", "p99.9", "CPU per I/O"];
/// Percentiles of the table.
const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];
const GAP: &str = "  ";
/// Marks a percentile that is based on few I/Os.
pub const DOUBT_MARK: &str = "*";
/// Longer names are cut, so that the table keeps its columns.
const MAX_NAME: usize = 24;

/// The headline of one job, with its clones, in one direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Headline {
    /// Name of the job.
    pub job: String,
    /// `read`, `write` or `trim`.
    pub direction: &'static str,
    /// Number of clones in these figures.
    pub n_clones: u32,
    /// I/Os that completed.
    pub n_ios: u64,
    /// Bytes read or written by them.
    pub bytes: u64,
    /// Runtime of the longest clone.
    pub runtime_ns: u64,
    /// Throughput of all clones.
    pub bytes_per_sec: f64,
    /// I/Os per second of all clones.
    pub ios_per_sec: f64,
    /// Mean completion latency.
    pub mean_ns: f64,
    /// Completion latency below which half of the I/Os stayed; `None`: it was not measured.
    pub p50_ns: Option<u64>,
    /// Latency that 99 % of the I/Os do not exceed.
    pub p99_ns: Option<u64>,
    /// Latency that 99.9 % of the I/Os do not exceed.
    pub p999_ns: Option<u64>,
    /// The slowest I/O.
    pub max_ns: u64,
    /// CPU time of the job, in user mode and in the kernel, for each of its I/Os in any direction.
    pub cpu_ns_per_io: f64,
    /// Number of completion latencies in the percentiles.
    #[serde(skip)]
    pub n_latencies: u64,
    /// How exact these figures are; `None`: not examined.
    pub precision: Option<JobPrecision>,
}

/// The headlines of all jobs in their order, of directions with I/O.
pub fn headlines(record: &RunRecord) -> Vec<Headline> {
    let jobs = record.workers.chunk_by(|worker, next| worker.job_index == next.job_index);
    let precision = record.precision.as_deref().unwrap_or_default();
    jobs.flat_map(|clones| of_job(clones, precision)).collect()
}

fn of_job(clones: &[WorkerRecord], precision: &[JobPrecision]) -> Vec<Headline> {
    let Some((first, others)) = clones.split_first() else { return Vec::new() };
    let mut total = ThreadStats::clone(&first.stats);
    for clone in others {
        total.merge(&clone.stats);
    }
    let n_ios: u64 = DataDirection::ALL.iter().map(|direction| total.directions[*direction].n_completed).sum();
    let cpu_ns = total.usage.user_ns.saturating_add(total.usage.system_ns);
    let of_direction = |(direction, word): (DataDirection, &'static str)| {
        let figures = &total.directions[direction];
        (figures.n_completed > 0).then(|| Headline {
            job: first.name.clone(),
            direction: word,
            n_clones: clones.len() as u32,
            precision: precision
                .iter()
                .find(|precision| precision.job_index == first.job_index && precision.direction == word)
                .cloned(),
            cpu_ns_per_io: cpu_ns as f64 / n_ios.max(1) as f64,
            ..of_figures(figures)
        })
    };
    DataDirection::ALL.into_iter().zip(["read", "write", "trim"]).filter_map(of_direction).collect()
}

fn of_figures(figures: &DirectionStats) -> Headline {
    let seconds = figures.runtime_ns as f64 / 1e9;
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let percentile = |percent: f64| {
        let found = percentiles(figures.clat.histogram.as_ref()?, &[percent]);
        // The middle of the last bucket may be above the slowest I/O.
        found.first().map(|(_, value_ns)| (*value_ns).min(figures.clat.max_ns))
    };
    Headline {
        job: String::new(),
        direction: "",
        n_clones: 0,
        n_ios: figures.n_completed,
        bytes: figures.bytes,
        runtime_ns: figures.runtime_ns,
        bytes_per_sec: per_second(figures.bytes),
        ios_per_sec: per_second(figures.n_completed),
        mean_ns: figures.clat.mean_ns(),
        p50_ns: percentile(PERCENTILES[0]),
        p99_ns: percentile(PERCENTILES[1]),
        p999_ns: percentile(PERCENTILES[2]),
        max_ns: figures.clat.max_ns,
        cpu_ns_per_io: 0.0,
        n_latencies: figures.clat.n_samples,
        precision: None,
    }
}

/// The headlines as a table: names to the left, figures to the right, and their precision below.
pub fn table(headlines: &[Headline]) -> String {
    let rows: Vec<[String; N_COLUMNS]> =
        std::iter::once(HEADINGS.map(str::to_owned)).chain(headlines.iter().flat_map(rows)).collect();
    let mut widths = [0; N_COLUMNS];
    for row in &rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        text.push_str(line.trim_end());
        text.push('\n');
        if index == 0 {
            text.push_str(&"-".repeat(widths.iter().sum::<usize>() + GAP.len() * (N_COLUMNS - 1)));
            text.push('\n');
        }
    }
    text
}

/// What the table does not explain itself: its marks, and why figures have no precision.
pub fn legend(headlines: &[Headline]) -> Vec<String> {
    let mut lines = Vec::new();
    let intervals = || headlines.iter().filter_map(|headline| headline.precision.as_ref());
    if intervals().any(has_interval) {
        lines.push(
            "±: with a probability of 95 % the true value is not farther away, as far as the course of the run shows (docs/precision.md)."
                .to_owned(),
        );
    } else if let Some(Estimate::Unknown(reason)) = intervals().map(|precision| precision.ios_per_sec).next() {
        lines.push(format!("No ± for these figures: {}.", reason_words(reason)));
    }
    if headlines.iter().any(|headline| PERCENTILES.iter().any(|percent| is_doubtful(headline, *percent))) {
        lines.push(format!("{DOUBT_MARK}: fewer than 10 I/Os took longer than this, so take it as a hint."));
    }
    lines
}

/// Why the exactness of figures is unknown, to be put behind "unknown:".
pub fn reason_words(reason: ImprecisionReason) -> &'static str {
    match reason {
        ImprecisionReason::TooFewIntervals => "the run is too short to tell how they vary",
        ImprecisionReason::TooDependent => "they changed so slowly that the run shows too little of it",
        ImprecisionReason::TooFewSamples => "there were too few I/Os",
        ImprecisionReason::ClonesApart => "the clones of the job did not run at the same time",
        ImprecisionReason::NotMeasured => "they were not measured by interval",
    }
}

fn has_interval(precision: &JobPrecision) -> bool {
    precision.ios_per_sec.interval().is_some()
}

fn is_doubtful(headline: &Headline, percent: f64) -> bool {
    headline.p50_ns.is_some() && has_few_beyond(percent, headline.n_latencies)
}

/// The figures, and their precision.
fn rows(headline: &Headline) -> Vec<[String; N_COLUMNS]> {
    let precision = headline.precision.as_ref().filter(|precision| has_interval(precision));
    std::iter::once(row(headline)).chain(precision.map(precision_row)).collect()
}

fn precision_row(precision: &JobPrecision) -> [String; N_COLUMNS] {
    let cell =
        |estimate: &Estimate| estimate.interval().map_or_else(String::new, |interval| within(interval.percent()));
    [
        "  (95 %)".to_owned(),
        String::new(),
        cell(&precision.bytes_per_sec),
        cell(&precision.ios_per_sec),
        cell(&precision.p50_ns),
        cell(&precision.p99_ns),
        cell(&precision.p999_ns),
        String::new(),
    ]
}

/// A distance in percent, as short as it matters.
fn within(percent: f64) -> String {
    match percent {
        percent if percent < 0.1 => "±<0.1 %".to_owned(),
        percent if percent < 9.95 => format!("±{percent:.1} %"),
        percent if percent < 999.5 => format!("±{percent:.0} %"),
        _ => "±>999 %".to_owned(),
    }
}

fn row(headline: &Headline) -> [String; N_COLUMNS] {
    let latency = |value: Option<u64>, percent: f64| {
        let mark = if is_doubtful(headline, percent) { DOUBT_MARK } else { "" };
        value.map_or_else(|| "-".to_owned(), |value_ns| format!("{}{mark}", duration_text(value_ns as f64)))
    };
    let iops = headline.ios_per_sec;
    [
        name(&headline.job),
        headline.direction.to_owned(),
        three_digits(headline.bytes_per_sec / 1e6),
        // Fractions matter where a disk does a handful a second.
        if iops < 9.995 { three_digits(iops) } else { thousands(iops.round() as u64) },
        latency(headline.p50_ns, PERCENTILES[0]),
        latency(headline.p99_ns, PERCENTILES[1]),
        latency(headline.p999_ns, PERCENTILES[2]),
        duration_text(headline.cpu_ns_per_io),
    ]
}

/// A name without the characters that steer a terminal.
fn name(job: &str) -> String {
    let plain: String = job.chars().map(|character| if character.is_control() { '?' } else { character }).collect();
    if plain.chars().count() <= MAX_NAME {
        return plain;
    }
    plain.chars().take(MAX_NAME - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{Confidence, LatencyStat, ResourceUsage};

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
        let figures: Vec<_> = lines.iter().map(|line| (line.job.as_str(), line.n_clones, line.ios_per_sec)).collect();
        assert_eq!(figures, [("a", 2, 1000.0), ("b", 1, 500.0)]);
        assert_eq!((lines[0].bytes_per_sec, lines[0].cpu_ns_per_io), (4_096_000.0, 4_000.0));
        assert_eq!((lines[1].max_ns, lines[1].mean_ns), (1_000_000, 1_000_000.0));
    }

    #[test]
    fn the_table_of_known_figures() {
        let record = RunRecord { workers: vec![worker("random-read", 0)], ..RunRecord::default() };
        let expected = [
            "job                MB/s  IOPS      p50      p99     p99.9  CPU per I/O",
            "----------------------------------------------------------------------",
            "random-read  read  2.05   500  1.00 ms  1.00 ms  1.00 ms*      4.00 us",
            "",
        ];
        // Of 1,000 I/Os one is beyond the last percentile.
        assert_eq!(table(&headlines(&record)).split('\n').collect::<Vec<_>>(), expected);
        assert_eq!(legend(&headlines(&record)), ["*: fewer than 10 I/Os took longer than this, so take it as a hint."]);
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
        let line = "  (95 %)           ±50 %  ±2.0 %  ±<0.1 %  ±>999 %";
        assert_eq!(text.lines().nth(3), Some(line), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
        assert!(legend(&headlines(&record))[0].starts_with("±: with a probability of 95 %"));
        let short = Estimate::Unknown(ImprecisionReason::TooFewIntervals);
        record.precision = Some(vec![JobPrecision { ios_per_sec: short, ..precision }]);
        assert_eq!(table(&headlines(&record)).lines().count(), 3);
        assert_eq!(
            legend(&headlines(&record))[0],
            "No ± for these figures: the run is too short to tell how they vary."
        );
    }

    #[test]
    fn names_steer_no_terminal_and_stay_short() {
        assert_eq!(name("a\x1b[2Jb"), "a?[2Jb");
        assert_eq!(name(&"x".repeat(30)), format!("{}...", "x".repeat(21)));
    }
}
