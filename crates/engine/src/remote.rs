//! What engines for servers share: a connection that is made in time, and the same with TLS.
//!
//! Must not know: the protocols of servers. Start reading at [`reach::connect`] and [`channel::Channel`].

pub(crate) mod channel;
pub(crate) mod lookup;
pub(crate) mod reach;
pub(crate) mod tls;
