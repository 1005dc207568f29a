//! The division of a job's file or device among several hosts: disjoint and equal parts of whole blocks.
//!
//! What is left behind the last part is not used by any host. Must not know: other hosts. Start reading at [`partitioned`].

use crate::error::{Failure, RunError};
use crate::files::size::{self, SetupWait};
use crate::files::{FilePlan, naming};
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::engines::Targets;
use ferrio_spec::{JobSpec, RunSpec, SizeSpec, ZoneSpec};
use ferrio_stats::PartitionedRange;
use ferrio_sys::block_device::BlockDevice;
use std::cell::Cell;
use std::time::Duration;

/// The part of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSlice {
    /// Its place among all parts, from 0.
    pub index: u32,
    /// Number of parts, at least 1.
    pub n_slices: u32,
}

/// A job cannot be divided.
#[derive(Debug, thiserror::Error)]
pub enum PartitionError {
    /// The run cannot be planned.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An option or engine of a job stands against it.
    #[error("--partition: job {job}: {reason}")]
    Job {
        job: String,
        /// What stands against it, and what to do.
        reason: String,
    },
    /// The sizes of its files cannot be found out.
    #[error("--partition: job {job}: the size of its file is not known")]
    Sizes {
        job: String,
        /// The reason.
        failure: Box<Failure>,
    },
}

/// The jobs as the host with this slice runs them, and what was divided.
///
/// # Errors
/// A job cannot be divided.
pub fn partitioned(
    mut spec: RunSpec,
    slice: HostSlice,
    stop: &dyn Fn() -> bool,
) -> Result<(RunSpec, Vec<PartitionedRange>), PartitionError> {
    let plan = RunPlan::new(spec.clone())?;
    let mut ranges = Vec::new();
    for (job_index, job) in spec.jobs.iter_mut().enumerate() {
        let clones: Vec<&WorkerPlan> = plan.workers.iter().filter(|worker| worker.job_index == job_index).collect();
        let Some(first) = clones.iter().find(|worker| worker.clone_index == 0) else { continue };
        if first.engine.def.moves_nothing() {
            continue;
        }
        let refused = |reason: String| PartitionError::Job { job: job.name.clone(), reason };
        if let Some(reason) = refusal(first) {
            return Err(refused(reason));
        }
        let file = only_file(first, stop)?;
        let second = clones.iter().find(|worker| worker.clone_index == 1);
        let second = second.map(|worker| only_file(worker, stop)).transpose()?;
        let increment = increment(&file, second.as_ref()).map_err(&refused)?;
        let zone_bytes = zone_bytes(first, &file).map_err(&refused)?;
        if let Some(zone_bytes) = zone_bytes.filter(|zone_bytes| file.start_bytes % zone_bytes > 0) {
            return Err(refused(format!(
                "offset={} lies within a zone of {zone_bytes} bytes, and parts of hosts begin with a zone",
                file.start_bytes
            )));
        }
        let unit = unit_bytes(first, zone_bytes).map_err(&refused)?;
        let part_bytes = file.length_bytes / u64::from(slice.n_slices.max(1)) / unit * unit;
        if part_bytes == 0 {
            return Err(refused(format!(
                "{} of {} bytes has not a block or zone of {unit} bytes for each of {} hosts",
                file.name, file.length_bytes, slice.n_slices
            )));
        }
        let (start_bytes, length_bytes) = (file.start_bytes, file.length_bytes);
        ranges.push(PartitionedRange { job: job.name.clone(), path: file.name.clone(), start_bytes, length_bytes });
        cut(job, start_bytes.saturating_add(part_bytes.saturating_mul(slice.index.into())), part_bytes, increment);
    }
    Ok((spec, ranges))
}

/// The job on a part of its file.
fn cut(job: &mut JobSpec, start_bytes: u64, length_bytes: u64, increment_bytes: u64) {
    let extent = &mut job.extent;
    extent.offset = SizeSpec::Bytes(start_bytes);
    extent.offset_increment = SizeSpec::Bytes(increment_bytes);
    extent.size = Some(SizeSpec::Bytes(length_bytes));
    extent.filesize = None;
    extent.filesize_split = Vec::new();
}

