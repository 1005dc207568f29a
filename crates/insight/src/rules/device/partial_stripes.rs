//! Writes of parts of a stripe of a parity array.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::on_device::{BlockPlaces, is_direct};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "partial-stripes",
    title: "Writes cover only parts of a stripe",
    severity: Severity::Note,
    what: "The largest block of a job with random direct writes, and the stripe (optimal_io_size) of the md array of level 4, 5 or 6 under \
           its files. It is reported where the block is smaller than the stripe.",
    why: "To write a part of a stripe the array reads old data or parity and writes parity anew, so one write of the job is several reads \
          and writes of the disks. Another level, or writes of whole stripes, give other figures.",
    example: "--name=a --filename=/dev/md0 --rw=randwrite --direct=1 --bs=4k --size=1g",
    cure: "To measure whole stripes, use --bs with the size in /sys/block/mdX/queue/optimal_io_size; otherwise say the level beside the figures.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const WITH_PARITY: [&str; 3] = ["raid4", "raid5", "raid6"];

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let device = job.places.iter().find_map(|place| case.device(place.device.as_deref()?))?;
    let level = device.md_level.as_deref().filter(|level| WITH_PARITY.contains(level))?;
    let stripe = device.optimal_io_size.filter(|bytes| *bytes > 0)?;
    let largest = BlockPlaces::of(job, DataDirection::Write).largest_bytes;
    if !is_direct(job) || !job.spec.pattern.random || !job.does(DataDirection::Write) || largest >= stripe {
        return None;
    }
    let explanation = format!(
        "{} is a {level} with stripes of {}, and the job writes {} at a time: for each write the array also reads, and writes parity.",
        device.name,
        text::bytes(stripe),
        text::bytes(largest)
    );
    let evidence = vec![Measured::bytes("largest block", largest), Measured::bytes("stripe", stripe)];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Write))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix};

    #[test]
    fn only_parity_makes_parts_dear() {
        let scene = |level: Option<&str>, block_bytes: u64, random: bool| {
            let mut job = job("a", DirectionMix::Write);
            job.reporting.clat_percentiles = false;
            job.pattern.random = random;
            job.pattern.block_size.0 = [BlockRange::one(block_bytes); 3];
            let mut scene = TestRun::new(job).before();
            (scene.device.md_level, scene.device.optimal_io_size) = (level.map(str::to_owned), Some(1 << 20));
            scene.found()
        };
        assert_eq!(scene(Some("raid5"), 4096, true), ["partial-stripes"]);
        for (level, block_bytes, random) in [
            (None, 4096, true),
            (Some("raid0"), 4096, true),
            (Some("raid6"), 1 << 20, true),
            (Some("raid5"), 4096, false),
        ] {
            assert_eq!(scene(level, block_bytes, random), Vec::<String>::new(), "{level:?} {block_bytes} {random}");
        }
    }
}
