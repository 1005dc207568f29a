//! Trims that the kernel cuts into several requests, or that the device refuses.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{Measured, Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "trims-split",
    title: "Each trim of the job is several requests of the device",
    severity: Severity::Note,
    what: "The smallest block of a job that trims block devices, and the largest trim that the kernel sends to the device \
           (discard_max_bytes). It is reported where the block is larger.",
    why: "A trim is complete when the last of its requests is, so its latency is that of several, and the device does more trims a second than the job counts.",
    example: "--name=a --filename=/dev/sdX --rw=trim --bs=4g --size=64g",
    cure: "Use a --bs up to /sys/block/X/queue/discard_max_bytes, or raise that (up to discard_max_hw_bytes).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| jobs_that_trim(case).filter_map(|(job, device)| split(job, device)).collect(),
};

pub(crate) const REFUSED: FindingRule = FindingRule {
    id: "trims-refused",
    title: "The device takes no trims",
    severity: Severity::Wrong,
    what: "Before a run: the block devices of a job that trims, and the largest trim that the kernel sends to them \
           (discard_max_bytes). It is reported where that is 0.",
    why: "The kernel refuses each trim with EOPNOTSUPP, and the first one ends the job: there will be no figures.",
    example: "--name=a --filename=/dev/sdX --rw=trim --bs=1m --size=1g",
    cure: "Use a device with discards; `lsblk --discard` lists them. A value of 0 that somebody has written to /sys/block/X/queue/discard_max_bytes \
           can be raised up to discard_max_hw_bytes.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| {
        let jobs = jobs_that_trim(case).filter(|_| case.is_before());
        jobs.filter_map(|(job, device)| refused(job, device)).collect()
    },
};

/// Jobs that trim, each with the first of its block devices.
fn jobs_that_trim<'c, 'a>(case: &'c AuditInput<'a>) -> impl Iterator<Item = (&'c AuditedJob<'a>, &'a DeviceFacts)> {
    let trims = case.jobs.iter().filter(|job| job.does(DataDirection::Trim) && job.has_files());
    trims.filter_map(|job| {
        let place = job.places.iter().find(|place| place.kind == TargetKind::Block)?;
        Some((job, case.device(place.device.as_deref()?)?))
    })
}

fn split(job: &AuditedJob<'_>, device: &DeviceFacts) -> Option<Observation> {
    let most_bytes = device.discard_max_bytes.filter(|bytes| *bytes > 0)?;
    let block_bytes = job.spec.pattern.block_size[DataDirection::Trim].min_bytes;
    if block_bytes <= most_bytes {
        return None;
    }
    let explanation = format!(
        "Blocks have {}, and {} takes {} in one trim: each trim of the job is {} requests, and waits for the last of them.",
        text::bytes(block_bytes),
        device.name,
        text::bytes(most_bytes),
        block_bytes.div_ceil(most_bytes)
    );
    let evidence = vec![Measured::bytes("block of a trim", block_bytes), Measured::bytes("largest trim", most_bytes)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Trim))
}

fn refused(job: &AuditedJob<'_>, device: &DeviceFacts) -> Option<Observation> {
    let explanation =
        format!("{} takes no trims (discard_max_bytes is 0): the first one will end the job.", device.name);
    (device.discard_max_bytes == Some(0))
        .then(|| Observation::of(job, Vec::new(), explanation).about(DataDirection::Trim))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix};
    use ferrio_stats::TargetKind;
    use ferrio_units::PerDirection;

    fn scene(kind: TargetKind, mix: DirectionMix, discard_max_bytes: u64) -> Vec<String> {
        let mut job = job("a", mix);
        job.pattern.block_size = PerDirection::all(BlockRange::one(MIB));
        let mut scene = TestRun::new(job).before();
        (scene.places[0].kind, scene.device.discard_max_bytes) = (kind, Some(discard_max_bytes));
        let mut found = scene.found();
        found.retain(|id| id.starts_with("trims") && id != "trims-of-files");
        found
    }

    #[test]
    fn trims_beyond_the_largest_are_told() {
        assert_eq!(scene(TargetKind::Block, DirectionMix::Trim, MIB - 1), ["trims-split"]);
        assert_eq!(scene(TargetKind::Block, DirectionMix::TrimWrite, MIB - 1), ["trims-split"]);
        assert_eq!(scene(TargetKind::Block, DirectionMix::Trim, MIB), Vec::<String>::new());
        assert_eq!(scene(TargetKind::Block, DirectionMix::Write, 1), Vec::<String>::new());
        assert_eq!(scene(TargetKind::File, DirectionMix::Trim, 1), Vec::<String>::new());
    }

    #[test]
    fn a_device_without_trims_refuses_them() {
        assert_eq!(scene(TargetKind::Block, DirectionMix::Trim, 0), ["trims-refused"]);
        assert_eq!(scene(TargetKind::Block, DirectionMix::Read, 0), Vec::<String>::new());
    }
}
