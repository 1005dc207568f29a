//! Runs that something else than the storage made slow: other programs that had the CPU or used the device.
//!
//! A limit that such runs break says nothing against the storage, where what disturbed them is large enough to be the reason. Must not know: recipes, verdicts. Start
//! reading at [`Disturbance::of`].

use crate::fit::FitBound;
use crate::fit::together::Bins;
use ferrio_formats::RunResult;
use ferrio_insight::OutsideLoadFigures;
use ferrio_stats::Finding;
use serde::Serialize;

/// Part of the time of slow I/Os that waits for a CPU explain.
const EXPLAINS: f64 = 0.5;

/// Runs of a load that were disturbed, and what the others tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DisturbedRuns {
    /// Number of runs that were disturbed.
    pub n_disturbed: usize,
    /// Names of the findings about them, each once.
    pub findings: Vec<String>,
    /// Most bytes that others moved in one of them.
    pub others_bytes: u64,
    /// Number of the other runs.
    pub n_quiet: usize,
    /// Those of them in which the limit holds.
    pub n_quiet_held: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disturbance {
    pub(crate) finding: String,
    pub(crate) others_bytes: u64,
}

pub(crate) struct LimitedIo<'a> {
    pub(crate) job: &'a str,
    pub(crate) bound: FitBound,
    /// The figure of the run.
    pub(crate) value: f64,
    /// Its latencies; empty: the limit is no latency, or they are not known.
    pub(crate) bins: &'a Bins,
}

impl Disturbance {
    /// What may have made a limit break in a run; `None`: it holds, or nothing did.
    pub(crate) fn of(result: &RunResult, io: &LimitedIo<'_>) -> Option<Self> {
        let findings = result.findings();
        let mut of_job = findings.filter(|one| one.jobs.is_empty() || one.jobs.iter().any(|job| job == io.job));
        of_job.find_map(|finding| Self::by(finding, io))
    }

    fn by(finding: &Finding, io: &LimitedIo<'_>) -> Option<Self> {
        let (is_enough, others_bytes) = match OutsideLoadFigures::of(finding)? {
            OutsideLoadFigures::Cpu { lacked_secs, all_secs } => (explains_by_cpu(io, lacked_secs, all_secs), 0),
            OutsideLoadFigures::Device { others_bytes, own_bytes } => {
                let is_enough = match io.bound {
                    FitBound::Most(_) => true,
                    FitBound::Least(_) => {
                        own_bytes > 0.0 && io.bound.holds(io.value * (1.0 + others_bytes / own_bytes))
                    }
                };
                (is_enough, others_bytes as u64)
            }
        };
        is_enough.then(|| Self { finding: finding.id.clone(), others_bytes })
    }
}

/// CPU time that the jobs lacked is enough to be the reason. `all_secs`: the time in which they lacked it; 0: not known.
fn explains_by_cpu(io: &LimitedIo<'_>, lacked_secs: f64, all_secs: f64) -> bool {
    match io.bound {
        FitBound::Most(most) => lacked_secs >= EXPLAINS * slow_secs(io.bins, most),
        FitBound::Least(_) => all_secs > lacked_secs && io.bound.holds(io.value / (1.0 - lacked_secs / all_secs)),
    }
}

/// Time of the I/Os that take longer than a limit, seconds.
fn slow_secs(bins: &Bins, most_ns: f64) -> f64 {
    let slow = bins.iter().filter(|(latency_ns, _)| *latency_ns as f64 > most_ns);
    slow.map(|(latency_ns, count)| *latency_ns as f64 * *count as f64 / 1e9).sum()
}

impl DisturbedRuns {
    /// `runs`: for each run, whether the limit holds in it, and what disturbed it. `None`: nothing did.
    pub(crate) fn of(runs: &[(bool, Option<Disturbance>)]) -> Option<Self> {
        let disturbed: Vec<&Disturbance> = runs.iter().filter_map(|(_, by)| by.as_ref()).collect();
        let mut findings: Vec<String> = disturbed.iter().map(|by| by.finding.clone()).collect();
        findings.sort_unstable();
        findings.dedup();
        let n_quiet_held = runs.iter().filter(|(holds, by)| *holds && by.is_none()).count();
        (!disturbed.is_empty()).then(|| Self {
            n_disturbed: disturbed.len(),
            findings,
            others_bytes: disturbed.iter().map(|by| by.others_bytes).max().unwrap_or_default(),
            n_quiet: runs.len() - disturbed.len(),
            n_quiet_held,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{Audit, Measured, Severity};

    fn run(id: &str, evidence: Vec<Measured>) -> RunResult {
        let finding = Finding {
            hosts: Vec::new(),
            id: id.to_owned(),
            title: String::new(),
            severity: Severity::Misleading,
            jobs: vec!["a".to_owned()],
            direction: None,
            evidence,
            explanation: String::new(),
            cure: String::new(),
            page: String::new(),
        };
        RunResult { audit: Some(Audit { findings: vec![finding], ..Audit::default() }), ..RunResult::default() }
    }

    /// 100 I/Os of 20 ms are beyond a limit of 10 ms: 2 s. Waits of 1 s may be the reason, those of 0.9 s are not.
    #[test]
    fn waits_for_a_cpu_explain_what_takes_twice_as_long() {
        let bins = vec![(1_000_000, 10_000), (20_000_000, 100)];
        let io = |job| LimitedIo { job, bound: FitBound::Most(10e6), value: 20e6, bins: &bins };
        for (waited, is_reason) in [(1.0, true), (0.9, false)] {
            let run = run("waits-for-cpu", vec![Measured::seconds("waits for a CPU", waited)]);
            assert_eq!(Disturbance::of(&run, &io("a")).is_some(), is_reason, "{waited}");
            assert_eq!(Disturbance::of(&run, &io("b")), None);
        }
    }

    /// 400 a second of 500 that are wanted: others moved half as much, so that 600 would have been done; with a tenth as much, 440.
    #[test]
    fn others_explain_as_much_as_they_moved() {
        let bins = Vec::new();
        for (others, is_reason) in [(50 << 20, true), (10 << 20, false)] {
            let evidence = vec![
                Measured::bytes("read and written by the jobs", 100 << 20),
                Measured::bytes("read by others", 0),
                Measured::bytes("written by others", others),
            ];
            let io = LimitedIo { job: "a", bound: FitBound::Least(500.0), value: 400.0, bins: &bins };
            let found = Disturbance::of(&run("other-users", evidence), &io);
            assert_eq!(found.map(|found| found.others_bytes), is_reason.then_some(others), "{others}");
        }
    }

    #[test]
    fn quiet_runs_are_counted() {
        let others = || Some(Disturbance { finding: "other-users".to_owned(), others_bytes: 400 << 20 });
        let runs = [(true, None), (false, others()), (true, None), (false, None), (true, others())];
        let found = DisturbedRuns::of(&runs).expect("disturbed runs");
        assert_eq!((found.n_disturbed, found.n_quiet, found.n_quiet_held), (2, 3, 2));
        assert_eq!((found.findings.len(), found.others_bytes), (1, 400 << 20));
        assert_eq!(DisturbedRuns::of(&[(true, None)]), None);
    }
}
