//! A job that used up its CPU before the device was busy.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::is_paced;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::{io_uring, libaio, pvsync2};
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "load-generator-limit",
    title: "The job used up its CPU",
    severity: Severity::Misleading,
    what: "The time that the threads of a job were on a CPU, or ready and without one, as a share of their time, of jobs with direct I/O, an asynchronous engine and \
           iodepth above 1 that nothing holds back on purpose (rates, pauses, latency targets) and that do not poll. It is reported above 95 %.",
    why: "Such a job never waits for the device: making, handing over and checking I/Os takes all of its time, and with more CPU time it \
          would have done more. The figure is that of one CPU, not of the device.",
    example: "--name=a --ioengine=io_uring --iodepth=64 --rw=randread --bs=512 --direct=1 --size=1g",
    cure: "Use more jobs (--numjobs) on other CPUs, larger batches (--iodepth_batch_submit, --iodepth_batch_complete_max), or an engine that \
           costs less per I/O.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["iodepth"],
    state: MeasuredState::Lasting,
    yields_to: &["waits-for-cpu"],
    find,
};

const SHARE: f64 = 0.95;
/// A shorter job says nothing, nanoseconds.
const LEAST_NS: u64 = 100_000_000;
/// Options of engines by which a job looks for completions again and again, so that its CPU is always busy.
const POLLING: [EngineOption<bool>; 4] =
    [io_uring::HIPRI, pvsync2::HIPRI, io_uring::SQTHREAD_POLL, libaio::USERSPACE_REAP];

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let share = share(case, job)?;
    let usage = &job.total.as_ref()?.usage;
    let used_ns = usage.user_ns.saturating_add(usage.system_ns);
    let work = if job.spec.verify.is_some() { " Checksums are a part of that work." } else { "" };
    let explanation = format!(
        "The job wanted a CPU for {} of its time ({} of its work was in the kernel) and never waited for the device: the figure is that of the CPU.{work}",
        text::percent(share, 1.0),
        text::percent(usage.system_ns as f64, used_ns as f64)
    );
    let evidence = vec![
        Measured::percent("on a CPU or ready for one", 100.0 * share),
        Measured::count("iodepth", f64::from(job.spec.queue.iodepth)),
    ];
    Some(Observation::of(job, evidence, explanation))
}

/// Share of a job's time on a CPU or ready for one, if that is what limits it.
fn share(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<f64> {
    let queue = &job.spec.queue;
    let is_direct = job.has_files() && !job.is_buffered() && job.places.iter().all(|place| place.device.is_some());
    let polls = queue.batch_complete_min == 0 || POLLING.iter().any(|option| job.spec.engine.options.get(option));
    if queue.iodepth == 1 || job.engine.is_inline() || !is_direct || polls || is_paced(job) {
        return None;
    }
    let total = job.total.as_ref()?;
    let turns = total.usage.cpu_turns?;
    let is_measured = case.provenance.clock.source != "virtual";
    let is_long = total.total_runtime_ns >= LEAST_NS.saturating_mul(job.workers.len() as u64);
    let share = turns.ran_ns.saturating_add(turns.waited_ns) as f64 / total.total_runtime_ns as f64;
    // The kernel's clock for turns and that of the job are not quite the same.
    (is_measured && is_long && share >= SHARE).then_some(share.min(1.0))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_spec::engines::options::io_uring;
    use ferrio_stats::CpuTurns;

    /// A job of 10 s with a depth of 2, of which nothing else can be said.
    fn scene(ran_ms: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        "io_uring".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low) = (8, 8);
        let mut scene = TestRun::new(job);
        scene.stats().total_runtime_ns = 10_000_000_000;
        scene.stats().usage.cpu_turns =
            Some(CpuTurns { ran_ns: ran_ms * 1_000_000, waited_ns: 0, n_turns: 100, n_sleeps: 0 });
        (scene.stats().usage.user_ns, scene.stats().usage.system_ns) = (1_000_000_000, 9_000_000_000);
        scene
    }

    #[test]
    fn a_job_that_never_sleeps_is_the_limit() {
        let finding = scene(9_600).finding("load-generator-limit");
        assert!(
            finding.explanation.starts_with(
                "The job wanted a CPU for 96 % of its time (90 % of its work was in the kernel) and never waited"
            ),
            "{finding:?}"
        );
        assert!(!scene(9_499).found().contains(&"load-generator-limit".to_owned()));
        // Waits for a CPU that are too short for a finding of their own are no waits for the device.
        let mut waiting = scene(9_400);
        waiting.stats().usage.cpu_turns.as_mut().expect("they are set").waited_ns = 100_000_000;
        assert_eq!(waiting.found(), ["load-generator-limit"]);
        // The mean depth is 0.8 of 8: the CPU is why.
        assert_eq!(scene(9_600).found(), ["load-generator-limit"]);
        assert_eq!(scene(9_499).found(), ["depth-not-reached"]);
    }

    #[test]
    fn a_job_that_polls_or_is_held_back_is_busy_on_purpose() {
        type Change = fn(&mut TestRun);
        let changes: [Change; 5] = [
            |scene| scene.jobs[0].queue.batch_complete_min = 0,
            |scene| scene.jobs[0].latency.target_us = 10,
            |scene| scene.jobs[0].durability.direct = false,
            |scene| scene.places[0].device = None,
            |scene| scene.stats().usage.cpu_turns = None,
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut scene = scene(9_900);
            change(&mut scene);
            assert!(!scene.found().contains(&"load-generator-limit".to_owned()), "{index}");
        }
        let mut polling = scene(9_900);
        polling.jobs[0].engine.options.set(&io_uring::HIPRI, true);
        assert!(!polling.found().contains(&"load-generator-limit".to_owned()));
        polling.jobs[0].engine.options.set(&io_uring::HIPRI, false);
        assert!(polling.found().contains(&"load-generator-limit".to_owned()));
    }
}
