//! Why the stream of I/Os of a job cannot be made, in words.
//!
//! Must not know: when it is said. Start reading at [`text`].

use ferrio_stats::note::StreamFault;

/// The line.
pub(super) fn text(job: &str, fault: &StreamFault, mark: &str) -> String {
    let why = match fault {
        StreamFault::RandomMap { file_index, n_blocks } => format!(
            "file {file_index}: no memory for a random map of {n_blocks} blocks; norandommap does without, softrandommap \
             goes on without"
        ),
        StreamFault::Distribution { file_index, why } => format!("file {file_index}: random_distribution: {why}"),
        StreamFault::FileService { why } => format!("file_service_type: {why}"),
        StreamFault::Zones { file_index, n_blocks } => {
            format!("zoned_abs sizes exceed file size (file {file_index}: {n_blocks} blocks)")
        }
        StreamFault::Sequence { file_index, block, n_blocks } => format!(
            "file {file_index}: block {block} of random_distribution=sequence is past the last of {n_blocks} blocks"
        ),
        StreamFault::SpRandom { file_index, cache_bytes, n_blocks } => {
            format!("file {file_index}: sprandom: spr_cs={cache_bytes} is more than a quarter of its {n_blocks} blocks")
        }
        StreamFault::Lfsr { file_index, why } => format!("file {file_index}: random_generator=lfsr: {why}"),
    };
    format!("{mark}{job}: {why}")
}
