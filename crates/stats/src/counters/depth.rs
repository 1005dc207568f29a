//! Distributions of queue depth and of batch sizes.
//!
//! Must not know: queues. Start reading at [`DepthCounts`].

use crate::counters::counts::add_counts;
use serde::{Deserialize, Serialize};

/// I/Os by queue depth at submission: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DepthCounts(pub [u64; 7]);

impl DepthCounts {
    /// Counts `n_ios` I/Os that were submitted at `depth` (0 counts as 1).
    #[inline]
    pub fn record(&mut self, depth: u32, n_ios: u64) {
        // The top bit of a depth of at least 1 is the bucket.
        self.0[(depth | 1).ilog2().min(6) as usize] += n_ios;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        add_counts(&mut self.0, &other.0);
    }
}

/// Calls by the number of I/Os in them: 0, 1-4, 5-8, 9-16, 17-32, 33-64, 65 and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BatchCounts(pub [u64; 7]);

impl BatchCounts {
    /// Counts one call that carried `n_ios`.
    #[inline]
    pub fn record(&mut self, n_ios: u32) {
        let index = match n_ios {
            0 => 0,
            1..=4 => 1,
            5..=8 => 2,
            9..=16 => 3,
            17..=32 => 4,
            33..=64 => 5,
            _ => 6,
        };
        self.0[index] += 1;
    }

    pub fn n_calls(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        add_counts(&mut self.0, &other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_fall_in_powers_of_two() {
        let table = [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (7, 2), (8, 3), (16, 4), (63, 5), (64, 6), (u32::MAX, 6)];
        for (depth, bucket) in table {
            let mut counts = DepthCounts::default();
            counts.record(depth, 3);
            assert_eq!(counts.0[bucket], 3, "{depth}");
        }
    }

    #[test]
    fn batches_fall_in_the_labels_ranges() {
        let table = [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (16, 3), (17, 4), (33, 5), (64, 5), (65, 6)];
        for (n_ios, bucket) in table {
            let mut counts = BatchCounts::default();
            counts.record(n_ios);
            assert_eq!((counts.0[bucket], counts.n_calls()), (1, 1), "{n_ios}");
        }
    }
}
