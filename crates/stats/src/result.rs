//! The model of a run's outcome (finished, or a snapshot of a running one): what every format is written from.
//!
//! Must not know: formats. Start reading at [`RunResult`].

use crate::SteadyState;
use crate::idleness::CpuIdleness;
use crate::messages::Messages;
use crate::provenance::Provenance;
use crate::thread_stats::{DirectionStats, ThreadStats, bw_bytes_per_sec};
use ferrio_units::PerDirection;
use serde::{Deserialize, Serialize};

/// How a job wants to be shown. The default is what a job without any of these options gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportSettings {
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    /// Bandwidth in bits.
    pub unit_bits: bool,
    /// `significant_figures`.
    pub significant_figures: u32,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// Digits after the point in the list.
    pub percentile_digits: u32,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `unified_rw_reporting=mixed`: all directions are counted as one, in the read slot.
    pub unified_mixed: bool,
    /// `unified_rw_reporting=both`: a summed block after the directions.
    pub unified_both: bool,
    /// `continue_on_error` or `ignore_error` is active: show the errors line.
    pub show_errors: bool,
}

impl Default for ReportSettings {
    fn default() -> Self {
        Self {
            kb_base: 1024,
            unit_bits: false,
            significant_figures: 4,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            percentile_digits: 2,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            unified_mixed: false,
            unified_both: false,
            show_errors: false,
        }
    }
}

/// `percentile_list` of a job that gives none.
pub const DEFAULT_PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// One block of the report: a job, or the jobs of a group summed (`group_reporting`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobReport {
    /// Name of the first member.
    pub name: String,
    /// Description of the first member.
    pub description: Option<String>,
    /// Group number.
    pub group_index: u32,
    /// Members summed.
    pub n_members: u32,
    /// Process id of the first member.
    pub pid: u32,
    /// Options of the last member (JSON `job options`): with the name of the first, so it is in fio.
    pub given_options: Vec<(String, String)>,
    /// How it is shown.
    pub settings: ReportSettings,
    /// Sum of the members' figures.
    pub stats: ThreadStats,
    /// The search for a steady state (`steadystate_duration`), of all members together.
    pub steady_state: Option<SteadyState>,
}

impl JobReport {
    /// Adds another job of the group (`group_reporting`). Name, description, process id and settings stay those of the
    /// first member; the options become those of this one.
    pub fn add_member(&mut self, stats: &ThreadStats, given_options: &[(String, String)]) {
        self.n_members += 1;
        given_options.clone_into(&mut self.given_options);
        self.stats.merge(stats);
    }
}

/// One direction of a group line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupDirection {
    /// Bytes of all members.
    pub bytes: u64,
    /// Group bandwidth, bytes per second: all bytes over the longest runtime.
    pub bw_bytes_per_sec: u64,
    /// Slowest member, bytes per second.
    pub min_bw_bytes_per_sec: u64,
    /// Fastest member, bytes per second.
    pub max_bw_bytes_per_sec: u64,
    /// Shortest runtime of a member, milliseconds.
    pub min_runtime_ms: u64,
    /// Longest runtime of a member, milliseconds; 0: the direction did not run.
    pub max_runtime_ms: u64,
}

impl GroupDirection {
    /// True when a member ran this direction.
    pub fn ran(&self) -> bool {
        self.max_runtime_ms > 0
    }

    /// The direction of one member alone.
    fn of_member(stats: &DirectionStats) -> Self {
        let (runtime_ms, bw_bytes_per_sec) = (stats.runtime_ms(), stats.bw_bytes_per_sec());
        Self {
            bytes: stats.bytes,
            bw_bytes_per_sec,
            min_bw_bytes_per_sec: bw_bytes_per_sec,
            max_bw_bytes_per_sec: bw_bytes_per_sec,
            min_runtime_ms: runtime_ms,
            max_runtime_ms: runtime_ms,
        }
    }

