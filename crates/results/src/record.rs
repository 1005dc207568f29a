//! Records of ferrio (`--record`), and the record of a run that has just ended.
//!
//! Must not know: how a record is stored. Start reading at [`of_record`].

use crate::error::{ReadError, ReadErrorKind};
use crate::{
    CpuFigures, DiskFigures, JobResult, LatencyHeat, LatencyKind, Quantity, ResultFile, RunResult, Shares, TimeBin,
    TimeSeries,
};
use ferrio_report::saved;
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_latency_ns};
use ferrio_stats::{DiskRecord, JobFigures, JobSeries, RunRecord, ThreadStats, WorkerRecord};
use ferrio_units::DataDirection;

const NS_PER_SEC: f64 = 1e9;
/// Bytes of a sector in a disk's counters.
const SECTOR_BYTES: u64 = 512;
/// A shorter part of an interval has no rate.
const LEAST_SHARE_OF_INTERVAL: f64 = 0.1;
/// The depths of the classes, as fio writes them.
const DEPTH_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// Reads a record.
pub(crate) fn read(file: &ResultFile, max_bytes: u64) -> Result<RunResult, ReadError> {
    let bytes = file.whole(max_bytes)?;
    let record = saved::decode(&bytes).map_err(|error| ReadErrorKind::Record(error.to_string()).of(file.path()))?;
    let mut result = of_record(&record);
    result.name = file.name();
    Ok(result)
}

/// The result of a record: each job with its clones is one.
pub fn of_record(record: &RunRecord) -> RunResult {
    let jobs = record.workers.chunk_by(|worker, next| worker.job_index == next.job_index);
    RunResult {
        name: "this run".to_owned(),
        program: record
            .provenance
            .as_ref()
            .map_or_else(|| record.version.clone(), |provenance| format!("ferrio {}", provenance.ferrio_version)),
        timestamp_ms: Some(record.timestamp_ms),
        global_options: record.global_options.clone(),
        jobs: jobs.filter_map(|clones| job(clones, &record.series)).collect(),
        disks: record.disks().unwrap_or_default().iter().map(disk_figures).collect(),
        findings: record.audit.as_ref().map(|audit| audit.findings.clone()),
        unexamined: record.audit.as_ref().map(|audit| audit.unexamined.clone()).unwrap_or_default(),
        n_rules: record.audit.as_ref().map_or(0, |audit| audit.n_rules),
        precision: record.precision.clone().unwrap_or_default(),
        provenance: record.provenance.clone(),
        remarks: Vec::new(),
    }
}

fn job(clones: &[WorkerRecord], series: &[JobSeries]) -> Option<JobResult> {
    let (first, others) = clones.split_first()?;
    let mut total = ThreadStats::clone(&first.stats);
    for clone in others {
        total.merge(&clone.stats);
    }
    let figures = JobFigures::of(clones);
    let failure = clones.iter().find_map(|clone| clone.fate.failure.as_ref());
    let series = series.iter().find(|series| series.job_index == first.job_index);
    Some(JobResult {
        name: first.name.clone(),
        description: first.description.clone().unwrap_or_default(),
        group_index: first.group_index,
        error: failure.map_or(0, |failure| failure.errno),
        options: first.given_options.clone(),
        directions: figures.directions,
        syncs: figures.syncs,
        n_errors: figures.errors.n_total,
        cpu: cpu(&total),
        depths: depths(&total),
        // Records have whole distributions.
        latency_classes: Vec::new(),
        series: series.map(|series| time_series(series, clones.len())).unwrap_or_default(),
    })
}

fn cpu(total: &ThreadStats) -> CpuFigures {
    let runtime_ns = total.total_runtime_ns.max(1) as f64;
    CpuFigures {
        user_percent: 100.0 * total.usage.user_ns as f64 / runtime_ns,
        system_percent: 100.0 * total.usage.system_ns as f64 / runtime_ns,
        n_switches: total.usage.context_switches,
        n_major_faults: total.usage.major_faults,
        n_minor_faults: total.usage.minor_faults,
    }
}

/// Shares of the I/Os by the depth at their submission.
fn depths(total: &ThreadStats) -> Shares {
    let n_ios = total.depth.0.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)).max(1) as f64;
    let share = |(label, count): (&str, &u64)| (label.to_owned(), 100.0 * *count as f64 / n_ios);
    DEPTH_LABELS.into_iter().zip(&total.depth.0).map(share).collect()
}

