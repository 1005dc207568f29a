//! One end of a connection: bind, listen, accept, connect, and the words that both ends exchange at the beginning and
//! the end.
//!
//! A sender of datagrams sends `link` before its first datagram; an end of any connection sends `knil` after its last
//! byte. Both words are 8 bytes long, as fio 3.41 sends them. No call here waits for longer than [`LOOK`]; the caller
//! calls again.
//! Must not know: data. Start reading at [`Link::connect`].

use super::settings::{Endpoint, Options, Protocol, Settings, is_multicast};
use crate::contract::parts::Connection;
use crate::contract::{Cancellation, EngineError};
use ferrio_sys::Errno;
use ferrio_sys::socket::{Address, Family, Socket};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Longest wait of a call.
pub(super) const LOOK: std::time::Duration = Cancellation::LOOK;

/// The word that a sender of datagrams sends first.
pub(super) const OPENING: [u8; 8] = *b"link\0\0\0\x98";

/// The word that each end sends last.
pub(super) const CLOSING: [u8; 8] = *b"knil\x89\0\0\0";

/// One end of a connection.
pub(super) struct Link {
    settings: Settings,
    address: Address,
    /// Socket of an end that listens. It is bound before the job starts, so that the other end may start together with
    /// it.
    bound: Option<Socket>,
    /// Socket of a stream: connected, or about to be.
    stream: Option<Socket>,
    is_made: bool,
    /// The end that was asked to connect knows that this end listens.
    is_announced: bool,
    /// Destination of datagrams.
    pub(super) other: Option<Address>,
    /// The end whose datagrams this one takes. A reader knows it from the opening word, a writer from the first reply.
    peer: Option<Address>,
    /// Number of datagrams of other senders.
    pub(super) n_foreign: u64,
}

