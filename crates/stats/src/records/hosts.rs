//! The hosts of a run on several: what each has measured, beside the record of all of them.
//!
//! The workers of all hosts are in the one record, each once; what is of one host (evidence, course, findings) is in its part.
//! Must not know: how hosts are reached, formats. Start reading at [`HostPart`] and [`RunRecord::of_host`].

use crate::{RecordOrigin, RunRecord};
use serde::{Deserialize, Serialize};

/// A host's part of a run on several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostPart {
    pub name: String,
    /// Its rank, from 0.
    pub rank: u32,
    /// Numbers of its workers in the record of all hosts, ascending.
    pub workers: Vec<u32>,
    /// Start of its run after that of the first host, nanoseconds on one clock; `None`: it has not begun.
    pub start_ns: Option<u64>,
    /// Its clock minus the coordinator's.
    pub clock_offset_ns: i64,
    /// That offset is right to within so many nanoseconds; `None`: unknown.
    pub clock_uncertainty_ns: Option<u64>,
    /// Why it was lost, if it was.
    pub lost: Option<String>,
    /// Its outcome did not come: its figures are those of its intervals until then.
    pub is_partial: bool,
    /// Intervals that did not come while the run went on.
    pub n_intervals_lost: u64,
    /// All else that it has measured: a record without workers.
    pub record: RunRecord,
}

impl HostPart {
    /// Time from its start to its last figure, nanoseconds since the start of the first host.
    pub fn window_ns(&self) -> Option<(u64, u64)> {
        let start_ns = self.start_ns?;
        Some((start_ns, start_ns.saturating_add(self.record.elapsed_ns)))
    }
}

/// How well the hosts ran together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostsTogether {
    /// Time between the first and the last start; `None`: fewer than two hosts have begun.
    pub start_spread_ns: Option<u64>,
    /// Time in which all hosts ran; 0: there was none.
    pub common_ns: u64,
}

impl RunRecord {
    /// The hosts, by rank; empty: the run was one of a single host.
    pub fn hosts(&self) -> &[HostPart] {
        match &self.origin {
            RecordOrigin::Hosts(hosts) => hosts,
            RecordOrigin::Measured | RecordOrigin::Report(_) => &[],
        }
    }

    /// The record of one of the hosts.
    #[must_use]
    pub fn of_host(&self, host: &HostPart) -> Self {
        let mut record = host.record.clone();
        let workers = self.workers.iter().filter(|worker| host.workers.binary_search(&worker.number).is_ok()).cloned();
        record.workers = workers.collect();
        for (number, worker) in (1..).zip(&mut record.workers) {
            worker.number = number;
        }
        record
    }

    /// How well the hosts ran together.
    pub fn hosts_together(&self) -> HostsTogether {
        let windows = || self.hosts().iter().filter_map(HostPart::window_ns);
        let starts = || windows().map(|window| window.0);
        let (first, last) = (starts().min().unwrap_or_default(), starts().max().unwrap_or_default());
        let end = windows().map(|window| window.1).min().unwrap_or_default();
        HostsTogether {
            start_spread_ns: (windows().count() > 1).then_some(last - first),
            common_ns: end.saturating_sub(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerRecord;

    fn part(name: &str, workers: &[u32], start_ns: Option<u64>) -> HostPart {
        let record = RunRecord { elapsed_ns: 1_000, ..RunRecord::default() };
        HostPart { name: name.to_owned(), workers: workers.to_vec(), start_ns, record, ..HostPart::default() }
    }

    #[test]
    fn workers_are_those_of_the_host() {
        let worker = |number, name: &str| WorkerRecord { number, name: name.to_owned(), ..WorkerRecord::default() };
        let hosts = vec![part("a", &[1, 3], Some(0)), part("b", &[2, 9], Some(30)), part("c", &[], None)];
        let record = RunRecord {
            workers: vec![worker(1, "r"), worker(2, "r"), worker(3, "w")],
            origin: RecordOrigin::Hosts(hosts),
            ..RunRecord::default()
        };
        let names = |index: usize| -> Vec<(u32, String)> {
            let own = record.of_host(&record.hosts()[index]);
            own.workers.into_iter().map(|worker| (worker.number, worker.name)).collect()
        };
        assert_eq!(names(0), [(1, "r".to_owned()), (2, "w".to_owned())]);
        assert_eq!((names(1), names(2)), (vec![(1, "r".to_owned())], Vec::new()));
        assert_eq!(record.hosts_together(), HostsTogether { start_spread_ns: Some(30), common_ns: 970 });
        assert_eq!(RunRecord::default().hosts_together(), HostsTogether::default());
    }
}
