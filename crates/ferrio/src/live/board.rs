//! What a viewer knows of a run: the figures of the last second, of each job and of all together, findings, messages.
//!
//! Must not know: how they are shown. Start reading at [`LiveBoard::apply`], then [`LiveBoard::now`].

use crate::live::frame::{FindingLine, JobInterval, JobName, LiveFrame, RunState};
use crate::live::hosts::HostsBoard;
use crate::live::totals::JobTotals;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{Histogram, Metric, full_percentiles};
use ferrio_units::{DataDirection, PerDirection};
use std::collections::VecDeque;
use std::ops::Range;

/// Time that the figures of the present are about, nanoseconds.
const WINDOW_NS: u64 = 1_000_000_000;
/// Time of which intervals are kept: those of a point of the course are looked at a while after it.
const KEPT_NS: u64 = 3 * WINDOW_NS;
/// A job has figures for a time of which its intervals fill at least one part in so many.
const LEAST_PART: u64 = 10;
const MOST_MESSAGES: usize = 50;

/// Figures over a short time, of all directions together, which are about no interval: intervals of several jobs end at different times, and
/// those of a moment are joined.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Now {
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bw_bytes: f64,
    /// [`Metric::PERCENTILES`] of the latencies, nanoseconds; `None`: none was measured.
    pub percentiles_ns: Option<[u64; 3]>,
    /// The bucket of the slowest I/O.
    pub max_ns: Option<u64>,
    /// Mean number of I/Os in flight.
    pub depth: f64,
    /// Latency of 99 % of the syncs, nanoseconds; `None`: there was none. A program that commits waits for it, and not for its writes.
    pub sync_p99_ns: Option<u64>,
}

impl Now {
    /// A figure; `None`: it was not measured, or viewers do not get it.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        let percentile = Metric::PERCENTILES.iter().position(|known| *known == metric);
        match metric {
            Metric::Iops => Some(self.iops),
            Metric::Bandwidth => Some(self.bw_bytes),
            Metric::Max => self.max_ns.map(|max_ns| max_ns as f64),
            _ => Some(self.percentiles_ns?[percentile?] as f64),
        }
    }
}

/// A job as the viewer knows it.
#[derive(Debug, Clone)]
pub struct JobBoard {
    /// Its name.
    pub name: JobName,
    window: VecDeque<JobInterval>,
    /// `Some` after its end: the number of clones that failed.
    pub n_failed: Option<u32>,
    /// It has done something.
    pub has_begun: bool,
    /// Its counts since its start, if the run sends them.
    pub totals: JobTotals,
}

/// All that a viewer knows.
#[derive(Debug, Clone, Default)]
pub struct LiveBoard {
    /// The command line.
    pub title: String,
    /// The jobs.
    pub jobs: Vec<JobBoard>,
    /// Hosts that have come, and all that are to come, while a fleet gathers.
    pub coming: Option<(u32, u32)>,
    /// The hosts; empty where the run has this host alone.
    pub hosts: HostsBoard,
    /// Names of the devices.
    pub devices: Vec<String>,
    /// The state of the run.
    pub state: RunState,
    /// What the rules find so far.
    pub findings: Vec<FindingLine>,
    /// The newest messages, the last one at the end.
    pub messages: VecDeque<String>,
    /// The newest end of an interval, nanoseconds since the start of the run.
    pub elapsed_ns: u64,
    /// The run is over.
    pub is_over: bool,
}

