//! TLS to a server: what is demanded of its certificate, the handshake, and the bytes after it.
//!
//! Must not know: what the bytes mean. Start reading at [`TlsTerms`] and [`TlsStream`].

#[cfg(test)]
mod tests;
mod trust;

use super::reach::{Step, Trouble, WaitLimits, failed};
use ferrio_sys::Errno;
use ferrio_sys::socket::Socket;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

/// Plain bytes that may wait to be sent, at most.
const MOST_WAITING_BYTES: usize = 256 << 10;

/// What is checked of the certificate of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Checks {
    /// An authority that is trusted has signed it for the name of the server.
    #[default]
    All,
    /// An authority that is trusted has signed it; the server has no name, as behind a Unix socket.
    Authority,
    /// Nothing: the bytes are encrypted, and any server is accepted.
    Nothing,
}

/// What is demanded of a server, and shown to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TlsTerms {
    /// Name that the certificate has to be for.
    pub(crate) name: String,
    /// What is checked.
    pub(crate) checks: Checks,
    /// A file with the certificates of the authorities that are trusted; `None`: those of the system.
    pub(crate) authorities: Option<PathBuf>,
    /// Files with the certificate of this end and its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
}

/// A connection with TLS.
pub(crate) struct TlsStream {
    socket: Socket,
    session: ClientConnection,
}

impl AsFd for TlsStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The failure of TLS, which has no errno.
fn refused<T>(why: impl std::fmt::Display) -> Step<T> {
    Err(Trouble::Failed("TLS".to_owned(), io::Error::other(why.to_string())))
}

impl TlsStream {
    /// Agrees with the server on the other end of a socket.
    pub(crate) fn agree(socket: Socket, terms: &TlsTerms, limits: WaitLimits<'_>) -> Step<Self> {
        let config = trust::config(terms).or_else(refused)?;
        let Ok(name) = ServerName::try_from(terms.name.clone()) else {
            return refused(format_args!("{} is no name of a host", terms.name));
        };
        let mut session = ClientConnection::new(config, name).or_else(refused)?;
        session.set_buffer_limit(Some(MOST_WAITING_BYTES));
        let mut stream = Self { socket, session };
        while stream.session.is_handshaking() {
            let is_flushed = stream.flush_now().or_else(|errno| failed("TLS", errno))?;
            match stream.take() {
                Ok(0) => return failed("TLS: the server has closed the connection", Errno::CONNRESET),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    limits.wait(stream.as_fd(), !is_flushed, "TLS")?;
                    continue;
                }
                Err(error) => return Err(Trouble::Failed("TLS".to_owned(), error)),
            }
            if let Err(error) = stream.session.process_new_packets() {
                // The server learns why: it may say so in its log.
                let _ = stream.flush_now();
                return refused(trust::explained(&error));
            }
            limits.check("TLS")?;
        }
        Ok(stream)
    }

    /// Takes encrypted bytes that have come; returns their number, 0: the other end is closed.
    fn take(&mut self) -> io::Result<usize> {
        self.session.read_tls(&mut Bytes(&self.socket))
    }

    /// See [`Channel::send_parts_now`](super::channel::Channel::send_parts_now).
    pub(super) fn send_parts_now(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        self.flush_now()?;
        let n_bytes = self.session.writer().write_vectored(parts).map_err(|_| Errno::IO)?;
        self.flush_now()?;
        if n_bytes == 0 { Err(Errno::AGAIN) } else { Ok(n_bytes) }
    }

    /// See [`Channel::flush_now`](super::channel::Channel::flush_now).
    pub(super) fn flush_now(&mut self) -> Result<bool, Errno> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Bytes(&self.socket)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            }
        }
        Ok(true)
    }

    /// See [`Channel::receive_now`](super::channel::Channel::receive_now).
    pub(super) fn receive_now(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        loop {
            match self.session.reader().read(buffer) {
                Ok(n_bytes) => return Ok(n_bytes),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The other end is gone without a goodbye.
                Err(_) => return Err(Errno::CONNRESET),
            }
            match self.take() {
                // The reader then tells whether the end was announced.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(Errno::AGAIN),
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            }
            self.session.process_new_packets().map_err(|_| Errno::PROTO)?;
        }
    }
}

/// A socket as the library wants it.
struct Bytes<'a>(&'a Socket);

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.receive_now(buffer)?)
    }
}

impl Write for Bytes<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        Ok(self.0.send_parts_now(&[IoSlice::new(buffer)])?)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        // As many parts as the kernel takes at once.
        Ok(self.0.send_parts_now(&parts[..parts.len().min(1024)])?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
