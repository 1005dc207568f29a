//! The bytes to a server and back, plain or by TLS, without a wait; before the first request also with one.
//!
//! A plain channel allocates nothing. That of TLS copies and allocates, as the library does.
//! Must not know: protocols. Start reading at [`Channel`].

use super::reach::{Step, Trouble, WaitLimits, failed};
use super::tls::{TlsError, TlsSettings, TlsStream};
use ferrio_sys::Errno;
use ferrio_sys::socket::Socket;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

/// A connection to a server.
pub(crate) enum Channel {
    /// The bytes as they are.
    Plain(Socket),
    /// The bytes as TLS encrypts them.
    Tls(Box<TlsStream>),
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(socket) => socket.as_fd(),
            Self::Tls(stream) => stream.as_fd(),
        }
    }
}

impl Channel {
    /// Takes as much of these parts as fits, one after the other; `EAGAIN`: nothing fits now.
    pub(crate) fn send_parts_now(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        match self {
            Self::Plain(socket) => socket.send_parts_now(parts),
            Self::Tls(stream) => stream.send_parts_now(parts),
        }
    }

    /// Receives what has come; 0: the other end is closed, `EAGAIN`: nothing has come.
    pub(crate) fn receive_now(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Self::Plain(socket) => socket.receive_now(buffer),
            Self::Tls(stream) => stream.receive_now(buffer),
        }
    }

    /// Agrees on TLS with the server on the other end of a socket.
    pub(crate) fn encrypt(socket: Socket, settings: &TlsSettings, limits: WaitLimits<'_>) -> Step<Self> {
        let refused = |why: TlsError| Trouble::Failed("TLS".to_owned(), io::Error::other(why));
        let mut stream = TlsStream::new(socket, settings).map_err(refused)?;
        while !stream.agree_now().map_err(refused)? {
            limits.wait(stream.as_fd(), stream.has_unsent(), "TLS")?;
        }
        Ok(Self::Tls(Box::new(stream)))
    }

    pub(crate) fn tls_version(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => Some(stream.version()),
        }
    }

    /// Bytes that were taken wait here to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.has_unsent(),
        }
    }

    /// Hands on bytes that were taken and wait here; returns false if some still do.
    pub(crate) fn flush_now(&mut self) -> Result<bool, Errno> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Tls(stream) => stream.flush_now(),
        }
    }

    pub(crate) fn send_all(&mut self, mut bytes: &[u8], limits: WaitLimits<'_>, what: &str) -> Step<()> {
        while !bytes.is_empty() {
            match self.send_parts_now(&[IoSlice::new(bytes)]) {
                Ok(n_bytes) => bytes = &bytes[n_bytes..],
                Err(Errno::AGAIN | Errno::INTR) => limits.wait(self.as_fd(), true, what)?,
                Err(errno) => return failed(what, errno),
            }
        }
        while !self.flush_now().or_else(|errno| failed(what, errno))? {
            limits.wait(self.as_fd(), true, what)?;
        }
        Ok(())
    }

    /// Receives as many bytes as the buffer holds.
    pub(crate) fn receive_all(&mut self, buffer: &mut [u8], limits: WaitLimits<'_>, what: &str) -> Step<()> {
        let mut n_filled = 0;
        while n_filled < buffer.len() {
            match self.receive_now(&mut buffer[n_filled..]) {
                Ok(0) => return failed(format_args!("{what}: the server has closed the connection"), Errno::CONNRESET),
                Ok(n_bytes) => {
                    n_filled += n_bytes;
                    // A server that sends a byte now and then has no more time than a silent one.
                    if n_filled < buffer.len() {
                        limits.check(what)?;
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => limits.wait(self.as_fd(), false, what)?,
                Err(errno) => return failed(what, errno),
            }
        }
        Ok(())
    }
}
