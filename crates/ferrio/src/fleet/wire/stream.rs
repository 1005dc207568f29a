//! Bytes between a coordinator and a worker: a TCP connection, or the standard input and output of a launched program.

use hyper_util::rt::TokioIo;
use std::future::{Ready, ready};
use std::io;
use std::net::TcpStream as StdTcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tonic::transport::server::Connected;

/// A connection to the other end.
#[derive(Debug)]
pub enum FleetConnection {
    /// Over the network.
    Tcp(StdTcpStream),
    /// A local socket, or one that leads to a launched program.
    Socket(StdUnixStream),
}

impl FleetConnection {
    /// The connection within a runtime.
    pub(crate) fn into_stream(self) -> io::Result<FleetStream> {
        match self {
            Self::Tcp(stream) => FleetStream::of_tcp(stream),
            Self::Socket(socket) => FleetStream::of_socket(socket),
        }
    }
}

impl From<StdUnixStream> for FleetConnection {
    fn from(socket: StdUnixStream) -> Self {
        Self::Socket(socket)
    }
}

impl From<StdTcpStream> for FleetConnection {
    fn from(stream: StdTcpStream) -> Self {
        Self::Tcp(stream)
    }
}

/// A connection within a runtime.
#[derive(Debug)]
pub(crate) enum FleetStream {
    /// Over the network.
    Tcp(TcpStream),
    /// To or from a launched program.
    Program(UnixStream),
}

impl FleetStream {
    /// The connection that this one is, within a runtime.
    pub(crate) fn of_tcp(stream: StdTcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        TcpStream::from_std(stream).map(Self::Tcp)
    }

    /// The connection that this socket is, within a runtime.
    pub(crate) fn of_socket(socket: StdUnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket).map(Self::Program)
    }
}

impl FleetStream {
    /// The connection without a runtime.
    pub(crate) fn into_fd(self) -> io::Result<OwnedFd> {
        match self {
            Self::Tcp(stream) => stream.into_std().map(OwnedFd::from),
            Self::Program(socket) => socket.into_std().map(OwnedFd::from),
        }
    }
}

impl AsyncRead for FleetStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Program(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for FleetStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Program(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Program(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Program(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// Nothing is known about the other end: workers say who they are.
impl Connected for FleetStream {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

/// Gives away one connection that is there already, for tonic, which wants to make connections itself.
#[derive(Debug)]
pub(crate) struct OneConnection(pub(crate) Option<FleetStream>);

impl tower_service::Service<http::Uri> for OneConnection {
    type Response = TokioIo<FleetStream>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        ready(self.0.take().map(TokioIo::new).ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}
