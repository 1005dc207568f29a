//! The certificates that TLS accepts: those of authorities of the system or of a file, with all checks, without that of the name, or without any.
//!
//! Must not know: sockets. Start reading at [`config`].

use super::error::TlsError;
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
pub(super) fn config(terms: &TlsTerms) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = CertificateVerifier::new(terms, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Settings(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match &terms.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let key = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| unusable(key, &error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable(certificate, &error))?
        }
    };
    Ok(Arc::new(config))
}

/// Most bytes of a file with certificates: those of a system have a quarter of a megabyte.
const MAX_BYTES: u64 = 16 << 20;

fn unusable(path: &Path, why: &impl ToString) -> TlsError {
    TlsError::File { path: path.to_owned(), why: why.to_string() }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    file::read_input(path, MAX_BYTES).map_err(|error| unusable(path, &error_text(&error)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let what = |error| unusable(path, &error);
    let found: Vec<_> = CertificateDer::pem_slice_iter(&read(path)?).collect::<Result<_, _>>().map_err(what)?;
    if found.is_empty() { Err(TlsError::NoCertificate(path.to_owned())) } else { Ok(found) }
}

/// The authorities that are trusted, and their certificates as they were found.
fn authorities(terms: &TlsTerms) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), TlsError> {
    let mut store = RootCertStore::empty();
    let found = match &terms.authorities {
        Some(path) => certificates(path)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    // There are certificates that no library takes; they are left out.
    store.add_parsable_certificates(found.iter().cloned());
    match &terms.authorities {
        _ if !store.is_empty() => Ok((store, found)),
        Some(path) => Err(TlsError::NoAuthority(path.clone())),
        None => Err(TlsError::SystemTrustsNone),
    }
}

/// Checks what the terms demand.
#[derive(Debug)]
struct CertificateVerifier {
    /// Checks authority and name; `None`: neither is checked.
    all: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    known: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl CertificateVerifier {
    fn new(terms: &TlsTerms, provider: &Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let (all, known) = match terms.checks {
            Checks::Nothing => (None, Vec::new()),
            Checks::All | Checks::Authority => {
                let (store, known) = authorities(terms)?;
                let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider));
                (Some(builder.build().map_err(|error| TlsError::Settings(error.to_string()))?), known)
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
