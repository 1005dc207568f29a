//! A section `[global]` that stands behind the jobs that it should rule.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_spec::LateGlobal;
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "global-behind-jobs",
    title: "A section [global] rules no job",
    severity: Severity::Misleading,
    what: "The order of the sections of a job file. It is reported where a section [global] has options and no job stands behind it.",
    why: "A section [global] gives its options to the jobs behind it. The jobs before it run with their own options and the defaults: without direct=1, on other \
          files, with another engine.",
    example: "--name=a --rw=read --size=1g (a job file in which [a] stands before [global])",
    cure: "Move the section [global] to the beginning of the file.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| observations(case, false),
};

pub(crate) const PARTLY: FindingRule = FindingRule {
    id: "global-behind-a-job",
    title: "A section [global] rules some of the jobs",
    severity: Severity::Note,
    what: "The order of the sections of a job file. It is reported where the first section [global] with options stands behind a job and before others.",
    why: "The jobs before it do not have its options.",
    example: "--name=a --rw=read --size=1g (a job file with [a], [global], [b])",
    cure: "Move the section [global] to the beginning of the file, if the first jobs are to have its options.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| observations(case, true),
};

fn observations(case: &AuditInput<'_>, is_partly: bool) -> Vec<Observation> {
    // With an earlier section the order is that of somebody who knows it.
    let is_told =
        |global: &&LateGlobal| global.has_jobs_behind == is_partly && !(global.has_jobs_behind && global.has_earlier);
    case.provenance.late_globals.iter().filter(is_told).filter_map(|global| observation(case, global)).collect()
}

/// `None`: all jobs before the section have its options themselves.
fn observation(case: &AuditInput<'_>, global: &LateGlobal) -> Option<Observation> {
    let before = case.jobs.iter().filter(|job| (global.n_jobs_above..global.n_jobs_before).contains(&job.index));
    let lacks = |job: &AuditedJob<'_>, name: &str| !job.spec.given_options.iter().any(|(own, _)| own == name);
    let jobs: Vec<&AuditedJob<'_>> =
        before.filter(|job| global.options.iter().any(|(name, _)| lacks(job, name))).collect();
    if jobs.is_empty() {
        return None;
    }
    let options: Vec<String> = global.options.iter().take(6).map(shown).collect();
    let more = if global.options.len() > options.len() { ", ..." } else { "" };
    let names: Vec<&str> = jobs.iter().take(4).map(|job| job.name).collect();
    let explanation = format!(
        "The section [global] with {}{more} stands behind {}{}, so its options do not apply there.",
        options.join(", "),
        names.join(", "),
        if jobs.len() > names.len() { ", ..." } else { "" },
    );
    Some(Observation::of_jobs(jobs, Vec::new(), explanation))
}

fn shown((name, value): &(String, String)) -> String {
    if value.is_empty() { name.clone() } else { format!("{name}={value}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn found(has_jobs_behind: bool, has_earlier: bool, own: &[&str]) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
        scene.jobs[0].given_options = own.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
        let options = vec![("direct".to_owned(), "1".to_owned())];
        scene.late_globals =
            vec![LateGlobal { n_jobs_above: 0, n_jobs_before: 1, options, has_jobs_behind, has_earlier }];
        scene.found()
    }

    #[test]
    fn a_section_behind_all_jobs_is_told() {
        assert_eq!(found(false, false, &["rw"]), ["global-behind-jobs"]);
        assert_eq!(found(false, true, &["rw"]), ["global-behind-jobs"]);
        assert_eq!(found(true, false, &["rw"]), ["global-behind-a-job"]);
        assert_eq!(found(true, true, &["rw"]), Vec::<String>::new(), "defaults that change on purpose");
        assert_eq!(found(false, false, &["direct"]), Vec::<String>::new(), "the job has them itself");
    }
}
