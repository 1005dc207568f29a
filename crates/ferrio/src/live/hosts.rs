//! What a viewer knows of the hosts of a fleet: the present figures of each, the slowest, those that are lost, and the course of each.
//!
//! Must not know: how they are shown. Start reading at [`HostsBoard::interval`], then [`HostsBoard::summary`].

use crate::live::frame::HostInterval;
use std::collections::BTreeMap;

const NS_PER_SEC: u64 = 1_000_000_000;
/// A host that has told nothing for so long, while others have, does nothing.
const SILENT_NS: u64 = 3 * NS_PER_SEC;
/// Points of a course at most. When there are more, pairs of them become one.
const MOST_POINTS: usize = 600;
/// Points of the courses of all hosts together: with many hosts each has fewer.
const MOST_POINTS_OF_ALL: usize = 240_000;
/// Points of a course at least, however many hosts there are.
const FEWEST_POINTS: usize = 60;
/// A point has a rate if at least one part in so many of its time is known.
const LEAST_PART: u64 = 10;

/// What a host does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostState {
    /// None of its jobs has done anything yet.
    Waits,
    /// Its jobs run.
    Runs,
    /// It has told nothing for some seconds, and is not known to be lost.
    Silent,
    /// All its jobs have ended.
    Ended,
    /// It is lost.
    Lost,
}

impl HostState {
    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Runs => "runs",
            Self::Silent => "silent",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }
}

/// The present figures of a host, of all its jobs together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostFigures {
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bw_bytes: f64,
    /// Latency of 99 % of the I/Os of the job with the longest, nanoseconds; `None`: none was measured.
    pub p99_ns: Option<u64>,
}

/// A host as the viewer knows it.
#[derive(Debug, Clone, Default)]
pub struct HostBoard {
    /// Its name.
    pub name: String,
    /// Why it is lost; `None`: it is there.
    pub lost: Option<String>,
    /// The newest interval of each job that has not ended there.
    newest: BTreeMap<u32, HostInterval>,
    n_jobs_ended: usize,
    /// End of its newest interval, nanoseconds; 0: it has told none.
    end_ns: u64,
    course: Vec<HostPoint>,
}

/// The I/Os of a host in the time of a point, and how much of that time is known.
#[derive(Debug, Clone, Copy, Default)]
struct HostPoint {
    n_ios: f64,
    start_ns: u64,
    end_ns: u64,
}

/// The slowest of the hosts that run.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowestHost {
    /// Its name.
    pub name: String,
    /// Its I/Os a second.
    pub iops: f64,
    /// The median of all hosts that run, I/Os a second.
    pub median_iops: f64,
}

/// How the hosts are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostsSummary {
    /// The slowest host; `None` where fewer than two run.
    pub slowest: Option<SlowestHost>,
    /// Names of the lost hosts.
    pub lost: Vec<String>,
}

/// All hosts of a fleet, by rank.
#[derive(Debug, Clone, Default)]
pub struct HostsBoard {
    /// The hosts, by rank.
    pub hosts: Vec<HostBoard>,
    n_jobs: usize,
    /// The newest end of an interval of any host, nanoseconds.
    end_ns: u64,
    /// Seconds of a point of the courses; 0: there are no hosts.
    pub point_secs: u64,
}

impl HostsBoard {
    /// Hosts with these names, which have told nothing yet of so many jobs.
    pub fn new(names: Vec<String>, n_jobs: usize) -> Self {
        let host = |name| HostBoard { name, ..HostBoard::default() };
        Self { hosts: names.into_iter().map(host).collect(), n_jobs, end_ns: 0, point_secs: 1 }
    }

    /// Takes an interval in.
    pub fn interval(&mut self, interval: &HostInterval) {
        if self.hosts.get(interval.rank as usize).is_none() {
            return;
        }
        self.end_ns = self.end_ns.max(interval.end_ns);
        while interval.end_ns / self.point_ns() >= self.most_points() as u64 {
            self.halve();
        }
        let point_ns = self.point_ns();
        let host = &mut self.hosts[interval.rank as usize];
        host.end_ns = host.end_ns.max(interval.end_ns);
        host.newest.insert(interval.job, *interval);
        let last = (interval.end_ns.saturating_sub(1) / point_ns) as usize;
        let first = ((interval.start_ns / point_ns) as usize).min(last);
        if host.course.len() <= last {
            host.course.resize(last + 1, HostPoint::default());
        }
        for (index, point) in host.course.iter_mut().enumerate().take(last + 1).skip(first) {
            let start_ns = interval.start_ns.max(index as u64 * point_ns);
            let end_ns = interval.end_ns.min((index as u64 + 1).saturating_mul(point_ns));
            let n_ios = interval.iops * end_ns.saturating_sub(start_ns) as f64 / NS_PER_SEC as f64;
            point.add(HostPoint { n_ios, start_ns, end_ns });
        }
    }

