//! Write-back that the kernel slows down for the sake of reads.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::{is_direct, jobs_by_device, queue_under};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "write-back-throttled",
    title: "The kernel may slow down buffered writes for the direct reads beside them",
    severity: Severity::Note,
    what: "The target latency of write-back throttling (wbt_lat_usec) of a device on which one job writes through the page cache while \
           another one reads with direct=1. It is reported where throttling is switched on, before the run, and after it where a read took longer than the target.",
    why: "When reads take longer than the target, the kernel sends fewer of the buffered writes to the device. How the two share the device \
          is then a setting of the kernel, and other machines have another one.",
    example: "--name=w --rw=write --size=1g --end_fsync=1 --name=r --rw=randread --size=1g --direct=1",
    cure: "Compare with throttling off (`echo 0 > /sys/block/X/queue/wbt_lat_usec`), or name the setting beside the figures.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let found = jobs_by_device(case).into_iter().filter_map(|((_, name), jobs)| {
        let device = queue_under(case, name)?;
        let target_us = device.wbt_lat_usec.filter(|target_us| *target_us > 0)?;
        let is_writer = |job: &&&AuditedJob<'_>| job.is_buffered() && job.does(DataDirection::Write);
        let is_reader = |job: &&&AuditedJob<'_>| is_direct(job) && job.does(DataDirection::Read);
        let (writer, reader) = (jobs.iter().find(is_writer)?, jobs.iter().find(is_reader)?);
        // Reads that were all faster have slowed nothing down.
        let longest_ns = reader.figures(DataDirection::Read).map(|figures| figures.clat.max_ns);
        if longest_ns.is_some_and(|longest_ns| longest_ns > 0 && longest_ns < target_us.saturating_mul(1_000)) {
            return None;
        }
        let explanation = format!(
            "{} writes through the page cache and {} reads beside it: when reads of {} take longer than {} us, the kernel holds writes back.",
            writer.name, reader.name, device.name, target_us
        );
        let evidence = vec![Measured::seconds("target of the throttling", target_us as f64 / 1e6)];
        Some(Observation::of_jobs([*writer, *reader], evidence, explanation).about(DataDirection::Write))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::DirectionMix;

    #[test]
    fn writes_beside_reads_are_told() {
        let scene = |target_us: u64, is_direct: bool| {
            let mut writer = job("w", DirectionMix::Write);
            (writer.durability.direct, writer.durability.end_fsync) = (is_direct, true);
            let mut scene = TestRun::new(writer);
            scene.add(job("r", DirectionMix::Read), place("/data/r"));
            (scene.device.wbt_lat_usec, scene.device.n_hardware_queues) = (Some(target_us), Some(1));
            scene
        };
        // The reads took 300 us.
        assert_eq!(scene(300, false).finding("write-back-throttled").jobs, ["w", "r"]);
        assert_eq!(scene(2000, false).before().finding("write-back-throttled").jobs, ["w", "r"]);
        let is_told = |scene: &TestRun| scene.found().iter().any(|id| id == "write-back-throttled");
        assert!(!is_told(&scene(300, true)) && !is_told(&scene(0, false)) && !is_told(&scene(2000, false)));
        let mut alone = scene(300, false);
        alone.jobs[1].grouping.wait_for = Some("w".to_owned());
        assert!(!is_told(&alone));
    }
}
