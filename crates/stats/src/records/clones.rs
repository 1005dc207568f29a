//! The figures of all clones of a job together, interval by interval while the run goes on, and at their end.
//!
//! An interval is complete when each clone that has not ended has passed it; a clone that is late by several intervals is not
//! waited for, and what it counted is in the interval that is open when it comes. So the counts of all intervals sum up to those of the
//! end. Must not know: formats. Start reading at [`ClonesTogether::interval`].

use crate::figures::per_second;
use crate::records::provenance::JobOptions;
use crate::{DirectionStats, IntervalStats, JobEnd};
use ferrio_units::{DataDirection, PerDirection};
use std::collections::BTreeMap;

/// Intervals by which a clone may be late before the others no longer wait for it.
const MOST_LATE: u64 = 3;

/// Figures of clones together, over an interval or to their end. Beside the sum it has rates: clones of an interval have times of different
/// lengths, so that the rates do not follow from the sum.
#[derive(Debug, Clone, PartialEq)]
pub struct JobIntervalStats {
    /// Their sum. The number of the job is that of its first clone; start and end are those of the earliest and of the latest clone.
    pub sum: IntervalStats,
    pub n_clones: u32,
    /// I/Os a second: the sum of the clones' rates, each over its own time.
    pub iops: PerDirection<f64>,
    /// Bytes a second: the sum of the clones' rates.
    pub bw_bytes: PerDirection<f64>,
}

/// Adds up the clones of each job.
#[derive(Debug, Clone, Default)]
pub struct ClonesTogether {
    interval_ns: u64,
    jobs: Vec<JobClones>,
}

/// A job with more than one clone.
#[derive(Debug, Clone)]
struct JobClones {
    first_number: u32,
    /// For each clone: its first interval that is not in the sums yet, 0 before it has begun; `None`: it has ended.
    next: Vec<Option<u64>>,
    /// Sums that are not complete, by interval.
    open: BTreeMap<u64, JobIntervalStats>,
    /// Intervals before this one are given out.
    n_done: u64,
    n_ended: usize,
    total: Option<JobIntervalStats>,
}

impl ClonesTogether {
    /// The jobs of a run, and the length of its intervals, nanoseconds. Jobs with one clone have no sums.
    pub fn new(jobs: &[JobOptions], interval_ns: u64) -> Self {
        Self::of(jobs.iter().filter(|job| job.n_clones > 1), interval_ns)
    }

    /// The same, and a job with one clone has sums too, which are its own figures.
    pub fn of_all_jobs(jobs: &[JobOptions], interval_ns: u64) -> Self {
        Self::of(jobs.iter(), interval_ns)
    }

    fn of<'a>(jobs: impl Iterator<Item = &'a JobOptions>, interval_ns: u64) -> Self {
        let clones = |job: &JobOptions| JobClones {
            first_number: job.first_number,
            next: vec![Some(0); job.n_clones as usize],
            open: BTreeMap::new(),
            n_done: 0,
            n_ended: 0,
            total: None,
        };
        Self { interval_ns: interval_ns.max(1), jobs: jobs.map(clones).collect() }
    }

    /// Adds an interval of a worker; the sums that are complete with it.
    pub fn interval(&mut self, stretch: &IntervalStats) -> Vec<JobIntervalStats> {
        let interval_ns = self.interval_ns;
        let Some((job, clone)) = self.find(stretch.job_number) else { return Vec::new() };
        let slot = stretch.start_ns / interval_ns;
        job.next[clone] = Some(slot.saturating_add(1));
        let slot = slot.max(job.n_done);
        job.open.entry(slot).and_modify(|sum| sum.add(stretch)).or_insert_with(|| JobIntervalStats::of(stretch));
        job.take_complete()
    }

    /// Adds the end of a worker; the intervals that are complete with it, and the total if it is the last clone.
    pub fn ended(&mut self, end: &JobEnd) -> (Vec<JobIntervalStats>, Option<JobIntervalStats>) {
        let Some((job, clone)) = self.find(end.stretch.job_number) else { return (Vec::new(), None) };
        job.next[clone] = None;
        job.n_ended += 1;
        match &mut job.total {
            Some(total) => total.add_counts(&end.stretch),
            total => *total = Some(JobIntervalStats::of(&end.stretch)),
        }
        if job.n_ended < job.next.len() {
            return (job.take_complete(), None);
        }
        (
            std::mem::take(&mut job.open).into_values().collect(),
            job.total.take().map(JobIntervalStats::with_total_rates),
        )
    }

    /// A worker will tell nothing more, and not how it ended: the others wait for it no longer. The intervals that are complete with that.
    pub fn lost(&mut self, number: u32) -> Vec<JobIntervalStats> {
        let Some((job, clone)) = self.find(number) else { return Vec::new() };
        if job.next[clone].take().is_some() {
            job.n_ended += 1;
        }
        if job.n_ended < job.next.len() {
            job.take_complete()
        } else {
            std::mem::take(&mut job.open).into_values().collect()
        }
    }

    fn find(&mut self, number: u32) -> Option<(&mut JobClones, usize)> {
        self.jobs.iter_mut().find_map(|job| {
            let clone = number.checked_sub(job.first_number)? as usize;
            (clone < job.next.len()).then_some((job, clone))
        })
    }
}

