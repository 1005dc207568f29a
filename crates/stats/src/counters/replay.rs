//! Figures about how well a job kept the times of its trace, and about the writes that it had to remember.
//!
//! Must not know: traces. Start reading at [`ReplayStats`].

use crate::counters::counts::add_to;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayStats {
    /// Number of I/Os with a time in the trace.
    pub n_timed: u64,
    /// Number of these that were issued more than 1 ms after it.
    pub n_late: u64,
    /// The largest delay of an I/O, nanoseconds.
    pub max_late_ns: u64,
}

impl ReplayStats {
    /// Adds another member of the group.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_timed, other.n_timed);
        add_to(&mut self.n_late, other.n_late);
        self.max_late_ns = self.max_late_ns.max(other.max_late_ns);
    }

    /// Share of late I/Os, percent; 0 if there are none.
    pub fn late_percent(&self) -> f64 {
        if self.n_timed == 0 { 0.0 } else { 100.0 * self.n_late as f64 / self.n_timed as f64 }
    }
}

/// Figures of verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerifyStats {
    /// Largest number of writes that were remembered at the same time.
    pub n_most_pending: u64,
    /// Memory for these writes and their kept checksums, bytes, without the overhead of lists and maps.
    pub pending_bytes: u64,
}

impl VerifyStats {
    /// Adds another member of the group, which uses its memory at the same time.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_most_pending, other.n_most_pending);
        add_to(&mut self.pending_bytes, other.pending_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_summed_and_the_latest_stays() {
        let mut group = ReplayStats { n_timed: 6, n_late: 1, max_late_ns: 5 };
        group.merge(&ReplayStats { n_timed: 2, n_late: 1, max_late_ns: 3 });
        assert_eq!(group, ReplayStats { n_timed: 8, n_late: 2, max_late_ns: 5 });
        assert!((group.late_percent() - 25.0).abs() < 1e-12);
        assert!(ReplayStats::default().late_percent().abs() < 1e-12);
    }
}
