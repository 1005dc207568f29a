//! Jobs as the block device under their files meets them: the jobs that use it together, and the places and sizes of their I/Os.
//!
//! Must not know: rules. Start reading at [`jobs_by_device`] and [`BlockPlaces`].

use crate::audit_input::{AuditInput, AuditedJob, is_for_files, is_in_memory};
use ferrio_spec::engines::{Data, Layout, Opening};
use ferrio_spec::{SizeSpec, ZoneSpec};
use ferrio_stats::provenance::DeviceFacts;
use ferrio_stats::{TargetKind, TargetPlace};
use ferrio_units::DataDirection;
use std::collections::BTreeMap;

/// File systems that put the blocks of a file where the file says, in one piece, and refuse direct I/O that is not in whole logical
/// blocks of the device.
const IN_BLOCKS: [&str; 4] = ["ext2", "ext3", "ext4", "xfs"];
/// More layers than any stack has.
const MAX_LAYERS: usize = 8;

/// Jobs that run at the same time and have all their targets on one device, by their group and the name of the device.
pub(crate) fn jobs_by_device<'c, 'a>(case: &'c AuditInput<'a>) -> BTreeMap<(u32, &'a str), Vec<&'c AuditedJob<'a>>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    // A job that waits for another one begins when that has ended.
    for job in case.jobs.iter().filter(|job| job.spec.grouping.wait_for.is_none()) {
        if let Some(device) = device_of(job) {
            found.entry((job.group, device)).or_default().push(job);
        }
    }
    found
}

/// The device of all of a job's targets, if it is one.
pub(crate) fn device_of<'a>(job: &AuditedJob<'a>) -> Option<&'a str> {
    let mut names = job.places.iter().map(|place| place.device.as_deref().filter(|_| !is_in_memory(place)));
    let first = names.next()??;
    (job.has_files() && names.all(|name| name == Some(first))).then_some(first)
}

/// The device that keeps a queue of requests for this one: itself, or the only one below it in a stack that passes its I/O on.
pub(crate) fn queue_under<'a>(case: &AuditInput<'a>, name: &str) -> Option<&'a DeviceFacts> {
    let mut device = case.device(name)?;
    for _ in 0..MAX_LAYERS {
        if device.n_hardware_queues.is_some() {
            return Some(device);
        }
        let [below] = &device.made_of[..] else { return None };
        device = case.device(below)?;
    }
    None
}

/// The job's I/Os go past the page cache, to the block layer, with the sizes and places that its options say.
pub(crate) fn is_direct(job: &AuditedJob<'_>) -> bool {
    // An engine that cannot make a file grow works on its pages.
    let engine = job.engine;
    let moves_blocks =
        engine.opening == Opening::AsAsked && engine.layout == Layout::WhereRead && engine.data == Data::Kept;
    job.spec.durability.direct && engine.targets.are_opened_by_run() && moves_blocks && !job.spec.replay.is_set()
}

/// The blocks of the place are those of the device: a block device, or files of a file system that keeps them in place.
pub(crate) fn is_in_blocks(place: &TargetPlace) -> bool {
    let keeps_place = place.file_system.as_deref().is_some_and(|kind| IN_BLOCKS.contains(&kind));
    place.kind == TargetKind::Block || (is_for_files(place) && keeps_place)
}

/// A number of bytes of which all lengths, or all offsets, are multiples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockPlaces {
    pub(crate) length_unit: u64,
    /// Of all offsets within a target, as far as the options tell them.
    pub(crate) offset_unit: u64,
    pub(crate) largest_bytes: u64,
}

impl BlockPlaces {
    pub(crate) fn of(job: &AuditedJob<'_>, direction: DataDirection) -> Self {
        let pattern = &job.spec.pattern;
        let range = pattern.block_size[direction];
        let split = &pattern.block_split[direction];
        let length_unit = match () {
            () if !split.is_empty() => split.iter().fold(0, |unit, share| common_unit(unit, share.block_bytes)),
            () if range.min_bytes == range.max_bytes => range.min_bytes,
            () if pattern.bs_unaligned => 1,
            // Sizes within a range are multiples of its lower end.
            () => range.min_bytes,
        };
        let in_order = if pattern.random { 0 } else { common_unit(length_unit, pattern.rw_postfix.unsigned_abs()) };
        let drawn = if pattern.random { pattern.block_align[direction].unwrap_or(range.min_bytes) } else { 0 };
        let extent = &job.spec.extent;
        let start = common_unit(bytes_of(extent.offset), bytes_of(extent.offset_increment));
        let window = match job.spec.zones {
            ZoneSpec::Strided(zones) => common_unit(zones.zone_bytes, common_unit(zones.range_bytes, zones.skip_bytes)),
            _ => 0,
        };
        let offset_unit = [in_order, drawn, start, window].into_iter().fold(0, common_unit);
        Self { length_unit, offset_unit, largest_bytes: range.max_bytes }
    }

    /// All I/Os are in whole blocks of this size that begin at multiples of it, where the target does.
    pub(crate) fn are_whole(&self, block_bytes: u64) -> bool {
        block_bytes == 0
            || (self.length_unit.is_multiple_of(block_bytes) && self.offset_unit.is_multiple_of(block_bytes))
    }
}

/// A part in percent begins at a whole block.
fn bytes_of(size: SizeSpec) -> u64 {
    match size {
        SizeSpec::Bytes(bytes) => bytes,
        SizeSpec::Percent(_) => 0,
    }
}

/// The largest number of which both are multiples; every number is one of 0.
fn common_unit(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_greatest_common_divisors() {
        for (one, other, expected) in [(0, 0, 0), (0, 512, 512), (4096, 512, 512), (3072, 2048, 1024), (7, 4096, 1)] {
            assert_eq!((common_unit(one, other), common_unit(other, one)), (expected, expected));
        }
        let places = BlockPlaces { length_unit: 4096, offset_unit: 0, largest_bytes: 4096 };
        assert!(places.are_whole(4096) && places.are_whole(512) && places.are_whole(0) && !places.are_whole(8192));
    }
}
