//! What a run's outcome looks like as text: one file (or folder) a format, pure functions from results to strings.
//!
//! Must not know: threads, engines, job files, standard output.
//! Start reading at [`normal::render`] and [`start`].
#![forbid(unsafe_code)]

mod figures;
mod local_time;
pub mod normal;
mod scale;
pub mod start;
mod text;

pub use local_time::LocalTime;
