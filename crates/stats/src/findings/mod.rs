//! What is said of a run: failures, findings, messages.
//!
//! Must not know: words of formats. Start reading at [`failure`], then [`finding`].

pub(crate) mod accounts;
pub(crate) mod failure;
pub(crate) mod finding;
pub mod messages;
