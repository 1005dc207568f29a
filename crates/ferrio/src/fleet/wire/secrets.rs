//! The key of a run, and the TLS of both ends that follows from it.
//!
//! A launcher makes a key for each run and hands it to the workers over its own channel. All certificates are signed by an authority whose
//! private key is derived from it, so that both ends prove that they have the key, and a key of another run opens nothing. Start reading at
//! [`RunKey`].

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, PKCS_ED25519};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{aead, hmac};
use rustls_pki_types::PrivatePkcs8KeyDer;
use std::fmt;
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

/// Name of the coordinator in its certificate: workers know it by the authority, not by its address.
pub(crate) const COORDINATOR_NAME: &str = "coordinator.ferrio";

/// Name of workers in theirs.
const WORKER_NAME: &str = "worker.ferrio";

/// Length of a key, bytes.
const KEY_BYTES: usize = 32;

/// An Ed25519 key in PKCS #8 (RFC 8410, section 7) without the 32 bytes of its seed.
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// Bytes in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// So many bytes in hexadecimal digits.
fn bytes_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// New random digits, which make a connection unlike all others.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn nonce() -> Result<String, SecretsError> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| SecretsError::Random)?;
    Ok(hex(&bytes))
}

/// The key of one run.
#[derive(Clone, PartialEq, Eq)]
pub struct RunKey([u8; KEY_BYTES]);

/// It is shown nowhere.
impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunKey")
    }
}

/// No certificates can be made.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random,
    /// A certificate cannot be made.
    #[error("no certificate can be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A text is no key.
    #[error("this is no key of a run: it has {KEY_BYTES} bytes in hexadecimal digits")]
    Text,
}

