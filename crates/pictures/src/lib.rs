//! Results as pictures: charts made from the model of results, and pages and files that show them.
//!
//! Must not know: how results are read. Start reading at [`charts::charts`], then [`page::page`] and
//! [`plot::KINDS`].
#![forbid(unsafe_code)]

pub mod chart;
pub mod charts;
pub mod comparison;
mod draw;
pub mod fit;
mod job_names;
pub mod outcome;
pub mod page;
mod panel;
pub mod plot;
pub mod profile;
pub mod scale;
pub mod sweep;
