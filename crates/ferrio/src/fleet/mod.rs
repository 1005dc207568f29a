//! One run on many hosts: a coordinator starts them together, and merges what they have measured.
//!
//! A worker is a native session whose observer is a connection (`worker`); the coordinator (`coordinator`) makes one run out of those of
//! all hosts, so that whatever makes runs on one host makes them on many ([`FleetDriver`]). Hosts are reached by `launch`; what they say to
//! each other is in `wire`. `ferrio_run` knows nothing of it. Must not know: terminals, arguments, how outcomes are shown. Start reading at
//! [`Coordinator::run`], then [`worker::attend`].

mod clock;
pub mod coordinator;
mod interval_sums;
pub mod launch;
mod outcome;
pub mod server;
pub mod wire;
pub mod worker;

pub use coordinator::{Coordinator, FleetError, FleetEvent, FleetSettings, INTERVAL_MS, LostHost, WriteSharing};
pub use outcome::{FleetOutcome, HostOutcome, one_name};

#[cfg(test)]
mod tests;
