//! All counts of one worker (process, thread, later host), in the one form in which they are passed on.
//!
//! Must not know: formats. Start reading at [`ThreadStats`].

use crate::counters::counts::add_to;
use crate::counters::feature_stats::FeatureStats;
use crate::{BatchCounts, DepthCounts, LatencyBuckets, LatencyStat, PriorityStats, ResourceUsage, SampleStat};
use ferrio_units::{DataDirection, Direction, PerDirection};
use serde::{Deserialize, Serialize};

const NS_PER_MS: u64 = 1_000_000;

/// Counts of one data direction.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DirectionStats {
    pub n_issued: u64,
    pub n_completed: u64,
    pub bytes: u64,
    /// Number of short transfers that were continued.
    pub n_short: u64,
    /// Number of I/Os that were given up.
    pub n_dropped: u64,
    /// Time of the phases that include this direction.
    pub runtime_ns: u64,
    /// Submission latency (engines that queue).
    pub slat: LatencyStat,
    pub clat: LatencyStat,
    /// Total latency.
    pub lat: LatencyStat,
    /// Latency from the time at which the rate wanted the I/O to start (`rate_latency=response`).
    pub response: LatencyStat,
    /// One of the two latencies by priority, if priorities differ between jobs or I/Os.
    pub priorities: PriorityStats,
    /// Bandwidth samples, KiB/s.
    pub bw: SampleStat,
    /// Samples of I/Os per second.
    pub iops: SampleStat,
}

impl DirectionStats {
    /// Runtime in whole milliseconds, rounded up: a run of 240 us shows as 1 ms.
    pub fn runtime_ms(&self) -> u64 {
        self.runtime_ns.div_ceil(NS_PER_MS)
    }

    /// Bytes per second over the runtime in milliseconds, truncated; 0 without runtime.
    pub fn bw_bytes_per_sec(&self) -> u64 {
        bw_bytes_per_sec(self.bytes, self.runtime_ms())
    }

    /// I/Os issued per second of runtime; 0 without runtime.
    pub fn ios_per_sec(&self) -> f64 {
        match self.runtime_ms() {
            0 => 0.0,
            runtime_ms => 1000.0 * self.n_issued as f64 / runtime_ms as f64,
        }
    }

    /// [`Self::ios_per_sec`] in whole numbers, truncated.
    pub fn whole_ios_per_sec(&self) -> u64 {
        // Uses the same arithmetic as for bytes.
        bw_bytes_per_sec(self.n_issued, self.runtime_ms())
    }

    /// Clears all counts, keeps the memory.
    fn clear(&mut self) {
        let latencies = [&mut self.slat, &mut self.clat, &mut self.lat, &mut self.response];
        let [slat, clat, lat, response] = latencies.map(|latency| {
            latency.clear();
            std::mem::take(latency)
        });
        let mut priorities = std::mem::take(&mut self.priorities);
        priorities.clear();
        *self = Self { slat, clat, lat, response, priorities, ..Self::default() };
    }

    /// Adds the figures of another member of the group, or of another direction in a unified report. Counts and
    /// latencies are summed, samples are added, and the longest runtime counts.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_issued, other.n_issued);
        add_to(&mut self.n_completed, other.n_completed);
        add_to(&mut self.bytes, other.bytes);
        add_to(&mut self.n_short, other.n_short);
        add_to(&mut self.n_dropped, other.n_dropped);
        self.runtime_ns = self.runtime_ns.max(other.runtime_ns);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.response.merge(&other.response);
        self.priorities.merge(&other.priorities);
        self.bw.add_member(&other.bw);
        self.iops.add_member(&other.iops);
        debug_assert!(self.n_issued >= other.n_issued && self.n_completed >= other.n_completed, "counts never go down");
        debug_assert!(self.bytes >= other.bytes && self.runtime_ns >= other.runtime_ns, "counts never go down");
    }
}

/// `bytes` in `runtime_ms` as bytes per second, truncated; 0 without runtime.
pub fn bw_bytes_per_sec(bytes: u64, runtime_ms: u64) -> u64 {
    let per_sec = (u128::from(bytes) * 1000).checked_div(u128::from(runtime_ms)).unwrap_or(0);
    u64::try_from(per_sec).unwrap_or(u64::MAX)
}

