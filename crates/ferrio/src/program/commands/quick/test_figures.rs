//! The figures of one test, from the record of its run.
//!
//! Must not know: how they are shown. Start reading at [`TestFigures`].

use super::baseline::Test;
use super::conditions::Conditions;
use crate::shared::engine_choice::Load;
use ferrio_stats::{Figures, Metric, Percentile, RunRecord, ThreadStats};
use ferrio_units::DataDirection;
use serde::Serialize;

const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct TestFigures {
    pub(super) name: &'static str,
    pub(super) n_ios: u64,
    /// Bytes read or written by these I/Os.
    pub(super) bytes: u64,
    /// Duration of these I/Os.
    pub(super) runtime_ns: u64,
    pub(super) bytes_per_sec: f64,
    pub(super) ios_per_sec: f64,
    /// p50, p99, p99.9.
    pub(super) latencies: [Percentile; 3],
    /// CPU time of the job, in user mode and in the kernel, for each I/O.
    pub(super) cpu_ns_per_io: f64,
    /// I/Os that were to be in flight.
    pub(super) wanted_depth: u32,
    /// I/Os that the kernel had in flight on average: latency times rate (Little's law).
    pub(super) mean_depth: f64,
    /// Bytes that the disk read or wrote meanwhile, for any process, warm-up included; `None` if unknown.
    pub(super) device_bytes: Option<u64>,
}

impl TestFigures {
    /// A figure; `None`: there was no I/O, or it is not among those of a test.
    pub(super) fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            _ if self.n_ios == 0 => None,
            Metric::Iops => Some(self.ios_per_sec),
            Metric::Bandwidth => Some(self.bytes_per_sec),
            _ => self.percentile(metric).map(|percentile| percentile.latency_ns as f64),
        }
    }

    /// A percentile; `None`: as above.
    pub(super) fn percentile(&self, metric: Metric) -> Option<Percentile> {
        let index = Metric::PERCENTILES.iter().position(|known| *known == metric);
        index.filter(|_| self.n_ios > 0).map(|index| self.latencies[index])
    }

    /// From the workers of a run, all together.
    pub(super) fn new(test: &Test, load: Load, record: &RunRecord, conditions: &Conditions) -> Self {
        let total = record.total();
        let stats = &total.directions[test.direction];
        let figures = Figures::of(stats).unwrap_or_default();
        let seconds = stats.runtime_ns as f64 / 1e9;
        let n_ios = stats.n_completed;
        let cpu_ns = total.usage.cpu_ns();
        Self {
            name: test.name,
            n_ios,
            bytes: stats.bytes,
            runtime_ns: stats.runtime_ns,
            bytes_per_sec: figures.bytes_per_sec,
            ios_per_sec: figures.ios_per_sec,
            latencies: Metric::PERCENTILES.map(|metric| percentile(metric, &total, test.direction)),
            cpu_ns_per_io: cpu_ns as f64 / n_ios.max(1) as f64,
            wanted_depth: load.depth(),
            mean_depth: if seconds > 0.0 { stats.clat.sum_ns as f64 / 1e9 / seconds } else { 0.0 },
            device_bytes: device_bytes(test.direction, record, conditions),
        }
    }
}

fn percentile(metric: Metric, total: &ThreadStats, direction: DataDirection) -> Percentile {
    let percent = metric.percent().unwrap_or_default();
    let clat = &total.directions[direction].clat;
    clat.percentile(percent).unwrap_or(Percentile { percent, latency_ns: 0, is_doubtful: true })
}

