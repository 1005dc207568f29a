//! Views of a run while it goes on.
//!
//! A viewer is a process of its own, because jobs are forked from the process of the run as long as it goes on, and a fork copies the
//! locks of all threads. The run sends it frames over a socket, and never waits for it: what a slow viewer does not take is left out.
//! Must not know: how a run is started, arguments. Start reading at [`frame`], then [`feed`] (the side of the run), [`board`] (what a
//! viewer knows), [`terminal`] and [`web`].

pub mod board;
mod course;
mod devices;
pub mod feed;
pub mod frame;
pub mod hosts;
pub mod link;
pub mod terminal;
pub mod totals;
pub mod web;
