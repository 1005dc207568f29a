//! I/Os that the kernel put together before the device saw them.

use crate::case::{Case, CaseJob, sum};
use crate::on_device::{BlockPlaces, device_of, is_direct};
use crate::rules::{FindingRule, Observation};
use crate::text;
use ferrio_stats::{DiskCounters, Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "requests-merged",
    title: "The device served fewer and larger I/Os than the jobs asked for",
    severity: Severity::Misleading,
    what: "The direct I/Os of at most 32 KiB that all jobs on a device have done, and the requests and merges that the kernel counted there. \
           It speaks where the device had half as many requests or fewer, the merges explain it, and the bytes of both agree to a tenth, so \
           that nobody else used the device.",
    why: "The kernel merges neighbouring I/Os that wait for the device. The IOPS of the jobs are then those of the merging, and the device \
          did its work in larger blocks than the option bs says.",
    example: "--name=a --ioengine=libaio --iodepth=32 --iodepth_batch=32 --rw=read --bs=4k --direct=1 --size=1g",
    cure: "Read the bandwidth instead of IOPS; to measure the device with small blocks use random I/O, or switch merging off \
           (`echo 2 > /sys/block/X/queue/nomerges`).",
    find,
};

/// Nobody reads the IOPS of larger blocks.
const LARGEST_BYTES: u64 = 32 << 10;
/// At least so many I/Os for each request.
const FACTOR: f64 = 2.0;
/// The rest of the difference is the noise of two moments of reading.
const EXPLAINED: f64 = 0.9;
const LEAST_IOS: u64 = 1000;

fn find(case: &Case<'_>) -> Vec<Observation> {
    works(case).into_iter().filter_map(of_work).collect()
}

/// I/O in one direction on one device, by the jobs and by the device.
pub(crate) struct DeviceWork<'c, 'a> {
    pub(crate) jobs: Vec<&'c CaseJob<'a>>,
    pub(crate) device: &'a str,
    /// The direction of its I/Os.
    pub(crate) direction: DataDirection,
    pub(crate) n_ios: u64,
    pub(crate) n_requests: u64,
    pub(crate) n_merges: u64,
    /// The largest block of the jobs.
    pub(crate) largest_bytes: u64,
}

/// The work of jobs with direct I/O, on devices that nobody else used.
pub(crate) fn works<'c, 'a>(case: &'c Case<'a>) -> Vec<DeviceWork<'c, 'a>> {
    let disks = case.record.disks().unwrap_or_default();
    let of_disk = |disk: &'a ferrio_stats::DiskRecord| {
        let directions = [(DataDirection::Read, 0), (DataDirection::Write, 1)].into_iter();
        directions.filter_map(move |(direction, index)| work(case, &disk.name, &disk.counters, direction, index))
    };
    disks.iter().flat_map(of_disk).collect()
}

fn work<'c, 'a>(
    case: &'c Case<'a>,
    device: &'a str,
    counters: &DiskCounters,
    direction: DataDirection,
    index: usize,
) -> Option<DeviceWork<'c, 'a>> {
    let jobs: Vec<_> = case.jobs.iter().filter(|job| job.figures(direction).is_some() && uses(job, device)).collect();
    if jobs.iter().any(|job| device_of(job) != Some(device) || !is_direct(job)) {
        return None;
    }
    let figures = || jobs.iter().filter_map(|job| job.figures(direction));
    let bytes = sum(figures().map(|figures| figures.bytes)) as f64;
    let of_device = counters.sectors[index].saturating_mul(512) as f64;
    let agree = of_device >= bytes * EXPLAINED && of_device * EXPLAINED <= bytes;
    let n_ios = sum(figures().map(|figures| figures.n_completed));
    let n_requests = counters.ios[index];
    let largest_bytes = jobs.iter().map(|job| BlockPlaces::of(job, direction).largest_bytes).max()?;
    let n_merges = counters.merges[index];
    (agree && n_ios > 0 && n_requests > 0).then_some(DeviceWork {
        jobs,
        device,
        direction,
        n_ios,
        n_requests,
        n_merges,
        largest_bytes,
    })
}

/// Some targets of the job are on the device.
fn uses(job: &CaseJob<'_>, device: &str) -> bool {
    job.places.iter().any(|place| place.device.as_deref() == Some(device))
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
    Some(
        Observation::of_jobs(jobs.iter().map(|job| job.name.to_owned()).collect(), evidence, explanation)
            .about(direction),
    )
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
