//! Reads of blocks that hold zeroes alone.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::extents::holds_no_data;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_stats::{LayerKind, Measured, ReadSample, Severity, TargetKind};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "reads-of-zeroes",
    title: "The device was read where it holds zeroes alone",
    severity: Severity::Misleading,
    what: "After a run of `ferrio run`, up to 16 blocks of the first target of each job that only reads, spread over the part that it \
           reads. It is reported where the target is a block device, and all of them hold zeroes alone.",
    why: "Blocks hold zeroes that were never written, or were trimmed. Thin volumes, SSDs, zram, and the hosts of virtual machines \
          answer reads of such blocks from a table, and not from the medium.",
    example: "--name=a --filename=/dev/nvme0n1 --rw=randread --direct=1   (on a new or trimmed drive)",
    cure: "Write the part of the device first that is read, which destroys its contents: --rw=write --bs=1m --direct=1 --refill_buffers.",
    needs: &[EvidenceKind::Contents],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["data-that-compresses"],
    find: |case| find(case, true),
};

pub(crate) const OF_FILES: FindingRule = FindingRule {
    id: "files-hold-zeroes",
    title: "The files that were read hold zeroes alone",
    severity: Severity::Note,
    what: "After a run of `ferrio run`, up to 16 blocks of the first file of each job that only reads, spread over the part that it \
           reads. It is reported where all of them hold zeroes alone, though blocks are allocated for them.",
    why: "Devices that compress or deduplicate, thin volumes, and the hosts of virtual machines keep zeroes in a table, and answer \
          reads of them sooner than reads of data.",
    example: "--name=a --filename=from-dev-zero.dat --rw=randread --direct=1   (after `dd if=/dev/zero of=from-dev-zero.dat`)",
    cure: "If the files hold nothing that somebody needs, write them with data that does not compress, and read those: --rw=write --bs=1m \
           --refill_buffers --end_fsync=1. Otherwise let the test make files of its own (--directory=DIR in the place of --filename).",
    needs: &[EvidenceKind::Contents],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["data-that-compresses"],
    find: |case| find(case, false),
};

/// Fewer blocks may hold zeroes by chance.
const LEAST_BLOCKS: u64 = 8;

fn find(case: &AuditInput<'_>, of_devices: bool) -> Vec<Observation> {
    let samples = case.record.evidence.read_samples.as_ref();
    let all_zero = samples.into_iter().flatten().filter(|sample| sample.n_blocks >= LEAST_BLOCKS);
    let all_zero = all_zero.filter(|sample| sample.n_zero == sample.n_blocks);
    all_zero.filter_map(|sample| of_sample(case, sample, of_devices)).collect()
}

fn of_sample(case: &AuditInput<'_>, sample: &ReadSample, of_devices: bool) -> Option<Observation> {
    let job = case.jobs.get(sample.job_index as usize)?;
    let place = job.places.iter().find(|place| place.path == sample.path)?;
    let is_device = place.kind == TargetKind::Block;
    // Memory keeps zeroes as it keeps data, and blocks without data are read as zeroes.
    if is_device != of_devices || is_in_memory(place) || holds_no_data(case, job) {
        return None;
    }
    let explanation = format!(
        "{} blocks of {} were read after the run, from all over the part that the job reads, and all hold zeroes alone: {}",
        sample.n_blocks,
        sample.path,
        if is_device { of_device(case, job) } else { "data of users may take longer." }
    );
    Some(
        Observation::of(job, vec![Measured::count("blocks of zeroes", sample.n_zero as f64)], explanation)
            .about(DataDirection::Read),
    )
}

fn of_device(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> &'static str {
    let mut layers = job.places.iter().flat_map(|place| case.layers_of(place));
    if layers.any(|layer| layer.kind == LayerKind::Zram) {
        return "zram keeps no memory for them.";
    }
    "they were never written, or trimmed, or filled with zeroes, and the device may have answered without its medium."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn scene(kind: TargetKind, n_zero: u64, n_blocks: u64) -> Vec<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.places[0].kind = kind;
        let path = scene.places[0].path.clone();
        scene.record.evidence.read_samples = Some(vec![ReadSample { job_index: 0, path, n_blocks, n_zero }]);
        scene.found()
    }

    #[test]
    fn zeroes_everywhere_are_told() {
        assert_eq!(scene(TargetKind::File, 16, 16), ["files-hold-zeroes"]);
        assert!(scene(TargetKind::Block, 16, 16).contains(&"reads-of-zeroes".to_owned()));
    }

    #[test]
    fn one_block_with_data_is_enough() {
        assert_eq!(scene(TargetKind::File, 15, 16), Vec::<String>::new());
        assert!(!scene(TargetKind::Block, 15, 16).contains(&"reads-of-zeroes".to_owned()));
    }

    #[test]
    fn a_few_blocks_say_nothing() {
        assert_eq!(scene(TargetKind::File, 7, 7), Vec::<String>::new());
    }
}
