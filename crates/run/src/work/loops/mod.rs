//! The loops of a worker, and what both do with each I/O.
//!
//! Must not know: passes. Start reading at [`depth_one`], then [`queued`].

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
pub(crate) mod zones;

use super::hooks::Hooks;
use super::lane::{Lane, Stop};
use turns::Turns;

/// A worker at its I/O: what the loops work on.
pub(crate) struct Worker<'a> {
    pub(crate) lane: Lane<'a>,
    pub(crate) hooks: Hooks<'a>,
    pub(crate) turns: Turns<'a>,
}

/// Who is called when a loop looks up.
pub(crate) trait Attendant {
    /// Does what is due. `Some`: the pass ends.
    fn attend(&mut self, worker: &mut Worker<'_>, stamp: u64) -> Option<Stop>;
}
