//! Measures of a run that several rules need, each computed in one place.
//!
//! A measure is a fact about jobs, their devices or their options; a rule decides whether a fact contradicts a figure. Measures that
//! take time are kept with the case (`kept`).
//! Must not know: rules. Start reading at [`asked`], then [`shortfall`].

pub(crate) mod asked;
pub(crate) mod cpu_time;
pub(crate) mod cures;
pub(crate) mod extents;
pub(crate) mod given;
pub(crate) mod kept;
pub(crate) mod names;
pub(crate) mod paces;
pub(crate) mod page_cache;
pub(crate) mod ranges;
pub(crate) mod rates;
pub(crate) mod requests;
pub(crate) mod shortfall;
pub(crate) mod targets;