/// Errors that were tolerated (`continue_on_error`, `ignore_error`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ErrorCounts {
    pub n_total: u64,
    pub first_errno: i32,
    /// Those of them that are of I/Os that move data or trim; the others are of syncs. Records of earlier versions do not have this.
    #[serde(default)]
    pub by_direction: PerDirection<u64>,
}

impl ErrorCounts {
    pub fn count(&mut self, direction: Direction, errno: i32) {
        self.n_total += 1;
        if self.first_errno == 0 {
            self.first_errno = errno;
        }
        if let Some(direction) = direction.data() {
            self.by_direction[direction] += 1;
        }
    }

    /// The errors since `earlier`, an older copy; the first errno stays the first.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut rest = Self { n_total: self.n_total.saturating_sub(earlier.n_total), ..*self };
        for direction in DataDirection::ALL {
            let before = earlier.by_direction[direction];
            rest.by_direction[direction] = rest.by_direction[direction].saturating_sub(before);
        }
        rest
    }

    /// Adds the errors of another worker; the first errno stays the first.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_total, other.n_total);
        for direction in DataDirection::ALL {
            add_to(&mut self.by_direction[direction], other.by_direction[direction]);
        }
        if self.first_errno == 0 {
            self.first_errno = other.first_errno;
        }
    }
}

/// Parameters of the search for a depth by latency (`latency_target`, `latency_window`, `latency_percentile`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// Wanted total latency in nanoseconds; 0: none.
    pub target_ns: u64,
    pub window_ns: u64,
    /// Percent of the I/Os that must be within the target, 0 to 100.
    pub percentile: f64,
}

impl Default for LatencyTarget {
    fn default() -> Self {
        Self { target_ns: 0, window_ns: 0, percentile: 100.0 }
    }
}

/// The search for a depth at which latencies stay below a target.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LatencySearch {
    /// The depth that was found; `iodepth` without a search.
    pub depth: u32,
    /// Parameters of the search; without one, the default (no target, 100%).
    pub target: LatencyTarget,
}

/// All counts of one worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ThreadStats {
    /// Reads, writes, trims.
    pub directions: PerDirection<DirectionStats>,
    pub sync: LatencyStat,
    /// Syncs issued between writes, without those of the end phase.
    pub n_syncs_issued: u64,
    /// Completion latencies of reads, writes and trims in coarse buckets.
    pub latency_buckets: LatencyBuckets,
    pub depth: DepthCounts,
    /// I/Os per submit call.
    pub submit: BatchCounts,
    /// I/Os per completion call.
    pub complete: BatchCounts,
    /// CPU, faults, switches.
    pub usage: ResourceUsage,
    /// Time since the start of I/O, all phases.
    pub total_runtime_ns: u64,
    /// Wall clock at the start of I/O, milliseconds since 1970.
    pub job_start_ms: u64,
    /// errno that ended the job, or of the first tolerated error; 0: none.
    pub errno: i32,
    pub tolerated: ErrorCounts,
    /// Time that the worker waited because its logs could not be written as fast as it made rows.
    pub log_stall_ns: u64,
    /// The search for a depth at which latencies stay below a target.
    pub latency_search: LatencySearch,
    /// Figures of features that few jobs use.
    pub features: FeatureStats,
}

impl ThreadStats {
    /// I/Os issued in all data directions: the base of the percentages of depths and latency buckets.
    pub fn n_issued(&self) -> u64 {
        self.directions.0.iter().fold(0, |sum, direction| sum.saturating_add(direction.n_issued))
    }

    /// True if the worker moved no byte and counted no I/O, so that a report for people omits it.
    pub fn is_idle(&self) -> bool {
        self.n_issued() == 0
            && self.n_syncs_issued == 0
            && self.directions.0.iter().all(|direction| direction.bytes == 0)
    }

    /// Clears the counts (at the end of a ramp), keeps the memory. Facts about the worker (usage, runtime, latency
    /// target) and errors stay.
    pub fn clear_counts(&mut self) {
        self.directions.0.iter_mut().for_each(DirectionStats::clear);
        self.sync.clear();
        self.n_syncs_issued = 0;
        self.latency_buckets = LatencyBuckets::default();
        self.depth = DepthCounts::default();
        self.submit = BatchCounts::default();
        self.complete = BatchCounts::default();
        self.features.n_empty_reads = 0;
        if let Some(rate) = &mut self.features.rate {
            rate.clear();
        }
    }