impl RunKey {
    /// A new key.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> Result<Self, SecretsError> {
        let mut bytes = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| SecretsError::Random)?;
        Ok(Self(bytes))
    }

    /// The key as text, to hand it over.
    pub fn to_text(&self) -> String {
        hex(&self.0)
    }

    /// The key of such a text.
    ///
    /// # Errors
    /// It is none.
    pub fn from_text(text: &str) -> Result<Self, SecretsError> {
        bytes_of(text.trim()).map(Self).ok_or(SecretsError::Text)
    }

    /// What the worker of this rank says for itself.
    pub(crate) fn token(&self, rank: u32) -> Vec<u8> {
        self.derived(&format!("worker {rank}")).to_vec()
    }

    /// True if this is the token of that rank; takes the same time for each.
    pub(crate) fn has_token(&self, rank: u32, token: &[u8]) -> bool {
        hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), format!("worker {rank}").as_bytes(), token).is_ok()
    }

    /// Proof of one end of a connection that it has this key; `purpose` names the end.
    pub(crate) fn proof(&self, purpose: &str, nonces: &str) -> String {
        hex(&self.derived(&format!("{purpose} {nonces}")))
    }

    /// True if this is that proof; takes the same time for each of its length.
    pub(crate) fn has_proof(&self, purpose: &str, nonces: &str, proof: &str) -> bool {
        let Some(proof) = bytes_of::<32>(proof) else { return false };
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        hmac::verify(&key, format!("{purpose} {nonces}").as_bytes(), &proof).is_ok()
    }

    /// The key of a run for an end that has this key, and nobody else. `nonces` are of one connection; `rank` is proved with it.
    pub(crate) fn seal(&self, nonces: &str, rank: u32, run: &Self) -> Result<String, SecretsError> {
        let mut sealed = run.0.to_vec();
        let aad = aead::Aad::from(rank.to_be_bytes());
        self.cipher(nonces)
            .and_then(|cipher| cipher.seal_in_place_append_tag(Self::once(), aad, &mut sealed))
            .map_err(|_| SecretsError::Random)?;
        Ok(hex(&sealed))
    }

    /// The key of a run that such an end has sealed; `None`: it has another key, or this was not made for this connection.
    pub(crate) fn unseal(&self, nonces: &str, rank: u32, sealed: &str) -> Option<Self> {
        let mut bytes = bytes_of::<{ KEY_BYTES + 16 }>(sealed)?;
        let aad = aead::Aad::from(rank.to_be_bytes());
        let opened = self.cipher(nonces).ok()?.open_in_place(Self::once(), aad, &mut bytes).ok()?;
        Some(Self(opened.try_into().ok()?))
    }

    /// The key of one connection: it seals one message.
    fn cipher(&self, nonces: &str) -> Result<aead::LessSafeKey, ring::error::Unspecified> {
        let key = self.derived(&format!("connection {nonces}"));
        Ok(aead::LessSafeKey::new(aead::UnboundKey::new(&aead::CHACHA20_POLY1305, &key)?))
    }

    fn once() -> aead::Nonce {
        aead::Nonce::assume_unique_for_key([0; aead::NONCE_LEN])
    }

    /// TLS of the coordinator: only workers of this run can connect.
    ///
    /// # Errors
    /// Certificates cannot be made.
    pub(crate) fn coordinator_tls(&self) -> Result<ServerTlsConfig, SecretsError> {
        let (identity, authority) = self.identity(COORDINATOR_NAME)?;
        Ok(ServerTlsConfig::new().identity(identity).client_ca_root(authority))
    }

    /// TLS of a worker: it talks to the coordinator of this run alone.
    ///
    /// # Errors
    /// Certificates cannot be made.
    pub(crate) fn worker_tls(&self) -> Result<ClientTlsConfig, SecretsError> {
        let (identity, authority) = self.identity(WORKER_NAME)?;
        Ok(ClientTlsConfig::new().identity(identity).ca_certificate(authority).domain_name(COORDINATOR_NAME))
    }

    /// TLS of an end that knows the coordinator, and shows no certificate.
    #[cfg(test)]
    pub(crate) fn tls_without_certificate(&self) -> ClientTlsConfig {
        let (_, authority) = self.identity(WORKER_NAME).expect("certificates");
        ClientTlsConfig::new().ca_certificate(authority).domain_name(COORDINATOR_NAME)
    }

    fn derived(&self, purpose: &str) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        bytes
    }

    /// A new certificate of this name with its key, and that of the authority that has signed it.
    fn identity(&self, name: &str) -> Result<(Identity, Certificate), SecretsError> {
        let seed = self.derived("authority");
        let document = PrivatePkcs8KeyDer::from([&PKCS8_HEAD[..], &seed].concat());
        let authority_key = KeyPair::from_pkcs8_der_and_sign_algo(&document, &PKCS_ED25519)?;
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        authority.distinguished_name.push(DnType::CommonName, "a run of ferrio");
        let authority_certificate = authority.self_signed(&authority_key)?;
        let own_key = KeyPair::generate_for(&PKCS_ED25519)?;
        let issuer = Issuer::new(authority, authority_key);
        let own = CertificateParams::new(vec![name.to_owned()])?.signed_by(&own_key, &issuer)?;
        let identity = Identity::from_pem(own.pem(), own_key.serialize_pem());
        Ok((identity, Certificate::from_pem(authority_certificate.pem())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back_from_their_texts() {
        let key = RunKey::new().expect("random numbers");
        assert_eq!(RunKey::from_text(&format!("{}\n", key.to_text())).expect("its text"), key);
        assert!(
            ["", "00", &"g".repeat(64), &"0".repeat(63), &"ü".repeat(32)]
                .iter()
                .all(|text| RunKey::from_text(text).is_err())
        );
        assert_eq!(format!("{key:?}"), "RunKey");
    }

    #[test]
    fn a_run_is_sealed_for_one_connection() {
        let (key, other, run) = (RunKey([1; 32]), RunKey([2; 32]), RunKey([3; 32]));
        let sealed = key.seal("a b", 4, &run).expect("a cipher");
        assert_eq!(key.unseal("a b", 4, &sealed), Some(run));
        let foreign = [other.unseal("a b", 4, &sealed), key.unseal("a c", 4, &sealed), key.unseal("a b", 5, &sealed)];
        assert!(foreign.iter().all(Option::is_none) && key.unseal("a b", 4, "00").is_none());
        let proof = key.proof("server", "a b");
        assert!(key.has_proof("server", "a b", &proof) && !key.has_proof("client", "a b", &proof));
        assert!(!other.has_proof("server", "a b", &proof) && !key.has_proof("server", "a b", ""));
    }

    #[test]
    fn tokens_are_of_one_rank_and_one_run() {
        let (key, other) = (RunKey([1; 32]), RunKey([2; 32]));
        assert!(key.has_token(3, &key.token(3)));
        assert!(!key.has_token(4, &key.token(3)) && !other.has_token(3, &key.token(3)) && !key.has_token(3, b""));
    }
}
