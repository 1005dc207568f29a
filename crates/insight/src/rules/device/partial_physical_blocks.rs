//! Writes that cover only a part of the device's physical blocks.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::{BlockPlaces, is_direct, is_in_blocks};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "partial-physical-blocks",
    title: "Writes cover only parts of physical blocks",
    severity: Severity::Misleading,
    what: "Block sizes, their alignment and the offset of a job that writes with direct=1, and the physical block size that the device \
           reports. It is reported where the device takes such I/O (its logical blocks are smaller) and one of them is no multiple of the \
           physical block size.",
    why: "To write a part of a physical block the device reads the block, changes it and writes it again. Such writes are slower than those \
          of whole blocks, and wear a flash device more.",
    example: "--name=a --filename=/dev/sdb --rw=randwrite --direct=1 --bs=512 --size=1g",
    cure: "Use a --bs (and --offset, --blockalign) that is a multiple of the physical block size; `lsblk -o NAME,PHY-SEC` shows it.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    if !is_direct(job) || !job.does(DataDirection::Write) {
        return None;
    }
    let place = job.places.iter().find(|place| is_in_blocks(place))?;
    let device = case.device(place.device.as_deref()?)?;
    let (logical, physical) = (device.logical_block_size?, device.physical_block_size?);
    let places = BlockPlaces::of(job, DataDirection::Write);
    // The kernel refuses anything else, which has a rule of its own.
    if places.are_whole(physical) || !places.are_whole(logical) {
        return None;
    }
    let (what, unit_bytes) = match () {
        () if places.length_unit.is_multiple_of(physical) => ("begin at multiples of", places.offset_unit),
        () => ("have multiples of", places.length_unit),
    };
    let explanation = format!(
        "Writes of the job {what} {}, and {} reports physical blocks of {}: it reads and rewrites a whole block to change a part of it.",
        text::bytes(unit_bytes),
        device.name,
        text::bytes(physical)
    );
    let evidence = vec![Measured::bytes("unit of the job", unit_bytes), Measured::bytes("physical block", physical)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix, SizeSpec};

    fn scene(mix: DirectionMix, block_bytes: u64, offset: u64) -> TestRun {
        let mut job = job("a", mix);
        job.pattern.block_size.0 = [BlockRange::one(block_bytes); 3];
        job.extent.offset = SizeSpec::Bytes(offset);
        let mut scene = TestRun::new(job);
        (scene.device.logical_block_size, scene.device.physical_block_size) = (Some(512), Some(4096));
        scene
    }

    #[test]
    fn parts_of_blocks_are_told_of_writes() {
        let finding = scene(DirectionMix::Write, 512, 0).finding("partial-physical-blocks");
        assert!(
            finding
                .explanation
                .starts_with("Writes of the job have multiples of 512 bytes, and vda reports physical blocks of 4 KiB"),
            "{}",
            finding.explanation
        );
        assert_eq!(scene(DirectionMix::Write, 4096, 1024).before().found(), ["partial-physical-blocks"]);
        assert_eq!(scene(DirectionMix::Write, 4096, 8192).found(), Vec::<String>::new());
        assert_eq!(scene(DirectionMix::Read, 512, 0).found(), Vec::<String>::new());
        let mut buffered = scene(DirectionMix::Write, 512, 0);
        buffered.jobs[0].durability.direct = false;
        assert_eq!(buffered.found(), Vec::<String>::new());
        let mut plain = scene(DirectionMix::Write, 512, 0);
        plain.device.physical_block_size = Some(512);
        assert_eq!(plain.found(), Vec::<String>::new());
    }
}
