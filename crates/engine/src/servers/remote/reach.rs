//! Reaches a server: finds the addresses of a host, and connects to the first that answers, within a time and unless the
//! caller cancels.
//!
//! Must not know: protocols, TLS. Start reading at [`connect`].

use super::lookup::look_up;
use crate::contract::Cancellation;
use ferrio_sys::socket::{Address, Family, Socket};
use ferrio_sys::{Errno, poll};
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Host(String, u16),
    /// A Unix socket.
    Path(PathBuf),
}

/// Why a step before the first request has failed.
pub(crate) enum Trouble {
    /// The caller has cancelled.
    Over,
    Failed(String, io::Error),
}

/// The result of a step before the first request.
pub(crate) type Step<T> = Result<T, Trouble>;

pub(crate) fn failed<T>(what: impl Display, errno: Errno) -> Step<T> {
    Err(Trouble::Failed(what.to_string(), errno.into()))
}

/// When a wait ends.
#[derive(Clone, Copy)]
pub(crate) struct WaitLimits<'a> {
    cancellation: Cancellation<'a>,
    end: Instant,
}

impl<'a> WaitLimits<'a> {
    /// A wait for this time at most, from now on.
    pub(crate) fn new(cancellation: Cancellation<'a>, limit: Duration) -> Self {
        Self { cancellation, end: Instant::now() + limit }
    }

    /// Called between two waits; `what` names the step in the error of one that takes too long.
    pub(crate) fn check(&self, what: &str) -> Step<()> {
        if self.cancellation.is_over() {
            return Err(Trouble::Over);
        }
        if Instant::now() >= self.end { failed(format_args!("{what}: no answer"), Errno::TIMEDOUT) } else { Ok(()) }
    }

    /// Waits for a moment until a descriptor can be read, or, with `to_write`, written.
    pub(crate) fn wait(&self, fd: BorrowedFd<'_>, to_write: bool, what: &str) -> Step<()> {
        self.check(what)?;
        poll::wait_for(fd, to_write, Cancellation::LOOK);
        Ok(())
    }
}

pub(crate) fn connect(place: &Place, limits: WaitLimits<'_>) -> Step<Socket> {
    let addresses: Vec<(Family, Address)> = match place {
        Place::Path(path) => match Address::of_path(path) {
            Ok(address) => vec![(Family::Unix, address)],
            Err(errno) => return failed("socket", errno),
        },
        Place::Host(name, port) => match look_up(name, *port, limits.cancellation) {
            Ok(Some(found)) => {
                found.into_iter().map(|address| (family(&address), Address::of_internet(address))).collect()
            }
            Ok(None) => return Err(Trouble::Over),
            // A name without an address has no errno.
            Err(why) => {
                return Err(Trouble::Failed("host".to_owned(), io::Error::new(io::ErrorKind::InvalidInput, why)));
            }
        },
    };
    let mut last = failed("connect", Errno::ADDRNOTAVAIL);
    for (family, address) in addresses {
        match connect_to(family, &address, limits) {
            Err(Trouble::Failed(what, error)) => last = Err(Trouble::Failed(what, error)),
            ended => return ended,
        }
    }
    last
}

fn family(address: &SocketAddr) -> Family {
    if address.is_ipv4() { Family::Inet } else { Family::Inet6 }
}

fn connect_to(family: Family, address: &Address, limits: WaitLimits<'_>) -> Step<Socket> {
    let made = Socket::new(family, true).and_then(|socket| socket.wait_at_most(Cancellation::LOOK).map(|()| socket));
    let socket = match made {
        Ok(socket) => socket,
        Err(errno) => return failed("socket", errno),
    };
    loop {
        match socket.connect(address) {
            Ok(()) | Err(Errno::ISCONN) => break,
            Err(Errno::INPROGRESS | Errno::ALREADY | Errno::AGAIN | Errno::INTR) => limits.check("connect")?,
            Err(errno) => return failed("connect", errno),
        }
    }
    if family != Family::Unix {
        // Without this, the kernel holds small requests back.
        socket.set_nodelay().or_else(|errno| failed("setsockopt TCP_NODELAY", errno))?;
    }
    Ok(socket)
}
