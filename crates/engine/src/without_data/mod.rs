//! Engines that move no data to storage: they burn CPU time, run a program, touch memory, or do nothing.
//!
//! Must not know: files, servers. Start reading at [`turns`](crate::contract::turns), then [`cpuio`] and [`null`].

pub(crate) mod cpuio;
pub(crate) mod exec;
pub(crate) mod null;
pub(crate) mod page_fault;
