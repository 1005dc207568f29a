//! The trace that a job replays.
//!
//! Must not know: formats of traces.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The trace of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplaySpec {
    /// `read_iolog`, split at unescaped colons; clone n takes entry n mod count. `-` is standard input, a socket is connected
    /// to. Empty: the job replays nothing.
    pub traces: Vec<String>,
    /// `merge_blktrace_file` and its family: the traces are merged before the run, and the merged one is replayed.
    pub merge: Option<MergeSpec>,
    /// `replay_no_stall`: the times of the trace do not count.
    pub no_stall: bool,
    /// `replay_redirect`: the one target of all I/O.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub redirect: Option<PathBuf>,
    /// `replay_scale`: offsets are divided by this, at least 1.
    pub scale: u64,
    /// `replay_align`: offsets and lengths are rounded up to this power of two, bytes; 0 or 1: they are not.
    pub align_bytes: u64,
    /// `replay_offset`: bytes added to all offsets, and `offset_increment` for each clone; `None`: they stay.
    pub offset_bytes: Option<u64>,
    /// `replay_time_scale`: speed in percent, at least 1.
    pub time_scale_percent: u32,
    /// `replay_skip`: kinds of I/O that are left out.
    pub skip: SkippedKinds,
    /// `iodepth` was not given: the depth is that of the trace, if the trace shows it.
    pub takes_depth: bool,
}

/// Settings for merging the traces of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MergeSpec {
    /// `merge_blktrace_file`: path of the merged trace.
    #[serde(with = "crate::targets::path_bytes::one")]
    pub output: PathBuf,
    /// `merge_blktrace_scalars`: times of each trace are multiplied by so many millionths. As many as there are traces, or
    /// none: times stay as they are.
    pub time_scales_ppm: Vec<u64>,
    /// `merge_blktrace_iters`: passes over each trace, at least 1. As many as there are traces, or none: one pass each.
    pub n_passes: Vec<u32>,
}

/// Kinds of I/O that a replay leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SkippedKinds {
    pub read: bool,
    pub write: bool,
    pub trim: bool,
    /// Syncs of all kinds.
    pub sync: bool,
}

impl ReplaySpec {
    /// The job replays a trace.
    pub fn is_set(&self) -> bool {
        !self.traces.is_empty()
    }
}

impl Default for ReplaySpec {
    fn default() -> Self {
        Self {
            traces: Vec::new(),
            merge: None,
            no_stall: false,
            redirect: None,
            scale: 1,
            align_bytes: 0,
            offset_bytes: None,
            time_scale_percent: 100,
            skip: SkippedKinds::default(),
            takes_depth: false,
        }
    }
}
