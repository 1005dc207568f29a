//! How exact the figures of the jobs are, from the course of each.
//!
//! Must not know: how intervals are estimated, how they are shown. Start reading at [`precision`].

use crate::course::JobCourse;
use ferrio_inference::{Counts, MeanInterval, mean_interval, percentile_interval, weighted};
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_latency_ns};
use ferrio_stats::{Confidence, DirectionSeries, Estimate, ImprecisionReason, JobPrecision, JobSeries, RunRecord};
use ferrio_units::DataDirection;

const CONFIDENCE_PERCENT: f64 = 95.0;

/// Precision of the figures of all jobs, by job and direction; empty if the record has no intervals.
pub fn precision(record: &RunRecord) -> Vec<JobPrecision> {
    record.series.iter().flat_map(|series| of_job(record, series)).collect()
}

fn of_job(record: &RunRecord, series: &JobSeries) -> Vec<JobPrecision> {
    let worker = record.workers.iter().find(|worker| worker.job_index == series.job_index);
    let name = worker.map_or("", |worker| &worker.name);
    let has_io = |direction: &DataDirection| series.directions[*direction].ios.iter().any(|n_ios| *n_ios > 0);
    DataDirection::ALL.into_iter().filter(has_io).map(|direction| of_direction(series, direction, name)).collect()
}

fn of_direction(series: &JobSeries, direction: DataDirection, name: &str) -> JobPrecision {
    let course = JobCourse::of(series);
    let figures = &series.directions[direction];
    let rates = |counts: &[u64]| {
        course.as_ref().map_err(|reason| *reason).and_then(|course| mean_interval(&course.rates(counts)))
    };
    let (ios, bytes) = (rates(&figures.ios), rates(&figures.bytes));
    let percentile = |percent| match &course {
        Ok(course) => of_percentile(course, figures, percent),
        Err(reason) => Estimate::Unknown(*reason),
    };
    JobPrecision {
        job_index: series.job_index,
        job: name.to_owned(),
        direction: direction.name().to_owned(),
        confidence_percent: CONFIDENCE_PERCENT,
        interval_ns: series.interval_ns,
        n_intervals: course.as_ref().map_or(0, |course| course.len() as u64),
        autocorrelation: ios.ok().map(|ios| ios.autocorrelation),
        n_effective: ios.ok().map(|ios| ios.n_effective),
        ios_per_sec: of_mean(ios),
        bytes_per_sec: of_mean(bytes),
        p50_ns: percentile(50.0),
        p99_ns: percentile(99.0),
        p999_ns: percentile(99.9),
        mean_ns: course.as_ref().map_or_else(|reason| Estimate::Unknown(*reason), |course| of_latency(course, figures)),
    }
}

/// The mean of all I/Os, whose intervals count as much as they have I/Os.
fn of_latency(course: &JobCourse, figures: &DirectionSeries) -> Estimate {
    let of_cell = |cell: &Counts| {
        let count =
            |(bucket, count): &(u16, u64)| (usize::from(*bucket) < N_FULL_BUCKETS).then_some((*bucket, *count as f64));
        let counts = cell.iter().filter_map(count);
        counts.fold((0.0, 0.0), |(n, sum), (bucket, count)| {
            (n + count, sum + count * bucket_latency_ns(usize::from(bucket)) as f64)
        })
    };
    let cells: Vec<(f64, f64)> = course.part(&figures.latencies).iter().map(of_cell).collect();
    if cells.iter().all(|(n, _)| *n <= 0.0) {
        return Estimate::Unknown(ImprecisionReason::NotMeasured);
    }
    of_mean(mean_interval(&weighted(&cells)))
}

/// A rate is not below 0.
fn of_mean(interval: Result<MeanInterval, ImprecisionReason>) -> Estimate {
    match interval {
        Ok(MeanInterval { mean, low, high, .. }) => {
            Estimate::Interval(Confidence { value: mean, low: low.max(0.0), high })
        }
        Err(reason) => Estimate::Unknown(reason),
    }
}

