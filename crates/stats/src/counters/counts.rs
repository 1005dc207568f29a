//! Addition of counters that may come from another process: they saturate, so that a hostile figure cannot stop the
//! report.
//!
//! Must not know: the meaning of the counters.

/// Adds `more` to `sum`, at most `u64::MAX`.
pub(crate) fn add_to(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

pub(crate) fn add_counts(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, count)| add_to(sum, *count));
}
