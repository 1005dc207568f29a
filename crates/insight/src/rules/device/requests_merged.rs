//! I/Os that the kernel put together before the device saw them.

use crate::audit_input::AuditInput;
use crate::measures::requests::{DeviceWork, EXPLAINED, works};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "requests-merged",
    title: "The device served fewer and larger I/Os than the jobs asked for",
    severity: Severity::Misleading,
    what: "The direct I/Os of at most 32 KiB that all jobs on a device have done, and the requests and merges that the kernel counted there. \
           It is reported where the device had half as many requests or fewer, the merges explain it, and the bytes of both agree to a tenth, so \
           that nobody else used the device.",
    why: "The kernel merges neighbouring I/Os that wait for the device. The IOPS of the jobs are then those of the merging, and the device \
          did its work in larger blocks than the option bs says.",
    example: "--name=a --ioengine=libaio --iodepth=32 --iodepth_batch=32 --rw=read --bs=4k --direct=1 --size=1g",
    cure: "Read the bandwidth instead of IOPS; to measure the device with small blocks use random I/O, or switch merging off \
           (`echo 2 > /sys/block/X/queue/nomerges`).",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// Nobody reads the IOPS of larger blocks.
const LARGEST_BYTES: u64 = 32 << 10;
/// At least so many I/Os for each request.
const FACTOR: f64 = 2.0;
const LEAST_IOS: u64 = 1000;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    works(case).into_iter().filter_map(of_work).collect()
}

fn of_work(work: DeviceWork<'_, '_>) -> Option<Observation> {
    let DeviceWork { jobs, device, direction, n_ios, n_requests, n_merges, largest_bytes } = work;
    let missing = n_ios.saturating_sub(n_requests) as f64;
    let is_merged = n_ios as f64 >= n_requests as f64 * FACTOR && n_merges as f64 >= missing * EXPLAINED;
    if n_ios < LEAST_IOS || largest_bytes > LARGEST_BYTES || !is_merged {
        return None;
    }
    let explanation = format!(
        "The jobs have done {} I/Os, and {device} served {} requests, because the kernel merged neighbours: on average {} I/Os were one \
         request of the device.",
        text::short(n_ios as f64),
        text::short(n_requests as f64),
        text::short(n_ios as f64 / n_requests as f64)
    );
    let evidence = vec![
        Measured::count("I/Os of the jobs", n_ios as f64),
        Measured::count(&format!("requests of {device}"), n_requests as f64),
        Measured::count("merges", n_merges as f64),
    ];
    Some(Observation::of_jobs(jobs, evidence, explanation).about(direction))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix};

    /// 25,600 I/Os of 4 KiB.
    fn scene(n_requests: u64, n_merges: u64) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        (scene.disk_requests, scene.disk_merges) = ([n_requests, 0], [n_merges, 0]);
        scene
    }

    #[test]
    fn half_as_many_requests_are_merged_ones() {
        let finding = scene(12_800, 12_800).finding("requests-merged");
        assert!(
            finding.explanation.starts_with("The jobs have done 25,600 I/Os, and vda served 12,800 requests"),
            "{}",
            finding.explanation
        );
        assert_eq!(scene(12_801, 12_799).found(), Vec::<String>::new());
        // Something else answered the rest.
        assert_eq!(scene(12_800, 0).found(), Vec::<String>::new());
    }

    #[test]
    fn other_users_and_large_blocks_are_left_out() {
        let mut busy = scene(1000, 24_600);
        busy.disk_bytes[0] = 112 * MIB;
        let mut large = scene(1000, 24_600);
        large.jobs[0].pattern.block_size.0[0] = BlockRange::one(65_536);
        let mut buffered = scene(1000, 24_600);
        buffered.jobs[0].durability.direct = false;
        for scene in [busy, large, buffered] {
            assert_eq!(scene.found(), Vec::<String>::new());
        }
    }
}
