//! Jobs that had to wait for a CPU.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::cpu_time::waiting_share;
use crate::rules::{FindingRule, MeasuredState, Observation, OutsideLoad};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_stats::{Finding, Measured, Severity, WorkerRecord};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "waits-for-cpu",
    title: "The job waited for a CPU",
    severity: Severity::Misleading,
    what: "The time in which the threads of a job were ready to run and had no CPU, as the kernel counts it, in jobs of a second or \
           more. For each time that a thread slept, 5 us are taken off, which the way back to an idle CPU may take. It is reported above 10 % of the job's time.",
    why: "An I/O that is complete is only seen by a thread that runs. Waits for a CPU are a part of the latencies, and the device has \
          less to do in the meantime.",
    example: "--name=a --ioengine=psync --rw=randread --size=1g --direct=1 --cpus_allowed=0 --numjobs=8",
    cure: "End the other programs, or keep CPUs free for the jobs (--cpus_allowed).",
    needs: &[EvidenceKind::CpuTurns],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Disturbed(OutsideLoad::Cpu { lacked: WAITS, all: &[TIME] }),
    yields_to: &[],
    find,
};

/// Names of the measured values from which [`cpu_wait_share`] is.
const WAITS: &str = "waits for a CPU";
const TIME: &str = "time of the workers";
/// A worker that runs, or wants to, for this share of its time keeps a CPU busy.
const BUSY: f64 = 0.5;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let share = waiting_share(case, job)?;
    let total = job.total.as_ref()?;
    let turns = total.usage.cpu_turns?;
    let n_busy = case.jobs.iter().flat_map(|job| &job.workers).filter(|worker| is_busy(worker)).count();
    let n_cpus = case.provenance.cpu.n_allowed as usize;
    let (reason, cure) = if n_cpus > 0 && n_busy > n_cpus {
        let cpus = if n_cpus == 1 { "one CPU".to_owned() } else { format!("{n_cpus} CPUs") };
        let cure = "Run as many jobs as there are CPUs, or let them use more CPUs (taskset, --cpus_allowed).";
        (format!("{n_busy} busy workers shared {cpus}."), Some(cure.to_owned()))
    } else {
        ("Other programs, or other jobs on the same CPUs, had it.".to_owned(), None)
    };
    let explanation = format!(
        "In {} % of its time the job was ready to run and had no CPU, {} ms each time: its latencies include these waits. {reason}",
        text::short(share * 100.0),
        text::short(turns.waited_ns as f64 / turns.n_turns.max(1) as f64 / 1e6),
    );
    let evidence = vec![
        Measured::seconds(WAITS, turns.waited_ns as f64 / 1e9),
        Measured::seconds(TIME, total.total_runtime_ns as f64 / 1e9),
        Measured::count("turns on a CPU", turns.n_turns as f64),
    ];
    Some(Observation { cure, ..Observation::of(job, evidence, explanation) })
}

/// The share of its time in which a job waited for a CPU, from the finding about it; `None`: it is about something else.
pub fn cpu_wait_share(finding: &Finding) -> Option<f64> {
    let of = |what: &str| finding.evidence.iter().find(|measured| measured.what == what).map(|measured| measured.value);
    let (waits, time) = (of(WAITS)?, of(TIME).filter(|time| *time > 0.0)?);
    (finding.id == RULE.id).then(|| waits / time)
}

fn is_busy(worker: &WorkerRecord) -> bool {
    let wanted = worker.stats.usage.cpu_turns.map(|turns| turns.ran_ns.saturating_add(turns.waited_ns));
    wanted.is_some_and(|wanted_ns| wanted_ns as f64 >= worker.stats.total_runtime_ns as f64 * BUSY)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::CpuTurns;

    /// A job of 10 s.
    fn scene(waited_ms: u64, n_turns: u64, n_sleeps: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.stats().total_runtime_ns = 10_000_000_000;
        scene.stats().usage.cpu_turns =
            Some(CpuTurns { ran_ns: 5_000_000_000, waited_ns: waited_ms * 1_000_000, n_turns, n_sleeps });
        scene
    }

    #[test]
    fn waits_of_a_tenth_of_the_time_are_told() {
        assert_eq!(scene(999, 1, 0).found(), Vec::<String>::new());
        let finding = scene(1_000, 1, 0).finding("waits-for-cpu");
        assert!(
            finding.explanation.ends_with("Other programs, or other jobs on the same CPUs, had it."),
            "{finding:?}"
        );
        let busy = scene(4_000, 400, 0).finding("waits-for-cpu");
        assert_eq!(busy.evidence.iter().map(|measured| measured.value).collect::<Vec<_>>(), [4.0, 10.0, 400.0]);
        assert!(
            busy.explanation.starts_with("In 40 % of its time the job was ready to run and had no CPU, 10 ms each")
        );
    }

    #[test]
    fn the_waking_of_idle_cpus_is_no_wait() {
        // 5 us for each of 200,000 I/Os: a tenth of the time.
        assert_eq!(scene(1_000, 200_000, 200_000).found(), Vec::<String>::new());
        assert_eq!(scene(2_000, 200_000, 200_000).found(), ["waits-for-cpu"]);
        // The CPU was taken from it: what follows is no way back from sleep.
        assert_eq!(scene(1_000, 200_000, 0).found(), ["waits-for-cpu"]);
    }

    #[test]
    fn a_short_job_and_a_job_without_the_figure_say_nothing() {
        let mut short = scene(9_000, 10, 0);
        short.stats().total_runtime_ns = 999_999_999;
        assert_eq!(short.found(), Vec::<String>::new());
        let mut unknown = scene(4_000, 10, 0);
        unknown.stats().usage.cpu_turns = None;
        assert_eq!(unknown.found(), Vec::<String>::new());
    }

    #[test]
    fn more_busy_workers_than_cpus_are_the_cause() {
        let mut scene = scene(4_000, 400, 0);
        scene.n_cpus = 1;
        assert!(scene.finding("waits-for-cpu").explanation.contains("Other programs"));
        let worker = scene.record.workers[0].clone();
        scene.record.workers.push(worker);
        let finding = scene.finding("waits-for-cpu");
        assert!(finding.explanation.ends_with("2 busy workers shared one CPU."), "{finding:?}");
        scene.n_cpus = 2;
        assert!(scene.finding("waits-for-cpu").explanation.contains("Other programs"));
    }
}
