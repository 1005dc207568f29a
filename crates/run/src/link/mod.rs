//! The link between supervisor and workers: the board with the workers' progress, flows, messages, settings, lines of
//! `--debug`.
//!
//! Must not know: how workers are started, what they do. Start reading at [`board`], then [`context`].

pub mod board;
pub mod context;
pub(crate) mod flow;
pub mod message;
pub mod trace;
