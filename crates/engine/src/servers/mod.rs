//! Engines whose storage or other end is outside: protocols, client libraries, and what they share.
//!
//! Must not know: files, devices. Start reading at [`remote`] (what all share), then [`nbd`], [`nfs`] and [`clients`].

pub(crate) mod clients;
pub(crate) mod http;
pub mod inquire;
pub(crate) mod libblkio;
pub(crate) mod libiscsi;
pub(crate) mod nbd;
pub(crate) mod net;
pub(crate) mod nfs;
pub(crate) mod rdma;
pub(crate) mod remote;
pub(crate) mod server_facts;
