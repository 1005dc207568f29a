//! What engines for servers share: a connection that is made in time, the same with TLS, calls that may block for ever, the engine
//! around a library that the thread of the job drives.
//!
//! Must not know: the protocols of servers. Start reading at [`reach::connect`], [`channel::Channel`] and
//! [`driven::DrivenEngine`].

pub(crate) mod aside;
pub(crate) mod channel;
pub(crate) mod driven;
pub(crate) mod lookup;
pub(crate) mod reach;
pub(crate) mod silence;
pub(crate) mod tls;
