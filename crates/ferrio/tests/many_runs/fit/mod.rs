//! Fits of recipes.

mod carried;
mod common;
mod hidden;
mod simulated;
