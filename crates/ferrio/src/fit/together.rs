//! Latencies of I/Os that a program does one after the other and waits for together, such as the page writes and the two syncs of a commit.
//!
//! They are put together from the syncs and the writes of the same moments of a run, so that a slow moment makes a slow sum. Must not know: limits, verdicts. Start
//! reading at [`sums`].

use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{DirectionSeries, Histogram, JobSeries};
use ferrio_units::DataDirection;
use ferrio_units::random::Taus258;
use serde::{Deserialize, Serialize};

/// I/Os of a job that its program does one after the other and waits for together, such as those of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IosTogether {
    /// Number of syncs, at least 1.
    pub syncs: u32,
    /// Number of writes.
    #[serde(default)]
    pub writes: u32,
}

/// Latencies in nanoseconds, ascending, each with its number.
pub(crate) type Bins = Vec<(u64, u64)>;

/// The same run gives the same sums each time.
const SEED: u64 = 0x00C0_3317;
/// Most syncs of an interval that are looked at: more of them tell no more.
const MOST_SYNCS: usize = 10_000;

/// The sums in a run; empty: its syncs were not measured over time, or are fewer than those of a sum. `job_indexes`: of the jobs that are meant.
pub(crate) fn sums(courses: &[JobSeries], job_indexes: &[u32], ios: IosTogether) -> Bins {
    let mut found = Histogram::default();
    for series in courses.iter().filter(|series| job_indexes.contains(&series.job_index)) {
        add(&mut found, series, ios);
    }
    found.filled().map(|(bucket, count)| (bucket_latency_ns(bucket), count)).collect()
}

/// Goes through the intervals of a course. As soon as there are enough syncs for a sum, those of the last intervals are dealt out to sums by chance; what is left waits
/// for the next interval.
fn add(found: &mut Histogram, series: &JobSeries, ios: IosTogether) {
    let n_together = ios.syncs.max(1) as usize;
    let mut random = Taus258::new(SEED);
    let (mut syncs, mut writes): (Vec<u64>, Bins) = (Vec::new(), Vec::new());
    for index in 0..series.clone_ns.len() {
        let of_interval = |course: &DirectionSeries| course.latencies.get(index).cloned().unwrap_or_default();
        for (bucket, count) in of_interval(&series.syncs) {
            let room = MOST_SYNCS.saturating_sub(syncs.len());
            let n_times = usize::try_from(count).unwrap_or(usize::MAX).min(room);
            syncs.extend(std::iter::repeat_n(bucket_latency_ns(usize::from(bucket)), n_times));
        }
        let of_writes = of_interval(&series.directions[DataDirection::Write]);
        writes.extend(of_writes.iter().map(|(bucket, count)| (bucket_latency_ns(usize::from(*bucket)), *count)));
        if syncs.len() < n_together {
            continue;
        }
        while syncs.len() >= n_together {
            let mut draw = || syncs.swap_remove(random.below(syncs.len() as u64) as usize);
            let of_syncs = (0..n_together).map(|_| draw()).fold(0, u64::saturating_add);
            let of_writes = (0..ios.writes).map(|_| drawn(&writes, &mut random)).fold(0, u64::saturating_add);
            found.record(of_syncs.saturating_add(of_writes));
        }
        writes.clear();
    }
}

/// One of these latencies by chance; 0: there are none.
fn drawn(bins: &[(u64, u64)], random: &mut Taus258) -> u64 {
    let total = bins.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
    let mut rest = random.below(total);
    for (latency_ns, count) in bins {
        if rest < *count {
            return *latency_ns;
        }
        rest -= count;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::histogram::{bucket_index, full_bucket_index};

    /// A course with so many syncs in each interval, of the latency that is given for it, and 10 writes of 10 us.
    fn record(n_syncs: u64, latencies_ns: &[u64]) -> Vec<JobSeries> {
        let bucket = |latency_ns: u64| bucket_index(latency_ns) as u16;
        let mut series = JobSeries::new(3, 100_000_000);
        series.clone_ns = vec![100_000_000; latencies_ns.len()];
        series.syncs.latencies = latencies_ns.iter().map(|one| vec![(bucket(*one), n_syncs)]).collect();
        series.directions[DataDirection::Write].latencies = vec![vec![(bucket(10_000), 10)]; latencies_ns.len()];
        vec![series]
    }

    fn near(found: &Bins, expected: &[(u64, u64)]) {
        let counts = |bins: &[(u64, u64)]| bins.iter().map(|(_, count)| *count).collect::<Vec<_>>();
        assert_eq!(counts(found), counts(expected), "{found:?}");
        for ((one, _), (other, _)) in found.iter().zip(expected) {
            assert!(full_bucket_index(*one).abs_diff(full_bucket_index(*other)) <= 1, "{found:?} {expected:?}");
        }
    }

    /// Two syncs of 1 ms and 14 writes of 10 us are 2.14 ms; two of 20 ms are 40.14 ms. Syncs of one moment stay together: none of the sums is 21 ms.
    #[test]
    fn sums_are_those_of_a_moment() {
        let ios = IosTogether { syncs: 2, writes: 14 };
        let found = sums(&record(4, &[1_000_000, 20_000_000, 1_000_000]), &[3], ios);
        near(&found, &[(2_140_000, 4), (40_140_000, 2)]);
        assert!(sums(&record(4, &[1_000_000]), &[2], ios).is_empty());
    }

    /// One sync in each interval: pairs of neighbours, and the last one has none.
    #[test]
    fn few_syncs_are_put_together_with_those_after_them() {
        let found = sums(
            &record(1, &[1_000_000, 2_000_000, 4_000_000, 4_000_000, 9_000_000]),
            &[3],
            IosTogether { syncs: 2, writes: 0 },
        );
        near(&found, &[(3_000_000, 1), (8_000_000, 1)]);
    }
}
