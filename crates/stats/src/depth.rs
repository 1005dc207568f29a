//! Distributions of queue depth and of batch sizes.
//!
//! Must not know: queues. Start reading at [`DepthCounts`].

use serde::{Deserialize, Serialize};

/// I/Os by queue depth at submission: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DepthCounts(pub [u64; 7]);

impl DepthCounts {
    /// Counts `n_ios` I/Os that were submitted at `depth` (0 counts as 1).
    #[inline]
    pub fn record(&mut self, depth: u32, n_ios: u64) {
        // The top bit of a depth of at least 1 is the bucket.
        self.0[(31 - (depth | 1).leading_zeros()).min(6) as usize] += n_ios;
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
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

    /// Number of calls.
    pub fn n_calls(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}
