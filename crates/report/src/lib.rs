//! What a run's outcome looks like as text: one file (or folder) a format, pure functions from results to strings.
//!
//! Must not know: threads, engines, job files, standard output.
//! Start reading at [`FORMATS`], then the format of your choice; [`start`] and [`eta`] are what is shown before and
//! during a run.
#![forbid(unsafe_code)]

pub mod combined;
pub mod eta;
mod figures;
mod formats;
pub mod json;
pub mod jsonl;
mod local_time;
pub mod logs;
pub mod normal;
pub mod slices;
pub mod start;
pub mod terse;
mod text;

pub use formats::{FORMATS, FormatDef, OutputFormat, RenderOptions};
pub use local_time::LocalTime;
