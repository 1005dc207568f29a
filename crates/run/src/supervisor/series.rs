//! The course of the jobs, kept while they run.
//!
//! Must not know: who sends figures. Start reading at [`SeriesKeeper::add`]. Memory is bounded by the number of intervals of a
//! job and by the number of latency buckets of all jobs, whatever the length of the run and the number of jobs.

use ferrio_stats::{JobSeries, StretchTimes, ThreadStats};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most intervals of a job. When there are more, pairs of them become one, so a long run has 256 to 512.
const MOST_INTERVALS: usize = 512;
/// A series with fewer intervals is not shortened to save memory: it would be too short for statistics.
const FEWEST_INTERVALS: usize = 64;
/// Most latency buckets of all jobs, 16 bytes each.
const MOST_BUCKETS: usize = 2 << 20;
/// Intervals of runs with few workers.
const SHORTEST: Duration = Duration::from_millis(100);
/// Figures that the supervisor receives a second, in all. Each takes it about 0.1 ms.
const MOST_MESSAGES_PER_SEC: usize = 200;

/// Length of the intervals of a run: 100 ms, or more if there are many workers.
pub(super) fn interval(n_workers: usize) -> Duration {
    let per_sec = SHORTEST.as_millis() as usize * MOST_MESSAGES_PER_SEC / 1000;
    SHORTEST.saturating_mul(u32::try_from(n_workers.div_ceil(per_sec)).unwrap_or(u32::MAX).max(1))
}

/// The series of all jobs so far.
#[derive(Default)]
pub(super) struct SeriesKeeper {
    interval_ns: u64,
    jobs: BTreeMap<u32, JobSeries>,
    n_buckets: usize,
    /// There was no room for latencies.
    has_dropped: bool,
}

impl SeriesKeeper {
    pub(super) fn new(interval_ns: u64) -> Self {
        Self { interval_ns, ..Self::default() }
    }

    pub(super) fn add(&mut self, job_index: u32, times: StretchTimes, stats: &ThreadStats) {
        let interval_ns = self.interval_ns;
        let series = self.jobs.entry(job_index).or_insert_with(|| JobSeries::new(job_index, interval_ns));
        let before = series.n_buckets();
        series.add(times, stats, MOST_INTERVALS);
        if self.has_dropped {
            series.drop_latencies();
        }
        self.n_buckets = (self.n_buckets + series.n_buckets()).saturating_sub(before);
        while self.n_buckets > MOST_BUCKETS {
            self.save_memory();
        }
        debug_assert!(self.n_buckets <= MOST_BUCKETS, "the memory of series is bounded");
        debug_assert!(!self.has_dropped || self.n_buckets == 0, "latencies that were given up do not come back");
    }

    pub(super) fn into_series(self) -> Vec<JobSeries> {
        self.jobs.into_values().collect()
    }

    /// Halves all long series; if there are none, no latencies are kept.
    fn save_memory(&mut self) {
        let mut is_shorter = false;
        for series in self.jobs.values_mut().filter(|series| series.clone_ns.len() >= 2 * FEWEST_INTERVALS) {
            series.halve();
            is_shorter = true;
        }
        if !is_shorter {
            self.jobs.values_mut().for_each(JobSeries::drop_latencies);
            self.has_dropped = true;
        }
        self.n_buckets = self.jobs.values().map(JobSeries::n_buckets).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::LatencyStat;
    use ferrio_units::DataDirection;

    const MS: u64 = 1_000_000;

    #[test]
    fn many_workers_have_longer_intervals() {
        for (n_workers, expected_ms) in [(0, 100), (1, 100), (20, 100), (21, 200), (1_000, 5_000)] {
            assert_eq!(interval(n_workers), Duration::from_millis(expected_ms), "{n_workers}");
        }
    }

    /// 1,000 reads of as many latencies, of 500 buckets and more.
    fn stats() -> ThreadStats {
        let mut stats = ThreadStats::default();
        let read = &mut stats.directions[DataDirection::Read];
        read.n_completed = 1_000;
        read.clat = LatencyStat::new(true);
        (0..1_000u64).for_each(|index| read.clat.record(index * index * index * index));
        stats
    }

    #[test]
    fn memory_is_bounded() {
        let mut keeper = SeriesKeeper::new(100 * MS);
        let stats = stats();
        let n_buckets =
            stats.directions[DataDirection::Read].clat.histogram.as_ref().map_or(0, |clat| clat.filled().count());
        let n_jobs = MOST_BUCKETS / n_buckets / 200;
        for index in 0..260 {
            for job in 0..n_jobs {
                let times =
                    StretchTimes { start_ns: index * 100 * MS, due_ns: u64::MAX, end_ns: (index + 1) * 100 * MS };
                keeper.add(job as u32, times, &stats);
                assert!(keeper.n_buckets <= MOST_BUCKETS);
            }
        }
        let series = keeper.into_series();
        assert_eq!(series.len(), n_jobs);
        assert!(series.iter().all(|series| series.interval_ns >= 200 * MS && series.n_buckets() > 0));
        let n_ios: u64 = series.iter().flat_map(|series| &series.directions[DataDirection::Read].ios).sum();
        assert_eq!(n_ios, 260 * 1_000 * n_jobs as u64);
    }

    #[test]
    fn too_many_jobs_have_no_latencies() {
        let mut keeper = SeriesKeeper::new(100 * MS);
        let stats = stats();
        let n_buckets =
            stats.directions[DataDirection::Read].clat.histogram.as_ref().map_or(0, |clat| clat.filled().count());
        let times = StretchTimes { start_ns: 0, due_ns: 100 * MS, end_ns: 100 * MS };
        for job in 0..MOST_BUCKETS / n_buckets + 2 {
            keeper.add(job as u32, times, &stats);
        }
        let series = keeper.into_series();
        assert!(series.iter().all(|series| series.n_buckets() == 0 && series.clone_ns == [100 * MS]));
    }
}
