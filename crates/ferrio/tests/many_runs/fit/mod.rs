//! Fits of recipes.

mod common;
mod hidden;
mod rate_shortfall;
mod simulated;