fn device_bytes(direction: DataDirection, record: &RunRecord, conditions: &Conditions) -> Option<u64> {
    let name = &conditions.device.as_ref()?.name;
    let disk = record.disks()?.iter().find(|disk| disk.name == *name)?;
    let [read, written] = disk.counters.sectors;
    let n_sectors = if direction == DataDirection::Read { read } else { written };
    Some(n_sectors.saturating_mul(SECTOR_BYTES))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::baseline::TESTS;
    use super::super::conditions::tests::on_disk;
    use super::*;
    use ferrio_stats::{DiskCounters, DiskRecord, Evidence, LatencyStat, ResourceUsage, WorkerRecord, has_few_beyond};

    /// Figures of an unremarkable test of 5 s at depth 64.
    pub(in super::super) fn plain(name: &'static str) -> TestFigures {
        let latency = |percent, latency_ns| Percentile { percent, latency_ns, is_doubtful: false };
        TestFigures {
            name,
            n_ios: 100_000,
            bytes: 409_600_000,
            runtime_ns: 5_000_000_000,
            bytes_per_sec: 81_920_000.0,
            ios_per_sec: 20_000.0,
            latencies: [latency(50.0, 3_100_000), latency(99.0, 5_200_000), latency(99.9, 12_400_000)],
            cpu_ns_per_io: 3_412.0,
            wanted_depth: 64,
            mean_depth: 63.5,
            device_bytes: Some(500_000_000),
        }
    }

    /// 1000 reads of 4 KiB in 2 s, 1 ms each but for two of 50 ms.
    fn stats() -> ThreadStats {
        let mut stats = ThreadStats::default();
        let read = &mut stats.directions[DataDirection::Read];
        (read.n_completed, read.bytes, read.runtime_ns) = (1_000, 4_096_000, 2_000_000_000);
        read.clat = LatencyStat::new(true);
        (0..1_000).for_each(|index| read.clat.record(if index < 998 { 1_000_000 } else { 50_000_000 }));
        stats.usage = ResourceUsage { user_ns: 1_000_000, system_ns: 3_000_000, ..ResourceUsage::default() };
        stats
    }

    fn record(stats: ThreadStats, disks: Option<Vec<DiskRecord>>) -> RunRecord {
        let workers = vec![WorkerRecord { stats: Box::new(stats), ..WorkerRecord::default() }];
        RunRecord { workers, evidence: Evidence { disks, ..Evidence::default() }, ..RunRecord::default() }
    }

    #[test]
    fn figures_by_hand() {
        let counters = DiskCounters { sectors: [8_000, 16], ..DiskCounters::default() };
        let disks = vec![DiskRecord { name: "vda".to_owned(), counters, slaves: Vec::new() }];
        let load = Load { n_jobs: 1, iodepth: 4 };
        let figures = TestFigures::new(&TESTS[3], load, &record(stats(), Some(disks)), &on_disk());
        assert_eq!((figures.n_ios, figures.bytes, figures.wanted_depth), (1_000, 4_096_000, 4));
        assert_eq!((figures.bytes_per_sec, figures.ios_per_sec, figures.cpu_ns_per_io), (2_048_000.0, 500.0, 4_000.0));
        // (998 * 1 ms + 2 * 50 ms) / 2 s.
        assert!((figures.mean_depth - 0.549).abs() < 1e-9, "{}", figures.mean_depth);
        assert_eq!(figures.device_bytes, Some(4_096_000));
        // Buckets are a 64th of their power of two wide at most.
        for (percentile, expected_ns) in figures.latencies.iter().zip([1_000_000_u64, 1_000_000, 50_000_000]) {
            assert!(percentile.latency_ns.abs_diff(expected_ns) <= expected_ns / 64, "{percentile:?}");
        }
        assert_eq!(figures.latencies.map(|percentile| percentile.is_doubtful), [false, false, true]);
    }

    #[test]
    fn no_io_gives_zeros_and_no_not_a_number() {
        let load = Load { n_jobs: 1, iodepth: 4 };
        let figures = TestFigures::new(&TESTS[3], load, &record(ThreadStats::default(), None), &on_disk());
        assert_eq!((figures.bytes_per_sec, figures.ios_per_sec, figures.cpu_ns_per_io), (0.0, 0.0, 0.0));
        assert_eq!(figures.latencies.map(|percentile| percentile.latency_ns), [0; 3]);
        assert!(figures.device_bytes.is_none() && figures.mean_depth == 0.0);
    }

    #[test]
    fn ten_ios_must_lie_beyond() {
        let table = [(99.9, 9_999, true), (99.9, 10_000, false), (99.0, 999, true), (99.0, 1_000, false)];
        for (percent, n_samples, expected) in table.into_iter().chain([(50.0, 19, true), (50.0, 20, false)]) {
            assert_eq!(has_few_beyond(percent, n_samples), expected, "{percent} {n_samples}");
        }
    }
}