    /// A job has ended on a host.
    pub fn job_ended(&mut self, rank: u32, job: u32) {
        if let Some(host) = self.hosts.get_mut(rank as usize) {
            host.newest.remove(&job);
            host.n_jobs_ended += 1;
        }
    }

    /// A host is lost.
    pub fn lose(&mut self, rank: u32, reason: String) {
        if let Some(host) = self.hosts.get_mut(rank as usize) {
            host.lost = Some(reason);
        }
    }

    /// What a host does.
    pub fn state_of(&self, host: &HostBoard) -> HostState {
        match () {
            () if host.lost.is_some() => HostState::Lost,
            () if self.n_jobs > 0 && host.n_jobs_ended >= self.n_jobs => HostState::Ended,
            () if host.end_ns.saturating_add(SILENT_NS) < self.end_ns => HostState::Silent,
            () if host.end_ns == 0 => HostState::Waits,
            () => HostState::Runs,
        }
    }

    /// The present figures of a host; zeroes where it does nothing.
    pub fn now_of(&self, host: &HostBoard) -> HostFigures {
        if self.state_of(host) != HostState::Runs {
            return HostFigures::default();
        }
        let is_present = |interval: &&HostInterval| interval.end_ns.saturating_add(SILENT_NS) >= host.end_ns;
        host.newest.values().filter(is_present).fold(HostFigures::default(), |sum, interval| HostFigures {
            iops: sum.iops + interval.iops,
            bw_bytes: sum.bw_bytes + interval.bw_bytes,
            p99_ns: sum.p99_ns.max(interval.p99_ns),
        })
    }

    /// How the hosts are.
    pub fn summary(&self) -> HostsSummary {
        let runs = |host: &&HostBoard| matches!(self.state_of(host), HostState::Runs | HostState::Silent);
        let running = self.hosts.iter().filter(runs).map(|host| (self.now_of(host).iops, host));
        let mut running: Vec<(f64, &HostBoard)> = running.collect();
        running.sort_by(|one, other| one.0.total_cmp(&other.0));
        let median_iops = running.get(running.len() / 2).map_or(0.0, |(iops, _)| *iops);
        let slowest = running.first().filter(|_| running.len() > 1 && median_iops > 0.0);
        HostsSummary {
            slowest: slowest.map(|(iops, host)| SlowestHost { name: host.name.clone(), iops: *iops, median_iops }),
            lost: self.hosts.iter().filter(|host| host.lost.is_some()).map(|host| host.name.clone()).collect(),
        }
    }

    /// Indexes of the hosts, those first that need a look: lost and silent ones, then those that run, the slowest first, then the others.
    pub fn by_need(&self) -> Vec<usize> {
        let urgency = |host: &HostBoard| match self.state_of(host) {
            HostState::Lost => 0,
            HostState::Silent => 1,
            HostState::Runs => 2,
            HostState::Waits => 3,
            HostState::Ended => 4,
        };
        let keys: Vec<(u8, f64)> = self.hosts.iter().map(|host| (urgency(host), self.now_of(host).iops)).collect();
        let mut indexes: Vec<usize> = (0..self.hosts.len()).collect();
        indexes.sort_by(|one, other| keys[*one].0.cmp(&keys[*other].0).then(keys[*one].1.total_cmp(&keys[*other].1)));
        indexes
    }

    /// Number of points of the longest course.
    pub fn n_points(&self) -> usize {
        self.hosts.iter().map(|host| host.course.len()).max().unwrap_or(0)
    }

    /// The course of a host from this point on: I/Os a second, `None` where nothing is known.
    pub fn rates_from(&self, host: &HostBoard, first: usize) -> Vec<Option<f64>> {
        let least_ns = self.point_ns() / LEAST_PART;
        host.course.get(first..).unwrap_or_default().iter().map(|point| point.iops(least_ns)).collect()
    }

    fn point_ns(&self) -> u64 {
        self.point_secs.max(1).saturating_mul(NS_PER_SEC)
    }

    fn most_points(&self) -> usize {
        (MOST_POINTS_OF_ALL / self.hosts.len().max(1)).clamp(FEWEST_POINTS, MOST_POINTS)
    }

    /// Makes one point of two.
    fn halve(&mut self) {
        self.point_secs = self.point_secs.max(1).saturating_mul(2);
        for host in &mut self.hosts {
            let pairs = host.course.chunks(2).map(|pair| {
                let mut point = pair[0];
                pair[1..].iter().for_each(|other| point.add(*other));
                point
            });
            host.course = pairs.collect();
        }
    }
}

