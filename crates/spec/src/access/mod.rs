//! Which I/Os a job does: sizes, places, order, durability, priorities, zones.
//!
//! Must not know: time. Start reading at [`extent`], then [`distribution`].

pub(crate) mod distribution;
pub(crate) mod durability;
pub(crate) mod error;
pub(crate) mod extent;
pub(crate) mod placement;
pub(crate) mod submission;
pub(crate) mod zone;
