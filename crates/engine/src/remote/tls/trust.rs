//! Whom TLS trusts: authorities of the system or of a file, with all checks, without that of the name, or without any.
//!
//! Must not know: sockets. Start reading at [`config`].

use super::{Checks, TlsTerms};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
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
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{}: {error}", key.display()))?;
            let what = |error| format!("{}: {error}", certificate.display());
            builder.with_client_auth_cert(chain, key).map_err(what)?
        }
    };
    Ok(Arc::new(config))
}

/// The certificates in a file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let what = |error| format!("{}: {error}", path.display());
    let found: Vec<_> = CertificateDer::pem_file_iter(path).map_err(what)?.collect::<Result<_, _>>().map_err(what)?;
    if found.is_empty() { Err(format!("{}: no certificate in this file", path.display())) } else { Ok(found) }
}

fn authorities(terms: &TlsTerms) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    match &terms.authorities {
        Some(path) => {
            for certificate in certificates(path)? {
                store.add(certificate).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        // A broken certificate among those of the system is not trusted, and hides no other one.
        None => drop(store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    if store.is_empty() {
        return Err("this system trusts no authorities; install the package ca-certificates".to_owned());
    }
    Ok(store)
}

/// Checks what the terms demand.
#[derive(Debug)]
struct CertificateVerifier {
    /// Checks authority and name; `None`: neither is checked.
    all: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl CertificateVerifier {
    fn new(terms: &TlsTerms, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let all = match terms.checks {
            Checks::Nothing => None,
            Checks::All | Checks::Authority => {
                let builder =
                    WebPkiServerVerifier::builder_with_provider(Arc::new(authorities(terms)?), Arc::clone(provider));
                Some(builder.build().map_err(|error| error.to_string())?)
            }
        };
        Ok(Self { all, checks_name: terms.checks == Checks::All, provider: Arc::clone(provider) })
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

/// The words of the library, and the cure of the usual faults.
pub(super) fn explained(error: &Error) -> String {
    let cure = match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no trusted authority has signed it; trust the authority of the server by its file"
        }
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "it has to be renewed on the server, or the clock of this host is wrong"
        }
        Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            "the clock of this host, or of the one that made it, is wrong"
        }
        Error::InvalidMessage(_) => "the server does not speak TLS here",
        _ => return error.to_string(),
    };
    format!("{error}: {cure}")
}
