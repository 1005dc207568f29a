//! Runs that something else than the storage made slow: other programs that had the CPU or used the device.
//!
//! A limit that such runs break says nothing against the storage, where what disturbed them is large enough to be the reason. Must not know: recipes, verdicts. Start
//! reading at [`Disturbance::of`].

use crate::fit::FitBound;
use crate::fit::together::Bins;
use ferrio_formats::RunResult;
use ferrio_stats::Finding;
use serde::Serialize;

/// Findings about CPU time that the jobs lacked: the name, what was lacking, and of what time.
const CPU: [(&str, &str, &[&str]); 3] = [
    ("waits-for-cpu", "waits for a CPU", &["time of the workers"]),
    ("tail-waits-for-cpu", "waits for a CPU", &[]),
    ("stolen-cpu-time", "stolen", &["stolen", "busy"]),
];
/// The finding about other programs that use the device.
const OTHERS: &str = "other-users";
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

/// What disturbed a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Disturbance {
    pub(crate) finding: String,
    pub(crate) others_bytes: u64,
}

/// The I/O of a run that a limit is about.
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
        let findings = result.findings.iter().flatten();
        let mut of_job = findings.filter(|one| one.jobs.is_empty() || one.jobs.iter().any(|job| job == io.job));
        of_job.find_map(|finding| Self::by(finding, io))
    }

    fn by(finding: &Finding, io: &LimitedIo<'_>) -> Option<Self> {
        let secs_of = |what: &str| finding.evidence.iter().find(|one| one.what == what).map(|one| one.value);
        let of_cpu = CPU.iter().find(|(id, ..)| *id == finding.id);
        if let Some((_, lacking, all)) = of_cpu {
            let lacking_secs = secs_of(lacking)?;
            let all_secs: f64 = all.iter().filter_map(|what| secs_of(what)).sum();
            let is_enough = match io.bound {
                FitBound::Most(most) => lacking_secs >= EXPLAINS * slow_secs(io.bins, most),
                FitBound::Least(_) if all_secs > lacking_secs => {
                    io.bound.holds(io.value / (1.0 - lacking_secs / all_secs))
                }
                FitBound::Least(_) => false,
            };
            return is_enough.then(|| Self { finding: finding.id.clone(), others_bytes: 0 });
        }
        if finding.id != OTHERS {
            return None;
        }
        let others: f64 =
            finding.evidence.iter().filter(|one| one.what.contains("by others")).map(|one| one.value).sum();
        let own: f64 = finding.evidence.iter().filter(|one| one.what.contains("by the job")).map(|one| one.value).sum();
        let is_enough = match io.bound {
            FitBound::Most(_) => true,
            FitBound::Least(_) => own > 0.0 && io.bound.holds(io.value * (1.0 + others / own)),
        };
        is_enough.then(|| Self { finding: finding.id.clone(), others_bytes: others as u64 })
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
    use ferrio_stats::{FindingDirection, Measured, Severity};

    fn run(id: &str, evidence: Vec<Measured>) -> RunResult {
        let finding = Finding {
            id: id.to_owned(),
            title: String::new(),
            severity: Severity::Misleading,
            jobs: vec!["a".to_owned()],
            direction: FindingDirection::None,
            evidence,
            explanation: String::new(),
            cure: String::new(),
            page: String::new(),
        };
        RunResult { findings: Some(vec![finding]), ..RunResult::default() }
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
        let others = || Some(Disturbance { finding: OTHERS.to_owned(), others_bytes: 400 << 20 });
        let runs = [(true, None), (false, others()), (true, None), (false, None), (true, others())];
        let found = DisturbedRuns::of(&runs).expect("disturbed runs");
        assert_eq!((found.n_disturbed, found.n_quiet, found.n_quiet_held), (2, 3, 2));
        assert_eq!((found.findings.len(), found.others_bytes), (1, 400 << 20));
        assert_eq!(DisturbedRuns::of(&[(true, None)]), None);
    }
}
