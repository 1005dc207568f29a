//! Devices that keep their data in memory and are the target themselves.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{LayerKind, Severity, TargetKind};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "device-in-memory",
    title: "The device is memory",
    severity: Severity::Note,
    what: "A target of a job that is a RAM disk or a zram device itself.",
    why: "Such a device is made by the kernel of memory, zram of compressed memory: its figures are those of memory and of a CPU.",
    example: "--name=a --filename=/dev/zram0 --rw=randwrite --direct=1 --size=100m",
    cure: "Name the device that you want to measure (`lsblk` lists them). If it is this one, nothing has to be done; for zram, data like that of \
           users matters (--buffer_compress_percentage).",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "target-in-memory"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let blocks = job.places.iter().filter(|place| place.kind == TargetKind::Block);
    let found = blocks.filter_map(|place| {
        let kind = match case.layer(place.layer.as_deref()?)?.kind {
            LayerKind::Memory => "memory",
            LayerKind::Zram => "compressed memory",
            _ => return None,
        };
        Some(format!("{} is made of {kind}: these are figures of memory, not of a disk.", place.path))
    });
    let explanation = found.into_iter().next()?;
    Some(Observation::of(job, Vec::new(), explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LayerKind, TargetKind};

    #[test]
    fn a_device_of_memory_is_told_and_a_disk_is_not() {
        let found = |kind: LayerKind| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.places[0].kind = TargetKind::Block;
            scene.layers(vec![layer("/data", kind, &[])]);
            scene.found().contains(&"device-in-memory".to_owned())
        };
        assert!(found(LayerKind::Zram) && found(LayerKind::Memory) && !found(LayerKind::Disk));
    }
}
