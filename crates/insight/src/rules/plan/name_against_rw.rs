//! A job whose name says other I/O than it does.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::given::value_of;
use crate::measures::names::NameClaims;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "name-against-rw",
    title: "The name of the job says other I/O than it does",
    severity: Severity::Note,
    what: "The name of a job and its option rw. It is reported where all words of the name are about I/O (rand, seq, read, write, sizes and numbers), and the job only \
           reads and not writes, only writes and not reads, or has the other order.",
    why: "The name is for people, and rw is what counts. Without rw a job reads sequentially. A reader of the report takes its figures for those of the I/O in the name.",
    example: "--name=randwrite --size=1g --bs=4k",
    cure: "Set rw as the name says, or give the job another name.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["section-like-global"],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let claims = NameClaims::of(job.name)?;
    let (spec, pattern) = (job.spec, &job.spec.pattern);
    let is_other = spec.replay.is_set() || spec.verify.is_some() || !spec.extent.patterns.is_empty();
    if is_other || !job.moves_data() || job.does(DataDirection::Trim) || case.lacks_options() {
        return None;
    }
    let (reads, writes) = (job.does(DataDirection::Read), job.does(DataDirection::Write));
    // A part of the I/Os may have the other order.
    let percents = &pattern.percentage_random;
    let is_pure = percents.0.iter().all(|percent| *percent >= 100)
        && pattern.rw_postfix == i64::from(pattern.random)
        && !pattern.bs_is_seq_rand;
    let does = match (claims.reads, claims.random) {
        (Some(true), _) if writes && !reads => "only writes",
        (Some(false), _) if reads && !writes => "only reads",
        (_, Some(true)) if !pattern.random && is_pure => "is sequential",
        (_, Some(false)) if pattern.random && is_pure => "is random",
        _ => return None,
    };
    let given = value_of(case, job, "rw");
    let why = given.map_or_else(|| "rw is not given".to_owned(), |value| format!("rw={value}"));
    let explanation = format!("The job {} {does}: {why}.", job.name);
    Some(Observation::of(job, Vec::new(), explanation))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{DirectionMix, LateGlobal};

    fn told(name: &str, mix: DirectionMix, random: bool) -> Option<String> {
        let mut job = job(name, mix);
        job.pattern.random = random;
        job.pattern.rw_postfix = i64::from(random);
        let scene = TestRun::new(job).before();
        scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
    }

    /// An option of `[global]` behind the job is none of its own.
    #[test]
    fn the_reason_is_what_was_given_to_the_job() {
        let mut scene = TestRun::new(job("randwrite", DirectionMix::Read)).before();
        let late = vec![("rw".to_owned(), "randwrite".to_owned())];
        scene.record.global_options.clone_from(&late);
        scene.late_globals = vec![LateGlobal {
            n_jobs_above: 0,
            n_jobs_before: 1,
            options: late,
            has_jobs_behind: false,
            has_earlier: false,
        }];
        assert_eq!(scene.finding(RULE.id).explanation, "The job randwrite only reads: rw is not given.");
    }

    #[test]
    fn another_direction_or_order_is_told() {
        let (read, write) = (DirectionMix::Read, DirectionMix::Write);
        assert_eq!(told("randwrite", read, false).as_deref(), Some("The job randwrite only reads: rw is not given."));
        assert!(told("randread", write, true).is_some());
        assert!(told("rand-read-4k", read, false).is_some());
        assert!(told("seqread", read, true).is_some());
        for (name, mix, random) in [
            ("randread", read, true),
            ("read", read, true),
            ("write", DirectionMix::ReadWrite, true),
            ("prefill-randread", write, false),
            ("reader", write, false),
            ("a", write, false),
        ] {
            assert_eq!(told(name, mix, random), None, "{name}");
        }
    }
}
