//! The figures of groups: sums, and those of the slowest and the fastest member.
//!
//! Must not know: how a group is printed. Start reading at [`GroupReport`].

use super::JobReport;
use ferrio_stats::{DirectionStats, ReportSettings, ThreadStats, WorkerRecord, bw_bytes_per_sec};
use ferrio_units::PerDirection;

/// One direction of a group line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupDirection {
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

    /// The direction of a single member.
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

    /// Joins two members. A direction that did not run is ignored.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupReport {
    /// Reads, writes, trims (or all in the read slot when unified).
    pub directions: PerDirection<GroupDirection>,
    /// `kb_base` of the first job.
    pub kb_base: u32,
    /// Rates are shown in bits.
    pub unit_bits: bool,
    /// `significant_figures` of the first job.
    pub significant_figures: u32,
    /// The read slot holds all directions.
    pub unified_mixed: bool,
    /// The sum has a line of its own.
    pub unified_both: bool,
}

impl GroupReport {
    /// A group without figures, with the settings of its first job. The default stands for an empty place in the list
    /// of groups.
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

    /// Adds one block of the report. For fio, the slowest and the fastest are blocks: jobs that `group_reporting` sums
    /// count as one, which then is both.
    pub fn add_member(&mut self, stats: &ThreadStats) {
        for (mine, theirs) in self.directions.0.iter_mut().zip(&stats.directions.0) {
            *mine = mine.with(GroupDirection::of_member(theirs));
        }
    }

    /// The groups of a report, by group number, made from its blocks. A group without blocks is empty.
    pub fn from_jobs(jobs: &[JobReport<'_>]) -> Vec<Self> {
        let n_groups = jobs.iter().map(|job| job.group_index.saturating_add(1)).max().unwrap_or(0);
        let first_of = |group_index| jobs.iter().find(|job| job.group_index == group_index).map(|job| &*job.settings);
        Self::all(n_groups, first_of, jobs)
    }

    /// This many groups, each with the settings of its first job.
    fn all<'a>(
        n_groups: u32,
        first_of: impl Fn(u32) -> Option<&'a ReportSettings>,
        jobs: &[JobReport<'_>],
    ) -> Vec<Self> {
        let mut groups: Vec<Self> =
            (0..n_groups).map(|group_index| first_of(group_index).map_or_else(Self::default, Self::new)).collect();
        for job in jobs {
            if let Some(group) = groups.get_mut(job.group_index as usize) {
                group.add_member(&job.stats);
            }
        }
        groups
    }

    /// All directions joined, for `unified_rw_reporting=both`.
    pub fn unified(&self) -> GroupDirection {
        self.directions.0.iter().fold(GroupDirection::default(), |sum, direction| sum.with(*direction))
    }
}

/// The groups of a run, including those whose workers are not reported.
pub(super) fn reports(workers: &[WorkerRecord], jobs: &[JobReport<'_>]) -> Vec<GroupReport> {
    // Groups are numbered without gaps in the order of the workers, so there are no more groups than workers.
    let n_groups = workers.iter().map(|worker| worker.group_index.saturating_add(1)).max().unwrap_or(0);
    let n_groups = n_groups.min(u32::try_from(workers.len()).unwrap_or(u32::MAX));
    let mut settings: Vec<Option<&ReportSettings>> = vec![None; n_groups as usize];
    for worker in workers {
        if let Some(first) = settings.get_mut(worker.group_index as usize) {
            first.get_or_insert(&worker.settings);
        }
    }
    GroupReport::all(n_groups, |group_index| settings[group_index as usize], jobs)
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

    /// Reads and writes of 7,992 KiB in 2,001 ms each: the extremes are those of a direction, as in fio 3.41.
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
}
