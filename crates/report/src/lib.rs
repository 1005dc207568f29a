//! Turns the results of a run into text: one file (or folder) for each format, pure functions from results to strings.
//!
//! Must not know: threads, engines, job files, standard output.
//! Start reading at [`render`], then at any format; [`start`] and [`eta`] make the lines before and during a run. Oddities
//! of fio in figures and names are in `compat`.
#![forbid(unsafe_code)]

mod compat;
pub mod eta;
mod figures;
mod formats;
pub mod json;
pub mod jsonl;
mod local_time;
pub mod logs;
pub mod native;
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
