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
/// Workers that keep so much of their CPUs busy stand in each other's way, if they are more than these.
const CROWDED: f64 = 0.4;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let share = waiting_share(case, job)?;
    let total = job.total.as_ref()?;
    let turns = total.usage.cpu_turns?;
    let (n_cpus, on_them) = neighbours(case, job);
    let n_busy = on_them.iter().filter(|worker| is_busy(worker)).count();
    let is_crowded =
        n_cpus > 0 && (n_busy > n_cpus || on_them.len() > n_cpus && cpus_in_use(&on_them) >= n_cpus as f64 * CROWDED);
    let polls = job.spec.given_options.iter().any(|(name, value)| name == "sqthread_poll" && value != "0");
    let (reason, cure) = match () {
        () if is_crowded => {
            let cpus = if n_cpus == 1 { "one CPU".to_owned() } else { format!("{n_cpus} CPUs") };
            let (n_workers, kind) = if n_busy > n_cpus { (n_busy, "busy ") } else { (on_them.len(), "") };
            let cure = "Run as many jobs as there are CPUs, or let them use more CPUs (taskset, --cpus_allowed).";
            (format!("{n_workers} {kind}workers shared {cpus}."), Some(cure.to_owned()))
        }
        () if polls => {
            let cure = "Leave out sqthread_poll, or keep a CPU free for its thread (sqthread_poll_cpu).";
            ("The kernel's thread of sqthread_poll keeps a CPU busy for each worker.".to_owned(), Some(cure.to_owned()))
        }
        () => ("Other programs, or other jobs on the same CPUs, had it.".to_owned(), None),
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

/// The number of CPUs that a job may use (0: not known), and the workers that run on them beside each other.
fn neighbours<'c>(case: &'c AuditInput<'_>, job: &AuditedJob<'_>) -> (usize, Vec<&'c WorkerRecord>) {
    let cpus = &job.spec.worker.cpus_allowed;
    let is_near = |other: &&AuditedJob<'_>| other.group == job.group && other.spec.worker.cpus_allowed == *cpus;
    let workers = case.jobs.iter().filter(is_near).flat_map(|job| job.workers.iter().copied()).collect();
    (cpus.as_ref().map_or(case.provenance.cpu.n_allowed as usize, Vec::len), workers)
}

/// CPUs that workers have kept busy, on average.
fn cpus_in_use(workers: &[&WorkerRecord]) -> f64 {
    let ran_ns: f64 =
        workers.iter().filter_map(|worker| worker.stats.usage.cpu_turns).map(|turns| turns.ran_ns as f64).sum();
    let longest_ns = workers.iter().map(|worker| worker.stats.total_runtime_ns).max().unwrap_or(0);
    ran_ns / longest_ns.max(1) as f64
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
        // The job itself is kept to one of many CPUs, for which less is enough.
        scene.n_cpus = 64;
        scene.jobs[0].worker.cpus_allowed = Some(vec![0]);
        for worker in &mut scene.record.workers {
            worker.stats.usage.cpu_turns.as_mut().expect("turns").ran_ns = 2_000_000_000;
            worker.stats.usage.cpu_turns.as_mut().expect("turns").waited_ns = 2_000_000_000;
        }
        let finding = scene.finding("waits-for-cpu");
        assert!(finding.explanation.ends_with("2 workers shared one CPU."), "{finding:?}");
    }
}