/// The course of a job with a number of clones: rates and latencies of each direction.
fn time_series(series: &JobSeries, n_clones: usize) -> Vec<TimeSeries> {
    let mut all = Vec::new();
    // A record may say anything: its last interval has to begin before the end of time.
    let interval_ns = series.interval_ns.max(1);
    let first = series.first.min(u64::MAX / 2 / interval_ns);
    let seconds = seconds(series, n_clones);
    for direction in DataDirection::ALL {
        let course = &series.directions[direction];
        for (quantity, counts) in [(Quantity::Iops, &course.ios), (Quantity::Bandwidth, &course.bytes)] {
            if counts.iter().any(|count| *count > 0) {
                let rate = |(count, seconds): (&u64, &Option<f64>)| {
                    seconds.map_or_else(TimeBin::default, |seconds| TimeBin::of(*count as f64 / seconds))
                };
                let bins = counts.iter().zip(&seconds).map(rate).collect();
                all.push(TimeSeries { first, bins, ..TimeSeries::new(quantity, direction, interval_ns) });
            }
        }
        if !course.latencies.is_empty() {
            let column = |buckets: &Vec<(u16, u64)>| {
                buckets.iter().copied().filter(|(bucket, _)| usize::from(*bucket) < N_FULL_BUCKETS).collect()
            };
            let columns: Vec<_> = course.latencies.iter().map(column).collect();
            let heat = LatencyHeat { interval_ns, first, columns };
            let quantity = Quantity::Latency(LatencyKind::Completion);
            let bins = heat.columns.iter().map(of_column).collect();
            let empty = TimeSeries::new(quantity, direction, interval_ns);
            all.push(TimeSeries { bins, first, heat: Some(heat), ..empty });
        }
    }
    all
}

/// The time of each interval of a series. The job begins and ends within the first and the last one; of an interval that is nearly
/// all outside of the job, a few I/Os would decide the rate, so that it has none (`None`).
fn seconds(series: &JobSeries, n_clones: usize) -> Vec<Option<f64>> {
    let interval_ns = series.interval_ns as f64;
    let last = series.clone_ns.len().saturating_sub(1);
    let of_interval = |(index, clone_ns): (usize, &u64)| {
        let is_edge = index == 0 || index == last;
        let used_ns = (*clone_ns as f64 / n_clones.max(1) as f64).min(interval_ns);
        let length_ns = if is_edge { used_ns } else { interval_ns };
        (length_ns >= interval_ns * LEAST_SHARE_OF_INTERVAL).then_some(length_ns / NS_PER_SEC)
    };
    series.clone_ns.iter().enumerate().map(of_interval).collect()
}

/// Mean and extremes of a column, from the middles of its buckets.
fn of_column(column: &std::collections::BTreeMap<u16, u64>) -> TimeBin {
    let mut bin = TimeBin::default();
    for (bucket, count) in column {
        let value = bucket_latency_ns(usize::from(*bucket)) as f64;
        bin.merge(&TimeBin { n: *count, sum: value * *count as f64, min: value, max: value });
    }
    bin
}

fn disk_figures(disk: &DiskRecord) -> DiskFigures {
    let counters = &disk.counters;
    DiskFigures {
        name: disk.name.clone(),
        n_reads: counters.ios[0],
        n_writes: counters.ios[1],
        read_bytes: Some(counters.sectors[0].saturating_mul(SECTOR_BYTES)),
        written_bytes: Some(counters.sectors[1].saturating_mul(SECTOR_BYTES)),
        busy_percent: counters.util_percent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::DirectionSeries;
    use ferrio_units::PerDirection;

    /// 100 I/Os in each tenth of a second, of which the last ends in its middle, or after a hundredth of it.
    #[test]
    fn the_ends_of_a_job_are_no_drop_of_its_rate() {
        let rates = |last_ns: u64, n_last: u64| {
            let read = DirectionSeries { ios: vec![100, 100, n_last], bytes: vec![0; 3], latencies: Vec::new() };
            let directions = PerDirection([read, DirectionSeries::default(), DirectionSeries::default()]);
            let clone_ns = vec![200_000_000, 200_000_000, 2 * last_ns];
            let series = JobSeries { interval_ns: 100_000_000, clone_ns, directions, ..JobSeries::default() };
            let all = time_series(&series, 2);
            all[0].filled().map(|(_, bin)| bin.max.round()).collect::<Vec<f64>>()
        };
        assert_eq!(rates(50_000_000, 50), [1000.0, 1000.0, 1000.0]);
        assert_eq!(rates(1_000_000, 3), [1000.0, 1000.0]);
    }
}
