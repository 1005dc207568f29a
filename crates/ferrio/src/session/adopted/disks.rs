//! Counters of the disks in a report.
//!
//! Must not know: rules. Start reading at [`enter`].

use ferrio_formats::RunResult;
use ferrio_spec::engines::by_name;
use ferrio_spec::{JobSpec, UnifiedReporting};
use ferrio_stats::provenance::Provenance;
use ferrio_stats::{DiskCounters, DiskGap, DiskRecord, DiskRequests, Evidence, JobTargets, ReportedFacts, TargetPlace};

const SECTOR_BYTES: u64 = 512;

/// Enters the counters, and the jobs whose work they can be compared with.
///
/// A report does not say which job used which disk, so that all disks count as one: they have done at least what any job asked of
/// them. Devices made of others are counted with these, which makes the sum larger, never smaller. Without bytes (fio before 3.36, terse
/// output) the requests are counted alone; without any disk (files in memory, on a network), or with counters that are all 0, there is
/// nothing to compare with.
pub(super) fn enter(result: &RunResult, provenance: &Provenance, facts: &mut ReportedFacts, evidence: &mut Evidence) {
    let n_ios = |of: fn(&ferrio_formats::DiskFigures) -> u64| result.disks.iter().map(of).fold(0, u64::saturating_add);
    let done = [n_ios(|disk| disk.n_reads), n_ios(|disk| disk.n_writes)];
    let has_bytes = |disk: &ferrio_formats::DiskFigures| disk.read_bytes.is_some() && disk.written_bytes.is_some();
    let n_bytes = n_ios(|disk| disk.read_bytes.unwrap_or(0).saturating_add(disk.written_bytes.unwrap_or(0)));
    facts.disk_gap = match () {
        () if result.disks.is_empty() => Some(DiskGap::NoDisk),
        () if done == [0, 0] && n_bytes == 0 => Some(DiskGap::AllZero),
        () if !result.disks.iter().all(has_bytes) => Some(DiskGap::NoBytes),
        () => None,
    };
    if facts.disk_gap == Some(DiskGap::NoBytes) {
        let names = result.disks.iter().map(|disk| disk.name.clone()).collect();
        let merged = [n_ios(|disk| disk.merged_reads), n_ios(|disk| disk.merged_writes)];
        facts.disk_requests = Some(DiskRequests { names, done, merged });
    }
    if facts.disk_gap.is_some() {
        return;
    }
    let bytes = |of: fn(&ferrio_formats::DiskFigures) -> Option<u64>| {
        result.disks.iter().map(of).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)))
    };
    let (Some(read), Some(written)) = (bytes(|disk| disk.read_bytes), bytes(|disk| disk.written_bytes)) else { return };
    let names: Vec<&str> = result.disks.iter().map(|disk| disk.name.as_str()).collect();
    let name = names.join(" and ");
    let counters = DiskCounters {
        ios: done,
        sectors: [read / SECTOR_BYTES, written / SECTOR_BYTES],
        util_percent: result.disks.iter().map(|disk| disk.busy_percent).fold(0.0, f64::max),
        ..DiskCounters::default()
    };
    evidence.disks = Some(vec![DiskRecord { name: name.clone(), counters, slaves: Vec::new() }]);
    let jobs = (0_u32..).zip(&provenance.jobs);
    let specs = jobs.filter_map(|(job_index, job)| Some((job_index, job.options.as_deref()?)));
    let place = TargetPlace { device: Some(name), ..TargetPlace::default() };
    let targets = specs.filter(|(_, spec)| uses_disks(spec)).map(|(job_index, _)| JobTargets {
        job_index,
        places: vec![place.clone()],
        // No file itself is known.
        n_left_out: 1,
        ..JobTargets::default()
    });
    evidence.targets = Some(targets.collect());
}

/// The job's reads and writes are told apart, and go to files or devices.
fn uses_disks(spec: &JobSpec) -> bool {
    let has_files = by_name(&spec.engine.name).is_some_and(|engine| engine.targets.are_files());
    has_files && spec.reporting.unified == UnifiedReporting::None
}
