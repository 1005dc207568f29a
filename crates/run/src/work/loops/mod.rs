//! The loops of a worker, and their common steps.
//!
//! Must not know: passes. Start reading at [`depth_one`], then [`queued`]; jobs that move no data
//! have [`work_in_turns`].

pub(crate) mod between;
pub(crate) mod connection;
pub(crate) mod depth_one;
pub(crate) mod failure;
pub(crate) mod flow;
pub(crate) mod io;
pub(crate) mod open_files;
pub(crate) mod pauses;
pub(crate) mod queued;
pub(crate) mod remember;
pub(crate) mod trims;
pub(crate) mod turns;
pub(crate) mod work_in_turns;
pub(crate) mod zones;

use super::hooks::Hooks;
use super::lane::{Lane, Stop};
use turns::Turns;

/// A worker during its I/O: all state that the loops use.
pub(crate) struct Worker<'a> {
    pub(crate) lane: Lane<'a>,
    pub(crate) hooks: Hooks<'a>,
    pub(crate) turns: Turns<'a>,
}

/// Receives calls from a loop when deadlines are due.
pub(crate) trait Attendant {
    /// Does what is due. `Some`: the pass ends.
    fn attend(&mut self, worker: &mut Worker<'_>, stamp: u64) -> Option<Stop>;
}