impl LiveBoard {
    /// Takes a frame in.
    pub fn apply(&mut self, frame: LiveFrame) {
        match frame {
            LiveFrame::Begin { title, jobs, devices } => {
                let job = |name| JobBoard {
                    name,
                    window: VecDeque::new(),
                    n_failed: None,
                    has_begun: false,
                    totals: JobTotals::default(),
                };
                *self = Self {
                    title,
                    devices,
                    jobs: jobs.into_iter().map(job).collect(),
                    messages: std::mem::take(&mut self.messages),
                    ..Self::default()
                };
            }
            LiveFrame::Interval(interval) => self.interval(interval),
            LiveFrame::Totals(totals) => {
                if let Some(job) = self.jobs.get_mut(totals.job as usize) {
                    job.totals = totals;
                }
            }
            LiveFrame::State(state) => self.state = state,
            LiveFrame::Findings(findings) => self.findings = findings,
            LiveFrame::Message(text) => {
                let lines = text.trim().lines().filter(|line| !line.is_empty());
                self.messages.extend(lines.map(str::to_owned));
                while self.messages.len() > MOST_MESSAGES {
                    self.messages.pop_front();
                }
            }
            LiveFrame::JobEnded { job, n_failed } => {
                if let Some(job) = self.jobs.get_mut(job as usize) {
                    job.n_failed = Some(n_failed);
                }
            }
            LiveFrame::HostsComing { n_here, n_hosts } => self.coming = Some((n_here, n_hosts)),
            LiveFrame::Hosts(names) => self.hosts = HostsBoard::new(names, self.jobs.len()),
            LiveFrame::HostInterval(interval) => self.hosts.interval(&interval),
            LiveFrame::HostJobEnded { rank, job } => self.hosts.job_ended(rank, job),
            LiveFrame::HostLost { rank, reason } => self.hosts.lose(rank, reason),
            LiveFrame::End => self.is_over = true,
            // They are not about the course.
            LiveFrame::Reports(_) => {}
        }
    }

    fn interval(&mut self, interval: JobInterval) {
        let end_ns = interval.end_ns;
        let Some(job) = self.jobs.get_mut(interval.job as usize) else { return };
        job.has_begun = true;
        job.window.push_back(interval);
        while job.window.front().is_some_and(|first| first.end_ns.saturating_add(KEPT_NS) <= end_ns) {
            job.window.pop_front();
        }
        self.elapsed_ns = self.elapsed_ns.max(end_ns);
    }

    /// The present figures of all jobs together.
    pub fn now(&self) -> Now {
        figures(self.jobs.iter().filter(|job| self.is_current(job)).map(JobBoard::present))
    }

    /// The present figures of a job; zeroes where it does nothing.
    pub fn now_of(&self, job: &JobBoard) -> Now {
        figures(std::iter::once(job).filter(|job| self.is_current(job)).map(JobBoard::present))
    }

    /// The figures of the jobs that did something in this time, nanoseconds since the start of the run; `None`: none did, or its intervals
    /// are not kept any more.
    pub(crate) fn over(&self, time_ns: &Range<u64>) -> Option<Now> {
        together(self.jobs.iter().filter_map(|job| job.over(time_ns)))
    }

    /// The mean number of I/Os in flight of a job, by direction.
    pub fn depths_of(&self, job: &JobBoard) -> PerDirection<f64> {
        if !self.is_current(job) {
            return PerDirection::all(0.0);
        }
        let present = job.present();
        let length_ns = length_ns(&present).max(1) as f64;
        let depth = |direction: DataDirection| {
            let sum_ns: u64 = present.iter().map(|one| one.directions[direction].latency_sum_ns).sum();
            sum_ns as f64 / length_ns
        };
        PerDirection(DataDirection::ALL.map(depth))
    }

    /// Its figures are of the last moments, and it has not ended.
    fn is_current(&self, job: &JobBoard) -> bool {
        let newest_ns = job.window.back().map_or(0, |interval| interval.end_ns);
        job.n_failed.is_none() && newest_ns.saturating_add(3 * WINDOW_NS) >= self.elapsed_ns
    }
}

impl JobBoard {
    /// Its intervals of the last second.
    fn present(&self) -> Vec<&JobInterval> {
        let newest_ns = self.window.back().map_or(0, |interval| interval.end_ns);
        self.window.iter().filter(|interval| interval.end_ns.saturating_add(WINDOW_NS) > newest_ns).collect()
    }

    /// Its figures of this time; `None`: it did nothing, or so little that it is none.
    pub(crate) fn figures_over(&self, time_ns: &Range<u64>) -> Option<Now> {
        together(self.over(time_ns).into_iter())
    }

