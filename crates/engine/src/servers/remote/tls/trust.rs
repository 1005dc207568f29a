//! The certificates that TLS accepts: those of authorities of the system or of a file, with all checks, without that of the name, or without any.
//!
//! Must not know: sockets. Start reading at [`config`].

use super::{Checks, TlsTerms};
use ferrio_sys::file;
use ferrio_units::error_text;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use std::path::Path;
use std::sync::Arc;

/// The settings of the library for these terms, or the reason why there are none.
pub(super) fn config(terms: &TlsTerms) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = CertificateVerifier::new(terms, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match &terms.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let key =
                PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| format!("{}: {error}", key.display()))?;
            let what = |error| format!("{}: {error}", certificate.display());
            builder.with_client_auth_cert(chain, key).map_err(what)?
        }
    };
    Ok(Arc::new(config))
}

/// Most bytes of a file with certificates: those of a system have a quarter of a megabyte.
const MAX_BYTES: u64 = 16 << 20;

fn read(path: &Path) -> Result<Vec<u8>, String> {
    file::read_input(path, MAX_BYTES).map_err(|error| format!("{}: {}", path.display(), error_text(&error)))
}

/// The certificates in a file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let what = |error| format!("{}: {error}", path.display());
    let found: Vec<_> = CertificateDer::pem_slice_iter(&read(path)?).collect::<Result<_, _>>().map_err(what)?;
    if found.is_empty() { Err(format!("{}: there is no certificate in it", path.display())) } else { Ok(found) }
}

/// The authorities that are trusted, and their certificates as they were found.
fn authorities(terms: &TlsTerms) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let mut store = RootCertStore::empty();
    let found = match &terms.authorities {
        Some(path) => certificates(path)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    // There are certificates that no library takes; they are left out.
    store.add_parsable_certificates(found.iter().cloned());
    match &terms.authorities {
        _ if !store.is_empty() => Ok((store, found)),
        Some(path) => Err(format!("{}: there is no certificate of an authority in it", path.display())),
        None => Err("this system trusts no authorities; install the package ca-certificates".to_owned()),
    }
}

/// Checks what the terms demand.
#[derive(Debug)]
struct CertificateVerifier {
    /// Checks authority and name; `None`: neither is checked.
    all: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    /// Certificates that are trusted.
    known: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl CertificateVerifier {
    fn new(terms: &TlsTerms, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let (all, known) = match terms.checks {
            Checks::Nothing => (None, Vec::new()),
            Checks::All | Checks::Authority => {
                let (store, known) = authorities(terms)?;
                let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider));
                (Some(builder.build().map_err(|error| error.to_string())?), known)
            }
        };
        Ok(Self { all, checks_name: terms.checks == Checks::All, known, provider: Arc::clone(provider) })
    }

    /// A certificate that is trusted itself, and signed by itself: the library takes it for an authority only.
    fn is_known(&self, error: &OtherError, certificate: &CertificateDer<'_>) -> bool {
        matches!(error.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
            && self.known.iter().any(|known| known == certificate)
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(all) = &self.all else { return Ok(ServerCertVerified::assertion()) };
        match all.verify_server_cert(end_entity, intermediates, name, ocsp_response, now) {
            // The name is what the library looks at last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // The library has looked at its dates before.
            Err(Error::InvalidCertificate(CertificateError::Other(error))) if self.is_known(&error, end_entity) => {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Why there is no agreement, with the cure.
pub(super) fn explained(error: &Error, terms: &TlsTerms) -> String {
    let TlsTerms { name, option, .. } = terms;
    let why = match error {
        Error::InvalidCertificate(fault) => match fault {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "it has expired, or the clock of this host is wrong".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "it is not valid yet, or the clock of this host is wrong".to_owned()
            }
            CertificateError::UnknownIssuer => {
                format!("no authority that is trusted has signed it; a private one is named by {option}")
            }
            CertificateError::BadSignature => {
                format!(
                    "the authority that is trusted has not signed it, though it has the name of the one that has; see {option}"
                )
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("it is of another host than {name}")
            }
            CertificateError::Revoked => "it is revoked".to_owned(),
            CertificateError::Other(other) => match other.0.downcast_ref::<webpki::Error>() {
                Some(webpki::Error::CaUsedAsEndEntity) => {
                    format!(
                        "it is that of an authority of its own, which is not trusted; {option} names a file with it"
                    )
                }
                _ => other.to_string(),
            },
            other => other.to_string(),
        },
        Error::InvalidMessage(_) => return format!("the server does not speak TLS here: {error}"),
        other => return format!("TLS is refused: {other}"),
    };
    format!("the certificate of the server is refused: {why}")
}
