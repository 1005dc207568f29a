//! A partition that begins within a physical block.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{Measured, PartitionPlace, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "misaligned-partition",
    title: "The partition does not begin at a physical block",
    severity: Severity::Misleading,
    what: "The first byte of the partition that holds the targets, the physical block size of its disk, and the place of the disk's first \
           physical block (alignment_offset). It is reported where the partition begins within a physical block.",
    why: "Every block of the file system lies across two physical blocks, so a write of one block changes parts of two, which the device \
          reads and rewrites.",
    example: "--name=a --filename=/dev/sdb1 --rw=randwrite --direct=1 --size=1g",
    cure: "Make the partition begin at a multiple of 1 MiB (`parted DISK align-check optimal NUMBER` checks it), or use the whole disk.",
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
    let on_partition =
        |(device, partition): &(&DeviceFacts, &PartitionPlace)| beyond_block(device, partition).is_some();
    let mut places = job.places.iter().filter(|_| job.has_files()).filter_map(|place| {
        let found = (case.device(place.device.as_deref()?)?, place.partition.as_ref()?);
        on_partition(&found).then_some(found)
    });
    let (device, partition) = places.next()?;
    let (beyond, physical) = (beyond_block(device, partition)?, device.physical_block_size?);
    let explanation = format!(
        "{} begins {} behind the start of a physical block of {} ({}): blocks of its data lie across two physical blocks.",
        partition.name,
        text::bytes(beyond),
        device.name,
        text::bytes(physical)
    );
    let evidence = vec![
        Measured::bytes("start of the partition", partition.start_bytes),
        Measured::bytes("physical block", physical),
    ];
    Some(Observation::of(job, evidence, explanation))
}

/// Bytes from the start of a physical block to that of the partition; `None`: it begins at one, or that is not known.
fn beyond_block(device: &DeviceFacts, partition: &PartitionPlace) -> Option<u64> {
    let physical = device.physical_block_size.filter(|bytes| *bytes > 0)?;
    // The kernel does not know the first physical block if this is negative.
    let first = u64::try_from(device.alignment_offset?).ok()?;
    let beyond = partition.start_bytes.checked_sub(first)? % physical;
    (beyond > 0).then_some(beyond)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::PartitionPlace;

    #[test]
    fn the_old_start_at_sector_63_is_told() {
        let scene = |start_sector: u64, physical: u64, first: i64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write)).before();
            let name = "vda1".to_owned();
            scene.places[0].partition = Some(PartitionPlace { name, start_bytes: start_sector * 512 });
            (scene.device.physical_block_size, scene.device.alignment_offset) = (Some(physical), Some(first));
            scene
        };
        let finding = scene(63, 4096, 0).finding("misaligned-partition");
        assert!(
            finding.explanation.starts_with("vda1 begins 3.50 KiB behind the start of a physical block"),
            "{finding:?}"
        );
        // Such disks exist: their first physical block begins at sector 7, so that sector 63 begins one.
        for (start_sector, physical, first) in
            [(64, 4096, 0), (2048, 4096, 0), (63, 512, 0), (63, 4096, 3584), (63, 4096, -1)]
        {
            assert_eq!(scene(start_sector, physical, first).found(), Vec::<String>::new());
        }
    }
}