    /// Its intervals of which at least half lie in this time, or which fill at least half of it.
    fn over(&self, time_ns: &Range<u64>) -> Option<Vec<&JobInterval>> {
        let wanted_ns = time_ns.end.saturating_sub(time_ns.start);
        let common_ns = |interval: &JobInterval| {
            interval.end_ns.min(time_ns.end).saturating_sub(interval.start_ns.max(time_ns.start))
        };
        let is_of = |interval: &&JobInterval| {
            let own_ns = interval.end_ns.saturating_sub(interval.start_ns);
            common_ns(interval).saturating_mul(2) >= own_ns.min(wanted_ns).max(1)
        };
        let found: Vec<&JobInterval> = self.window.iter().filter(is_of).collect();
        let filled_ns: u64 = found.iter().map(|interval| common_ns(interval)).sum();
        (filled_ns.saturating_mul(LEAST_PART) >= wanted_ns.max(1)).then_some(found)
    }
}

/// Figures of the intervals of jobs together; `None`: there is no job.
fn together<'a>(jobs: impl Iterator<Item = Vec<&'a JobInterval>>) -> Option<Now> {
    let mut jobs = jobs.peekable();
    jobs.peek().is_some().then(|| figures(jobs))
}

fn length_ns(intervals: &[&JobInterval]) -> u64 {
    intervals.iter().map(|one| one.end_ns.saturating_sub(one.start_ns)).sum()
}

/// Rates and latencies of jobs together.
fn figures<'a>(jobs: impl Iterator<Item = Vec<&'a JobInterval>>) -> Now {
    let (mut now, mut latencies, mut syncs) = (Now::default(), Histogram::default(), Histogram::default());
    for intervals in jobs {
        let length_ns = length_ns(&intervals);
        for interval in intervals {
            let own_ns = interval.end_ns.saturating_sub(interval.start_ns);
            let share = if length_ns == 0 { 0.0 } else { own_ns as f64 / length_ns as f64 };
            for direction in DataDirection::ALL {
                let figures = &interval.directions[direction];
                now.iops += figures.iops * share;
                now.bw_bytes += figures.bw_bytes * share;
                now.depth += figures.latency_sum_ns as f64 / length_ns.max(1) as f64;
                add(&mut latencies, &figures.latency);
            }
            add(&mut syncs, &interval.sync_latency);
        }
    }
    if latencies.n_samples() > 0 {
        let values = full_percentiles(&latencies, &[50.0, 99.0, 99.9, 100.0]);
        let value = |index: usize| values.get(index).map_or(0, |(_, latency_ns)| *latency_ns);
        now.percentiles_ns = Some([value(0), value(1), value(2)]);
        now.max_ns = Some(value(3));
    }
    if syncs.n_samples() > 0 {
        now.sync_p99_ns = full_percentiles(&syncs, &[99.0]).first().map(|(_, latency_ns)| *latency_ns);
    }
    now
}

