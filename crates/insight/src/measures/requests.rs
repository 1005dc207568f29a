//! Requests of jobs with direct I/O to a device: those that they ask for at a time, and those that the device has served.
//!
//! Must not know: the page cache. Start reading at [`asked_in_flight`] and [`works`].

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::on_device::{BlockPlaces, device_of, is_direct};
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{DiskCounters, DiskRecord};
use ferrio_units::DataDirection;

/// The bytes of the jobs and of the device agree to this share; the rest is the noise of two moments of reading.
pub(crate) const EXPLAINED: f64 = 0.9;

/// Requests that the job wants in flight at a device.
pub(crate) fn asked_in_flight(job: &AuditedJob<'_>, device: &DeviceFacts) -> f64 {
    let is_one = job.engine.is_inline() && !job.spec.submission.offload;
    let depth = if is_one { 1 } else { job.spec.queue.iodepth };
    let n_requests = most_bytes(device).map_or(1, |most| least_bytes(job).div_ceil(most)).max(1);
    f64::from(depth) * f64::from(job.n_clones) * n_requests as f64
}

pub(crate) fn most_bytes(device: &DeviceFacts) -> Option<u64> {
    device.max_sectors_kb.map(|kb| kb.saturating_mul(1024)).filter(|bytes| *bytes > 0)
}

pub(crate) fn least_bytes(job: &AuditedJob<'_>) -> u64 {
    let directions = [DataDirection::Read, DataDirection::Write].into_iter().filter(|direction| job.does(*direction));
    directions.map(|direction| job.spec.pattern.block_size[direction].min_bytes).min().unwrap_or(0)
}

/// I/O in one direction on one device, by the jobs and by the device.
pub(crate) struct DeviceWork<'c, 'a> {
    pub(crate) jobs: Vec<&'c AuditedJob<'a>>,
    pub(crate) device: &'a str,
    pub(crate) direction: DataDirection,
    pub(crate) n_ios: u64,
    pub(crate) n_requests: u64,
    pub(crate) n_merges: u64,
    /// The largest block of the jobs.
    pub(crate) largest_bytes: u64,
}

/// The work of jobs with direct I/O, on devices that nobody else used.
pub(crate) fn works<'c, 'a>(case: &'c AuditInput<'a>) -> Vec<DeviceWork<'c, 'a>> {
    let disks = case.record.disks().unwrap_or_default();
    let of_disk = |disk: &'a DiskRecord| {
        let directions = [(DataDirection::Read, 0), (DataDirection::Write, 1)].into_iter();
        directions.filter_map(move |(direction, index)| work(case, &disk.name, &disk.counters, direction, index))
    };
    disks.iter().flat_map(of_disk).collect()
}

fn work<'c, 'a>(
    case: &'c AuditInput<'a>,
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

fn uses(job: &AuditedJob<'_>, device: &str) -> bool {
    job.places.iter().any(|place| place.device.as_deref() == Some(device))
}
