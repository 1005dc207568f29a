//! The connection to a server: made step by step, then moved over without a wait.
//!
//! Must not know: HTTP. Start reading at [`HttpReach::step`].

use super::settings::HttpPlace;
use super::tls::TlsLine;
use crate::contract::Patience;
use ferrio_stats::ServerSteps;
use ferrio_sys::Errno;
use ferrio_sys::poll;
use ferrio_sys::socket::{Address, Family, Socket};
use ferrio_sys::tcp_info::TcpCounts;
use ferrio_units::errno_text;
use rustls::ClientConfig;
use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Longest time in which a server has to take a connection.
const LIMIT: Duration = Duration::from_secs(30);

/// The way to a server: its place, and TLS if there is to be any.
pub(super) struct HttpDoor {
    pub(super) place: HttpPlace,
    pub(super) tls: Option<Arc<ClientConfig>>,
}

/// A connection that is made.
pub(super) struct HttpLine {
    socket: Socket,
    tls: Option<TlsLine>,
    /// Another request went over it.
    pub(super) is_used: bool,
}

impl HttpLine {
    /// Sends what fits of these parts, one after the other; 0: nothing does now. The error says that the connection is lost.
    pub(super) fn send(&mut self, parts: [&[u8]; 2]) -> Result<usize, String> {
        if let Some(tls) = &mut self.tls {
            return tls.send(&self.socket, parts);
        }
        match self.socket.send_parts_now(&parts.map(IoSlice::new)) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            sent => sent.map_err(lost),
        }
    }

    /// Receives what has come; 0: the connection is closed, `None`: nothing has.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, String> {
        if let Some(tls) = &mut self.tls {
            return tls.receive(&self.socket, buffer);
        }
        match self.socket.receive_now(buffer) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            received => received.map(Some).map_err(lost),
        }
    }

    /// What the kernel counts of the connection.
    pub(super) fn tcp_counts(&self) -> Option<TcpCounts> {
        TcpCounts::of(self.socket.as_fd())
    }

    /// Waits until something has come or, with `to_send`, something can be sent.
    pub(super) fn wait(&self, to_send: bool, limit: Duration) {
        let has_unsent = self.tls.as_ref().is_some_and(TlsLine::has_unsent);
        poll::wait_for(self.socket.as_fd(), to_send || has_unsent, limit);
    }
}

/// Nanoseconds of a duration.
pub(super) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn lost(errno: Errno) -> String {
    match errno {
        Errno::PIPE | Errno::CONNRESET => "the server has closed the connection, or is gone".to_owned(),
        errno => format!("the connection is lost: {}", errno_text(errno.raw_os_error())),
    }
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
    Agreeing(Socket, TlsLine, Instant),
}

impl HttpReach {
    pub(super) fn new(addresses: &[SocketAddr]) -> Self {
        let addresses = addresses.to_vec();
        Self { addresses, next: 0, start: Instant::now(), last: Errno::ADDRNOTAVAIL, stage: Stage::Next }
    }

    /// Goes on, and waits for a moment at most; `None`: not yet.
    pub(super) fn step(&mut self, door: &HttpDoor, steps: &mut ServerSteps) -> Result<Option<HttpLine>, String> {
        let is_late = self.start.elapsed() > LIMIT;
        let place = &door.place;
        match std::mem::replace(&mut self.stage, Stage::Next) {
            Stage::Agreeing(..) if is_late => {
                Err(format!("no connection to {place}: the server does not agree on TLS within 30 seconds"))
            }
            Stage::Agreeing(socket, mut tls, since) => {
                if tls.agree(&socket, &place.name).map_err(|why| format!("no connection to {place}: {why}"))? {
                    steps.tls.record(ns(since.elapsed()));
                    steps.n_connections += 1;
                    return Ok(Some(HttpLine { socket, tls: Some(tls), is_used: false }));
                }
                poll::wait_for(socket.as_fd(), tls.has_unsent(), Patience::LOOK);
                self.stage = Stage::Agreeing(socket, tls, since);
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
                let socket =
                    new_socket(&address).map_err(|errno| format!("no socket: {}", errno_text(errno.raw_os_error())))?;
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
    ) -> Result<Option<HttpLine>, String> {
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
        let Some(config) = &door.tls else {
            steps.n_connections += 1;
            return Ok(Some(HttpLine { socket, tls: None, is_used: false }));
        };
        let tls = TlsLine::new(config, &door.place.name)?;
        self.stage = Stage::Agreeing(socket, tls, Instant::now());
        Ok(None)
    }

    fn no_connection(&self, place: &HttpPlace) -> String {
        let why = match self.last {
            Errno::CONNREFUSED => "connection refused: no server listens on this port".to_owned(),
            Errno::TIMEDOUT => "the server does not take the connection: no answer within 30 seconds".to_owned(),
            errno => errno_text(errno.raw_os_error()),
        };
        format!("no connection to {place}: {why}")
    }
}

fn new_socket(address: &SocketAddr) -> Result<Socket, Errno> {
    let socket = Socket::new(if address.is_ipv4() { Family::Inet } else { Family::Inet6 }, true)?;
    socket.wait_at_most(Patience::LOOK)?;
    Ok(socket)
}

/// The addresses of a place; `None`: the patience was over.
///
/// The library call that looks up a name can take long, and nothing interrupts it: a thread makes it, and is left behind
/// if the patience is over first.
pub(super) fn look_up(place: &HttpPlace, patience: Patience<'_>) -> Result<Option<Vec<SocketAddr>>, String> {
    if let Ok(address) = place.name.parse::<IpAddr>() {
        return Ok(Some(vec![SocketAddr::new(address, place.port)]));
    }
    let (sender, receiver) = mpsc::channel();
    let (name, port) = (place.name.clone(), place.port);
    let look = move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        // Nobody waits any more if the patience was over.
        let _ = sender.send(found.map_err(|error| error.to_string()));
    };
    if std::thread::Builder::new().spawn(look).is_err() {
        return Err("no thread for the look-up of the server's name".to_owned());
    }
    loop {
        match receiver.recv_timeout(Patience::LOOK) {
            Ok(Ok(found)) if !found.is_empty() => return Ok(Some(found)),
            Ok(Ok(_)) => return Err(format!("the host {} has no address", place.name)),
            Ok(Err(why)) => return Err(format!("the host {} is not found: {why}", place.name)),
            Err(_) if patience.is_over() => return Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err("the look-up of the server's name failed".to_owned());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}
