//! How a run is done and shown: groups of jobs, surroundings, reports, logs, formats, what steers it from outside.
//!
//! Must not know: I/Os. Start reading at [`reporting`], then [`control`].

pub(crate) mod control;
pub mod debug;
pub(crate) mod format;
pub(crate) mod grouping;
pub(crate) mod log;
pub(crate) mod reporting;
pub(crate) mod surroundings;
