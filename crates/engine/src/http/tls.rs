//! TLS over a socket that never waits.
//!
//! Must not know: HTTP. Start reading at [`TlsLine`], then [`settings`].

use ferrio_sys::Errno;
use ferrio_sys::socket::Socket;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::io::{self, IoSlice, Read, Write};
use std::sync::Arc;

/// Most bytes that wait to be sent in encrypted form.
const MOST_UNSENT_BYTES: usize = 256 << 10;

/// Files in which systems keep the certificates of the authorities that they trust.
const SYSTEM_FILES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How certificates are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those of the authorities that the system trusts.
    System,
    /// Those of the authorities in a file.
    File(String),
    /// None is checked.
    All,
}

/// Settings of all connections. The error says what is wrong with the file of authorities.
pub(super) fn settings(trust: &Trust) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let known = match trust {
        Trust::All => Vec::new(),
        Trust::File(file) => certificates(file)?,
        Trust::System => {
            let file = SYSTEM_FILES.into_iter().find(|file| std::fs::exists(file).unwrap_or(false));
            let file = file.ok_or(
                "this system has no file of trusted certificates; the package is mostly called ca-certificates",
            )?;
            certificates(file)?
        }
    };
    let authorities = if matches!(trust, Trust::All) {
        None
    } else {
        let mut store = RootCertStore::empty();
        // Systems have certificates that no library takes; they are left out.
        store.add_parsable_certificates(known.iter().cloned());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider)).build();
        Some(verifier.map_err(|error| error.to_string())?)
    };
    let verifier = CertificateCheck { authorities, known, provider: Arc::clone(&provider) };
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.dangerous();
    Ok(Arc::new(builder.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()))
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| format!("{file}: {error}"))?;
    let certificates: Vec<_> = certificates.filter_map(Result::ok).collect();
    if certificates.is_empty() { Err(format!("{file}: there is no certificate in it")) } else { Ok(certificates) }
}

/// TLS over one connection.
pub(super) struct TlsLine(Box<ClientConnection>);

impl TlsLine {
    /// Begins the agreement with a server of this name.
    pub(super) fn new(config: &Arc<ClientConfig>, name: &str) -> Result<Self, String> {
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_| format!("{name} is no name that a certificate can have"))?;
        let mut connection =
            ClientConnection::new(Arc::clone(config), server).map_err(|error| explained(&error, name))?;
        connection.set_buffer_limit(Some(MOST_UNSENT_BYTES));
        Ok(Self(Box::new(connection)))
    }

    /// Goes on with the agreement as far as possible now; true: it is reached.
    pub(super) fn agree(&mut self, socket: &Socket, name: &str) -> Result<bool, String> {
        self.flush(socket)?;
        while self.0.is_handshaking() {
            match self.0.read_tls(&mut Bytes(socket)) {
                Ok(0) => return Err("the server has closed the connection before TLS was agreed".to_owned()),
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(false),
                Err(error) => return Err(format!("the connection is lost before TLS was agreed: {error}")),
            }
            let processed = self.0.process_new_packets().map_err(|error| explained(&error, name));
            // What the server is told about a refusal of its certificate is sent too.
            self.flush(socket)?;
            processed?;
        }
        self.flush(socket)?;
        Ok(true)
    }

    /// True if bytes wait to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.0.wants_write()
    }

    /// Takes as much of these parts as fits, and sends what can be sent now.
    pub(super) fn send(&mut self, socket: &Socket, parts: [&[u8]; 2]) -> Result<usize, String> {
        self.flush(socket)?;
        let n_taken = self.0.writer().write_vectored(&parts.map(IoSlice::new)).map_err(|error| error.to_string())?;
        self.flush(socket)?;
        Ok(n_taken)
    }

    /// Receives what has come; 0: the connection is closed, `None`: nothing has.
    pub(super) fn receive(&mut self, socket: &Socket, buffer: &mut [u8]) -> Result<Option<usize>, String> {
        self.flush(socket)?;
        loop {
            match self.0.reader().read(buffer) {
                Ok(n_bytes) => return Ok(Some(n_bytes)),
                Err(error) if is_later(&error) => {}
                // The server has closed the connection without the word that TLS has for it.
                Err(_) => return Err("the server has closed the connection, or is gone".to_owned()),
            }
            match self.0.read_tls(&mut Bytes(socket)) {
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(None),
                Err(error) => return Err(format!("the connection is lost: {error}")),
            }
            self.0.process_new_packets().map_err(|error| format!("TLS: {error}"))?;
        }
    }

    fn flush(&mut self, socket: &Socket) -> Result<(), String> {
        while self.0.wants_write() {
            match self.0.write_tls(&mut Bytes(socket)) {
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(format!("the connection is lost: {error}")),
            }
        }
        Ok(())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Why there is no agreement, with the cure.
fn explained(error: &Error, name: &str) -> String {
    let why = match error {
        Error::InvalidCertificate(problem) => match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "it is not valid yet".to_owned()
            }
            CertificateError::UnknownIssuer => {
                "no authority that is trusted has signed it; a private one is named by http_ca".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("it is of another host than {name}")
            }
            CertificateError::Revoked => "it is revoked".to_owned(),
            CertificateError::Other(other) => match other.0.downcast_ref::<webpki::Error>() {
                Some(webpki::Error::CaUsedAsEndEntity) => {
                    "it is that of an authority of its own, which is not trusted; http_ca names a file with it"
                        .to_owned()
                }
                _ => other.to_string(),
            },
            other => other.to_string(),
        },
        other => return format!("TLS is refused: {other}"),
    };
    format!("the certificate of the server is refused: {why}")
}

/// The bytes of a socket, without a wait.
struct Bytes<'a>(&'a Socket);

fn of_errno(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.receive_now(buffer).map_err(of_errno)
    }
}

impl Write for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_parts_now(&[IoSlice::new(bytes)]).map_err(of_errno)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks the certificate of a server, or (`https=insecure`) only that the server has its key.
#[derive(Debug)]
struct CertificateCheck {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates that are trusted.
    known: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for CertificateCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // A server that is its own authority, and trusted as such. The library has looked at the dates before.
            Err(Error::InvalidCertificate(CertificateError::Other(other)))
                if matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
                    && self.known.iter().any(|known| known == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fault_of_a_certificate_is_told() {
        let said = |problem| explained(&Error::InvalidCertificate(problem), "h");
        assert!(said(CertificateError::Expired).ends_with("refused: it has expired"));
        assert!(said(CertificateError::NotValidYet).ends_with("it is not valid yet"));
        assert!(said(CertificateError::NotValidForName).ends_with("it is of another host than h"));
        assert!(said(CertificateError::UnknownIssuer).contains("http_ca"));
        assert!(explained(&Error::DecryptError, "h").starts_with("TLS is refused: "));
    }

    #[test]
    fn files_without_certificates_are_refused() {
        let refused = |trust: &Trust| settings(trust).err().unwrap_or_default();
        assert!(refused(&Trust::File("/no/such/file".to_owned())).starts_with("/no/such/file: "));
        assert!(refused(&Trust::File("/proc/self/status".to_owned())).ends_with("there is no certificate in it"));
        assert!(settings(&Trust::All).is_ok());
    }
}