    /// Adds another member of the group (`group_reporting`). Members ran side by side, see [`DirectionStats::merge`].
    /// Total runtimes and usage are summed, so that their ratio stays a mean. The first error stays; the latency target
    /// is that of the last member, as in fio.
    pub fn merge(&mut self, other: &Self) {
        self.directions.0.iter_mut().zip(&other.directions.0).for_each(|(mine, theirs)| mine.merge(theirs));
        self.sync.merge(&other.sync);
        add_to(&mut self.n_syncs_issued, other.n_syncs_issued);
        self.latency_buckets.merge(&other.latency_buckets);
        self.depth.merge(&other.depth);
        self.submit.merge(&other.submit);
        self.complete.merge(&other.complete);
        self.usage.merge(&other.usage);
        add_to(&mut self.total_runtime_ns, other.total_runtime_ns);
        if self.errno == 0 {
            self.errno = other.errno;
        }
        self.tolerated.merge(&other.tolerated);
        add_to(&mut self.log_stall_ns, other.log_stall_ns);
        self.latency_search = other.latency_search;
        self.features.merge(&other.features);
        debug_assert!(self.tolerated.n_total >= other.tolerated.n_total, "counts never go down");
        debug_assert!(self.total_runtime_ns >= other.total_runtime_ns, "times of members add up");
    }

    /// All directions joined (`unified_rw_reporting`).
    pub fn unified(&self) -> DirectionStats {
        let mut sum = DirectionStats::default();
        self.directions.0.iter().for_each(|direction| sum.merge(direction));
        sum
    }

