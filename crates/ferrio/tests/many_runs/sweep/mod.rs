//! Sweeps and searches for a limit.

pub(crate) mod common;
mod hidden;
mod open_loop;
mod simulated;
