//! States of the blocks that a job trimmed and wrote (`block_error_percentiles`).
//!
//! Must not know: files, formats. Start reading at [`BlockStates`].

use crate::counters::counts::{add_counts, add_to};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockState {
    /// The block was neither trimmed nor written.
    Unwritten,
    /// The last change was a trim.
    Trimmed,
    /// The last change was a write.
    Written,
    /// A trim failed; the state does not change any more.
    TrimFailure,
    /// A write failed; the state does not change any more.
    WriteFailure,
}

impl BlockState {
    /// All states, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Unwritten, Self::Trimmed, Self::Written, Self::TrimFailure, Self::WriteFailure];

    /// True if a trim or a write failed.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::TrimFailure | Self::WriteFailure)
    }
}

/// Number of blocks in each state, and number of trims before failures.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockStates {
    /// Number of blocks by state, in the order of [`BlockState::ALL`].
    counts: [u64; 5],
    /// By number of trims: number of blocks that failed after that many.
    failed_after: BTreeMap<u32, u64>,
}

impl BlockStates {
    pub fn record(&mut self, state: BlockState, n_trims: u32) {
        self.counts[state as usize] += 1;
        if state.is_failure() {
            *self.failed_after.entry(n_trims).or_default() += 1;
        }
    }

    pub fn count(&self, state: BlockState) -> u64 {
        self.counts[state as usize]
    }

    /// Adds the blocks of another job.
    pub fn merge(&mut self, other: &Self) {
        add_counts(&mut self.counts, &other.counts);
        for (n_trims, n_blocks) in &other.failed_after {
            add_to(self.failed_after.entry(*n_trims).or_default(), *n_blocks);
        }
    }

    /// Percentiles of the number of trims that failed blocks went through before their failure. Ascending; empty if no
    /// block failed.
    pub fn percentiles(&self, wanted: &[f64]) -> Vec<(f64, u32)> {
        let n_failed = self.failed_after.values().fold(0_u64, |sum, n_blocks| sum.saturating_add(*n_blocks));
        let Some((&last, _)) = self.failed_after.last_key_value() else { return Vec::new() };
        let mut wanted: Vec<f64> = wanted.iter().copied().filter(|p| *p > 0.0 && p.is_finite()).collect();
        wanted.sort_by(f64::total_cmp);
        let lifetime = |percentile: f64| {
            let mut n_passed = 0_u64;
            let reached = self.failed_after.iter().find(|(_, n_blocks)| {
                n_passed = n_passed.saturating_add(**n_blocks);
                n_passed as f64 >= percentile / 100.0 * n_failed as f64
            });
            reached.map_or(last, |(n_trims, _)| *n_trims)
        };
        wanted.into_iter().map(|percentile| (percentile, lifetime(percentile))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(blocks: &[(BlockState, u32)]) -> BlockStates {
        let mut states = BlockStates::default();
        for (state, n_trims) in blocks {
            states.record(*state, *n_trims);
        }
        states
    }

    #[test]
    fn states_are_in_order() {
        assert!(BlockState::ALL.iter().enumerate().all(|(index, state)| *state as usize == index));
    }

    #[test]
    fn lifetimes_are_those_of_blocks_that_failed() {
        use BlockState::{TrimFailure, Trimmed, WriteFailure, Written};
        let failed = [(TrimFailure, 3), (WriteFailure, 5), (TrimFailure, 5), (WriteFailure, 9)];
        let mut states = states(&failed);
        (0..100).for_each(|_| states.record(Written, 1_000));
        states.record(Trimmed, 1_000);
        assert_eq!(states.percentiles(&[99.0, 25.0, 26.0, 75.0, 0.0]), [(25.0, 3), (26.0, 5), (75.0, 5), (99.0, 9)]);
        assert_eq!([Written, Trimmed, TrimFailure].map(|state| states.count(state)), [100, 1, 2]);
        assert!(BlockStates::default().percentiles(&[50.0]).is_empty());
    }

    #[test]
    fn merging_is_recording_all() {
        let (one, other) = ([(BlockState::TrimFailure, 1), (BlockState::Written, 2)], [(BlockState::TrimFailure, 1)]);
        let mut merged = states(&one);
        merged.merge(&states(&other));
        assert_eq!(merged, states(&[one.as_slice(), other.as_slice()].concat()));
    }
}
