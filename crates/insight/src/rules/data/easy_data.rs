//! Data that a device with compression would make small, on a device of which that is not known.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::asked::easy_data;
use crate::measures::targets::compresses;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Severity, TargetPlace};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "easy-data",
    title: "The written data can be compressed",
    severity: Severity::Note,
    what: "The options of a job that writes (zero_buffers, buffer_pattern, buffer_compress_percentage, dedupe_percentage, scramble_buffers=0 without refill_buffers). It is reported \
           of files and devices that are not known to compress, and are not in memory.",
    why: "Some SSDs, disk arrays and volumes compress, drop zeroes or share equal blocks by themselves, and no host can see that. There \
          such data is written faster than data of users, up to several times.",
    example: "--name=a --rw=write --bs=128k --size=1g --direct=1 --zero_buffers",
    cure: "Compare with a run on data that does not compress: --refill_buffers, without the option named above.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["data-that-compresses"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let option = easy_data(job).filter(|_| job.does(DataDirection::Write) && job.has_files())?;
    // Other rules speak about these.
    let is_known = |place: &TargetPlace| compresses(place) || is_in_memory(place) || case.is_in_memory_below(place);
    if job.places.is_empty() || job.places.iter().any(is_known) {
        return None;
    }
    let explanation = format!(
        "{option} gives data that a device with compression or deduplication makes small. Whether the device has that cannot be seen \
         from here; if it has, data of users is slower."
    );
    Some(Observation::of(job, Vec::new(), explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec};

    #[test]
    fn options_that_make_data_easy_are_told_of_writers() {
        let found = |mix, change: fn(&mut JobSpec)| {
            let mut job = job("a", mix);
            change(&mut job);
            TestRun::new(job).found()
        };
        assert_eq!(found(DirectionMix::Write, |job| job.buffers.zero = true), ["easy-data"]);
        assert_eq!(found(DirectionMix::Write, |job| job.buffers.compress_percent = 50), ["easy-data"]);
        assert_eq!(found(DirectionMix::Write, |job| job.buffers.refill = true), Vec::<String>::new());
        assert_eq!(found(DirectionMix::Write, |job| job.buffers.scramble = Some(false)), ["easy-data"]);
        let anew = |job: &mut JobSpec| (job.buffers.scramble, job.buffers.refill) = (Some(false), true);
        assert_eq!(found(DirectionMix::Write, anew), Vec::<String>::new());
        assert_eq!(found(DirectionMix::Read, |job| job.buffers.zero = true), Vec::<String>::new());
    }

    #[test]
    fn a_file_system_that_compresses_has_a_rule_of_its_own() {
        let mut scene = TestRun::new(job("a", DirectionMix::Write));
        scene.jobs[0].buffers.zero = true;
        scene.places[0].mount_options = Some("rw,compress=zstd:3".to_owned());
        assert!(!scene.found().contains(&"easy-data".to_owned()), "{:?}", scene.found());
    }
}
