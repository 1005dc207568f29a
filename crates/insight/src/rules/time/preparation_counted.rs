//! Time for other work than I/O that the bandwidth and IOPS of a job count.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::asked::{is_paced, waits_for_writes};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::VerifySpec;
use ferrio_spec::engines::Measures;
use ferrio_stats::{DirectionStats, Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "preparation-counted",
    title: "Work between the I/Os counts in IOPS and bandwidth",
    severity: Severity::Misleading,
    what: "The time of a job in one direction, and the sum of its completion latencies, with an engine that waits for each I/O, where an \
           option asks for work between the I/Os: new data for each buffer (refill_buffers, dedupe_percentage), checksums (verify, where no job reads back), files that are opened during the \
           run (openfiles, create_on_open). It is reported where the I/Os take less than three quarters of the time, of jobs without rates, pauses and syncs.",
    why: "IOPS and bandwidth are counts over the time of the job. While it prepares buffers, computes checksums or opens files, the device has nothing to do.",
    example: "--name=a --rw=write --bs=1m --size=1g --direct=1 --refill_buffers",
    cure: "Take clat for the device. To measure its bandwidth leave out the option, or let other jobs work meanwhile (numjobs, iodepth with an \
           asynchronous engine).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["cpu-quota", "waits-for-cpu"],
    find,
};

/// A larger part of the time is the I/O itself.
const SHARE: f64 = 0.75;
/// A shorter job says nothing, nanoseconds.
const LEAST_NS: u64 = 50_000_000;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let work = work_between(case, job)?;
    let waits = job.engine.is_inline() && !job.spec.submission.offload && case.provenance.clock.source != "virtual";
    if !waits || is_paced(job) || waits_for_writes(job) {
        return None;
    }
    let (direction, does) = only_direction(job)?;
    let figures: Vec<&DirectionStats> = job.workers.iter().map(|worker| &worker.stats.directions[direction]).collect();
    let all_ns = sum(figures.iter().map(|figures| figures.runtime_ns));
    let io_ns: f64 = figures.iter().map(|figures| figures.clat.sum_ns as f64).sum();
    // A job without latencies says nothing.
    if io_ns <= 0.0 || all_ns < LEAST_NS.saturating_mul(figures.len() as u64) || io_ns >= all_ns as f64 * SHARE {
        return None;
    }
    let explanation = format!(
        "The {does} themselves took {} of the time; the rest was other work of the job, with {work}. IOPS and bandwidth count it, clat does not.",
        text::percent(io_ns, all_ns as f64)
    );
    let evidence = vec![
        Measured::seconds("time of the workers", all_ns as f64 / 1e9),
        Measured::seconds("sum of clat", io_ns / 1e9),
    ];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

/// The only direction of a job; I/Os in several ones share the time in a way that is not known.
fn only_direction(job: &AuditedJob<'_>) -> Option<(DataDirection, &'static str)> {
    let all = [(DataDirection::Read, "reads"), (DataDirection::Write, "writes"), (DataDirection::Trim, "trims")];
    let mut its = all.into_iter().filter(|(direction, _)| job.does(*direction));
    its.next().filter(|_| its.next().is_none())
}

/// A job of the run reads back what was written.
fn is_check(case: &AuditInput<'_>) -> bool {
    let checks = |job: &AuditedJob<'_>| {
        let reads_back = |verify: &VerifySpec| verify.reads_back || job.does(DataDirection::Read);
        job.spec.verify.as_ref().is_some_and(reads_back)
    };
    case.jobs.iter().any(checks)
}

/// The work between the I/Os that the options ask for.
fn work_between(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<&'static str> {
    // To open, to make or to remove a file is the I/O itself.
    if job.engine.measures == Measures::Openings {
        return None;
    }
    let (buffers, target) = (&job.spec.buffers, &job.spec.target);
    let writes = job.does(DataDirection::Write);
    match &job.spec.verify {
        // Reads between the writes have latencies of their own.
        Some(verify) if verify.backlog.is_some() || verify.trims.is_some() => return None,
        // A job that is there for its verdict has no figures of the device, which verification-cost tells.
        Some(_) if is_check(case) => return None,
        Some(_) => return Some("verify"),
        None => {}
    }
    match () {
        () if writes && buffers.refill => Some("refill_buffers"),
        () if writes && buffers.dedupe.is_some() => Some("dedupe_percentage"),
        () if job.spec.layout.create_on_open => Some("create_on_open"),
        () if target.openfiles > 0 && target.openfiles < target.nrfiles => Some("openfiles"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    /// A job of 10 s whose I/Os took this long together.
    fn scene(refill: bool, io_ms: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Write);
        job.buffers.refill = refill;
        let mut scene = TestRun::new(job);
        scene.stats().directions.0[1].clat.sum_ns = u128::from(io_ms) * 1_000_000;
        scene
    }

    #[test]
    fn a_quarter_of_the_time_for_other_work_is_told() {
        let finding = scene(true, 7_499).finding("preparation-counted");
        assert!(
            finding.explanation.starts_with(
                "The writes themselves took 75 % of the time; the rest was other work of the job, with refill_buffers."
            ),
            "{finding:?}"
        );
        assert_eq!(scene(true, 7_500).found(), Vec::<String>::new());
        assert_eq!(scene(false, 2_000).found(), Vec::<String>::new());
    }

    #[test]
    fn a_job_that_waits_on_purpose_or_in_the_background_says_nothing() {
        type Change = fn(&mut TestRun);
        let changes: [Change; 4] = [
            |scene| scene.jobs[0].durability.fsync_blocks = 8,
            |scene| scene.jobs[0].latency.target_us = 10,
            |scene| scene.jobs[0].pattern.mix = DirectionMix::ReadWrite,
            |scene| scene.clock.source = "virtual".to_owned(),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut scene = scene(true, 2_000);
            change(&mut scene);
            assert!(!scene.found().contains(&"preparation-counted".to_owned()), "{index}");
        }
    }

    #[test]
    fn a_run_that_checks_its_blocks_is_there_for_the_verdict() {
        let told = |reads_back: bool| {
            let mut scene = scene(false, 2_000);
            let mut verify = ferrio_spec::VerifySpec::of(ferrio_spec::VerifyMethod::Crc32c);
            verify.reads_back = reads_back;
            scene.jobs[0].verify = Some(verify);
            scene.found().contains(&"preparation-counted".to_owned())
        };
        assert!(told(false) && !told(true));
    }

    #[test]
    fn files_that_are_opened_in_the_run_are_work() {
        let mut files = scene(false, 2_000);
        (files.jobs[0].target.nrfiles, files.jobs[0].target.openfiles) = (8, 8);
        assert_eq!(files.found(), Vec::<String>::new());
        files.jobs[0].target.openfiles = 7;
        assert_eq!(files.found(), ["preparation-counted"]);
        for engine in ["filecreate", "filestat", "filedelete"] {
            engine.clone_into(&mut files.jobs[0].engine.name);
            assert!(!files.found().contains(&"preparation-counted".to_owned()), "{engine}: to open files is its work");
        }
    }
}
