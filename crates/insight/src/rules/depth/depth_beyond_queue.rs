//! More I/Os in flight than the queues of the kernel and the device hold.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::is_held_back;
use crate::measures::requests::{asked_in_flight, least_bytes, most_bytes};
use crate::on_device::{is_direct, jobs_by_device, queue_under};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "depth-beyond-queue",
    title: "More I/Os are asked for than the device's queue holds",
    severity: Severity::Note,
    what: "The depth of all jobs with direct I/O that use one device together (iodepth times clones, and times the requests of an I/O that \
           is larger than max_sectors_kb), and the least of nr_requests, of the driver's tags in all queues, and of the queue_depth of a \
           SCSI device. It is reported from five quarters of that on; after a run only where the mean number in flight came near the limit \
           and the device held half of it or more. \
           Small blocks in sequence, which the kernel may merge, and jobs that are held back on purpose are left out.",
    why: "The device never sees more than its queue holds. The other I/Os wait in the kernel, or the job waits while it hands them over; that \
          time counts as latency, and more depth changes nothing else.",
    example: "--name=a --ioengine=libaio --iodepth=512 --numjobs=4 --rw=randread --bs=4k --direct=1 --size=1g",
    cure: "Lower iodepth or numjobs until the depth fits; limits are in /sys/block/X/queue/nr_requests, mq/*/nr_tags and device/queue_depth.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["iodepth"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// A depth that is a little too large changes little.
const BEYOND: f64 = 1.25;
/// Above this share of the limit in flight, the limit is what holds the jobs up.
const NEAR: f64 = 0.9;
/// A device that held less of its queue on average was not full: the job did its I/Os one by one, or did not collect them.
const HELD: f64 = 0.5;
/// Fewer I/Os than this, times the depth, and the mean depends mostly on the filling of the queue.
const LEAST_TURNS: f64 = 5.0;

/// The depth of some jobs, and what their device takes.
struct DeviceLoad<'c, 'a> {
    jobs: Vec<&'c AuditedJob<'a>>,
    device: &'a DeviceFacts,
    asked: f64,
    limit: f64,
    /// Mean number in flight; `None` before the run.
    reached: Option<f64>,
}

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    loads(case).into_iter().map(observation).collect()
}

fn loads<'c, 'a>(case: &'c AuditInput<'a>) -> Vec<DeviceLoad<'c, 'a>> {
    let of_device = |((_, name), jobs): ((u32, &'a str), Vec<&'c AuditedJob<'a>>)| {
        let device = queue_under(case, name)?;
        let jobs: Vec<_> = jobs.into_iter().filter(|job| uses_requests(job, device)).collect();
        let asked: f64 = jobs.iter().map(|job| asked_in_flight(job, device)).sum();
        let limit = limit(device)?;
        let reached = if case.is_before() { None } else { Some(reached(&jobs, asked)?) };
        let is_near = reached.is_none_or(|reached| reached >= limit * NEAR)
            && (case.is_before() || device_in_flight(case, &device.name, &jobs)? >= limit * HELD);
        (asked >= limit * BEYOND && is_near).then_some(DeviceLoad { jobs, device, asked, limit, reached })
    };
    jobs_by_device(case).into_iter().filter_map(of_device).collect()
}

fn observation(load: DeviceLoad<'_, '_>) -> Observation {
    let DeviceLoad { jobs, device, asked, limit, reached } = load;
    let (asked_text, limit_text) = (text::short(asked), text::short(limit));
    let explanation = format!(
        "The jobs ask for {asked_text} requests in flight, and {} takes {limit_text} at a time: the others wait in the kernel, and that \
         time counts as latency.",
        device.name
    );
    let mut evidence = vec![Measured::count("requests asked for", asked), Measured::count("requests that fit", limit)];
    evidence.extend(reached.map(|reached| Measured::count("mean I/Os in flight", reached)));
    Observation::of_jobs(jobs, evidence, explanation)
}

/// Requests that the kernel and the device have room for.
fn limit(device: &DeviceFacts) -> Option<f64> {
    let n_queues = device.n_hardware_queues?.max(1);
    let of_kernel = device.nr_requests.map(|number| number.saturating_mul(n_queues));
    let limits = [of_kernel, device.n_tags, device.queue_depth];
    limits.into_iter().flatten().filter(|limit| *limit > 0).min().map(|limit| limit as f64)
}

/// Each I/O of the job is one request or more.
fn uses_requests(job: &AuditedJob<'_>, device: &DeviceFacts) -> bool {
    let is_whole = job.spec.pattern.random || most_bytes(device).is_some_and(|most| least_bytes(job) > most / 2);
    is_direct(job) && is_whole && !is_held_back(job)
}

/// Mean number of requests in flight at the device while the jobs did I/O.
fn device_in_flight(case: &AuditInput<'_>, name: &str, jobs: &[&AuditedJob<'_>]) -> Option<f64> {
    let disk = case.record.disks()?.iter().find(|disk| disk.name == name)?;
    let directions = [DataDirection::Read, DataDirection::Write];
    let seconds = jobs.iter().flat_map(|job| directions.map(|direction| job.seconds(direction))).fold(0.0, f64::max);
    let [read_ms, write_ms] = disk.counters.ticks_ms;
    (seconds > 0.0).then(|| read_ms.saturating_add(write_ms) as f64 / 1e3 / seconds)
}

