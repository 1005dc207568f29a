//! What several ways in have in common, put together once: options, results and the audit.
//!
//! Must not know: terminals, arguments of native commands. Start reading at [`adopted`].
#![forbid(unsafe_code)]

pub mod adopted;