/// What stands against the division of a job.
fn refusal(worker: &WorkerPlan) -> Option<String> {
    let (spec, targets) = (&worker.spec, worker.engine.def.targets);
    if !(targets.are_files() || targets == Targets::Remote) {
        return Some(format!(
            "ioengine={} has no file or device that hosts could share: leave out --partition, or run this job by itself",
            worker.engine.def.name
        ));
    }
    let is_in_zones = matches!(&spec.zones, ZoneSpec::Sequential(zones) if zones.sizes.first().is_some());
    let against = [
        (spec.replay.is_set(), "read_iolog: the places are those of the trace"),
        (is_in_zones, "sizes as numbers of zones: give them in bytes"),
        (spec.extent.fill_device, "fill_device: all hosts would fill the same device"),
        (spec.extent.file_append, "file_append: the end of the file moves while hosts write there"),
        (spec.extent.whole_files, "whole_files: a file is one I/O"),
        (spec.layout.unlink || spec.layout.unlink_each_loop, "unlink: one host would take the file from the others"),
        (spec.layout.create_on_open, "create_on_open: hosts would lay out the file at the same time"),
        (
            !spec.layout.create_serialize && !spec.layout.create_only,
            "create_serialize=0: hosts would lay out the file at the same time",
        ),
        (!spec.target.opendirs.is_empty(), "opendir: give each host a directory of its own ($rank)"),
    ];
    against.into_iter().find(|(is_given, _)| *is_given).map(|(_, reason)| reason.to_owned())
}

/// The only file of a worker, with the range that it uses.
fn only_file(worker: &WorkerPlan, stop: &dyn Fn() -> bool) -> Result<FilePlan, PartitionError> {
    let job = || worker.spec.name.clone();
    let unsized_ = |failure: Failure| PartitionError::Sizes { job: job(), failure: Box::new(failure) };
    let targets = naming::found(worker).map_err(unsized_)?;
    let [_] = &targets[..] else {
        let reason =
            format!("it has {} files: --partition divides one; give each host its own files ($rank)", targets.len());
        return Err(PartitionError::Job { job: job(), reason });
    };
    let wait = SetupWait { stop, in_vain: &Cell::new(Duration::ZERO) };
    let set = size::file_set(worker, &targets, wait).map_err(unsized_)?;
    let file = set.files.into_iter().next();
    file.ok_or_else(|| PartitionError::Job { job: job(), reason: "it has no file".to_owned() })
}

/// The distance between the ranges of two clones, which are as long as each other: 0 if they share one.
fn increment(first: &FilePlan, second: Option<&FilePlan>) -> Result<u64, String> {
    let Some(second) = second.filter(|second| second.path == first.path) else { return Ok(0) };
    if second.length_bytes != first.length_bytes {
        return Err("its clones use parts of different lengths: give size in bytes beside offset_increment".to_owned());
    }
    let increment_bytes = second.start_bytes.saturating_sub(first.start_bytes);
    if (1..first.length_bytes).contains(&increment_bytes) {
        return Err(format!(
            "the parts of its clones overlap (offset_increment of {increment_bytes} bytes, and {} are used): parts of hosts would too",
            first.length_bytes
        ));
    }
    Ok(increment_bytes)
}

/// The length of the zones of `zonemode=zbd`; `None`: there are none.
fn zone_bytes(worker: &WorkerPlan, file: &FilePlan) -> Result<Option<u64>, String> {
    match worker.spec.zones {
        ZoneSpec::None | ZoneSpec::Strided(_) => Ok(None),
        ZoneSpec::Sequential(zones) if zones.zone_bytes > 0 => Ok(Some(zones.zone_bytes)),
        ZoneSpec::Sequential(_) => {
            let disk = BlockDevice::behind_path(&file.path).ok().flatten();
            let sectors = disk.and_then(|disk| disk.queue_attribute("chunk_sectors")?.parse::<u64>().ok());
            let sectors = sectors.filter(|sectors| *sectors > 0);
            let sectors = sectors.ok_or("zonemode=zbd: the size of the zones is not known; give zonesize")?;
            Ok(Some(sectors.saturating_mul(512)))
        }
    }
}

/// The bytes of which a part is a multiple: blocks of each size that the job may use, and zones.
fn unit_bytes(worker: &WorkerPlan, zone_bytes: Option<u64>) -> Result<u64, String> {
    let blocks = worker.used_block_ranges().flat_map(|range| [range.min_bytes, range.max_bytes]);
    let aligns = worker.spec.pattern.block_align.0.into_iter().flatten();
    let zones = match worker.spec.zones {
        ZoneSpec::Strided(zones) => zones.range_bytes.saturating_add(zones.skip_bytes),
        ZoneSpec::None | ZoneSpec::Sequential(_) => zone_bytes.unwrap_or(1),
    };
    blocks
        .chain(aligns)
        .chain([zones])
        .filter(|bytes| *bytes > 0)
        .try_fold(1, least_common_multiple)
        .ok_or_else(|| "its block sizes have no common multiple of which parts could be made".to_owned())
}

