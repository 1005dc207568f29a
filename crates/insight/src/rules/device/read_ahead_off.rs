//! Sequential reads through the page cache on a device without read-ahead.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{LayerKind, Measured, Severity, StorageLayer};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "read-ahead-off",
    title: "The kernel does not read ahead",
    severity: Severity::Misleading,
    what: "The read-ahead of the device below the files (/sys/block/X/queue/read_ahead_kb) of a job that reads through the page cache in \
           sequence. It is reported where that is 0, on file systems that have no read-ahead of their own (ext2 to ext4, XFS) and on devices.",
    why: "Sequential reads through the page cache are fast because the kernel reads the next blocks meanwhile. Without that each waits for \
          the device, so the figures are those of this setting.",
    example: "--name=a --rw=read --bs=64k --size=1g   (after `blockdev --setra 0 /dev/sdX`)",
    cure: "Set the read-ahead as it is on the machines that the figures are for (`blockdev --setra 256 /dev/sdX` is the usual one), and repeat \
           the run; with --direct=1 it has no effect.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected", "target-in-memory"],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

/// File systems that use the read-ahead of their device.
const BY_DEVICE: [&str; 4] = ["ext2", "ext3", "ext4", "xfs"];

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let is_sequence = !job.spec.pattern.random && job.does(DataDirection::Read);
    if !is_sequence || !job.is_buffered() || !job.moves_data() {
        return None;
    }
    let uses_it = |kind: Option<&str>| kind.is_none_or(|kind| BY_DEVICE.contains(&kind));
    let places = job.places.iter().filter(|place| !is_in_memory(place) && uses_it(place.file_system.as_deref()));
    let layers = places.filter_map(|place| case.layer(place.device.as_deref()?));
    // A device of memory has nothing to wait for.
    let is_memory = |layer: &StorageLayer| matches!(layer.kind, LayerKind::Memory | LayerKind::Zram);
    let off = layers.into_iter().find(|layer| layer.read_ahead_kb == Some(0) && !is_memory(layer))?;
    let explanation = format!(
        "{} has a read-ahead of 0: each sequential read of the job waits for the device, and no block is read before it is asked for.",
        off.name
    );
    let evidence = vec![Measured::bytes("read-ahead", 0)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, layer};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::{LayerKind, StorageLayer};

    #[test]
    fn sequential_reads_without_read_ahead_are_told() {
        let found = |read_ahead_kb: u64, direct: bool, random: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let disk = StorageLayer { read_ahead_kb: Some(read_ahead_kb), ..layer("vda", LayerKind::Disk, &[]) };
            scene.layers(vec![layer("/data", LayerKind::FileSystem, &["vda"]), disk]);
            (scene.jobs[0].durability.direct, scene.jobs[0].pattern.random) = (direct, random);
            scene.found().contains(&"read-ahead-off".to_owned())
        };
        assert!(found(0, false, false));
        assert!(!found(128, false, false) && !found(0, true, false) && !found(0, false, true));
    }
}
