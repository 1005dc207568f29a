//! Addresses of a host. The library call that looks up a name can take long, and nothing interrupts it: a thread makes it, and is left
//! behind if the caller cancels first.
//!
//! Must not know: connections. Start reading at [`look_up`].

use super::aside::call;
use crate::contract::Cancellation;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// Why a host has no addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LookupError {
    /// The thread that looks the name up cannot be started, or has died.
    #[error("the look-up of the server's name failed: {0}")]
    NoThread(String),
    #[error("the host {name} has no address")]
    NoAddress { name: String },
    #[error("the host {name} is not found: {why}")]
    NotFound {
        name: String,
        /// The answer of the system's resolver, which has no errno.
        why: String,
    },
}

/// The addresses of a port of a host; `None`: the call was cancelled. The error says why there are none.
pub(crate) fn look_up(
    name: &str,
    port: u16,
    cancellation: Cancellation<'_>,
) -> Result<Option<Vec<SocketAddr>>, LookupError> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(Some(vec![SocketAddr::new(address, port)]));
    }
    let of_thread = name.to_owned();
    let found = call(cancellation, move |_| {
        let found = (of_thread.as_str(), port).to_socket_addrs();
        found.map(Iterator::collect::<Vec<_>>).map_err(|error| error.to_string())
    });
    match found.map_err(|error| LookupError::NoThread(error.to_string()))? {
        Some(Ok(found)) if found.is_empty() => Err(LookupError::NoAddress { name: name.to_owned() }),
        Some(Ok(found)) => Ok(Some(found)),
        Some(Err(why)) => Err(LookupError::NotFound { name: name.to_owned(), why }),
        None => Ok(None),
    }
}
