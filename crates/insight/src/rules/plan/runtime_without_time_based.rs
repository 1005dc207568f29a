//! A runtime that is an upper bound only.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "runtime-without-time-based",
    title: "The job ended before its runtime",
    severity: Severity::Note,
    what: "The options runtime, without time_based, and the time that the job took. It is reported below 90 % of runtime.",
    why: "Without time_based a job ends when its size is done; runtime only ends it earlier. A run that was to last a minute and took a \
          second measured the first second.",
    example: "--name=a --rw=read --size=1g --runtime=60",
    cure: "Add --time_based, so that the job begins anew until its runtime is over.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const SHARE: f64 = 0.9;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(of_job).collect()
}

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let limits = &job.spec.limits;
    let wanted = limits.runtime_us as f64 / 1e6;
    // Such an end is one that was asked for.
    let has_other_end = job.spec.extent.number_ios > 0
        || job.spec.extent.io_size.is_some()
        || job.spec.steady_state.duration_us > 0
        || (job.spec.latency.target_us > 0 && !job.spec.latency.goes_on)
        || job.spec.replay.is_set()
        || job.workers.iter().any(|worker| worker.stats.errno != 0 || worker.fate.killed_by.is_some());
    if wanted == 0.0 || limits.time_based || has_other_end {
        return None;
    }
    let directions = [DataDirection::Read, DataDirection::Write, DataDirection::Trim];
    let took = directions.into_iter().map(|direction| job.seconds(direction)).fold(0.0, f64::max);
    if took == 0.0 || took >= wanted * SHARE {
        return None;
    }
    let explanation = format!(
        "runtime={} s is an upper bound without time_based: the job was through with its size after {} s.",
        text::short(wanted),
        text::short(took)
    );
    let evidence = vec![Measured::seconds("runtime", wanted), Measured::seconds("time of I/O", took)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn a_job_that_ends_early_is_told_unless_it_may() {
        let scene = |runtime_s: u64, time_based: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.jobs[0].limits.runtime_us = runtime_s * 1_000_000;
            scene.jobs[0].limits.time_based = time_based;
            scene
        };
        assert_eq!(scene(60, false).found(), ["runtime-without-time-based"]);
        assert_eq!(scene(60, true).found(), Vec::<String>::new());
        // The job took 10 s.
        assert_eq!(scene(11, false).found(), Vec::<String>::new());
        assert_eq!(scene(0, false).found(), Vec::<String>::new());
        // Such a search ends the job.
        let mut searched = scene(60, false);
        searched.jobs[0].latency.target_us = 20_000;
        assert!(!searched.found().contains(&"runtime-without-time-based".to_owned()));
        let mut scene = scene(60, false);
        scene.jobs[0].extent.number_ios = 25_600;
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
