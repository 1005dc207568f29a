//! Whole files as I/Os: sizes of files with their shares, and what such a job cannot have.
//!
//! Must not know: how sizes are drawn. Start reading at [`lower`].

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::options::block_split;
use crate::options::draft::{ApplyContext, Draft, Open};
use crate::value::Value;
use ferrio_spec::{BlockRange, DirectionMix, FileService, JobSpec, SizeSpec, ZoneSpec};
use ferrio_units::PerDirection;

/// Largest file that is read or written at once, bytes: each slot of the queue has a buffer of that size.
const LARGEST_BYTES: u64 = 1 << 30;

/// Largest unit of drawn sizes, bytes.
const LARGEST_UNIT_BYTES: u64 = 4096;

pub(crate) fn filesize_split(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.job.extent.filesize_split = block_split::list_from(0, value.text()?, draft.kb_base())?;
    Ok(())
}

/// Gives a job with `filesize_split` its smallest and largest file, and a job of whole files blocks that are as large as its files, and the
/// order of its files.
///
/// # Errors
/// It has two sizes of files; or it is one of whole files, and has an option that asks for parts of files, or no size.
pub(crate) fn lower(job: &mut JobSpec, open: &Open) -> Result<(), Contradiction> {
    let sizes = || job.extent.filesize_split.iter().map(|share| share.block_bytes);
    let all_bits = sizes().fold(0, |bits, bytes| bits | bytes);
    if let Some(bounds) = sizes().min().zip(sizes().max())
        && job.extent.filesize.replace(bounds).is_some()
    {
        return Err(Contradiction::TwoFileSizes);
    }
    let has_empty = sizes().any(|bytes| bytes == 0);
    if has_empty && (!job.extent.whole_files || all_bits == 0) {
        return Err(Contradiction::EmptyFiles);
    }
    if !job.extent.whole_files {
        return Ok(());
    }
    let pattern = &job.pattern;
    // The default, given or not, says nothing.
    let has_block_size = pattern.block_size != JobSpec::default().pattern.block_size;
    let parts = [
        ("rw=trimwrite", pattern.mix == DirectionMix::TrimWrite),
        ("zonemode", job.zones != ZoneSpec::None),
        ("bssplit", pattern.block_split.iter().any(|(_, shares)| !shares.is_empty())),
        ("bs", open.block_range.iter().any(|(_, range)| range.is_some()) || has_block_size),
        ("blockalign", pattern.block_align.iter().any(|(_, align)| align.is_some())),
        ("bs_is_seq_rand", pattern.bs_is_seq_rand),
        ("offset", job.extent.offset != SizeSpec::Bytes(0) || job.extent.offset_increment != SizeSpec::Bytes(0)),
        ("file_append", job.extent.file_append),
        ("fill_device", job.extent.fill_device),
        ("read_iolog", job.replay.is_set()),
        ("sprandom", pattern.sprandom.is_some()),
        ("num_range", job.extent.ranges_per_trim > 1),
    ];
    if let Some((option, _)) = parts.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Contradiction::PartsOfWholeFiles { option });
    }
    let n_files = u64::from(job.target.nrfiles).max(job.target.filenames.len() as u64).max(1);
    let (low, high) = match (job.extent.filesize, job.extent.size) {
        (Some(bounds), _) => bounds,
        // Each file gets a share, and the first ones a unit of the remainder.
        (None, Some(SizeSpec::Bytes(bytes))) => (bytes / n_files, bytes / n_files),
        _ => return Err(Contradiction::WholeFilesWithoutSize),
    };
    if high > LARGEST_BYTES {
        return Err(Contradiction::WholeFilesTooLarge { bytes: high, most_bytes: LARGEST_BYTES });
    }
    let unit_bytes = 1 << (low | high | all_bits | LARGEST_UNIT_BYTES).trailing_zeros();
    let pattern = &mut job.pattern;
    pattern.block_size = PerDirection::all(BlockRange { min_bytes: unit_bytes, max_bytes: high + unit_bytes });
    if pattern.random && job.target.file_service == FileService::RoundRobin {
        job.target.file_service = FileService::Random;
    }
    // No block is drawn at random within a file.
    (pattern.random, pattern.rw_postfix) = (false, 0);
    Ok(())
}
