//! What engines for servers share: a connection that is made in time, the same with TLS, calls that may block for ever.
//!
//! Must not know: the protocols of servers. Start reading at [`reach::connect`] and [`channel::Channel`].

pub(crate) mod aside;
pub(crate) mod channel;
pub(crate) mod lookup;
pub(crate) mod reach;
pub(crate) mod tls;
