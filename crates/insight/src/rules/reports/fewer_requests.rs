//! Requests of the disks in a report that has no bytes of them: fio before 3.36, and terse output.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::shortfall::{is_too_little, unseen_bytes, unseen_share};
use crate::on_device::is_direct;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::UnifiedReporting;
use ferrio_stats::{DiskRequests, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "disk-did-fewer-requests",
    title: "The disks did fewer requests than the jobs need",
    severity: Severity::Wrong,
    what: "In a report that was not measured here and has no bytes of disks (fio before 3.36, terse output): the I/Os of the jobs and the \
           requests of the disks. Of direct I/O each is a request, or was merged into one; other I/O needs one for each 4 MiB, the largest \
           request of Linux. It is reported where the disks did less than 90 % of that, with half a second of the run that fio may not \
           have seen.",
    why: "I/O that did not reach a disk was answered by something before it: the page cache, a cache of the file system, or nothing at \
          all. Its latency and bandwidth are those of memory.",
    example: "ferrio check --result=report.json   (fio 3.33: 133,598 reads of the job, and 41 of the disk)",
    cure: "Add --direct=1, and run again with a larger file than memory holds.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// The largest request that Linux makes unless it is told otherwise (since 6.16; 1280 KiB before).
const LARGEST_REQUEST_BYTES: u64 = 4 << 20;
/// Fewer bytes than this are not worth a word.
const LEAST_BYTES: u64 = 1 << 20;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let Some(disks) = case.reported().and_then(|facts| facts.disk_requests.as_ref()) else { return Vec::new() };
    [DataDirection::Read, DataDirection::Write]
        .into_iter()
        .filter_map(|direction| of_direction(case, disks, direction))
        .collect()
}

fn of_direction(case: &AuditInput<'_>, disks: &DiskRequests, direction: DataDirection) -> Option<Observation> {
    let is_one = |job: &&AuditedJob<'_>| {
        let is_apart = job.spec.reporting.unified == UnifiedReporting::None;
        job.has_files() && is_apart && !job.engine.moves_nothing() && job.figures(direction).is_some()
    };
    let jobs: Vec<&AuditedJob<'_>> = case.jobs.iter().filter(is_one).collect();
    let figures = || jobs.iter().filter_map(|job| Some((*job, job.figures(direction)?)));
    let n_ios = sum(figures().map(|(_, figures)| figures.n_completed));
    let n_bytes = sum(figures().map(|(_, figures)| figures.bytes));
    let index = usize::from(direction != DataDirection::Read);
    let done = disks.done[index];
    let unseen_ios = |n: u64, job: &AuditedJob<'_>| (n as f64 * unseen_share(job, direction)).ceil() as u64;
    let are_direct = !case.lacks_options() && jobs.iter().all(|job| is_direct(job));
    let is_short = if are_direct {
        let n_unseen = sum(figures().map(|(job, figures)| unseen_ios(figures.n_completed, job)));
        is_too_little(sum([done, disks.merged[index], n_unseen]), n_ios)
    } else {
        let most_bytes = done.saturating_mul(LARGEST_REQUEST_BYTES);
        is_too_little(most_bytes.saturating_add(unseen_bytes(case, direction, &jobs)), n_bytes)
    };
    if n_bytes < LEAST_BYTES || !is_short {
        return None;
    }
    let (names, name) = (disks.names.join(" and "), direction.name());
    let verb = if disks.names.len() > 1 { "have" } else { "has" };
    let reason = match () {
        () if are_direct => {
            "Direct I/O was asked for, so a cache below the page cache answered, or the files have holes."
        }
        () if case.lacks_options() => {
            "Something above the disk answered the others: the page cache, unless the job had direct=1."
        }
        () => "The page cache answered the others: without direct=1 they measure memory.",
    };
    let explanation = format!(
        "The jobs have done {} {name}s ({}), and {names} {verb} done {}. {reason}",
        thousands(n_ios),
        text::bytes(n_bytes),
        thousands(done)
    );
    let evidence = vec![
        Measured::count(&format!("{name}s of the jobs"), n_ios as f64),
        Measured::count(&format!("{name}s of {names}"), done as f64),
    ];
    Some(Observation::of_jobs(jobs, evidence, explanation).about(direction))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{DiskRequests, RecordOrigin, ReportedFacts};

    /// The last counters that fio looks at may be those before the sync at the end, which writes each block of the range once.
    #[test]
    fn a_closing_sync_may_be_behind_the_last_counters() {
        let found = |size_bytes: u64, ends_in_sync: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            scene.jobs[0].durability.direct = false;
            scene.jobs[0].durability.end_fsync = ends_in_sync;
            scene.jobs[0].extent.size = Some(ferrio_spec::SizeSpec::Bytes(size_bytes));
            scene.places.clear();
            let disks = DiskRequests { names: vec!["vda".to_owned()], done: [0, 2], merged: [0, 0] };
            scene.disk_bytes = [0, MIB];
            scene.record.origin = RecordOrigin::Report("fio-3.41".to_owned());
            let facts = ReportedFacts { disk_requests: Some(disks), ..ReportedFacts::default() };
            scene.record.evidence.reported = Some(Box::new(facts));
            scene.found().into_iter().filter(|id| id == super::RULE.id || id == "device-did-less").collect::<Vec<_>>()
        };
        assert_eq!(found(100 * MIB, true), Vec::<String>::new());
        assert!(!found(MIB, true).is_empty());
        assert!(!found(100 * MIB, false).is_empty());
    }

    /// 25,600 reads of 4 KiB in 10 s, so that 1,280 of them may be unseen.
    fn found(done: u64, merged: u64, is_direct: bool) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.jobs[0].durability.direct = is_direct;
        let disks = DiskRequests { names: vec!["vda".to_owned()], done: [done, 0], merged: [merged, 0] };
        scene.disk_bytes = [100 * MIB, 0];
        scene.record.origin = RecordOrigin::Report("fio-3.33".to_owned());
        let facts = ReportedFacts { disk_requests: Some(disks), ..ReportedFacts::default() };
        scene.record.evidence.reported = Some(Box::new(facts));
        scene.found()
    }

    #[test]
    fn direct_io_needs_a_request_each_and_other_io_one_for_4_mib() {
        let quiet: [&str; 0] = [];
        assert_eq!(found(21_760, 0, true), quiet);
        assert_eq!(found(10_000, 11_760, true), quiet);
        assert_eq!(found(21_759, 0, true), ["disk-did-fewer-requests"]);
        // 100 MiB, of which 90 have to be there and 5 may be unseen: 22 requests are enough.
        assert_eq!(found(22, 0, false), quiet);
        assert_eq!(found(21, 0, false), ["disk-did-fewer-requests"]);
    }
}