fn of_percentile(course: &JobCourse, figures: &DirectionSeries, percent: f64) -> Estimate {
    let cells: &[Counts] = course.part(&figures.latencies);
    if cells.iter().all(Vec::is_empty) {
        return Estimate::Unknown(ImprecisionReason::NotMeasured);
    }
    percentile_interval(cells, percent).map_or_else(Estimate::Unknown, Estimate::Interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::WorkerRecord;

    const SECOND: u64 = 1_000_000_000;

    /// So many intervals of a second with 100 or 102 reads of 4 KiB, after a part of an interval with 7.
    fn record(n_intervals: usize) -> RunRecord {
        let mut series = JobSeries { clone_ns: vec![SECOND; n_intervals + 1], ..JobSeries::new(0, SECOND) };
        series.clone_ns[0] = SECOND / 10;
        let read = &mut series.directions[DataDirection::Read];
        // An order without a pattern.
        read.ios = (0..=n_intervals as u64).map(|index| 100 + 2 * ((index * index * 7 / 3) % 2)).collect();
        read.ios[0] = 7;
        read.bytes = read.ios.iter().map(|n_ios| n_ios * 4096).collect();
        read.latencies = read.ios.iter().map(|n_ios| vec![(737, n_ios / 2), (800, n_ios - n_ios / 2)]).collect();
        let worker = WorkerRecord { name: "a".to_owned(), ..WorkerRecord::default() };
        RunRecord { workers: vec![worker], series: vec![series], ..RunRecord::default() }
    }

    #[test]
    fn parts_of_intervals_are_left_out() {
        let found = precision(&record(40));
        let [precision] = &found[..] else { panic!("{found:?}") };
        assert_eq!((precision.job.as_str(), precision.direction.as_str(), precision.n_intervals), ("a", "read", 40));
        let ios = precision.ios_per_sec.interval().expect("an interval");
        assert!(ios.low > 99.0 && ios.low < ios.value && ios.value < ios.high && ios.high < 103.0, "{ios:?}");
        let bytes = precision.bytes_per_sec.interval().expect("an interval");
        assert!((bytes.low - 4096.0 * ios.low).abs() < 1e-6, "{bytes:?}");
        assert!(precision.p50_ns.interval().is_some());
        // Half of the I/Os are in each bucket.
        let mean = precision.mean_ns.interval().expect("an interval");
        let middle = f64::midpoint(bucket_latency_ns(737) as f64, bucket_latency_ns(800) as f64);
        assert!((mean.value - middle).abs() < 1e-6 && mean.low <= middle && middle <= mean.high, "{mean:?} {middle}");
        // 40 of 4,040 samples lie behind it.
        assert_eq!(precision.p99_ns, Estimate::Unknown(ImprecisionReason::TooFewSamples));
    }

    #[test]
    fn short_runs_and_runs_without_intervals_have_none() {
        let found = precision(&record(20));
        assert_eq!(found[0].ios_per_sec, Estimate::Unknown(ImprecisionReason::TooFewIntervals));
        assert_eq!(precision(&RunRecord::default()), []);
    }

    #[test]
    fn clones_that_ran_one_after_the_other_have_none() {
        let mut record = record(60);
        // The other clone ran in a third of the time.
        record.series[0].clone_ns[1..20].fill(2 * SECOND);
        assert_eq!(precision(&record)[0].ios_per_sec, Estimate::Unknown(ImprecisionReason::ClonesApart));
    }

    #[test]
    fn hostile_series_do_not_panic() {
        let mut record = record(40);
        record.series[0].interval_ns = 0;
        record.series[0].directions[DataDirection::Read].ios.truncate(3);
        record.series[0].directions[DataDirection::Read].latencies.push(vec![(u16::MAX, u64::MAX)]);
        precision(&record);
        record.series[0].clone_ns = vec![u64::MAX; 50];
        precision(&record);
        record.series[0].clone_ns.clear();
        precision(&record);
    }
}