    /// Both together. What did not run counts for nothing.
    fn with(self, other: Self) -> Self {
        if !other.ran() {
            return self;
        }
        if !self.ran() {
            return other;
        }
        let bytes = self.bytes.saturating_add(other.bytes);
        let max_runtime_ms = self.max_runtime_ms.max(other.max_runtime_ms);
        Self {
            bytes,
            bw_bytes_per_sec: bw_bytes_per_sec(bytes, max_runtime_ms),
            min_bw_bytes_per_sec: self.min_bw_bytes_per_sec.min(other.min_bw_bytes_per_sec),
            max_bw_bytes_per_sec: self.max_bw_bytes_per_sec.max(other.max_bw_bytes_per_sec),
            min_runtime_ms: self.min_runtime_ms.min(other.min_runtime_ms),
            max_runtime_ms,
        }
    }
}

/// The `Run status group` block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupReport {
    /// Reads, writes, trims (or all in the read slot when unified).
    pub directions: PerDirection<GroupDirection>,
    /// `kb_base` of the first job.
    pub kb_base: u32,
    /// Bits instead of bytes.
    pub unit_bits: bool,
    /// `significant_figures` of the first job.
    pub significant_figures: u32,
    /// The read slot holds all directions.
    pub unified_mixed: bool,
    /// Show the sum in a line of its own.
    pub unified_both: bool,
}

impl GroupReport {
    /// A group without figures yet, shown as its first job is. An empty slot of the list of groups is the default.
    pub fn new(settings: &ReportSettings) -> Self {
        Self {
            directions: PerDirection::default(),
            kb_base: settings.kb_base,
            unit_bits: settings.unit_bits,
            significant_figures: settings.significant_figures,
            unified_mixed: settings.unified_mixed,
            unified_both: settings.unified_both,
        }
    }

    /// Adds one block of the report. fio knows slowest and fastest by block: jobs that `group_reporting` sums up count
    /// as one, which is then both.
    pub fn add_member(&mut self, stats: &ThreadStats) {
        for (mine, theirs) in self.directions.0.iter_mut().zip(&stats.directions.0) {
            *mine = mine.with(GroupDirection::of_member(theirs));
        }
    }

    /// The groups of a report, by group number, from its blocks. A group that no block belongs to is empty.
    pub fn from_jobs(jobs: &[JobReport]) -> Vec<Self> {
        let n_groups = jobs.iter().map(|job| job.group_index.saturating_add(1)).max().unwrap_or(0);
        (0..n_groups)
            .map(|group_index| {
                let mut members = jobs.iter().filter(|job| job.group_index == group_index).peekable();
                let mut group = members.peek().map_or_else(Self::default, |first| Self::new(&first.settings));
                members.for_each(|job| group.add_member(&job.stats));
                group
            })
            .collect()
    }

    /// All directions as one, for `unified_rw_reporting=both`.
    pub fn unified(&self) -> GroupDirection {
        self.directions.0.iter().fold(GroupDirection::default(), |sum, direction| sum.with(*direction))
    }
}

/// Counters of a block device over the run (differences of `/sys/block/X/stat`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskCounters {
    /// I/Os: read, write.
    pub ios: [u64; 2],
    /// Merged I/Os.
    pub merges: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Milliseconds that I/Os took in sum.
    pub ticks_ms: [u64; 2],
    /// Weighted milliseconds in queue.
    pub in_queue_ms: u64,
    /// Percent of the time that the device was busy, at most 100.
    pub util_percent: f64,
}

/// One device of the `Disk stats` block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DiskReport {
    /// Name in `/sys/block`.
    pub name: String,
    /// What it did.
    pub counters: DiskCounters,
    /// Averages over the slaves of a stacked device (utilisation: the largest).
    pub slaves: Option<DiskCounters>,
}

