//! Jobs that go through one sequence of blocks together (`shared_stream`): what such a job cannot have.
//!
//! Must not know: how the position is shared. Start reading at [`check`].

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::options::draft::{ApplyContext, Draft};
use crate::value::Value;
use ferrio_spec::{DirectionMix, JobSpec, SizeSpec, ZoneSpec};

/// Sets `shared_stream`; an empty name is none.
pub(crate) fn set(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    let name = value.text()?;
    draft.job.grouping.shared_stream = (!name.is_empty()).then(|| name.to_owned());
    Ok(())
}

/// Refuses what a job that shares its blocks cannot have: all of its blocks follow from the common position.
pub(crate) fn check(job: &JobSpec) -> Result<(), Contradiction> {
    if job.grouping.shared_stream.is_none() {
        return Ok(());
    }
    let (pattern, extent, target) = (&job.pattern, &job.extent, &job.target);
    let is_mixed = matches!(pattern.mix, DirectionMix::ReadWrite | DirectionMix::TrimWrite);
    let has_sizes = pattern.block_size.iter().any(|(_, range)| range.min_bytes != range.max_bytes);
    let options = [
        ("an rw other than read, write or trim", is_mixed || pattern.random || pattern.rw_postfix != 0),
        ("several block sizes", has_sizes || pattern.bs_unaligned),
        ("blockalign", pattern.block_align.iter().any(|(_, align)| align.is_some())),
        ("verify", job.verify.is_some()),
        ("zonemode", job.zones != ZoneSpec::None),
        ("read_iolog", job.replay.is_set()),
        ("whole_files", extent.whole_files),
        ("patterns", !extent.patterns.is_empty()),
        ("io_size", extent.io_size.is_some()),
        ("offset_increment", extent.offset_increment != SizeSpec::Bytes(0)),
        ("file_append", extent.file_append),
        ("fill_device", extent.fill_device),
        ("num_range", extent.ranges_per_trim > 1),
        ("several files", target.nrfiles > 1 || target.filenames.len() > 1),
        ("several directories", target.directories.len() > 1),
        ("opendir", !target.opendirs.is_empty()),
    ];
    if let Some((option, _)) = options.iter().find(|(_, is_given)| *is_given) {
        return Err(Contradiction::SharedStream { option });
    }
    if target.filenames.is_empty() {
        return Err(Contradiction::SharedStreamWithoutName);
    }
    Ok(())
}
