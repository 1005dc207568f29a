//! A scheduler before a device that needs none.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::requests::asked_in_flight;
use crate::on_device::{is_direct, jobs_by_device, queue_under};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "scheduler-of-fast-device",
    title: "A scheduler sorts the I/Os of a device with many queues",
    severity: Severity::Note,
    what: "The scheduler of the device under a job's files. It is reported of devices that do not turn and have several hardware queues, for which \
           the kernel takes no scheduler by itself, where one is set and the jobs ask for 16 direct I/Os in flight or more; and not of \
           jobs that choose the scheduler themselves (ioscheduler).",
    why: "A scheduler takes every I/O through a lock and a queue of its own, and may hold I/Os back to sort them. That costs IOPS on a device \
          that serves many I/Os side by side, so the figures are those of the scheduler too.",
    example: "--name=a --ioengine=io_uring --iodepth=64 --rw=randread --direct=1 --size=1g",
    cure: "Compare with --ioscheduler=none (which sets it for the device), or name the scheduler beside the figures.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// From this depth on the order in which I/Os are served matters.
const LEAST_DEPTH: f64 = 16.0;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let found = jobs_by_device(case).into_iter().filter_map(|((_, name), jobs)| {
        let device = queue_under(case, name)?;
        let scheduler = device.scheduler.as_deref().filter(|name| !name.is_empty() && *name != "none")?;
        let is_fast = device.rotational == Some(false) && device.n_hardware_queues.is_some_and(|number| number > 1);
        let jobs: Vec<&AuditedJob<'_>> = jobs.into_iter().filter(|job| is_direct(job)).collect();
        let depth: f64 = jobs.iter().map(|job| asked_in_flight(job, device)).sum();
        let is_chosen = jobs.iter().any(|job| job.spec.surroundings.ioscheduler.is_some());
        if !is_fast || is_chosen || depth < LEAST_DEPTH {
            return None;
        }
        let explanation = format!(
            "{} has several hardware queues, and its scheduler is {scheduler}: the figures include its sorting and its lock.",
            device.name
        );
        Some(Observation::of_jobs(jobs, vec![Measured::count("I/Os asked for", depth)], explanation))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn scene(scheduler: &str, iodepth: u32) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        "io_uring".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low) = (iodepth, iodepth);
        let mut scene = TestRun::new(job).before();
        let device = &mut scene.device;
        (device.scheduler, device.n_hardware_queues) = (Some(scheduler.to_owned()), Some(8));
        scene
    }

    #[test]
    fn only_fast_devices_need_none() {
        let finding = scene("bfq", 16).finding("scheduler-of-fast-device");
        assert!(finding.explanation.contains("its scheduler is bfq"), "{}", finding.explanation);
        assert_eq!(scene("none", 16).found(), Vec::<String>::new());
        assert_eq!(scene("bfq", 15).found(), Vec::<String>::new());
        let mut one_queue = scene("bfq", 16);
        one_queue.device.n_hardware_queues = Some(1);
        let mut turning = scene("bfq", 16);
        turning.device.rotational = Some(true);
        let mut chosen = scene("bfq", 16);
        chosen.jobs[0].surroundings.ioscheduler = Some("kyber".to_owned());
        for scene in [one_queue, turning, chosen] {
            assert_eq!(scene.found(), Vec::<String>::new());
        }
    }
}
