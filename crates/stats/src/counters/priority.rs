//! Latencies by the priority of the I/O.
//!
//! Must not know: where priorities come from, formats. Start reading at [`PriorityStats`].

use crate::LatencyStat;
use serde::{Deserialize, Serialize};

/// Latency of the I/Os of one priority: total latency in jobs with `lat_percentiles`, otherwise completion latency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityStat {
    /// The priority in the form of `ioprio_set(2)`: 3 bits of class, 10 of hint, 3 of level, from the top.
    pub ioprio: u16,
    pub latency: LatencyStat,
}

impl PriorityStat {
    /// Class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub fn class(&self) -> u16 {
        self.ioprio >> 13
    }

    /// Level, 0 to 7.
    pub fn level(&self) -> u16 {
        self.ioprio & 7
    }

    /// Hint, 0 to 1023.
    pub fn hint(&self) -> u16 {
        self.ioprio >> 3 & 0x3ff
    }
}

/// Latencies by priority for one direction, in the order in which priorities first occurred. Empty if they are not
/// measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PriorityStats(pub Vec<PriorityStat>);

impl PriorityStats {
    /// The priorities with samples, if there are at least two; otherwise there is nothing to compare.
    pub fn shown(&self) -> Vec<&PriorityStat> {
        let shown: Vec<&PriorityStat> = self.0.iter().filter(|stat| stat.latency.n_samples > 0).collect();
        if shown.len() < 2 { Vec::new() } else { shown }
    }

    pub fn n_samples(&self) -> u64 {
        self.0.iter().fold(0, |sum, stat| sum.saturating_add(stat.latency.n_samples))
    }

    /// The statistic of a priority; a new one is added.
    pub fn entry(&mut self, ioprio: u16, has_histogram: bool) -> &mut LatencyStat {
        let position = self.0.iter().position(|stat| stat.ioprio == ioprio);
        let position = position.unwrap_or_else(|| {
            self.0.push(PriorityStat { ioprio, latency: LatencyStat::new(has_histogram) });
            self.0.len() - 1
        });
        &mut self.0[position].latency
    }

    /// Adds another member of the group, or another direction.
    pub fn merge(&mut self, other: &Self) {
        for stat in &other.0 {
            self.entry(stat.ioprio, false).merge(&stat.latency);
        }
    }

    /// Clears all samples, keeps the priorities and the memory.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|stat| stat.latency.clear());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(samples: &[(u16, u64)]) -> PriorityStats {
        let mut stats = PriorityStats::default();
        for (ioprio, value_ns) in samples {
            stats.entry(*ioprio, true).record(*value_ns);
        }
        stats
    }

    #[test]
    fn parts_of_a_priority() {
        let stat = PriorityStat { ioprio: 2 << 13 | 1023 << 3 | 4, latency: LatencyStat::default() };
        assert_eq!((stat.class(), stat.level(), stat.hint()), (2, 4, 1023));
    }

    #[test]
    fn one_priority_is_not_shown() {
        assert!(stats(&[]).shown().is_empty());
        assert!(stats(&[(0, 5), (0, 6)]).shown().is_empty());
        let mut two = stats(&[(0, 5)]);
        two.entry(0x2000, true);
        assert!(two.shown().is_empty(), "one without samples");
        two.entry(0x2000, true).record(1);
        assert_eq!(two.shown().len(), 2);
    }

    // The expected order is that of fio 3.41 for a group of a job with a priority and one with shares of another.
    #[test]
    fn merging_is_recording_all_in_order_of_appearance() {
        let mut merged = stats(&[(0x4003, 7)]);
        merged.merge(&stats(&[(0, 5), (0x2000, 9), (0x4003, 1)]));
        assert_eq!(merged, stats(&[(0x4003, 7), (0, 5), (0x2000, 9), (0x4003, 1)]));
        assert_eq!(merged.n_samples(), 4);
        merged.clear();
        assert_eq!((merged.n_samples(), merged.0.len()), (0, 3));
    }
}
