//! Sockets, and what the kernel knows of a connection.
//!
//! Must not know: protocols above TCP and UDP. Start reading at [`socket`].

pub mod socket;
pub mod tcp_info;
