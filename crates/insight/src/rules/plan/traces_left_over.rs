//! Traces that no clone of a job replays.

use crate::audit_input::AuditedJob;
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::humanize::counted;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "traces-left-over",
    title: "Some traces are never replayed",
    severity: Severity::Misleading,
    what: "The traces of read_iolog and the number of clones. It is reported where there are more traces than clones, and they are not merged.",
    why: "Each clone of a job replays one of the traces. The figures are those of the first ones alone.",
    example: "--name=a --read_iolog=one.log:two.log",
    cure: "Set numjobs to the number of traces, or merge them with merge_blktrace_file.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(of_job).collect(),
};

fn of_job(job: &AuditedJob<'_>) -> Option<Observation> {
    let replay = &job.spec.replay;
    let (n_traces, n_clones) = (replay.traces.len(), job.n_clones as usize);
    if replay.merge.is_some() || n_traces <= n_clones {
        return None;
    }
    let left: Vec<&str> = replay.traces[n_clones..].iter().map(String::as_str).collect();
    let more = if left.len() > 4 { ", ..." } else { "" };
    let explanation = format!(
        "The job has {} and {}: nothing replays {}{more}.",
        counted(n_traces as u64, "trace", "traces"),
        counted(n_clones as u64, "clone", "clones"),
        left[..left.len().min(4)].join(", ")
    );
    let evidence = vec![Measured::count("traces", n_traces as f64), Measured::count("clones", n_clones as f64)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    #[test]
    fn more_traces_than_clones_are_told() {
        let explanation = |numjobs: u32| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read)).before();
            scene.jobs[0].numjobs = numjobs;
            scene.jobs[0].replay.traces = ["x", "y", "z"].map(str::to_owned).to_vec();
            scene
                .found()
                .contains(&"traces-left-over".to_owned())
                .then(|| scene.finding("traces-left-over").explanation)
        };
        assert_eq!(explanation(2).as_deref(), Some("The job has 3 traces and 2 clones: nothing replays z."));
        assert_eq!(explanation(3), None);
    }
}
