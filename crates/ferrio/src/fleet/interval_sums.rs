//! Intervals that follow each other, as one.
//!
//! Must not know: who sends them. Start reading at [`add_in_time`], then [`LongerIntervals`].

use ferrio_stats::{IntervalStats, ThreadStats};
use std::collections::BTreeMap;

/// Adds the counts of a later interval that lasted so long. ([`ThreadStats::merge`] is for clones that run side by side, whose times do
/// not add up.)
pub(super) fn add_in_time(sum: &mut ThreadStats, next: &ThreadStats, lasted_ns: u64) {
    let mut runtimes = sum.directions.0.each_ref().map(|direction| direction.runtime_ns);
    for (runtime_ns, direction) in runtimes.iter_mut().zip(&next.directions.0) {
        *runtime_ns = runtime_ns.saturating_add(if direction.n_completed > 0 { lasted_ns } else { 0 });
    }
    sum.merge(next);
    for (direction, runtime_ns) in sum.directions.0.iter_mut().zip(runtimes) {
        direction.runtime_ns = runtime_ns;
    }
}

/// Makes longer intervals of short ones, for each clone of a job. They end with the first short one that reaches a multiple of their length.
#[derive(Debug)]
pub(super) struct LongerIntervals {
    length_ns: u64,
    open: BTreeMap<u32, IntervalStats>,
}

impl LongerIntervals {
    /// Intervals of about this length.
    pub(super) fn new(length_ns: u64) -> Self {
        Self { length_ns: length_ns.max(1), open: BTreeMap::new() }
    }

    /// Counts an interval; returns a longer one that is complete.
    pub(super) fn add(&mut self, interval: &IntervalStats) -> Option<IntervalStats> {
        let number = interval.job_number;
        let lasted_ns = interval.end_ns.saturating_sub(interval.start_ns);
        let open = self
            .open
            .entry(number)
            .or_insert_with(|| IntervalStats { stats: ThreadStats::default(), ..interval.clone() });
        add_in_time(&mut open.stats, &interval.stats, lasted_ns);
        open.end_ns = interval.end_ns;
        let is_complete = open.end_ns / self.length_ns > open.start_ns / self.length_ns;
        if is_complete { self.open.remove(&number) } else { None }
    }

    /// The interval of a clone that has ended, if it has one.
    pub(super) fn rest(&mut self, number: u32) -> Option<IntervalStats> {
        self.open.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::PerDirection;

    fn interval(number: u32, start_ns: u64, end_ns: u64, n_ios: u64) -> IntervalStats {
        let mut stats = ThreadStats::default();
        stats.directions.0[0].n_completed = n_ios;
        IntervalStats {
            job_name: "r".to_owned(),
            job_number: number,
            group_index: 0,
            directions: PerDirection::default(),
            percentiles: Vec::new(),
            start_ns,
            end_ns,
            run_epoch_ms: 0,
            host: None,
            stats,
        }
    }

    #[test]
    fn short_intervals_become_one_of_each_clone() {
        let mut longer = LongerIntervals::new(100);
        assert_eq!(longer.add(&interval(1, 0, 50, 3)), None);
        assert_eq!(longer.add(&interval(2, 0, 50, 7)), None);
        let whole = longer.add(&interval(1, 50, 100, 0)).expect("it is long enough");
        assert_eq!((whole.start_ns, whole.end_ns, whole.stats.directions.0[0].n_completed), (0, 100, 3));
        assert_eq!(whole.stats.directions.0[0].runtime_ns, 50, "no I/O ended in the second one");
        assert_eq!(longer.add(&interval(1, 100, 230, 1)).map(|whole| whole.start_ns), Some(100));
        // The multiples of all clones are the same.
        assert_eq!(longer.add(&interval(1, 230, 301, 1)).map(|whole| whole.end_ns), Some(301));
        assert_eq!(longer.add(&interval(1, 301, 350, 4)), None);
        assert_eq!(longer.rest(1).map(|rest| rest.stats.directions.0[0].n_completed), Some(4));
        assert_eq!(longer.rest(1), None);
    }
}
