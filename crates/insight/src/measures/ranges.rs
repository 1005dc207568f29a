//! The blocks that jobs use: the size of a job's range, and ranges that two jobs share.
//!
//! Must not know: figures. Start reading at [`range_bytes`] and [`shared_part`].

use crate::audit_input::{AuditInput, AuditedJob, sum};
use ferrio_spec::SizeSpec;
use ferrio_stats::{TargetKind, TargetPlace};

/// The bytes that all clones together can read; `None`: that is not known.
pub(crate) fn range_bytes(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<u64> {
    let given = match job.spec.extent.size {
        // Clones may have ranges of their own.
        Some(SizeSpec::Bytes(bytes)) => Some(bytes.saturating_mul(u64::from(job.n_clones))),
        _ => None,
    };
    let size = |place: &TargetPlace| match place.kind {
        TargetKind::File => Some(place.now.size_bytes),
        TargetKind::Block if place.partition.is_none() => case.device(place.device.as_deref()?)?.size_bytes,
        _ => None,
    };
    let there = job.places.iter().map(size).collect::<Option<Vec<u64>>>().map(sum);
    match (given, there.filter(|bytes| *bytes > 0)) {
        (Some(given), Some(there)) => Some(given.min(there)),
        (given, there) => given.or(there),
    }
}

/// The file of which both use the same part, with both of its names if there are two.
pub(crate) fn shared_part(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> Option<String> {
    if !job.has_files() || !other.has_files() {
        return None;
    }
    let name = same_name(job, other).or_else(|| alias(job, other)).or_else(|| alias(other, job))?;
    parts_overlap(job, other).then_some(name)
}

fn same_name(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> Option<String> {
    let (target, its) = (&job.spec.target, &other.spec.target);
    let is_one = target.filenames.len() == 1 && its.filenames.len() == 1 && target.directories == its.directories;
    target.filenames.iter().find(|name| is_one && its.filenames.contains(name)).cloned()
}

/// A file that a later job has under another name than an earlier one: a link, a loop device.
fn alias(earlier: &AuditedJob<'_>, later: &AuditedJob<'_>) -> Option<String> {
    let n_files = |job: &AuditedJob<'_>| job.places.iter().map(|place| place.n_files).sum::<u64>();
    let alias = later.aliases.iter().find(|alias| alias.other_index == earlier.index)?;
    let is_one = n_files(earlier) == 1 && n_files(later) == 1;
    is_one.then(|| format!("{}, which is also {}", alias.other_path, alias.path))
}

fn parts_overlap(job: &AuditedJob<'_>, other: &AuditedJob<'_>) -> bool {
    // In bytes where both say so; a part in percent, or to the end, is compared with its own kind only.
    let part = |job: &AuditedJob<'_>| match (job.spec.extent.offset, job.spec.extent.size) {
        (SizeSpec::Bytes(offset), Some(SizeSpec::Bytes(size))) => Some((offset, offset.saturating_add(size))),
        (SizeSpec::Bytes(offset), None) => Some((offset, u64::MAX)),
        _ => None,
    };
    match (part(job), part(other)) {
        (Some((start, end)), Some((other_start, other_end))) => start < other_end && other_start < end,
        _ => job.spec.extent == other.spec.extent,
    }
}