impl DiskReport {
    /// A device that is made of others (md, dm): the counters of its slaves are averaged (whole numbers, rounded
    /// down), of their utilisations the largest counts. Without slaves it is a plain device.
    pub fn stacked(name: String, counters: DiskCounters, slaves: &[DiskCounters]) -> Self {
        let average = |figure: fn(&DiskCounters) -> u64| {
            let sum: u128 = slaves.iter().map(|slave| u128::from(figure(slave))).sum();
            // Cannot fail: an average of u64 is one.
            u64::try_from(sum / slaves.len().max(1) as u128).unwrap_or(u64::MAX)
        };
        let aggregated = DiskCounters {
            ios: [average(|slave| slave.ios[0]), average(|slave| slave.ios[1])],
            merges: [average(|slave| slave.merges[0]), average(|slave| slave.merges[1])],
            sectors: [average(|slave| slave.sectors[0]), average(|slave| slave.sectors[1])],
            ticks_ms: [average(|slave| slave.ticks_ms[0]), average(|slave| slave.ticks_ms[1])],
            in_queue_ms: average(|slave| slave.in_queue_ms),
            util_percent: slaves.iter().map(|slave| slave.util_percent).fold(0.0, f64::max),
        };
        Self { name, counters, slaves: (!slaves.is_empty()).then_some(aggregated) }
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunResult {
    /// Version string of the outputs, `fio-3.42-...`.
    pub version: String,
    /// Wall clock of the report, milliseconds since 1970.
    pub timestamp_ms: u64,
    /// Seconds since the start, rounded up.
    pub elapsed_secs: u64,
    /// Seconds left; 2147483647 when not known yet.
    pub eta_secs: u64,
    /// Options given for all jobs.
    pub global_options: Vec<(String, String)>,
    /// Job blocks in order.
    pub jobs: Vec<JobReport>,
    /// Group blocks by group number.
    pub groups: Vec<GroupReport>,
    /// Devices; `None` when `disk_util` is off.
    pub disks: Option<Vec<DiskReport>>,
    /// How idle the CPUs were; `None`: it was not measured.
    pub idleness: Option<CpuIdleness>,
    /// What the run had to say, where the report has to carry it: empty where messages have a stream of their own.
    pub messages: Messages,
    /// Where the figures come from, if that was recorded.
    pub provenance: Option<Box<Provenance>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::DataDirection;

    fn member(bytes: u64, runtime_ms: u64) -> ThreadStats {
        let mut stats = ThreadStats::default();
        let read = &mut stats.directions[DataDirection::Read];
        (read.bytes, read.runtime_ns) = (bytes, runtime_ms * 1_000_000);
        stats
    }

    #[test]
    fn group_of_two_readers() {
        let mut group = GroupReport::new(&ReportSettings::default());
        group.add_member(&member(0, 0));
        group.add_member(&member(1 << 20, 3));
        group.add_member(&member(1 << 20, 2));
        let read = group.directions[DataDirection::Read];
        assert_eq!((read.bytes, read.min_runtime_ms, read.max_runtime_ms), (2 << 20, 2, 3));
        assert_eq!(read.bw_bytes_per_sec, (2 << 20) * 1000 / 3);
        assert_eq!((read.min_bw_bytes_per_sec, read.max_bw_bytes_per_sec), ((1 << 20) * 1000 / 3, 524_288_000));
        assert!(!group.directions[DataDirection::Write].ran());
        assert_eq!(group.unified(), read);
    }

    /// Debian's fio 3.33: read and write of 7,992 KiB in 2,001 ms each.
    #[test]
    fn unified_group_spans_directions() {
        let mut stats = member(8_183_808, 2_001);
        stats.directions[DataDirection::Write] = stats.directions[DataDirection::Read].clone();
        let mut group = GroupReport::default();
        group.add_member(&stats);
        let unified = group.unified();
        assert_eq!((unified.bytes, unified.bw_bytes_per_sec), (16_367_616, 8_179_718));
        assert_eq!((unified.min_bw_bytes_per_sec, unified.max_bw_bytes_per_sec), (4_089_859, 4_089_859));
    }

    #[test]
    fn slaves_are_averaged() {
        let slave = |ios, util_percent| DiskCounters { ios: [ios, 2 * ios], util_percent, ..DiskCounters::default() };
        let stacked = DiskReport::stacked("md0".into(), DiskCounters::default(), &[slave(3, 40.0), slave(8, 10.0)]);
        let slaves = stacked.slaves.expect("there are two");
        assert_eq!((slaves.ios, slaves.util_percent), ([5, 11], 40.0));
        assert_eq!(DiskReport::stacked("vda".into(), DiskCounters::default(), &[]).slaves, None);
        let large = DiskCounters { in_queue_ms: u64::MAX, ..DiskCounters::default() };
        let stacked = DiskReport::stacked("md0".into(), large.clone(), &[large.clone(), large]);
        assert_eq!(stacked.slaves.map(|slaves| slaves.in_queue_ms), Some(u64::MAX));
    }
}