    /// Moves all directions into the read slot (`unified_rw_reporting=mixed`), for a worker that counted them
    /// separately.
    pub fn unify(&mut self) {
        let sum = self.unified();
        let n_issued = self.n_issued();
        self.directions = PerDirection::default();
        self.directions[DataDirection::Read] = sum;
        debug_assert_eq!(self.n_issued(), n_issued, "the sum of the directions stays the same");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;
    use proptest::prelude::*;

    fn worker(values: &[u64], errno: i32) -> ThreadStats {
        let mut stats = ThreadStats {
            errno,
            latency_search: LatencySearch { depth: 4, ..Default::default() },
            ..Default::default()
        };
        for (index, value) in values.iter().enumerate() {
            let direction = &mut stats.directions.0[index % 3];
            direction.n_issued += 1;
            direction.n_completed += 1;
            direction.bytes += 4096;
            direction.runtime_ns = direction.runtime_ns.max(*value);
            direction.clat.record(*value);
            stats.latency_buckets.record(*value);
            stats.depth.record(1, 1);
            stats.submit.record(1);
        }
        stats.total_runtime_ns = 5_000_000;
        stats.usage.user_ns = 10;
        stats
    }

    #[test]
    fn figures_of_a_direction() {
        // Expected: the sample in the description of the format, 496 reads of 4 KiB in 97 ms.
        let stats =
            DirectionStats { n_issued: 496, bytes: 2_031_616, runtime_ns: 96_000_001, ..DirectionStats::default() };
        assert_eq!(stats.runtime_ms(), 97);
        assert_eq!(stats.bw_bytes_per_sec(), 20_944_494);
        assert_eq!(stats.whole_ios_per_sec(), 5_113);
        assert!((stats.ios_per_sec() - 5_113.402_062).abs() < 1e-6);
        assert_eq!(DirectionStats { runtime_ns: 0, ..stats.clone() }.bw_bytes_per_sec(), 0);
        assert!(DirectionStats { runtime_ns: 0, ..stats.clone() }.ios_per_sec().abs() < 1e-12);
        assert_eq!(DirectionStats { bytes: u64::MAX, runtime_ns: 1, ..stats }.bw_bytes_per_sec(), u64::MAX);
    }

    #[test]
    fn first_error_stays() {
        let mut group = worker(&[1], 0);
        group.tolerated = ErrorCounts { n_total: 2, ..ErrorCounts::default() };
        group.merge(&worker(&[1], 5));
        group.merge(&ThreadStats {
            tolerated: ErrorCounts { n_total: 3, first_errno: 84, by_direction: PerDirection([1, 2, 0]) },
            ..worker(&[1], 28)
        });
        assert_eq!(group.errno, 5);
        assert_eq!(group.tolerated, ErrorCounts { n_total: 5, first_errno: 84, by_direction: PerDirection([1, 2, 0]) });
        assert_eq!(group.total_runtime_ns, 15_000_000);
        assert_eq!(group.usage.user_ns, 30);
    }

    /// Expected: fio 3.41 prints `depth=4` for a group with iodepth 8 and 4.
    #[test]
    fn depth_is_that_of_the_last_member() {
        let mut group =
            ThreadStats { latency_search: LatencySearch { depth: 8, ..Default::default() }, ..worker(&[1], 0) };
        group.merge(&worker(&[1], 0));
        assert_eq!(group.latency_search.depth, 4);
    }

    #[test]
    fn cleared_is_as_new_but_for_what_it_is_and_what_went_wrong() {
        let mut stats = worker(&[5, 6, 7], 28);
        stats.tolerated = ErrorCounts { n_total: 2, first_errno: 5, ..ErrorCounts::default() };
        stats.directions[DataDirection::Read].clat = LatencyStat::new(true);
        stats.directions[DataDirection::Read].clat.record(5);
        stats.sync.record(9);
        stats.n_syncs_issued = 1;
        stats.clear_counts();
        let mut new = ThreadStats {
            usage: stats.usage,
            total_runtime_ns: 5_000_000,
            tolerated: ErrorCounts { n_total: 2, first_errno: 5, ..ErrorCounts::default() },
            ..worker(&[], 28)
        };
        new.directions[DataDirection::Read].clat = LatencyStat::new(true);
        assert_eq!(stats, new);
    }

    #[test]
    fn idle_is_without_any_io() {
        assert!(ThreadStats::default().is_idle());
        assert!(!ThreadStats { n_syncs_issued: 1, ..Default::default() }.is_idle());
        assert!(!worker(&[1], 0).is_idle());
    }

    proptest! {
        #[test]
        fn merging_is_recording_all(
            first in prop::collection::vec(0u64..1 << 50, 0..60),
            second in prop::collection::vec(0u64..1 << 50, 0..60),
        ) {
            let mut merged = worker(&first, 0);
            merged.merge(&worker(&second, 0));
            let all = [first, second].concat();
            let buckets = &merged.latency_buckets;
            let counted: u64 = buckets.ns.iter().chain(&buckets.us).chain(&buckets.ms).sum();
            prop_assert_eq!(counted, all.len() as u64);
            prop_assert_eq!(merged.n_issued(), all.len() as u64);
            let unified = merged.unified();
            prop_assert_eq!(unified.clat.sum_ns, all.iter().map(|value| u128::from(*value)).sum::<u128>());
            prop_assert_eq!(unified.runtime_ns, all.iter().copied().max().unwrap_or(0));
            merged.unify();
            prop_assert_eq!(&merged.directions[DataDirection::Read], &unified);
            prop_assert_eq!(&merged.directions[DataDirection::Write], &DirectionStats::default());
        }

        #[test]
        fn hostile_bytes_do_not_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
            let mut bytes = wire::to_bytes(&worker(&[5, 70_000], 5));
            for (index, byte) in changes {
                let index = index.index(bytes.len());
                bytes[index] = byte;
            }
            if let Ok(mut stats) = wire::from_bytes::<ThreadStats>(&bytes) {
                stats.merge(&stats.clone());
                stats.unify();
            }
        }

        #[test]
        fn round_trip(values in prop::collection::vec(0u64..1 << 50, 0..60)) {
            let stats = worker(&values, 5);
            prop_assert_eq!(&wire::from_bytes::<ThreadStats>(&wire::to_bytes(&stats)).expect("reads back"), &stats);
            let text = serde_json::to_string(&stats).expect("serialises");
            prop_assert_eq!(&serde_json::from_str::<ThreadStats>(&text).expect("reads back"), &stats);
        }
    }
}