impl Link {
    /// An end that is not connected yet. A listener listens from now on.
    pub(super) fn new(settings: Settings) -> Result<Self, EngineError> {
        let protocol = settings.options.protocol;
        let address = match &settings.place {
            Endpoint::Port(port) if protocol.family() == Family::Inet6 => {
                Ok(Address::of_internet(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), *port)))
            }
            Endpoint::Port(port) => Ok(Address::of_internet(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), *port))),
            Endpoint::Host(address) => Ok(Address::of_internet(settings.on_interface(*address)?)),
            Endpoint::Path(path) => Address::of_path(path),
            Endpoint::Machine(cid, port) => Ok(Address::of_machine(*cid, *port)),
        };
        let address = address.map_err(|errno| settings.failed("bind", errno))?;
        let mut link = Self {
            settings,
            address,
            bound: None,
            stream: None,
            is_made: false,
            is_announced: false,
            other: None,
            peer: None,
            n_foreign: 0,
        };
        if link.settings.is_listener {
            link.bound = Some(link.bind()?);
        }
        Ok(link)
    }

    /// The socket that data goes through.
    #[inline]
    pub(super) fn socket(&self) -> Result<&Socket, Errno> {
        if !self.is_made {
            return Err(Errno::NOTCONN);
        }
        self.stream.as_ref().or(self.bound.as_ref()).ok_or(Errno::NOTCONN)
    }

    /// True if this end takes a datagram of a sender. Datagrams of others than the other end are counted.
    pub(super) fn takes(&mut self, sender: Option<Address>) -> bool {
        let is_foreign = match (&self.peer, &sender) {
            (Some(peer), sender) => sender.as_ref() != Some(peer),
            // The other end may reply from another of its addresses than that which was asked, but never from another port.
            (None, Some(sender)) => sender.port() != self.address.port(),
            (None, None) => false,
        };
        self.n_foreign += u64::from(is_foreign);
        if is_foreign && self.settings.options.hears_peer_only {
            return false;
        }
        if self.settings.is_listener {
            self.other = sender.or(self.other.take());
        } else if !is_foreign && !self.is_to_group() {
            self.peer = sender;
        }
        true
    }

    /// Datagrams go to a group, each of whose members may reply.
    fn is_to_group(&self) -> bool {
        matches!(&self.settings.place, Endpoint::Host(address) if is_multicast(address.ip()))
            && !self.settings.is_listener
    }

    fn bind(&self) -> Result<Socket, EngineError> {
        let Settings { options, place, .. } = &self.settings;
        let protocol = options.protocol;
        let socket = self.settings.socket()?;
        let failed = |step: &'static str| move |errno: Errno| self.settings.failed(step, errno);
        if let Endpoint::Path(path) = place {
            remove_socket(path);
        } else {
            let is_internet = protocol != Protocol::Vsock;
            socket.share_address(is_internet).map_err(failed("setsockopt SO_REUSEADDR"))?;
        }
        options.shape(&socket, true).map_err(|(step, errno)| self.settings.failed(step, errno))?;
        if let Endpoint::Host(group) = place {
            self.settings.join(&socket, self.settings.on_interface(*group)?)?;
        }
        socket.bind(&self.address).map_err(failed("bind"))?;
        if let Endpoint::Path(path) = place {
            // As in fio, every user who can reach the path may connect.
            let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            let _ = std::fs::set_permissions(path, everybody);
        }
        if protocol.is_stream() {
            socket.listen().map_err(failed("listen"))?;
        }
        Ok(socket)
    }

    /// Makes the connection; waits for a moment at most.
    pub(super) fn connect(&mut self) -> Result<Connection, EngineError> {
        if self.is_made {
            return Ok(Connection::Made);
        }
        let made = match (&self.bound, self.settings.options.protocol.is_stream()) {
            (Some(_), true) => self.accept(),
            (Some(_), false) => self.hear_opening(),
            (None, true) => self.reach(),
            (None, false) => self.say_opening(),
        }?;
        self.is_made = made == Connection::Made;
        Ok(made)
    }

    fn accept(&mut self) -> Result<Connection, EngineError> {
        if !std::mem::replace(&mut self.is_announced, true) {
            return Ok(Connection::Listening);
        }
        let Some(listener) = &self.bound else { return Ok(Connection::Awaited) };
        let socket = match listener.accept() {
            Ok(socket) => socket,
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return Ok(Connection::Listening),
            Err(errno) => return Err(self.settings.failed("accept", errno)),
        };
        self.settings.limit_waits(&socket)?;
        if self.settings.options.protocol.is_tcp() && self.settings.options.nodelay {
            socket.set_nodelay().map_err(|errno| self.settings.failed("setsockopt TCP_NODELAY", errno))?;
        }
        self.stream = Some(socket);
        Ok(Connection::Made)
    }

    /// Any datagram but the opening is ignored.
    fn hear_opening(&mut self) -> Result<Connection, EngineError> {
        let Some(socket) = &self.bound else { return Ok(Connection::Awaited) };
        let mut message = [0; OPENING.len() + 1];
        match socket.receive_from(&mut message) {
            Ok((n_bytes, Some(sender))) if message[..n_bytes] == OPENING => {
                self.peer = Some(sender.clone());
                self.other = Some(sender);
                Ok(Connection::Made)
            }
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Ok(Connection::Awaited),
            Err(errno) => Err(self.settings.failed("recvfrom link open", errno)),
        }
    }

    fn reach(&mut self) -> Result<Connection, EngineError> {
        let socket = match self.stream.take() {
            Some(socket) => socket,
            None => self.outgoing()?,
        };
        match socket.connect(&self.address) {
            Ok(()) | Err(Errno::ISCONN) => {
                self.stream = Some(socket);
                Ok(Connection::Made)
            }
            Err(Errno::INPROGRESS | Errno::ALREADY | Errno::AGAIN | Errno::INTR) => {
                self.stream = Some(socket);
                Ok(Connection::Awaited)
            }
            Err(errno) => Err(self.settings.failed("connect", errno)),
        }
    }

    fn say_opening(&mut self) -> Result<Connection, EngineError> {
        let socket = self.outgoing()?;
        if self.is_to_group() {
            let options = &self.settings.options;
            options.send_to_group(&socket).map_err(|(step, errno)| self.settings.failed(step, errno))?;
        }
        socket.send_to(&OPENING, &self.address).map_err(|errno| self.settings.failed("sendto link open", errno))?;
        self.other = Some(self.address.clone());
        self.stream = Some(socket);
        Ok(Connection::Made)
    }

    fn outgoing(&self) -> Result<Socket, EngineError> {
        let socket = self.settings.socket()?;
        let options = &self.settings.options;
        options.shape(&socket, false).map_err(|(step, errno)| self.settings.failed(step, errno))?;
        Ok(socket)
    }

    /// Sends the closing word and ends the connection; a listener keeps listening.
    pub(super) fn close(&mut self) {
        if !std::mem::take(&mut self.is_made) {
            return;
        }
        let socket = self.stream.as_ref().or(self.bound.as_ref());
        if let Some(socket) = socket {
            // The other side may be gone already.
            let _ = match &self.other {
                Some(other) => socket.send_to(&CLOSING, other),
                None => socket.send(&CLOSING, false),
            };
        }
        self.stream = None;
        (self.other, self.peer) = (None, None);
        self.is_announced = false;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.close();
    }
}

/// Removes the socket that an earlier run left. Any other kind of file stays, and `bind` reports it.
fn remove_socket(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        let _ = std::fs::remove_file(path);
    }
}

