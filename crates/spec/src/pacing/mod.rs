//! When a job does its I/Os: rates, pauses, limits of latency, the search for a steady state.
//!
//! Must not know: places. Start reading at [`pace`].

pub(crate) mod pace;
pub(crate) mod steady_state;
