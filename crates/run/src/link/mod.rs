//! What supervisor and workers share: the board on which workers show their progress, the flows, messages, settings, lines
//! for `--debug`.
//!
//! Must not know: how workers are started, what they do. Start reading at [`board`], then [`context`].

pub mod board;
pub mod context;
pub(crate) mod flow;
pub mod message;
pub mod trace;
