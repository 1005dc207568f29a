//! The clones of the jobs on all hosts as those of one run: the clones of a job stand together, those of a host in a row.
//!
//! Must not know: lines, viewers. Start reading at [`HostClones::take`], then [`HostClones::on_host`].

use ferrio::fleet::{FleetEvent, one_name};
use ferrio_stats::{IntervalStats, Provenance, StretchHost};
use std::collections::BTreeMap;

/// The hosts that have come, and their jobs.
#[derive(Debug, Clone, Default)]
pub(super) struct HostClones {
    /// Names by rank.
    pub(super) hosts: BTreeMap<u32, String>,
    /// Facts of the first host that has told some.
    facts: Option<Provenance>,
    /// Number of clones of each job on one host.
    n_clones: Vec<u32>,
}

impl HostClones {
    /// Takes an event that says who has come, or what the jobs are.
    pub(super) fn take(&mut self, event: &FleetEvent<'_>) {
        match event {
            FleetEvent::Joined { rank, host } => {
                self.hosts.insert(*rank, (*host).to_owned());
            }
            FleetEvent::Facts { facts } if self.facts.is_none() => {
                self.n_clones = facts.jobs.iter().map(|job| job.n_clones).collect();
                self.facts = Some((*facts).clone());
            }
            _ => {}
        }
    }

    /// The facts of the first host as those of all: the jobs have the clones of all hosts.
    pub(super) fn facts_of_all(&self) -> Provenance {
        let mut facts = self.facts.clone().unwrap_or_default();
        let names: Vec<&str> = self.hosts.values().map(String::as_str).collect();
        facts.host_name = one_name(&names);
        for job in 0..facts.jobs.len() {
            let n_clones = self.n_clones.get(job).copied().unwrap_or_default();
            facts.jobs[job].first_number = self.first_number(job);
            facts.jobs[job].n_clones = n_clones.saturating_mul(self.n_hosts());
        }
        facts
    }

    /// The facts of one host; `None`: none has told any.
    pub(super) fn facts_of_one(&self) -> Option<&Provenance> {
        self.facts.as_ref()
    }

    fn n_hosts(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Number of the first clone of a job in the run of all hosts.
    fn first_number(&self, job: usize) -> u32 {
        let before: u32 = self.n_clones.iter().take(job).sum();
        before.saturating_mul(self.n_hosts()).saturating_add(1)
    }

    /// The number in the run of all hosts of the clone that has this number on its host.
    pub(super) fn number_of(&self, rank: u32, number_there: u32) -> u32 {
        let mut place = number_there.saturating_sub(1);
        for (job, n_clones) in self.n_clones.iter().enumerate() {
            if place < *n_clones {
                return self.first_number(job).saturating_add(rank.saturating_mul(*n_clones)).saturating_add(place);
            }
            place -= n_clones;
        }
        number_there
    }

    /// The numbers in the run of all hosts of the clones of a host.
    pub(super) fn numbers_on(&self, rank: u32) -> Vec<u32> {
        let n_clones: u32 = self.n_clones.iter().sum();
        (1..=n_clones).map(|number| self.number_of(rank, number)).collect()
    }

    /// The figures of a clone of a host as those of one in the run of all hosts.
    pub(super) fn on_host(&self, stretch: &IntervalStats, rank: u32, host: &str, epoch_ms: u64) -> IntervalStats {
        let job_number = self.number_of(rank, stretch.job_number);
        let host = Some(StretchHost { name: host.to_owned(), rank });
        IntervalStats { job_number, run_epoch_ms: epoch_ms, host, ..stretch.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_all_hosts_have_numbers_of_their_own() {
        let clones = HostClones {
            n_clones: vec![2, 1],
            hosts: BTreeMap::from([(0, "a".to_owned()), (1, "b".to_owned()), (2, "c".to_owned())]),
            facts: None,
        };
        let all: Vec<u32> = (0..3).flat_map(|rank| clones.numbers_on(rank)).collect();
        assert_eq!(all, [1, 2, 7, 3, 4, 8, 5, 6, 9]);
        assert_eq!((clones.first_number(0), clones.first_number(1)), (1, 7));
    }
}
