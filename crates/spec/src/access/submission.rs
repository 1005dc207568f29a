//! Submission of I/Os (`serialize_overlap`, `io_submit_mode`).
//!
//! Must not know: engines. Start reading at [`SubmissionSpec`].

use serde::{Deserialize, Serialize};

/// The way in which I/Os are submitted to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SubmissionSpec {
    /// `serialize_overlap`: an I/O waits until those in flight that touch its bytes are complete.
    pub serialize_overlap: bool,
    /// `io_submit_mode=offload`: a pool of `iodepth` threads does the I/Os, each with an engine of its own.
    pub offload: bool,
}