impl JobClones {
    /// Takes the intervals that each running clone has passed.
    fn take_complete(&mut self) -> Vec<JobIntervalStats> {
        let passed = self.next.iter().flatten();
        let slowest = passed.clone().min().copied().unwrap_or(self.n_done);
        let fastest = passed.max().copied().unwrap_or(0);
        self.n_done = slowest.max(fastest.saturating_sub(MOST_LATE)).max(self.n_done);
        let still_open = self.open.split_off(&self.n_done);
        std::mem::replace(&mut self.open, still_open).into_values().collect()
    }
}

impl JobIntervalStats {
    fn of(stretch: &IntervalStats) -> Self {
        let length_ns = stretch.end_ns.saturating_sub(stretch.start_ns);
        Self {
            n_clones: 1,
            iops: rates(stretch, |_, count| per_second(count.0, length_ns)),
            bw_bytes: rates(stretch, |_, count| per_second(count.1, length_ns)),
            // The clones may be of several hosts.
            sum: IntervalStats { host: None, ..stretch.clone() },
        }
    }

    fn add(&mut self, stretch: &IntervalStats) {
        let other = Self::of(stretch);
        for direction in DataDirection::ALL {
            self.iops[direction] += other.iops[direction];
            self.bw_bytes[direction] += other.bw_bytes[direction];
        }
        self.add_counts(stretch);
    }

    fn add_counts(&mut self, stretch: &IntervalStats) {
        self.n_clones += 1;
        self.sum.job_number = self.sum.job_number.min(stretch.job_number);
        self.sum.start_ns = self.sum.start_ns.min(stretch.start_ns);
        self.sum.end_ns = self.sum.end_ns.max(stretch.end_ns);
        self.sum.stats.merge(&stretch.stats);
        for direction in DataDirection::ALL {
            self.sum.directions[direction] |= stretch.directions[direction];
        }
    }

    /// A total: rates are over the longest runtime of a direction, as in a group of fio.
    fn with_total_rates(mut self) -> Self {
        self.iops = rates(&self.sum, |runtime_ns, count| per_second(count.0, runtime_ns));
        self.bw_bytes = rates(&self.sum, |runtime_ns, count| per_second(count.1, runtime_ns));
        self
    }
}

