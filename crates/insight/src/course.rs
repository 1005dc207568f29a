//! The part of a job's course in which all its clones ran, as statistics need it.
//!
//! Must not know: statistics, rules. Start reading at [`JobCourse::of`].

use ferrio_stats::{ImprecisionReason, JobSeries};
use std::ops::Range;

/// Share of an interval that all clones have to fill. Their ends are not quite those of the interval.
const FULL: f64 = 0.999;
/// Share of the clones' time that the full intervals have to hold, so that their figures stand for the job.
const LEAST_SHARE: f64 = 0.7;

/// The intervals in which all clones of a job ran.
pub(crate) struct JobCourse {
    range: Range<usize>,
    seconds: f64,
}

impl JobCourse {
    /// The longest row of intervals that all clones filled.
    ///
    /// # Errors
    /// There is none, or it holds less than 70 % of their time.
    pub(crate) fn of(series: &JobSeries) -> Result<Self, ImprecisionReason> {
        let most_ns = series.clone_ns.iter().copied().max().unwrap_or(0) as f64;
        let is_full = |clone_ns: &u64| *clone_ns as f64 >= FULL * most_ns && *clone_ns > 0;
        let (mut range, mut start) = (0..0, 0);
        for index in 0..=series.clone_ns.len() {
            if !series.clone_ns.get(index).is_some_and(is_full) {
                if index - start > range.len() {
                    range = start..index;
                }
                start = index + 1;
            }
        }
        if range.is_empty() {
            return Err(ImprecisionReason::TooFewIntervals);
        }
        let sum = |values: &[u64]| values.iter().map(|value| *value as f64).sum::<f64>();
        // A run of a few intervals consists of parts of intervals; that is no fault of the clones.
        let n_whole = most_ns / series.interval_ns.max(1) as f64;
        if range.len() + 2 >= series.clone_ns.len() && n_whole >= 0.5 {
            return Ok(Self { range, seconds: series.interval_ns as f64 / 1e9 });
        }
        if sum(&series.clone_ns[range.clone()]) < LEAST_SHARE * sum(&series.clone_ns) {
            return Err(ImprecisionReason::ClonesApart);
        }
        Ok(Self { range, seconds: series.interval_ns as f64 / 1e9 })
    }

    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    /// Index of its first interval in the series.
    pub(crate) fn start(&self) -> usize {
        self.range.start
    }

    /// Length of an interval, seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// I/Os that completed in each of these intervals, in all directions.
    pub(crate) fn all_ios(&self, series: &JobSeries) -> Vec<f64> {
        let of_direction =
            |index: usize| series.directions.0.iter().map(move |direction| direction.ios.get(index).copied());
        self.range.clone().map(|index| of_direction(index).flatten().map(|n_ios| n_ios as f64).sum()).collect()
    }

    /// The values of these intervals; shorter if the record is damaged.
    pub(crate) fn part<'a, T>(&self, values: &'a [T]) -> &'a [T] {
        let end = self.range.end.min(values.len());
        &values[self.range.start.min(end)..end]
    }

    pub(crate) fn rates(&self, counts: &[u64]) -> Vec<f64> {
        self.part(counts).iter().map(|count| *count as f64 / self.seconds.max(1e-9)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(clone_ns: &[u64]) -> Option<Range<usize>> {
        let series = JobSeries { clone_ns: clone_ns.to_vec(), ..JobSeries::new(0, 100) };
        JobCourse::of(&series).ok().map(|course| course.range)
    }

    #[test]
    fn the_longest_row_of_full_intervals() {
        assert_eq!(range(&[40, 100, 100, 100, 3]), Some(1..4));
        assert_eq!(range(&[100, 200, 200, 200, 200, 200, 100]), Some(1..6));
        assert_eq!(range(&[200, 200, 100, 100, 100]), None);
        assert_eq!(range(&[200; 30]), Some(0..30));
        assert_eq!(range(&[]), None);
    }
}
