//! The lines of jsonl of a fleet: intervals and ends of all hosts, as they come.
//!
//! Must not know: how a line looks. Start reading at [`FleetCourse::event`].

use crate::shared::records::EventLog;
use crate::ui::console::Console;
use ferrio::fleet::{FleetEvent, one_name};
use ferrio_stats::{IntervalStats, LoggedEvent, MessageStream, Provenance, StretchHost};
use ferrio_sys::clock::wall_clock_ms;
use std::collections::BTreeMap;
use std::time::Duration;

/// Tells the course of a fleet in lines. The first one is that of the first facts, when the hosts have begun.
pub(super) struct FleetCourse {
    pub(super) log: EventLog,
    interval: Duration,
    hosts: BTreeMap<u32, String>,
    /// Facts of the first host that has told some.
    facts: Option<Provenance>,
    /// Number of clones of each job on one host.
    n_clones: Vec<u32>,
    /// Start of the run on the coordinator's wall clock, milliseconds since 1970; `None`: it has not begun.
    epoch_ms: Option<u64>,
}

impl FleetCourse {
    pub(super) fn new(log: EventLog, interval: Duration) -> Self {
        Self { log, interval, hosts: BTreeMap::new(), facts: None, n_clones: Vec::new(), epoch_ms: None }
    }

    pub(super) fn event(&mut self, console: &mut Console, event: &FleetEvent<'_>) {
        match event {
            FleetEvent::Joined { rank, host } => {
                self.hosts.insert(*rank, (*host).to_owned());
            }
            FleetEvent::Facts { facts } if self.facts.is_none() => {
                self.n_clones = facts.jobs.iter().map(|job| job.n_clones).collect();
                self.facts = Some((*facts).clone());
            }
            FleetEvent::Began => {
                self.begin(console, 0);
            }
            FleetEvent::Interval { rank, host, interval } => {
                let epoch_ms = self.begin(console, interval.end_ns);
                let stretch = self.on_host(interval, *rank, host, epoch_ms);
                self.log.of_host(console, LoggedEvent::Interval(Box::new(stretch)));
            }
            FleetEvent::JobEnded { rank, host, end } => {
                let epoch_ms = self.begin(console, end.stretch.end_ns);
                let mut end = (*end).clone();
                end.stretch = self.on_host(&end.stretch, *rank, host, epoch_ms);
                self.log.of_host(console, LoggedEvent::JobEnded(Box::new(end)));
            }
            _ => {}
        }
    }

    /// A line for a message; before the first line it waits for that.
    pub(super) fn message(&mut self, console: &mut Console, text: &str) {
        if self.epoch_ms.is_some() {
            self.log.message(console, MessageStream::Error, text);
        }
    }

    /// Tells the first line, if it was not told; returns the start of the run, which was so long ago.
    fn begin(&mut self, console: &mut Console, so_far_ns: u64) -> u64 {
        if let Some(epoch_ms) = self.epoch_ms {
            return epoch_ms;
        }
        let epoch_ms = wall_clock_ms().saturating_sub(so_far_ns / 1_000_000);
        self.epoch_ms = Some(epoch_ms);
        let mut facts = self.facts.clone().unwrap_or_default();
        let names: Vec<&str> = self.hosts.values().map(String::as_str).collect();
        facts.host_name = one_name(&names);
        for job in 0..facts.jobs.len() {
            let n_clones = self.n_clones.get(job).copied().unwrap_or_default();
            facts.jobs[job].first_number = self.first_number(job);
            facts.jobs[job].n_clones = n_clones.saturating_mul(self.n_hosts());
        }
        self.log.begin(console, &facts, epoch_ms, self.interval);
        epoch_ms
    }

    fn n_hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Number of the first clone of a job in the run of all hosts.
    fn first_number(&self, job: usize) -> u32 {
        let before: u32 = self.n_clones.iter().take(job).sum();
        before.saturating_mul(self.n_hosts()).saturating_add(1)
    }

    /// The figures of a clone of a host as those of one in the run of all hosts: the clones of a job stand together, those of a host in a row.
    fn on_host(&self, stretch: &IntervalStats, rank: u32, host: &str, epoch_ms: u64) -> IntervalStats {
        let mut place = stretch.job_number.saturating_sub(1);
        let mut number = stretch.job_number;
        for (job, n_clones) in self.n_clones.iter().enumerate() {
            if place < *n_clones {
                number = self.first_number(job).saturating_add(rank.saturating_mul(*n_clones)).saturating_add(place);
                break;
            }
            place -= n_clones;
        }
        let host = Some(StretchHost { name: host.to_owned(), rank });
        IntervalStats { job_number: number, run_epoch_ms: epoch_ms, host, ..stretch.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_all_hosts_have_numbers_of_their_own() {
        let mut course = FleetCourse::new(EventLog::default(), Duration::from_secs(1));
        course.n_clones = vec![2, 1];
        course.hosts = BTreeMap::from([(0, "a".to_owned()), (1, "b".to_owned()), (2, "c".to_owned())]);
        let number = |rank, job_number| {
            let stretch = IntervalStats {
                job_name: String::new(),
                job_number,
                group_index: 0,
                directions: ferrio_units::PerDirection::default(),
                percentiles: Vec::new(),
                start_ns: 0,
                end_ns: 0,
                run_epoch_ms: 0,
                stats: ferrio_stats::ThreadStats::default(),
                host: None,
            };
            course.on_host(&stretch, rank, "x", 0).job_number
        };
        let all: Vec<u32> = (0..3).flat_map(|rank| (1..=3).map(move |own| number(rank, own))).collect();
        assert_eq!(all, [1, 2, 7, 3, 4, 8, 5, 6, 9]);
        assert_eq!((course.first_number(0), course.first_number(1)), (1, 7));
    }
}
