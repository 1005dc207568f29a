//! Options about the contents and the memory of buffers.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use super::durability::without_writes;
use crate::accounts::asked::Asked;
use ferrio_stats::{OptionOutcome, TargetKind, TargetPlace};
use ferrio_units::ArenaKind;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::nowhere(
        &[
            "zero_buffers",
            "refill_buffers",
            "scramble_buffers",
            "buffer_pattern",
            "buffer_compress_percentage",
            "buffer_compress_chunk",
            "dedupe_percentage",
            "dedupe_global",
            "dedupe_mode",
            "dedupe_working_set_percentage",
        ],
        "what was written is not read again",
    )
    .in_vain_if(contents_in_vain),
    // A job whose memory cannot be had does not begin.
    OptionEffect::measured(&["mem", "iomem_align", "lockmem"], |_| OptionOutcome::AsAsked),
    OptionEffect::measured(&["hugepage-size"], |_| OptionOutcome::AsAsked).in_vain_if(|asked| {
        let is_huge = matches!(asked.spec().buffers.memory, ArenaKind::ShmHuge | ArenaKind::MmapHuge(_));
        (!is_huge).then(|| "mem names no huge pages".to_owned())
    }),
];

fn contents_in_vain(asked: &Asked<'_, '_>) -> Option<String> {
    let buffers = &asked.spec().buffers;
    match asked.name {
        "buffer_compress_chunk" if buffers.compress_percent == 0 => {
            Some("there is no buffer_compress_percentage".to_owned())
        }
        "dedupe_global" | "dedupe_mode" | "dedupe_working_set_percentage"
            if buffers.dedupe.is_none() && asked.is_on() =>
        {
            Some("there is no dedupe_percentage".to_owned())
        }
        _ => without_writes_of_data(asked).or_else(|| other_contents(asked)),
    }
}

/// Another option fills the buffers.
fn other_contents(asked: &Asked<'_, '_>) -> Option<String> {
    let buffers = &asked.spec().buffers;
    let is_filled = asked.is_on() && asked.spec().verify.is_none() && !asked.job.engine.targets.is_connection();
    let (has_shares, has_pattern) =
        (buffers.dedupe.is_some() || buffers.compress_percent > 0, buffers.pattern.is_some());
    let filler = match asked.name {
        "zero_buffers" if has_pattern => "buffer_pattern",
        "zero_buffers" if buffers.dedupe.is_some() => "dedupe_percentage",
        "zero_buffers" if has_shares => "buffer_compress_percentage",
        "refill_buffers" if has_pattern && !has_shares => "buffer_pattern",
        "refill_buffers" if buffers.zero && !has_shares => "zero_buffers",
        _ => return None,
    };
    is_filled.then(|| format!("{filler} says what the buffers hold"))
}

fn without_writes_of_data(asked: &Asked<'_, '_>) -> Option<String> {
    // Verification and servers use the buffers of reads, too, and the layout fills files by them, for jobs that only read; each of its buffers is
    // filled anew.
    let is_device = |place: &TargetPlace| matches!(place.kind, TargetKind::Block | TargetKind::Character);
    let places = &asked.job.places;
    let is_of_layout = !matches!(asked.name, "refill_buffers" | "scramble_buffers");
    let may_be_laid_out = is_of_layout && asked.job.has_files() && (places.is_empty() || !places.iter().all(is_device));
    let has_use = asked.spec().verify.is_some() || asked.job.engine.targets.is_connection() || may_be_laid_out;
    if has_use { None } else { without_writes(asked) }
}
