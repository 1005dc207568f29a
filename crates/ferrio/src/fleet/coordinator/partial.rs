//! The record of a host that was lost: what it had told in its intervals.

use super::MeasuredHost;
use crate::fleet::interval_sums::add_in_time;
use crate::fleet::outcome::MOST_INTERVALS;
use crate::session::VERSION;
use ferrio_spec::RunSpec;
use ferrio_stats::{IntervalStats, JobSeries, RunRecord, StretchTimes, WorkerFate, WorkerRecord};
use std::collections::BTreeMap;

/// Most intervals of the courses of all hosts together, which are kept for those that are lost.
const MOST_KEPT_INTERVALS: usize = 1 << 16;
/// With more hosts, courses have no latencies: distributions of some hundred buckets would take most of the memory.
const MOST_HOSTS_WITH_LATENCIES: u32 = 256;
/// Fewest intervals of a course.
const LEAST_INTERVALS: usize = 32;

/// Most clones of a host whose jobs are not known here.
const MOST_CLONES: u32 = 1 << 16;

/// The figures of a host so far, by the number of the job's clone.
#[derive(Debug, Default)]
pub(super) struct PartialRecord {
    /// Number of clones of each job: workers are numbered through all of them.
    n_clones: Vec<u32>,
    n_hosts: u32,
    workers: BTreeMap<u32, WorkerRecord>,
    /// The course of each job, in the intervals that were told.
    series: BTreeMap<u32, JobSeries>,
    elapsed_ns: u64,
    epoch_ms: u64,
}

impl PartialRecord {
    /// A host that has told nothing yet of these jobs.
    pub(super) fn of(jobs: &RunSpec, n_hosts: u32) -> Self {
        Self { n_clones: jobs.jobs.iter().map(|job| job.numjobs).collect(), n_hosts, ..Self::default() }
    }

    /// Number of clones of all jobs, at most.
    fn n_all_clones(&self) -> u32 {
        if self.n_clones.is_empty() {
            MOST_CLONES
        } else {
            self.n_clones.iter().fold(0, |sum, n| sum.saturating_add(*n))
        }
    }

    /// True if a clone has this number.
    pub(super) fn knows(&self, number: u32) -> bool {
        number > 0 && number <= self.n_all_clones()
    }

    /// True if there can be so many clones.
    pub(super) fn has_room_for(&self, n_clones: usize) -> bool {
        n_clones <= self.n_all_clones() as usize
    }

    /// Indexes of job and clone of the worker with this number, from 1.
    fn place(&self, number: u32) -> (u32, u32) {
        let mut clone_index = number.saturating_sub(1);
        for (job_index, n_clones) in (0..).zip(&self.n_clones) {
            if clone_index < *n_clones {
                return (job_index, clone_index);
            }
            clone_index -= n_clones;
        }
        (self.n_clones.len() as u32, clone_index)
    }

    /// Counts an interval.
    pub(super) fn add(&mut self, interval: &IntervalStats) {
        self.elapsed_ns = self.elapsed_ns.max(interval.end_ns);
        self.epoch_ms = interval.run_epoch_ms;
        let (job_index, clone_index) = self.place(interval.job_number);
        let worker = self.workers.entry(interval.job_number).or_insert_with(|| WorkerRecord {
            name: interval.job_name.clone(),
            number: interval.job_number,
            job_index,
            clone_index,
            group_index: interval.group_index,
            directions: interval.directions,
            fate: WorkerFate { was_let_go: true, is_cut_short: true, ..WorkerFate::default() },
            ..WorkerRecord::default()
        });
        let lasted_ns = interval.end_ns.saturating_sub(interval.start_ns);
        add_in_time(&mut worker.stats, &interval.stats, lasted_ns);
        let each = MOST_KEPT_INTERVALS / self.n_hosts.max(1) as usize;
        let most_intervals = each.clamp(LEAST_INTERVALS, MOST_INTERVALS);
        let series = self.series.entry(job_index).or_insert_with(|| JobSeries::new(job_index, lasted_ns));
        let times = StretchTimes { start_ns: interval.start_ns, due_ns: interval.end_ns, end_ns: interval.end_ns };
        series.add(times, &interval.stats, most_intervals);
        if self.n_hosts > MOST_HOSTS_WITH_LATENCIES {
            series.drop_latencies();
        }
    }

    /// The outcome of a host that has told no other.
    pub(super) fn into_outcome(self) -> MeasuredHost {
        let n_failed = self.workers.len() as u32;
        let record = RunRecord {
            version: VERSION.to_owned(),
            elapsed_ns: self.elapsed_ns,
            timestamp_ms: self.epoch_ms.saturating_add(self.elapsed_ns / 1_000_000),
            workers: self.workers.into_values().collect(),
            series: self.series.into_values().collect(),
            ..RunRecord::default()
        };
        MeasuredHost { record, n_failed, is_stopped: true, n_logs_lost: 0, n_intervals_lost: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::JobSpec;

    #[test]
    fn clones_belong_to_their_jobs() {
        let jobs = [2, 1, 3].map(|numjobs| JobSpec { numjobs, ..JobSpec::default() }).to_vec();
        let record = PartialRecord::of(&RunSpec { jobs, ..RunSpec::default() }, 1);
        let places: Vec<(u32, u32)> = (1..=6).map(|number| record.place(number)).collect();
        assert!(
            record.knows(6)
                && !record.knows(0)
                && !record.knows(7)
                && record.has_room_for(6)
                && !record.has_room_for(7)
        );
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (2, 2)]);
    }
}
