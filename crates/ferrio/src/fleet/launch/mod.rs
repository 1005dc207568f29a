//! Ways to start workers on other hosts, and to hand them the key of the run.
//!
//! Must not know: what workers do.

pub mod remote_shell;

pub use remote_shell::{Launched, RemoteShell, attend_launcher};