/// The call that failed, and its errno.
type Refusal = (&'static str, Errno);

impl Options {
    /// Sets sizes of buffers and segments, before the connection is made.
    fn shape(&self, socket: &Socket, receives: bool) -> Result<(), Refusal> {
        if self.protocol.is_tcp() && self.nodelay && !receives {
            socket.set_nodelay().map_err(|errno| ("setsockopt TCP_NODELAY", errno))?;
        }
        match self.window_bytes {
            Some(n_bytes) if receives => {
                socket.set_receive_buffer(n_bytes).map_err(|errno| ("setsockopt SO_RCVBUF", errno))?;
            }
            Some(n_bytes) => socket.set_send_buffer(n_bytes).map_err(|errno| ("setsockopt SO_SNDBUF", errno))?,
            None => {}
        }
        match self.mss_bytes {
            Some(n_bytes) if self.protocol.is_tcp() => {
                socket.set_max_segment(n_bytes).map_err(|errno| ("setsockopt TCP_MAXSEG", errno))
            }
            _ => Ok(()),
        }
    }

    fn interface_v4(&self) -> Result<Option<Ipv4Addr>, Refusal> {
        let parsed = self.interface.as_deref().map(str::parse).transpose();
        parsed.map_err(|_| ("option interface: not the IP address of an interface", Errno::INVAL))
    }

    fn interface_v6(&self, socket: &Socket) -> Result<u32, Refusal> {
        let Some(name) = &self.interface else { return Ok(0) };
        socket.interface_index(name).map_err(|errno| ("option interface: no interface of this name", errno))
    }

    fn send_to_group(&self, socket: &Socket) -> Result<(), Refusal> {
        let family = self.protocol.family();
        let set = if family == Family::Inet6 {
            match self.interface_v6(socket)? {
                0 => Ok(()),
                index => socket.send_to_groups_by_v6(index),
            }
        } else {
            self.interface_v4()?.map_or(Ok(()), |interface| socket.send_to_groups_by(interface))
        };
        set.map_err(|errno| ("setsockopt IP_MULTICAST_IF", errno))?;
        socket.set_group_hops(self.ttl, family).map_err(|errno| ("setsockopt IP_MULTICAST_TTL", errno))
    }
}

impl Settings {
    fn socket(&self) -> Result<Socket, EngineError> {
        let protocol = self.options.protocol;
        let socket = Socket::new(protocol.family(), protocol.is_stream());
        let socket = socket.map_err(|errno| self.failed("socket", errno))?;
        self.limit_waits(&socket)?;
        Ok(socket)
    }

    fn limit_waits(&self, socket: &Socket) -> Result<(), EngineError> {
        socket.wait_at_most(LOOK).map_err(|errno| self.failed("setsockopt SO_RCVTIMEO", errno))
    }

    /// An address, with the interface of `interface=` if it is a group of IPv6: groups of one link (`ff12::/16` and the like) exist
    /// once an interface, and the kernel refuses them without.
    fn on_interface(&self, address: SocketAddr) -> Result<SocketAddr, EngineError> {
        match address {
            SocketAddr::V6(mut group) if is_multicast(address.ip()) && self.options.interface.is_some() => {
                let index = self.options.interface_v6(&self.socket()?);
                group.set_scope_id(index.map_err(|(step, errno)| self.failed(step, errno))?);
                Ok(group.into())
            }
            address => Ok(address),
        }
    }

    fn join(&self, socket: &Socket, group: SocketAddr) -> Result<(), EngineError> {
        let joined = match group {
            SocketAddr::V4(group) => self.options.interface_v4().and_then(|interface| {
                socket.join(*group.ip(), interface).map_err(|errno| ("setsockopt IP_ADD_MEMBERSHIP", errno))
            }),
            SocketAddr::V6(group) => {
                let joined = socket.join_v6(*group.ip(), group.scope_id());
                joined.map_err(|errno| ("setsockopt IPV6_JOIN_GROUP", errno))
            }
        };
        joined.map_err(|(step, errno)| self.failed(step, errno))
    }

    fn failed(&self, step: &'static str, errno: Errno) -> EngineError {
        let place = match &self.place {
            Endpoint::Port(port) => format!("port={port}"),
            Endpoint::Host(address) => address.to_string(),
            Endpoint::Path(path) => path.display().to_string(),
            Endpoint::Machine(Some(cid), port) => format!("machine {cid} port={port}"),
            Endpoint::Machine(None, port) => format!("port={port}"),
        };
        EngineError::Failed {
            engine: self.options.engine,
            step,
            what: format!("{step}, {place}"),
            source: errno.into(),
        }
    }
}