fn least_common_multiple(one: u64, other: u64) -> Option<u64> {
    let (mut larger, mut smaller) = (one, other);
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    (one / larger.max(1)).checked_mul(other)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Directory, job};
    use super::*;
    use crate::places::places_of_jobs;
    use ferrio_spec::{BlockRange, DirectionMix, StridedSpec};
    use std::path::Path;

    fn slices(job: &JobSpec, n_slices: u32) -> Result<Vec<Vec<(u64, u64)>>, String> {
        let of = |index| {
            let spec = RunSpec { jobs: vec![job.clone()], ..RunSpec::default() };
            let (spec, _) =
                partitioned(spec, HostSlice { index, n_slices }, &|| false).map_err(|error| error.to_string())?;
            let mut ranges: Vec<(u64, u64)> = places_of_jobs(spec, &|| false)
                .expect("a plan")
                .iter()
                .map(|place| (place.start_bytes, place.end_bytes))
                .collect();
            ranges.sort_unstable();
            Ok(ranges)
        };
        (0..n_slices).map(of).collect()
    }

    fn sized(size_bytes: u64, change: impl FnOnce(&mut JobSpec)) -> JobSpec {
        let mut job = job(DirectionMix::Write, Path::new("/dev/shm/ferrio-no-such-file"));
        job.extent.size = Some(SizeSpec::Bytes(size_bytes));
        change(&mut job);
        job
    }

    #[test]
    fn parts_are_equal_disjoint_and_of_whole_blocks() {
        let blocks =
            |job: &mut JobSpec| job.pattern.block_size.0 = [BlockRange { min_bytes: 4096, max_bytes: 8192 }; 3];
        let parts = slices(&sized(100 << 10, blocks), 3).expect("parts");
        // A third of 100 KiB is 33.3 KiB: four blocks of 8 KiB each, and the rest is nobody's.
        assert_eq!(parts, [[(0, 32 << 10)], [(32 << 10, 64 << 10)], [(64 << 10, 96 << 10)]]);
        let moved = sized(64 << 10, |job| job.extent.offset = SizeSpec::Bytes(4096));
        assert_eq!(slices(&moved, 2).expect("parts"), [[(4096, 4096 + (32 << 10))], [(36 << 10, 68 << 10)]]);
    }

    #[test]
    fn each_clone_has_its_part_of_its_own_range() {
        let clones = sized(64 << 10, |job| {
            job.numjobs = 2;
            job.extent.offset_increment = SizeSpec::Bytes(64 << 10);
        });
        let parts = slices(&clones, 2).expect("parts");
        assert_eq!(parts[0], [(0, 32 << 10), (64 << 10, 96 << 10)]);
        assert_eq!(parts[1], [(32 << 10, 64 << 10), (96 << 10, 128 << 10)]);
        let overlapping = sized(64 << 10, |job| {
            job.numjobs = 2;
            job.extent.offset_increment = SizeSpec::Bytes(4096);
        });
        assert!(slices(&overlapping, 2).expect_err("refused").contains("overlap"));
    }

    #[test]
    fn the_size_may_be_that_of_the_file() {
        let directory = Directory::new("sized");
        let path = directory.0.join("data");
        std::fs::write(&path, vec![0; 80 << 10]).expect("a file");
        let mut whole = job(DirectionMix::Read, &path);
        whole.extent.size = None;
        assert_eq!(slices(&whole, 2).expect("parts"), [[(0, 40 << 10)], [(40 << 10, 80 << 10)]]);
        whole.extent.size = Some(SizeSpec::Percent(50));
        assert_eq!(slices(&whole, 2).expect("parts"), [[(0, 20 << 10)], [(20 << 10, 40 << 10)]]);
    }

    #[test]
    fn windows_and_zones_are_not_cut() {
        let strided = sized(96 << 10, |job| {
            let (zone_bytes, range_bytes, skip_bytes) = (8 << 10, 8 << 10, 8 << 10);
            job.zones = ZoneSpec::Strided(StridedSpec { zone_bytes, range_bytes, skip_bytes });
        });
        let parts = slices(&strided, 4).expect("parts");
        assert!(parts.iter().all(|part| part[0].1 - part[0].0 == 16 << 10), "{parts:?}");
    }

    #[test]
    fn what_cannot_be_divided_says_why() {
        let refused = |change: fn(&mut JobSpec)| slices(&sized(1 << 20, change), 2).expect_err("refused");
        assert!(refused(|job| job.target.filenames.push("/dev/shm/other".into())).contains("2 files"));
        assert!(refused(|job| job.layout.unlink = true).contains("unlink"));
        assert!(refused(|job| job.extent.fill_device = true).contains("fill_device"));
        assert!(refused(|job| job.engine.name = "null".into()).contains("ioengine=null"));
        assert!(refused(|job| job.extent.size = None).contains("not known"));
        assert!(refused(|job| job.extent.size = Some(SizeSpec::Bytes(4096))).contains("has not a block"));
    }
}