/// Mean number of I/Os in flight of all jobs, by Little's law; `None`: there were too few.
fn reached(jobs: &[&AuditedJob<'_>], asked: f64) -> Option<f64> {
    let (mut in_flight, mut n_ios) = (0.0, 0.0);
    for job in jobs {
        let directions = [DataDirection::Read, DataDirection::Write];
        let seconds = directions.iter().map(|direction| job.seconds(*direction)).fold(0.0, f64::max);
        for figures in directions.iter().filter_map(|direction| job.figures(*direction)) {
            let latency = if figures.lat.n_samples > 0 { &figures.lat } else { &figures.clat };
            in_flight += if seconds > 0.0 { latency.sum_ns as f64 / 1e9 / seconds } else { 0.0 };
            n_ios += latency.n_samples as f64;
        }
    }
    (n_ios >= asked * LEAST_TURNS).then_some(in_flight)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::{BlockRange, DirectionMix};
    use ferrio_stats::LatencyStat;

    /// Four clones of a depth on a device of 2 queues with 64 requests each.
    fn scene(iodepth: u32) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        "libaio".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low, job.numjobs) = (iodepth, iodepth, 4);
        job.pattern.random = true;
        let mut scene = TestRun::new(job);
        let device = &mut scene.device;
        (device.nr_requests, device.n_hardware_queues, device.n_tags) = (Some(64), Some(2), Some(128));
        scene
    }

    #[test]
    fn five_quarters_of_the_queue_are_too_many() {
        assert_eq!(scene(39).before().found(), Vec::<String>::new());
        let finding = scene(40).before().finding("depth-beyond-queue");
        assert!(
            finding.explanation.starts_with("The jobs ask for 160 requests in flight, and vda takes 128 at a time"),
            "{}",
            finding.explanation
        );
    }

    #[test]
    fn the_narrowest_place_counts() {
        let mut scsi = scene(10).before();
        scsi.device.queue_depth = Some(32);
        assert_eq!(scsi.found(), ["depth-beyond-queue"]);
        let mut tags = scene(20).before();
        tags.device.n_tags = Some(64);
        assert_eq!(tags.found(), ["depth-beyond-queue"]);
        // Four requests for each I/O.
        let mut large = scene(10).before();
        large.jobs[0].reporting.clat_percentiles = false;
        large.jobs[0].pattern.block_size.0[0] = BlockRange::one(1 << 20);
        assert_eq!(large.found(), Vec::<String>::new());
        large.device.max_sectors_kb = Some(256);
        assert_eq!(large.found(), ["depth-beyond-queue"]);
        // A device without queues of its own, such as a RAM disk.
        let mut none = scene(500).before();
        none.device.n_hardware_queues = None;
        assert_eq!(none.found(), Vec::<String>::new());
    }

    #[test]
    fn jobs_that_may_be_merged_or_are_held_back_are_left_out() {
        let mut sequential = scene(500).before();
        sequential.jobs[0].pattern.random = false;
        let mut waiting = scene(500).before();
        "psync".clone_into(&mut waiting.jobs[0].engine.name);
        waiting.jobs[0].queue.iodepth = 1;
        let mut paced = scene(500).before();
        paced.jobs[0].pace.ios_per_sec.0[0] = 100;
        for scene in [sequential, waiting, paced] {
            assert_eq!(scene.found(), Vec::<String>::new());
        }
    }

    #[test]
    fn after_the_run_the_queue_must_have_been_full() {
        // 25,600 I/Os in 10 s: 0.00256 in flight for each microsecond.
        let held = |iodepth: u32, latency_us: u64, n_held: u64| {
            let mut scene = scene(iodepth);
            let figures = &mut scene.stats().directions.0[0];
            for latency in [&mut figures.lat, &mut figures.clat] {
                *latency = LatencyStat::new(true);
                (0..25_600).for_each(|_| latency.record(latency_us * 1000));
            }
            scene.disk_ticks_ms[0] = n_held * 10_000;
            scene.found()
        };
        let after = |iodepth, latency_us| held(iodepth, latency_us, 64);
        // 128 in flight: no other rule says so in other words.
        assert_eq!(after(512, 50_000), ["depth-beyond-queue"]);
        assert_eq!(after(512, 44_000), ["depth-not-reached"]);
        assert_eq!(after(32, 50_000), Vec::<String>::new());
        assert_eq!(held(512, 50_000, 63), ["depth-not-reached"]);
    }
}