fn add(latencies: &mut Histogram, buckets: &[(u16, u64)]) {
    for (index, count) in buckets {
        latencies.record_many(bucket_latency_ns(usize::from(*index)), *count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::frame::DirectionInterval;
    use ferrio_stats::histogram::full_bucket_index;

    const MS: u64 = 1_000_000;

    fn board(n_jobs: usize) -> LiveBoard {
        let job =
            |index| JobName { name: format!("j{index}"), n_clones: 1, directions: PerDirection([true, false, false]) };
        let mut board = LiveBoard::default();
        board.apply(LiveFrame::Begin {
            title: String::new(),
            jobs: (0..n_jobs).map(job).collect(),
            devices: Vec::new(),
        });
        board
    }

    /// Writes of 100 us with a sync of 5 ms after each: the p99 of the I/Os is that of the writes, and that of the syncs stands beside it.
    #[test]
    fn syncs_have_a_p99_of_their_own() {
        let mut board = board(1);
        let LiveFrame::Interval(mut interval) = reads(0, 0, 1_000, 200) else { panic!("an interval") };
        board.apply(LiveFrame::Interval(interval.clone()));
        assert_eq!(board.now().sync_p99_ns, None);
        interval.sync_latency = vec![(full_bucket_index(5_000_000) as u16, 200)];
        (interval.start_ns, interval.end_ns) = (1_000 * MS, 2_000 * MS);
        board.apply(LiveFrame::Interval(interval));
        let now = board.now_of(&board.jobs[0]);
        let near = |ns: Option<u64>, expected: u64| ns.is_some_and(|ns| ns.abs_diff(expected) < expected / 50);
        assert!(near(now.sync_p99_ns, 5_000_000) && near(now.percentiles_ns.map(|all| all[1]), 100_000), "{now:?}");
    }

    /// Reads of a job, each of 100 us, over a time in milliseconds.
    fn reads(job: u32, start_ms: u64, end_ms: u64, n_ios: u64) -> LiveFrame {
        let iops = n_ios as f64 * 1e3 / (end_ms - start_ms) as f64;
        let index = full_bucket_index(100_000) as u16;
        let read = DirectionInterval {
            iops,
            bw_bytes: iops * 4096.0,
            latency_sum_ns: n_ios * 100_000,
            latency: vec![(index, n_ios)],
        };
        let directions = PerDirection([read, DirectionInterval::default(), DirectionInterval::default()]);
        LiveFrame::Interval(JobInterval {
            job,
            start_ns: start_ms * MS,
            end_ns: end_ms * MS,
            directions,
            sync_latency: Vec::new(),
        })
    }

    #[test]
    fn the_present_is_the_last_second() {
        let mut board = board(2);
        for (start, n_ios) in [(0, 900), (500, 100), (1000, 300)] {
            board.apply(reads(0, start, start + 500, n_ios));
        }
        board.apply(reads(1, 1000, 1500, 500));
        let first = board.now_of(&board.jobs[0]);
        // 100 and 300 reads in the last second, of 100 us each.
        assert_eq!([first.iops, first.bw_bytes].map(|rate| rate.round() as u64), [400, 400 * 4096]);
        assert!((first.depth - 0.04).abs() < 1e-9);
        let depths = board.depths_of(&board.jobs[0]).0.map(|depth| (depth * 1e6).round() as u64);
        assert_eq!(depths, [40_000, 0, 0]);
        assert_eq!(board.now().iops.round() as u64, 1400);
        let [p50, p99, _] = first.percentiles_ns.unwrap();
        assert!(p50 == p99 && p50.abs_diff(100_000) < 1_000 && first.max_ns == Some(p50));
    }

    #[test]
    fn what_has_ended_or_hangs_does_nothing_now() {
        let mut board = board(2);
        board.apply(reads(0, 0, 1000, 900));
        board.apply(reads(1, 0, 1000, 50));
        board.apply(LiveFrame::JobEnded { job: 0, n_failed: 1 });
        assert_eq!((board.now().iops.round() as u64, board.now_of(&board.jobs[0])), (50, Now::default()));
        board.apply(reads(0, 9000, 10_000, 1));
        assert_eq!(board.now_of(&board.jobs[1]), Now::default());
    }

    #[test]
    fn figures_are_of_the_time_in_which_most_of_them_lie() {
        let mut board = board(1);
        let of = |board: &LiveBoard, start_ms: u64, end_ms: u64| {
            board.over(&(start_ms * MS..end_ms * MS)).map(|now| now.iops.round() as u64)
        };
        // Intervals that begin and end between the seconds, and the last moment of a job.
        for (start_ms, n_ios) in [(1500, 50), (2000, 100), (2500, 150)] {
            board.apply(reads(0, start_ms, start_ms + 500, n_ios));
        }
        board.apply(reads(0, 3000, 3001, 1));
        assert_eq!([of(&board, 0, 1000), of(&board, 1000, 2000), of(&board, 2000, 3000)], [None, Some(100), Some(250)]);
        assert_eq!([of(&board, 3000, 4000), of(&board, 2100, 2400)], [None, Some(200)]);
        // A job that ended within the second, and one whose I/O took several of them.
        board.apply(reads(0, 7000, 7300, 30));
        assert_eq!([of(&board, 7000, 8000), of(&board, 2000, 3000)], [Some(100), None]);
        board.apply(reads(0, 8000, 12_000, 8));
        assert_eq!([of(&board, 8000, 9000), of(&board, 11_000, 12_000)], [Some(2); 2]);
    }

    #[test]
    fn a_frame_of_a_job_that_is_none_does_nothing() {
        let mut board = board(1);
        board.apply(reads(7, 0, 1, 1));
        board.apply(LiveFrame::JobEnded { job: 7, n_failed: 0 });
        assert_eq!((board.now(), board.elapsed_ns, board.over(&(0..1))), (Now::default(), 0, None));
    }
}
