//! Where a server listens: a port, or a local socket whose file goes with it.
//!
//! Start reading at [`ServerListener::bind`].

use crate::fleet::wire::stream::FleetStream;
use ferrio_job::command_line::remote::ServerAddress;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdTcpListener, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream};
use std::path::PathBuf;
use tokio::net::{TcpListener, UnixListener};

/// A listening socket.
#[derive(Debug)]
pub enum ServerListener {
    /// On a port.
    Tcp(StdTcpListener),
    /// On a local socket.
    Socket(StdUnixListener, PathBuf),
}

impl ServerListener {
    /// Listens on an address: without one on the port of servers of this host's own address, with a port alone on all addresses.
    ///
    /// # Errors
    /// The host is unknown, the address is in use, or the socket's file is something else.
    pub fn bind(address: Option<&ServerAddress>) -> io::Result<Self> {
        let default = ServerAddress::Ip {
            host: Ipv4Addr::LOCALHOST.to_string(),
            port: ferrio_job::command_line::remote::DEFAULT_PORT,
            is_ip6: false,
        };
        match address.unwrap_or(&default) {
            ServerAddress::Ip { host, port, is_ip6 } => {
                StdTcpListener::bind(&addresses(host, *port, *is_ip6, false)?[..]).map(Self::Tcp)
            }
            ServerAddress::Socket(path) => {
                // A socket that nobody listens to is of a server that did not end well.
                let is_socket = fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
                if is_socket && UnixStream::connect(path).is_err() {
                    fs::remove_file(path)?;
                }
                StdUnixListener::bind(path).map(|listener| Self::Socket(listener, path.clone()))
            }
        }
    }

    /// The listening socket that a process has inherited.
    pub fn inherited(socket: OwnedFd, path: Option<PathBuf>) -> Self {
        match path {
            Some(path) => Self::Socket(StdUnixListener::from(socket), path),
            None => Self::Tcp(StdTcpListener::from(socket)),
        }
    }

    /// The address as fio shows it: `127.0.0.1,8765`, or the path.
    pub fn shown(&self) -> String {
        match self {
            Self::Tcp(listener) => listener
                .local_addr()
                .map_or_else(|_| String::new(), |address| format!("{},{}", address.ip(), address.port())),
            Self::Socket(_, path) => path.display().to_string(),
        }
    }

    /// The file of a local socket.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Tcp(_) => None,
            Self::Socket(_, path) => Some(path),
        }
    }

    /// The descriptor, to hand it over. The file stays.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn to_fd(&self) -> io::Result<OwnedFd> {
        match self {
            Self::Tcp(listener) => listener.try_clone().map(OwnedFd::from),
            Self::Socket(listener, _) => listener.try_clone().map(OwnedFd::from),
        }
    }

    /// Removes the file of a local socket.
    pub fn end(self) {
        if let Self::Socket(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

/// The addresses of a host; without a name all addresses of a server, the local host of a client.
///
/// # Errors
/// The host is unknown.
pub(super) fn addresses(host: &str, port: u16, is_ip6: bool, is_client: bool) -> io::Result<Vec<SocketAddr>> {
    let any: IpAddr = match (is_ip6, is_client) {
        (false, false) => Ipv4Addr::UNSPECIFIED.into(),
        (false, true) => Ipv4Addr::LOCALHOST.into(),
        (true, false) => Ipv6Addr::UNSPECIFIED.into(),
        (true, true) => Ipv6Addr::LOCALHOST.into(),
    };
    if host.is_empty() {
        return Ok(vec![SocketAddr::new(any, port)]);
    }
    let found = (host, port).to_socket_addrs()?.filter(|address| !is_ip6 || address.is_ipv6());
    let found: Vec<SocketAddr> = found.collect();
    if found.is_empty() { Err(io::ErrorKind::AddrNotAvailable.into()) } else { Ok(found) }
}

/// The listener within a runtime.
pub(super) enum AsyncListener {
    Tcp(TcpListener),
    Socket(UnixListener),
}

/// A connection, and the address that it is from; `None`: a local socket.
pub(super) struct ArrivedClient {
    pub(super) stream: FleetStream,
    pub(super) address: Option<IpAddr>,
}

impl AsyncListener {
    pub(super) fn of(listener: &ServerListener) -> io::Result<Self> {
        match listener {
            ServerListener::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener.try_clone()?).map(Self::Tcp)
            }
            ServerListener::Socket(listener, _) => {
                listener.set_nonblocking(true)?;
                UnixListener::from_std(listener.try_clone()?).map(Self::Socket)
            }
        }
    }

    pub(super) async fn accept(&self) -> io::Result<ArrivedClient> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok(ArrivedClient { stream: FleetStream::Tcp(stream), address: Some(from.ip()) })
            }
            Self::Socket(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok(ArrivedClient { stream: FleetStream::Program(stream), address: None })
            }
        }
    }
}
