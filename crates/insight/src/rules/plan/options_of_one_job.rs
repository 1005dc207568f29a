//! Options that stand in the first job of several, and that the others seem to need as well.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::Severity;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "options-of-one-job",
    title: "Options of a job do not apply to the jobs behind it",
    severity: Severity::Note,
    what: "The options of the first job that say how I/O is done (direct, buffered, ioengine, iodepth, bs, bsrange, bssplit), and those of the jobs behind it. It is reported \
           where the first one has two of them or more, direct=1 or an engine among them, and a later job has none of all these options, neither itself nor from [global].",
    why: "Each --name, and each section of a job file, begins with the defaults: buffered I/O of 4 KiB by one synchronous engine, at a depth of 1. Only options before \
          the first --name, or in [global], are for all jobs.",
    example: "--name=seq --filename=/data/f --size=1g --rw=read --bs=1m --direct=1 --name=rand --filename=/data/f --size=1g --rw=randread",
    cure: "Put the options that all jobs have before the first --name, or into [global].",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["global-behind-jobs"],
    find,
};

/// How a job does its I/O.
const OF_IO: [&str; 7] = ["direct", "buffered", "ioengine", "iodepth", "bs", "bsrange", "bssplit"];

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let Some((first, others)) = case.jobs.split_first() else { return Vec::new() };
    if case.lacks_options() || !first.has_files() {
        return Vec::new();
    }
    let is_global = |name: &str| case.record.global_options.iter().any(|(given, _)| given == name);
    let own: Vec<&(String, String)> = of_io(first).filter(|(name, _)| !is_global(name)).collect();
    let is_basic = own.iter().any(|(name, value)| name == "ioengine" || name == "direct" && value != "0");
    if own.len() < 2 || !is_basic || case.record.global_options.iter().any(|(name, _)| OF_IO.contains(&&**name)) {
        return Vec::new();
    }
    let bare: Vec<&AuditedJob<'_>> =
        others.iter().filter(|job| job.has_files() && job.moves_data() && of_io(job).next().is_none()).collect();
    if bare.is_empty() {
        return Vec::new();
    }
    let options: Vec<String> = own.iter().map(|(name, value)| shown(name, value)).collect();
    let names: Vec<&str> = bare.iter().take(4).map(|job| job.name).collect();
    let explanation = format!(
        "{} stand in the job {} alone: {}{} ran with the defaults.",
        options.join(", "),
        first.name,
        names.join(", "),
        if bare.len() > names.len() { ", ..." } else { "" },
    );
    vec![Observation::of_jobs(bare, Vec::new(), explanation)]
}

fn of_io<'j>(job: &'j AuditedJob<'_>) -> impl Iterator<Item = &'j (String, String)> {
    job.spec.given_options.iter().filter(|(name, _)| OF_IO.contains(&&**name))
}

fn shown(name: &str, value: &str) -> String {
    if value.is_empty() { name.to_owned() } else { format!("{name}={value}") }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::DirectionMix;

    fn is_told(first: &[(&str, &str)], second: &[(&str, &str)], global: &[(&str, &str)]) -> bool {
        let owned = |options: &[(&str, &str)]| -> Vec<(String, String)> {
            options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let mut scene = TestRun::new(job("seq", DirectionMix::Read));
        scene.add(job("rand", DirectionMix::Read), place("/data/rand"));
        scene.jobs[0].given_options = owned(first);
        scene.jobs[1].given_options = owned(second);
        scene.record.global_options = owned(global);
        scene.before().found().contains(&RULE.id.to_owned())
    }

    #[test]
    fn a_job_without_any_option_about_its_io_is_told() {
        let first = [("rw", "read"), ("bs", "1m"), ("direct", "1")];
        let bare = [("rw", "randread")];
        assert!(is_told(&first, &bare, &[]));
        assert!(is_told(&first, &bare, &[("size", "1g"), ("runtime", "10")]));
        // The second job has options of its own, so its author knows.
        assert!(!is_told(&first, &[("rw", "randread"), ("bs", "4k")], &[]));
        assert!(!is_told(&first, &bare, &[("direct", "1")]));
        assert!(!is_told(&first, &bare, &[("ioengine", "io_uring")]));
        assert!(!is_told(&[("rw", "read"), ("bs", "1m")], &bare, &[]), "buffered as well");
        assert!(!is_told(&[("direct", "1")], &bare, &[]));
        assert!(!is_told(&[("direct", "0"), ("bs", "1m")], &bare, &[]));
    }
}
