//! Adding up counters that may have come off a wire: they saturate, so that a hostile figure can't stop the report.
//!
//! Must not know: what is counted.

/// Adds `more` to `sum`, at most `u64::MAX`.
pub(crate) fn add_to(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Adds count by count.
pub(crate) fn add_counts(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, count)| add_to(sum, *count));
}
