//! What a run's outcome looks like as text: one file (or folder) a format, pure functions from results to strings.
//!
//! Must not know: threads, engines, job files, standard output.
//! Start reading at [`render`], then the format of your choice; [`start`] and [`eta`] are what is shown before and
//! during a run.
#![forbid(unsafe_code)]

pub mod eta;
mod figures;
mod formats;
pub mod json;
pub mod jsonl;
mod local_time;
pub mod logs;
pub mod normal;
pub mod saved;
pub mod slices;
pub mod start;
pub mod terse;
mod text;
pub mod view;
pub mod words;

pub use formats::{RenderOptions, render};
pub use local_time::LocalTime;
pub use view::{FioView, fio_view};
