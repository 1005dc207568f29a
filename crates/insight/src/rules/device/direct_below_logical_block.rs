//! Direct I/O that the kernel refuses, because it is not in whole logical blocks.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::{BlockPlaces, is_direct, is_in_blocks};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "direct-below-logical-block",
    title: "Direct I/O does not fit the blocks of the device",
    severity: Severity::Wrong,
    what: "Block sizes, their alignment and the offset of a job with direct=1, and the logical block size of the device that it uses, or \
           that ext4 or XFS use for its files. It is reported where one of them is no multiple of the logical block size, and no such I/O \
           has succeeded.",
    why: "The device transfers whole logical blocks, so the kernel refuses any other direct I/O with the error EINVAL: the job ends without \
          figures.",
    example: "--name=a --filename=/dev/nvme0n1 --rw=randread --direct=1 --bs=512 --size=1g",
    cure: "Use a --bs (and --offset, --blockalign) that is a multiple of the logical block size; `lsblk -o NAME,LOG-SEC` shows it.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["direct", "buffered"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    if !is_direct(job) {
        return None;
    }
    let place = job.places.iter().find(|place| is_in_blocks(place))?;
    let device = case.device(place.device.as_deref()?)?;
    let block_bytes = device.logical_block_size?;
    let is_refused = |direction: &DataDirection| {
        // Where some I/Os have succeeded, the kernel takes them.
        job.does(*direction)
            && !BlockPlaces::of(job, *direction).are_whole(block_bytes)
            && job.figures(*direction).is_none()
    };
    let mut refused = [DataDirection::Read, DataDirection::Write].into_iter().filter(is_refused);
    let direction = refused.next()?;
    let is_only = refused.next().is_none();
    let places = BlockPlaces::of(job, direction);
    let (what, unit_bytes) = match () {
        () if places.length_unit.is_multiple_of(block_bytes) => ("Offsets", places.offset_unit),
        () => ("Blocks", places.length_unit),
    };
    let explanation = format!(
        "{what} of the job are multiples of {}, and {} has logical blocks of {}: the kernel refuses such direct I/O (EINVAL).",
        text::bytes(unit_bytes),
        device.name,
        text::bytes(block_bytes)
    );
    let evidence = vec![Measured::bytes("unit of the job", unit_bytes), Measured::bytes("logical block", block_bytes)];
    let found = Observation::of(job, evidence, explanation);
    Some(if is_only { found.about(direction) } else { found })
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{BlockRange, BlockShare, DirectionMix, JobSpec, SizeSpec};
    use ferrio_stats::TargetKind;

    fn scene(change: impl FnOnce(&mut JobSpec)) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        job.pattern.random = true;
        job.pattern.block_size.0[0] = BlockRange::one(4096);
        change(&mut job);
        let mut scene = TestRun::new(job).before();
        scene.device.logical_block_size = Some(4096);
        scene
    }

    #[test]
    fn blocks_alignments_and_offsets_count() {
        assert_eq!(scene(|_| ()).found(), Vec::<String>::new());
        let share = |block_bytes| BlockShare { block_bytes, percent: 50 };
        let range = |min_bytes, max_bytes| BlockRange { min_bytes, max_bytes };
        let bad: [fn(&mut JobSpec); 5] = [
            |job| job.pattern.block_size.0[0] = BlockRange::one(2048),
            |job| job.pattern.block_align.0[0] = Some(512),
            |job| job.extent.offset = SizeSpec::Bytes(1 << 20 | 512),
            |job| job.extent.offset_increment = SizeSpec::Bytes(6144),
            |job| job.pattern.rw_postfix = -512,
        ];
        for (index, change) in bad.into_iter().enumerate() {
            let mut scene = scene(change);
            // Only sequential I/O leaves something out.
            scene.jobs[0].pattern.random = index < 4;
            assert_eq!(scene.found(), ["direct-below-logical-block"], "{index}");
            scene.device.logical_block_size = Some(512);
            assert_eq!(scene.found(), Vec::<String>::new(), "{index}");
        }
        let split = |small| scene(|job| job.pattern.block_split.0[0] = vec![share(4096), share(small)]).found();
        assert_eq!((split(512).len(), split(8192).len()), (1, 0));
        let ranged = |min_bytes| scene(|job| job.pattern.block_size.0[0] = range(min_bytes, 65_536)).found();
        assert_eq!((ranged(1024).len(), ranged(4096).len()), (1, 0));
        let unaligned = scene(|job| {
            job.pattern.block_size.0[0] = range(4096, 65_536);
            job.pattern.bs_unaligned = true;
        });
        let explanation = unaligned.finding("direct-below-logical-block").explanation;
        assert!(explanation.starts_with("Blocks of the job are multiples of 1 byte"), "{explanation}");
    }

    #[test]
    fn only_direct_io_on_blocks_is_refused() {
        let bad = || scene(|job| job.pattern.block_size.0[0] = BlockRange::one(512));
        let finding = bad().finding("direct-below-logical-block");
        assert!(
            finding.explanation.starts_with("Blocks of the job are multiples of 512 bytes, and vda has"),
            "{finding:?}"
        );
        let mut buffered = bad();
        buffered.jobs[0].durability.direct = false;
        let mut falls_back = bad();
        falls_back.places[0].file_system = Some("btrfs".to_owned());
        let mut mapped = bad();
        "mmap".clone_into(&mut mapped.jobs[0].engine.name);
        for silent in [buffered, falls_back, mapped] {
            assert!(!silent.found().contains(&"direct-below-logical-block".to_owned()));
        }
        let mut device = bad();
        (device.places[0].kind, device.places[0].file_system) = (TargetKind::Block, None);
        assert_eq!(device.found(), ["direct-below-logical-block"]);
    }

    #[test]
    fn io_that_has_succeeded_was_not_refused() {
        let mut job = job("a", DirectionMix::Read);
        job.pattern.block_size.0[0] = BlockRange::one(512);
        let mut scene = TestRun::new(job);
        scene.device.logical_block_size = Some(4096);
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
