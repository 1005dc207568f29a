//! Sweeps and searches for a limit.

mod common;
mod hidden;
mod open_loop;
mod simulated;
