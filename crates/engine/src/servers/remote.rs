//! What engines for servers share: a connection that is made in time, the same with TLS, calls that may block for ever, the engine
//! around a library that the thread of the job drives.
//!
//! Engines wait in three ways, because they wait for different things: [`driven`] for descriptors that only their library reads, the
//! driver of `clients` for a mailbox that threads of a library fill, `nbd` and `http` for sockets of their own. All of them keep what
//! has no answer in [`unanswered`] (`http`, one request at a time, needs no list), and give up a silent server by [`silence`].
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
pub(crate) mod unanswered;
