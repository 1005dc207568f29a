//! TLS to a server: what is demanded of its certificate, the agreement, and the bytes after it, none of them with a wait.
//!
//! Must not know: what the bytes mean. Start reading at [`TlsTerms`], then [`TlsStream`].

mod error;
#[cfg(test)]
mod tests;
mod trust;

pub(crate) use error::TlsError;

use ferrio_sys::Errno;
use ferrio_sys::socket::Socket;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ProtocolVersion};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;

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
    pub(crate) name: String,
    pub(crate) checks: Checks,
    /// A file with the certificates of the authorities that are trusted; `None`: those of the system.
    pub(crate) authorities: Option<PathBuf>,
    /// Files with the certificate of this end and its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
    /// Name of the option by which a user names such a file, for messages.
    pub(crate) option: &'static str,
}

/// The terms, ready for connections.
#[derive(Debug, Clone)]
pub(crate) struct TlsSettings {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    terms: TlsTerms,
}

impl TlsSettings {
    /// Reads the files that the terms name. The error says what is wrong with them.
    pub(crate) fn new(terms: &TlsTerms) -> Result<Self, TlsError> {
        let name = ServerName::try_from(terms.name.clone()).map_err(|_| TlsError::BadName(terms.name.clone()))?;
        Ok(Self { config: trust::config(terms)?, name, terms: terms.clone() })
    }
}

pub(crate) struct TlsStream {
    socket: Socket,
    session: ClientConnection,
    settings: TlsSettings,
}

impl AsFd for TlsStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl TlsStream {
    /// Begins the agreement with the server on the other end of a socket.
    pub(crate) fn new(socket: Socket, settings: &TlsSettings) -> Result<Self, TlsError> {
        let session = ClientConnection::new(Arc::clone(&settings.config), settings.name.clone());
        let mut session = session.map_err(|error| TlsError::of_library(error, &settings.terms))?;
        session.set_buffer_limit(Some(MOST_WAITING_BYTES));
        Ok(Self { socket, session, settings: settings.clone() })
    }

    /// Goes on with the agreement as far as possible now; true: it is reached. The error says why there is none.
    pub(crate) fn agree_now(&mut self) -> Result<bool, TlsError> {
        self.flush_now().map_err(TlsError::Lost)?;
        while self.session.is_handshaking() {
            match self.session.read_tls(&mut Bytes(&self.socket)) {
                Ok(0) => return Err(TlsError::Closed),
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(TlsError::Lost(errno_of(&error))),
            }
            let processed = self.session.process_new_packets();
            // The server learns why its certificate is refused.
            let flushed = self.flush_now();
            processed.map_err(|error| TlsError::of_library(error, &self.settings.terms))?;
            flushed.map_err(TlsError::Lost)?;
        }
        self.flush_now().map_err(TlsError::Lost)
    }

    /// Version of the protocol that was agreed on.
    pub(crate) fn version(&self) -> String {
        match self.session.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLS 1.3".to_owned(),
            Some(ProtocolVersion::TLSv1_2) => "TLS 1.2".to_owned(),
            other => format!("{other:?}"),
        }
    }

    /// Bytes wait to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.session.wants_write()
    }

    /// Takes as much of these parts as fits, one after the other; `EAGAIN`: nothing fits now.
    pub(crate) fn send_parts_now(&mut self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        self.flush_now()?;
        let n_bytes = self.session.writer().write_vectored(parts).map_err(|_| Errno::IO)?;
        self.flush_now()?;
        if n_bytes == 0 { Err(Errno::AGAIN) } else { Ok(n_bytes) }
    }

    /// Hands on bytes that were taken; returns false if some still wait.
    pub(crate) fn flush_now(&mut self) -> Result<bool, Errno> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Bytes(&self.socket)) {
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(errno_of(&error)),
            }
        }
        Ok(true)
    }

    /// Receives what has come; 0: the other end is closed, `EAGAIN`: nothing has come.
    pub(crate) fn receive_now(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.flush_now()?;
        loop {
            match self.session.reader().read(buffer) {
                Ok(n_bytes) => return Ok(n_bytes),
                Err(error) if is_later(&error) => {}
                // The other end is gone without the word that TLS has for it.
                Err(_) => return Err(Errno::CONNRESET),
            }
            match self.session.read_tls(&mut Bytes(&self.socket)) {
                // The reader then tells whether the end was announced.
                Ok(_) => {}
                Err(error) if is_later(&error) => return Err(Errno::AGAIN),
                Err(error) => return Err(errno_of(&error)),
            }
            self.session.process_new_packets().map_err(|_| Errno::PROTO)?;
        }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
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
