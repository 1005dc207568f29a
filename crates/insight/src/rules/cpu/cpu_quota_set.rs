//! A control group with less CPU time than the jobs can use.

use crate::audit_input::AuditInput;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "cpu-quota-set",
    title: "The control group has less CPU time than the jobs can use",
    severity: Severity::Note,
    what: "Before a run: the CPU time of the control group of ferrio, or of one above it (cpu.max, cpu.cfs_quota_us), and the workers that \
           run at the same time, of which each can use one CPU. It is reported where the quota is less than these workers and the CPUs of the \
           machine allow. After a run the rule cpu-quota tells whether the jobs were held back.",
    why: "A group that has used up its quota stands still until the next period, usually of 100 ms, and so do its I/Os.",
    example: "--name=a --ioengine=io_uring --iodepth=64 --rw=randread --size=1g --direct=1 --numjobs=4",
    cure: "Give the container or service more CPU time (cpu.max, CPUQuota=, docker --cpus), or use fewer jobs.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_quota = |quota_ms: u64| {
        let n_workers =
            case.groups().values().map(|jobs| jobs.iter().map(|job| u64::from(job.n_clones)).sum()).max()?;
        let n_cpus = u64::from(case.provenance.cpu.n_allowed.max(1));
        let usable_ms = n_cpus.min(n_workers).saturating_mul(1000);
        let (quota, usable) = (quota_ms as f64 / 1e3, usable_ms as f64 / 1e3);
        let explanation = format!(
            "The control group has the time of {} CPUs, and {n_workers} workers can use {} at the same time: jobs that need more stand still.",
            text::short(quota),
            text::short(usable)
        );
        let evidence =
            vec![Measured::count("CPUs of the group", quota), Measured::count("CPUs that can be used", usable)];
        let found = Observation::of_run(evidence, explanation);
        (quota_ms < usable_ms).then_some(found)
    };
    let quota = case.provenance.limits.cpu_ms_per_sec.filter(|_| case.is_before());
    quota.and_then(of_quota).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn a_quota_below_what_workers_and_cpus_allow_is_told() {
        let scene = |cpu_ms_per_sec, n_clones, n_cpus| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            (scene.jobs[0].numjobs, scene.n_cpus) = (n_clones, n_cpus);
            scene.limits.cpu_ms_per_sec = cpu_ms_per_sec;
            scene
        };
        let finding = scene(Some(1500), 4, 8).finding("cpu-quota-set");
        assert!(
            finding.explanation.starts_with("The control group has the time of 1.5 CPUs, and 4 workers can use 4 at"),
            "{finding:?}"
        );
        assert_eq!(scene(Some(999), 1, 8).found(), ["cpu-quota-set"]);
        for right in [scene(Some(1000), 1, 8), scene(Some(2000), 4, 2), scene(None, 4, 8)] {
            assert_eq!(right.found(), Vec::<String>::new());
        }
        let mut after = TestRun::new(job("a", DirectionMix::Read));
        after.limits.cpu_ms_per_sec = Some(1);
        assert_eq!(after.found(), Vec::<String>::new());
    }
}
