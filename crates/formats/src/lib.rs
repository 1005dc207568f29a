//! Results of runs as text and as files: each format has one folder (or file) with its writer, and with its reader where ferrio reads it.
//!
//! Writers are pure functions from results to strings: fio's reports (`normal`, `terse`, `json`), ferrio's own (`native`, `jsonl`), performance
//! `logs`, records (`record_file`), lines before and during a run (`start`, `eta`). What is read becomes one model, [`RunResult`] in `results`; the bytes of
//! files are not trusted. Must not know: threads, engines, job files, standard output, how results are compared or drawn.
//! Start reading at [`render`](render()) or [`read`](results::read), then at any format. Oddities of fio in figures and names are in `compat`.
#![forbid(unsafe_code)]

pub mod clients;
mod compat;
mod direction_block;
pub mod eta;
pub mod json;
pub mod jsonl;
mod local_time;
pub mod logs;
pub mod native;
pub mod normal;
pub mod record_file;
mod render;
pub mod results;
pub mod slices;
pub mod start;
pub mod terse;
mod text;
pub mod view;
pub mod words;

pub use local_time::LocalTime;
pub use render::{RenderOptions, render};
pub use results::*;
pub use view::{FioView, fio_view};
