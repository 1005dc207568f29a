//! Why there is no connection with TLS: what is wrong with files of certificates, with the server's certificate, or with the agreement.
//!
//! Must not know: sockets. Start reading at [`TlsError`].

use super::TlsTerms;
use ferrio_sys::Errno;
use rustls::{CertificateError, Error};
use std::io;
use std::path::PathBuf;

/// Why there is no connection with TLS.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("{0} is no name that a certificate can have")]
    BadName(String),
    /// A file with certificates or a key cannot be read or used.
    #[error("{}: {why}", path.display())]
    File {
        path: PathBuf,
        /// The answer of the system or of the library.
        why: String,
    },
    #[error("{}: there is no certificate in it", .0.display())]
    NoCertificate(PathBuf),
    /// A file has certificates, and none of an authority.
    #[error("{}: there is no certificate of an authority in it", .0.display())]
    NoAuthority(PathBuf),
    #[error("this system trusts no authorities; install the package ca-certificates")]
    SystemTrustsNone,
    /// The library does not take the settings.
    #[error("{0}")]
    Settings(String),
    #[error("the connection is lost before TLS is agreed on: {}", io::Error::from(*.0))]
    Lost(Errno),
    #[error("the server has closed the connection before TLS was agreed on")]
    Closed,
    /// The server's certificate is not accepted.
    #[error("the certificate of the server is refused: {0}")]
    Certificate(CertificateFault),
    /// The server has sent something else than TLS.
    #[error("the server does not speak TLS here: {0}")]
    NotTls(Error),
    /// Any other refusal of the library.
    #[error("TLS is refused: {0}")]
    Refused(Error),
}

impl TlsError {
    pub(super) fn of_library(error: Error, terms: &TlsTerms) -> Self {
        match error {
            Error::InvalidCertificate(fault) => Self::Certificate(CertificateFault::new(&fault, terms)),
            Error::InvalidMessage(_) => Self::NotTls(error),
            other => Self::Refused(other),
        }
    }
}

/// Why a certificate is not accepted, with the cure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum CertificateFault {
    /// Its last day is over.
    #[error("it has expired, or the clock of this host is wrong")]
    Expired,
    /// Its first day is to come.
    #[error("it is not valid yet, or the clock of this host is wrong")]
    NotValidYet,
    #[error("no authority that is trusted has signed it; a private one is named by {option}")]
    UnknownIssuer {
        /// The option that names a file with authorities.
        option: &'static str,
    },
    /// The signature is not that of the trusted authority.
    #[error(
        "the authority that is trusted has not signed it, though it has the name of the one that has; see {option}"
    )]
    BadSignature {
        /// The option that names a file with authorities.
        option: &'static str,
    },
    #[error("it is of another host than {name}")]
    OtherHost { name: String },
    /// Its authority has withdrawn it.
    #[error("it is revoked")]
    Revoked,
    #[error("it is that of an authority of its own, which is not trusted; {option} names a file with it")]
    OwnAuthority {
        /// The option that names a file with authorities.
        option: &'static str,
    },
    /// Any other fault, as the library says it.
    #[error("{0}")]
    Other(String),
}

impl CertificateFault {
    fn new(fault: &CertificateError, terms: &TlsTerms) -> Self {
        let option = terms.option;
        match fault {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotValidYet,
            CertificateError::UnknownIssuer => Self::UnknownIssuer { option },
            CertificateError::BadSignature => Self::BadSignature { option },
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::OtherHost { name: terms.name.clone() }
            }
            CertificateError::Revoked => Self::Revoked,
            CertificateError::Other(other) => match other.0.downcast_ref::<webpki::Error>() {
                Some(webpki::Error::CaUsedAsEndEntity) => Self::OwnAuthority { option },
                _ => Self::Other(other.to_string()),
            },
            other => Self::Other(other.to_string()),
        }
    }
}
