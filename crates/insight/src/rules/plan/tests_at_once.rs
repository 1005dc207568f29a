//! Tests that were to follow each other and run at the same time.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::is_paced;
use crate::measures::names::NameClaims;
use crate::measures::ranges::shared_part;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_spec::{CgroupSpec, GroupingSpec};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "tests-at-once",
    title: "Tests of one target run at the same time",
    severity: Severity::Note,
    what: "The jobs of a group and the parts of their targets. It is reported where two jobs use the same part of one target, or files on one device if both \
           names are made of words about I/O (seq, randread), both as fast as they can, and differ in direction, order, block size or depth.",
    why: "Jobs of a file run at the same time unless a stonewall divides them. The figures of each are then those beside the others, and not those of a test by itself.",
    example: "--name=seq --filename=/data/f --size=1g --rw=read --name=rand --filename=/data/f --size=1g --rw=randread",
    cure: "Add --stonewall to each job but the first, if they are tests of their own.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["jobs-share-blocks"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let groups = case.groups();
    groups.values().filter_map(|jobs| of_group(jobs)).collect()
}

fn of_group(jobs: &[&AuditedJob<'_>]) -> Option<Observation> {
    let tests: Vec<&AuditedJob<'_>> = jobs.iter().copied().filter(|job| is_test(job)).collect();
    let pairs =
        || tests.iter().enumerate().flat_map(|(index, one)| tests[index + 1..].iter().map(move |two| (one, two)));
    let (_, _, name) =
        pairs().filter(|(one, two)| differ(one, two)).find_map(|(one, two)| Some((one, two, shared(one, two)?)))?;
    let involved: Vec<&AuditedJob<'_>> = tests
        .iter()
        .copied()
        .filter(|job| {
            tests.iter().any(|other| job.index != other.index && differ(job, other) && shared(job, other).is_some())
        })
        .collect();
    let names: Vec<&str> = involved.iter().take(5).map(|job| job.name).collect();
    let more = if involved.len() > names.len() { ", ..." } else { "" };
    let explanation =
        format!("The jobs {}{more} use {name} at the same time: no stonewall divides them.", names.join(", "));
    Some(Observation::of_jobs(involved, Vec::new(), explanation))
}

/// What both jobs use: the part of a target, or a device where both names are those of tests.
fn shared(one: &AuditedJob<'_>, two: &AuditedJob<'_>) -> Option<String> {
    shared_part(one, two).or_else(|| {
        let claims = |job: &AuditedJob<'_>| NameClaims::of(job.name).filter(|claims| claims.is_any());
        let are_tests = claims(one)? != claims(two)? && one.has_files() && two.has_files();
        let device = |job: &AuditedJob<'_>| job.places.first().and_then(|place| place.device.clone());
        device(one).filter(|name| are_tests && device(two).as_ref() == Some(name))
    })
}

/// The job runs as fast as it can from the start of its group on.
fn is_test(job: &AuditedJob<'_>) -> bool {
    let GroupingSpec { shared_stream, exitall, .. } = &job.spec.grouping;
    let flows = job.spec.pace.flow.weight > 0;
    let is_apart = job.spec.limits.startdelay_us != (0, 0) || shared_stream.is_some() || *exitall || flows;
    let has_rank = job.spec.worker.prio.is_some() || job.spec.worker.prioclass.is_some() || job.spec.worker.nice != 0;
    !is_paced(job) && !is_apart && !has_rank && job.spec.surroundings.cgroup == CgroupSpec::default()
}

fn differ(one: &AuditedJob<'_>, two: &AuditedJob<'_>) -> bool {
    let kind = |job: &AuditedJob<'_>| {
        let pattern = &job.spec.pattern;
        (pattern.mix, pattern.random, pattern.block_size, job.spec.queue.iodepth)
    };
    kind(one) != kind(two)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::{DirectionMix, JobSpec};

    fn found(change: fn(&mut JobSpec)) -> bool {
        let mut one = job("seq", DirectionMix::Read);
        one.target.filenames = vec!["/data/file".to_owned()];
        let mut two = JobSpec { name: "rand".to_owned(), ..one.clone() };
        two.pattern.random = true;
        change(&mut two);
        let mut scene = TestRun::new(one);
        scene.add(two, place("/data/file"));
        scene.before().found().contains(&"tests-at-once".to_owned())
    }

    #[test]
    fn two_kinds_of_reads_of_one_file_are_told() {
        assert!(found(|_| ()));
        assert!(!found(|job| job.grouping.stonewall = true));
        assert!(!found(|job| job.pattern.random = false), "the same twice");
        let other = |job: &mut JobSpec| job.target.filenames = vec!["/data/other".to_owned()];
        assert!(found(other), "seq and rand are names of tests");
        assert!(!found(|job| (job.name, job.target.filenames) = ("log".to_owned(), vec!["/data/other".to_owned()])));
        assert!(!found(|job| job.pace.pauses.pause_us = 10), "a load in the background");
        assert!(!found(|job| job.limits.startdelay_us = (1, 1)));
    }
}
