//! Options, results and the audit put together once, for every command that needs them.
//!
//! Must not know: terminals, arguments of native commands. Start reading at [`adopted`].
#![forbid(unsafe_code)]

pub mod adopted;
