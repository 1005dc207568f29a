//! The connection to a server: made step by step, then moved over without a wait.
//!
//! Must not know: HTTP. Start reading at [`HttpReach::step`].

use super::fault::LineFault;
use super::settings::HttpPlace;
use crate::contract::Cancellation;
use crate::servers::remote::channel::Channel;
use crate::servers::remote::tls::{TlsSettings, TlsStream};
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::poll;
use ferrio_sys::socket::{Address, Family, Socket};
use ferrio_sys::tcp_info::TcpCounts;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Longest time in which a server has to take a connection.
const LIMIT: Duration = Duration::from_secs(30);

/// The way to a server: its place, and TLS if there is to be any.
pub(super) struct HttpDoor {
    pub(super) place: HttpPlace,
    pub(super) tls: Option<TlsSettings>,
}

/// A connection that is made.
pub(super) struct HttpLine {
    channel: Channel,
    /// Another request went over it.
    pub(super) is_used: bool,
}

impl HttpLine {
    fn new(channel: Channel) -> Self {
        Self { channel, is_used: false }
    }

    /// Sends what fits of these parts, one after the other; 0: nothing does now. The error says that the connection is lost.
    pub(super) fn send(&mut self, parts: [&[u8]; 2]) -> Result<usize, LineFault> {
        match self.channel.send_parts_now(&parts.map(IoSlice::new)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            sent => sent.map_err(LineFault::Lost),
        }
    }

    /// Receives what has come; 0: the connection is closed, `None`: nothing has.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, LineFault> {
        match self.channel.receive_now(buffer) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            received => received.map(Some).map_err(LineFault::Lost),
        }
    }

    pub(super) fn tls_version(&self) -> Option<String> {
        self.channel.tls_version()
    }

    /// What the kernel counts of the connection.
    pub(super) fn tcp_counts(&self) -> Option<TcpCounts> {
        TcpCounts::of(self.channel.as_fd())
    }

    /// Waits until something has come or, with `to_send`, something can be sent.
    pub(super) fn wait(&self, to_send: bool, limit: Duration) {
        poll::wait_for(self.channel.as_fd(), to_send || self.channel.has_unsent(), limit);
    }
}

pub(super) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A connection in the making.
pub(super) struct HttpReach {
    addresses: Vec<SocketAddr>,
    next: usize,
    start: Instant,
    /// Why the last address did not work.
    last: Errno,
    stage: Stage,
}

enum Stage {
    /// The next address is to be tried.
    Next,
    Connecting(Socket, Address),
    /// TLS is being agreed on since this time.
    Agreeing(Box<TlsStream>, Instant),
}

impl HttpReach {
    pub(super) fn new(addresses: &[SocketAddr]) -> Self {
        let addresses = addresses.to_vec();
        Self { addresses, next: 0, start: Instant::now(), last: Errno::ADDRNOTAVAIL, stage: Stage::Next }
    }

    /// Goes on, and waits for a moment at most; `None`: not yet.
    pub(super) fn step(&mut self, door: &HttpDoor, steps: &mut ServerSteps) -> Result<Option<HttpLine>, LineFault> {
        let is_late = self.start.elapsed() > LIMIT;
        let place = &door.place;
        match std::mem::replace(&mut self.stage, Stage::Next) {
            Stage::Agreeing(..) if is_late => Err(LineFault::NoAgreement(Box::new(place.clone()))),
            Stage::Agreeing(mut tls, since) => {
                if tls
                    .agree_now()
                    .map_err(|fault| LineFault::Refused { place: Box::new(place.clone()), fault: Box::new(fault) })?
                {
                    steps.tls.record(ns(since.elapsed()));
                    steps.n_connections += 1;
                    return Ok(Some(HttpLine::new(Channel::Tls(tls))));
                }
                poll::wait_for(tls.as_fd(), tls.has_unsent(), Cancellation::LOOK);
                self.stage = Stage::Agreeing(tls, since);
                Ok(None)
            }
            Stage::Connecting(..) | Stage::Next if is_late => {
                self.last = Errno::TIMEDOUT;
                Err(self.no_connection(place))
            }
            Stage::Connecting(socket, address) => self.connect(door, socket, address, steps),
            Stage::Next => {
                let Some(address) = self.addresses.get(self.next).copied() else {
                    return Err(self.no_connection(place));
                };
                self.next += 1;
                let socket = new_socket(&address).map_err(LineFault::NoSocket)?;
                self.connect(door, socket, Address::of_internet(address), steps)
            }
        }
    }

    fn connect(
        &mut self,
        door: &HttpDoor,
        socket: Socket,
        address: Address,
        steps: &mut ServerSteps,
    ) -> Result<Option<HttpLine>, LineFault> {
        match socket.connect(&address) {
            Ok(()) | Err(Errno::ISCONN) => {}
            Err(Errno::INPROGRESS | Errno::ALREADY | Errno::AGAIN | Errno::INTR) => {
                self.stage = Stage::Connecting(socket, address);
                return Ok(None);
            }
            Err(errno) => {
                self.last = errno;
                return Ok(None);
            }
        }
        steps.connect.record(ns(self.start.elapsed()));
        // Without this, the kernel holds small requests back; a connection without it works too.
        let _ = socket.set_nodelay();
        let Some(settings) = &door.tls else {
            steps.n_connections += 1;
            return Ok(Some(HttpLine::new(Channel::Plain(socket))));
        };
        self.stage = Stage::Agreeing(
            Box::new(TlsStream::new(socket, settings).map_err(|fault| LineFault::Tls(Box::new(fault)))?),
            Instant::now(),
        );
        Ok(None)
    }

    fn no_connection(&self, place: &HttpPlace) -> LineFault {
        LineFault::NoConnection { place: Box::new(place.clone()), last: self.last }
    }
}

fn new_socket(address: &SocketAddr) -> Result<Socket, Errno> {
    let socket = Socket::new(if address.is_ipv4() { Family::Inet } else { Family::Inet6 }, true)?;
    socket.wait_at_most(Cancellation::LOOK)?;
    Ok(socket)
}
