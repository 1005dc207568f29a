//! Files and devices of a job, and traces that name them.
//!
//! Must not know: I/Os. Start reading at [`target`].

pub(crate) mod path_bytes;
pub(crate) mod replay;
pub(crate) mod target;
