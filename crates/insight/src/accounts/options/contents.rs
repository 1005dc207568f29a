//! Options about the contents and the memory of buffers.
//!
//! Start reading at [`EFFECTS`].

use super::OptionEffect;
use super::durability::without_writes;
use crate::accounts::asked::Asked;
use ferrio_stats::OptionOutcome;

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
    .in_vain_if(without_writes_of_data),
    // A job whose memory cannot be had does not begin.
    OptionEffect::measured(&["mem", "iomem_align", "hugepage-size", "lockmem"], |_| OptionOutcome::AsAsked),
];

fn without_writes_of_data(asked: &Asked<'_, '_>) -> Option<String> {
    // Verification and servers use the buffers of reads, too.
    if asked.spec().verify.is_some() || asked.job.engine.targets.is_connection() { None } else { without_writes(asked) }
}