/// A rate of each direction, from its runtime and its numbers of I/Os and bytes.
fn rates(stretch: &IntervalStats, rate: impl Fn(u64, (u64, u64)) -> f64) -> PerDirection<f64> {
    let rate = |figures: &DirectionStats| rate(figures.runtime_ns, (figures.n_completed, figures.bytes));
    PerDirection(stretch.stats.directions.0.each_ref().map(rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadStats;

    const SECOND: u64 = 1_000_000_000;

    fn stretch(job_number: u32, start_ns: u64, end_ns: u64, n_reads: u64) -> IntervalStats {
        let mut stats = ThreadStats::default();
        let read = &mut stats.directions[DataDirection::Read];
        (read.n_completed, read.bytes, read.runtime_ns) = (n_reads, n_reads * 4096, end_ns - start_ns);
        IntervalStats {
            job_name: "j".to_owned(),
            job_number,
            group_index: 0,
            directions: PerDirection([true, false, false]),
            percentiles: Vec::new(),
            start_ns,
            end_ns,
            run_epoch_ms: 0,
            host: None,
            stats,
        }
    }

    fn end(stretch: IntervalStats) -> JobEnd {
        JobEnd { stretch, has_started: true, pid: 1, failure: None, killed_by: None }
    }

    fn together(n_clones: u32) -> ClonesTogether {
        let job = JobOptions { name: "j".to_owned(), group: 0, first_number: 2, n_clones, options: None };
        ClonesTogether::new(&[job], SECOND)
    }

    #[test]
    fn intervals_of_unknown_jobs_are_in_no_sum() {
        assert_eq!(ClonesTogether::default().interval(&stretch(2, 0, SECOND, 1)), []);
        assert_eq!(together(2).interval(&stretch(1, u64::MAX, u64::MAX, 1)), []);
        assert_eq!(together(1).interval(&stretch(2, u64::MAX, u64::MAX, 1)), []);
    }

    fn n_reads(sums: &[JobIntervalStats]) -> Vec<u64> {
        sums.iter().map(|sum| sum.sum.stats.directions[DataDirection::Read].n_completed).collect()
    }

    #[test]
    fn an_interval_is_complete_when_all_clones_have_passed_it() {
        let mut clones = together(2);
        // Worker 1 is another job; the clones are workers 2 and 3.
        assert_eq!(clones.interval(&stretch(1, 0, SECOND, 9)), []);
        assert_eq!(clones.interval(&stretch(2, 0, SECOND, 10)), []);
        let sums = clones.interval(&stretch(3, 0, SECOND + 5, 20));
        assert_eq!((n_reads(&sums), sums[0].n_clones, sums[0].sum.job_number), (vec![30], 2, 2));
        assert_eq!(clones.interval(&stretch(3, SECOND + 5, 2 * SECOND, 7)), []);
        // A clone that has ended is not waited for.
        let (sums, total) = clones.ended(&end(stretch(2, 0, SECOND, 10)));
        assert_eq!((n_reads(&sums), total), (vec![7], None));
    }

    #[test]
    fn clones_that_begin_late_are_added_up_from_their_first_interval() {
        let mut clones = together(2);
        assert_eq!(clones.interval(&stretch(2, 100 * SECOND, 101 * SECOND, 1)), []);
        assert_eq!(n_reads(&clones.interval(&stretch(3, 100 * SECOND, 101 * SECOND, 2))), [3]);
    }

    #[test]
    fn rates_are_summed_each_over_its_own_time() {
        let mut clones = together(2);
        clones.interval(&stretch(2, 0, SECOND, 100));
        let sums = clones.interval(&stretch(3, 0, 2 * SECOND, 100));
        let rates = [sums[0].iops[DataDirection::Read], sums[0].bw_bytes[DataDirection::Read]];
        assert_eq!(rates.map(f64::round).map(|rate| rate as u64), [150, 614_400]);
        assert_eq!((sums[0].sum.start_ns, sums[0].sum.end_ns), (0, 2 * SECOND));
    }

    #[test]
    fn a_clone_that_is_late_is_not_waited_for_and_not_lost() {
        let mut clones = together(2);
        let mut told: u64 = 0;
        for slot in 0..10 {
            told += n_reads(&clones.interval(&stretch(2, slot * SECOND, (slot + 1) * SECOND, 1))).iter().sum::<u64>();
        }
        assert_eq!(told, 7);
        told += n_reads(&clones.interval(&stretch(3, 0, 10 * SECOND, 100))).iter().sum::<u64>();
        let (rest, total) = clones.ended(&end(stretch(2, 0, 10 * SECOND, 10)));
        assert_eq!((told, n_reads(&rest), total), (7, vec![], None));
        let (rest, total) = clones.ended(&end(stretch(3, 0, 10 * SECOND, 100)));
        told += n_reads(&rest).iter().sum::<u64>();
        let total = total.unwrap();
        assert_eq!((told, n_reads(std::slice::from_ref(&total)), total.n_clones), (110, vec![110], 2));
        assert_eq!(total.iops[DataDirection::Read].round() as u64, 11);
    }
}