impl HostPoint {
    /// Adds another job, or a later time.
    fn add(&mut self, other: Self) {
        if other.end_ns <= other.start_ns {
            return;
        }
        if self.end_ns <= self.start_ns {
            *self = other;
            return;
        }
        self.n_ios += other.n_ios;
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
    }

    fn iops(&self, least_ns: u64) -> Option<f64> {
        let known_ns = self.end_ns.saturating_sub(self.start_ns);
        (known_ns > 0 && known_ns >= least_ns).then(|| self.n_ios * NS_PER_SEC as f64 / known_ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(n_hosts: usize, n_jobs: usize) -> HostsBoard {
        HostsBoard::new((0..n_hosts).map(|rank| format!("h{rank}")).collect(), n_jobs)
    }

    /// I/Os of a job on a host from one millisecond to another.
    fn interval(rank: u32, job: u32, ms: (u64, u64), iops: f64) -> HostInterval {
        let (start_ns, end_ns) = (ms.0 * 1_000_000, ms.1 * 1_000_000);
        HostInterval { rank, job, start_ns, end_ns, iops, bw_bytes: iops * 4096.0, p99_ns: Some(iops as u64) }
    }

    fn iops(board: &HostsBoard, rank: usize) -> f64 {
        board.now_of(&board.hosts[rank]).iops
    }

    #[test]
    fn jobs_of_a_host_add_up_and_the_slowest_host_is_named() {
        let mut board = hosts(3, 2);
        assert_eq!(board.summary(), HostsSummary::default());
        for (rank, rate) in [(0, 100.0), (1, 40.0), (2, 90.0)] {
            board.interval(&interval(rank, 0, (0, 1000), rate));
            board.interval(&interval(rank, 1, (0, 1000), rate / 2.0));
        }
        assert_eq!([0, 1, 2].map(|rank| iops(&board, rank) as u64), [150, 60, 135]);
        let slowest = SlowestHost { name: "h1".to_owned(), iops: 60.0, median_iops: 135.0 };
        assert_eq!(board.summary(), HostsSummary { slowest: Some(slowest), lost: Vec::new() });
        assert_eq!(board.now_of(&board.hosts[0]).p99_ns, Some(100));
        assert_eq!(board.by_need(), [1, 2, 0]);
        board.lose(0, "gone".to_owned());
        assert_eq!((board.by_need(), board.summary().lost), (vec![0, 1, 2], vec!["h0".to_owned()]));
    }

    /// A host whose jobs have ended is not slow; one that says nothing while others do is.
    #[test]
    fn ended_hosts_are_not_slow_and_silent_ones_are() {
        let mut board = hosts(4, 1);
        for rank in 0..3 {
            board.interval(&interval(rank, 0, (0, 1000), 10.0));
        }
        board.job_ended(0, 0);
        for rank in [2, 3] {
            board.interval(&interval(rank, 0, (5000, 6000), 10.0));
        }
        let states: Vec<HostState> = board.hosts.iter().map(|host| board.state_of(host)).collect();
        assert_eq!(states, [HostState::Ended, HostState::Silent, HostState::Runs, HostState::Runs]);
        let slowest = board.summary().slowest.expect("one is silent and two run");
        assert_eq!((slowest.iops, iops(&board, 2)), (0.0, 10.0));
    }

    #[test]
    fn an_interval_counts_where_it_lies() {
        let mut board = hosts(1, 2);
        // 10 a second for 500 ms of each of two points, then 30 a second for a quarter, and nothing for a while.
        board.interval(&interval(0, 0, (500, 1500), 10.0));
        board.interval(&interval(0, 0, (1500, 1750), 30.0));
        board.interval(&interval(0, 1, (1000, 1750), 4.0));
        board.interval(&interval(0, 0, (4000, 5000), 8.0));
        let rates = board.rates_from(&board.hosts[0], 0);
        // The second point has 5 + 7.5 I/Os of one job and 3 of the other, in 750 ms.
        assert_eq!(rates, [Some(10.0), Some(15.5 / 0.75), None, None, Some(8.0)]);
        assert_eq!(board.rates_from(&board.hosts[0], 4), [Some(8.0)]);
    }

    #[test]
    fn courses_stay_short_and_keep_their_rates() {
        let mut board = hosts(1000, 1);
        for second in 0..3000 {
            for rank in [0, 999] {
                board.interval(&interval(rank, 0, (second * 1000, second * 1000 + 1000), 7.0));
            }
        }
        assert_eq!((board.point_secs, board.n_points()), (16, 188));
        assert!(board.rates_from(&board.hosts[999], 0).iter().all(|rate| *rate == Some(7.0)));
        // Times of a host that lies make the points long, and nothing else.
        board.interval(&interval(3, 0, (0, u64::MAX / 1_000_000), 1.0));
        assert!(board.n_points() <= 240);
        board.interval(&interval(1000, 7, (0, 1000), 1.0));
    }
}
