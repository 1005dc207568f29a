//! The course of a run: figures of intervals, series, rows of logs, the time that is left.
//!
//! Must not know: formats. Start reading at [`series`], then [`stretch`].

pub(crate) mod difference;
pub mod eta;
pub mod log;
pub mod series;
pub mod stretch;
