//! TLS to servers with good and bad certificates, that are slow, silent, cut or no servers of TLS.

use super::super::channel::Channel;
use super::super::reach::{Place, Trouble, WaitLimits, connect};
use super::*;
use crate::contract::Cancellation;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A directory with certificates, removed when dropped.
struct Certificates {
    directory: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    authority: rcgen::Certificate,
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Certificates {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("ferrio-tls-{}-{number}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Each has a name of its own: an authority is looked for by name.
        params.distinguished_name.push(DnType::CommonName, format!("authority {number} of the tests"));
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        std::fs::write(directory.join("ca.pem"), authority.pem()).unwrap();
        Self { directory, issuer: Issuer::new(params, key), authority }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// A server for a name; `asks`: it wants a certificate of its client.
    fn server(&self, name: &str, asks: bool, change: impl FnOnce(&mut CertificateParams)) -> Arc<ServerConfig> {
        let (certificate, key) = self.issue(name, change);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = if asks {
            let mut roots = RootCertStore::empty();
            roots.add(self.authority.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).unwrap())
    }

    fn terms(&self, name: &str) -> TlsTerms {
        TlsTerms {
            name: name.to_owned(),
            authorities: Some(self.file("ca.pem")),
            option: "http_ca",
            ..TlsTerms::default()
        }
    }
}

/// A server that sends back what it gets, until the client ends the connection.
fn echo(config: Arc<ServerConfig>) -> (Place, JoinHandle<()>) {
    serve(move |stream| {
        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
        let mut buffer = vec![0; 100_000];
        while let Ok(n_bytes @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..n_bytes]).is_err() {
                return;
            }
        }
    })
}

fn serve(work: impl FnOnce(TcpStream) + Send + 'static) -> (Place, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = Place::Host("127.0.0.1".to_owned(), listener.local_addr().unwrap().port());
    (place, std::thread::spawn(move || work(listener.accept().unwrap().0)))
}

fn limits<'a>() -> WaitLimits<'a> {
    WaitLimits::new(Cancellation::new(&|| false), Duration::from_secs(60))
}

/// The channel, or the words of the failure.
fn agree(place: &Place, terms: &TlsTerms, limits: WaitLimits<'_>) -> Result<Channel, String> {
    let said = |trouble| match trouble {
        Trouble::Over => "the call was cancelled".to_owned(),
        Trouble::Failed(what, error) => format!("{what}: {error}"),
    };
    let socket = connect(place, limits).map_err(said)?;
    Channel::encrypt(socket, &TlsSettings::new(terms).map_err(|error| error.to_string())?, limits).map_err(said)
}

fn failure(config: Arc<ServerConfig>, terms: &TlsTerms) -> String {
    let (place, server) = echo(config);
    let failure = agree(&place, terms, limits()).err().unwrap_or_default();
    server.join().unwrap();
    failure
}

#[test]
fn more_bytes_than_any_buffer_holds_come_back() {
    let certificates = Certificates::new();
    let (place, server) = echo(certificates.server("storage.test", false, |_| {}));
    let mut channel = agree(&place, &certificates.terms("storage.test"), limits()).unwrap();
    let sent: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
    let (mut n_sent, mut n_received, mut received) = (0, 0, vec![0; sent.len()]);
    // Neither end may wait for the other with all buffers full.
    while n_received < sent.len() {
        match channel.send_parts_now(&[
            IoSlice::new(&sent[n_sent..][..(sent.len() - n_sent).min(7)]),
            IoSlice::new(&sent[(n_sent + 7).min(sent.len())..]),
        ]) {
            Ok(n_bytes) => n_sent += n_bytes,
            Err(errno) => assert_eq!(errno, Errno::AGAIN),
        }
        match channel.receive_now(&mut received[n_received..]) {
            Ok(n_bytes) => n_received += n_bytes,
            Err(errno) => assert_eq!(errno, Errno::AGAIN),
        }
    }
    assert!(sent == received);
    drop(channel);
    server.join().unwrap();
}

#[test]
fn names_and_authorities_are_checked_as_asked() {
    let certificates = Certificates::new();
    let other = Certificates::new();
    let server = || certificates.server("storage.test", false, |_| {});
    let wrong_name = failure(server(), &certificates.terms("other.test"));
    assert!(wrong_name.contains("it is of another host than other.test"), "{wrong_name}");
    let stranger = failure(server(), &other.terms("storage.test"));
    assert!(
        stranger.contains("no authority that is trusted has signed it; a private one is named by http_ca"),
        "{stranger}"
    );
    for (checks, authorities, name) in [
        (Checks::Authority, &certificates, "other.test"),
        (Checks::Nothing, &other, "other.test"),
        (Checks::All, &certificates, "storage.test"),
    ] {
        let (place, server) = echo(server());
        let terms = TlsTerms { checks, ..authorities.terms(name) };
        let channel = agree(&place, &terms, limits());
        assert!(channel.is_ok(), "{checks:?}: {:?}", channel.err());
        drop(channel);
        server.join().unwrap();
    }
    // Without a look at the name, the authority is still looked at.
    let terms = TlsTerms { checks: Checks::Authority, ..other.terms("storage.test") };
    assert!(
        failure(server(), &terms)
            .contains("no authority that is trusted has signed it; a private one is named by http_ca")
    );
}

#[test]
fn certificates_have_their_time() {
    let certificates = Certificates::new();
    let past = certificates.server("storage.test", false, |params| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    });
    let failure_of_past = failure(past, &certificates.terms("storage.test"));
    assert!(failure_of_past.contains("it has expired"), "{failure_of_past}");
    let future =
        certificates.server("storage.test", false, |params| params.not_before = rcgen::date_time_ymd(4000, 1, 1));
    let failure_of_future = failure(future, &certificates.terms("storage.test"));
    assert!(failure_of_future.contains("it is not valid yet"), "{failure_of_future}");
}

#[test]
fn a_server_may_want_a_certificate_of_the_client() {
    let certificates = Certificates::new();
    let (certificate, key) = certificates.issue("client.test", |_| {});
    std::fs::write(certificates.file("client.pem"), certificate.pem()).unwrap();
    std::fs::write(certificates.file("key.pem"), key.serialize_pem()).unwrap();
    let identity = Some((certificates.file("client.pem"), certificates.file("key.pem")));
    let round_trip = |terms: &TlsTerms| {
        let (place, server) = echo(certificates.server("storage.test", true, |_| {}));
        // With TLS 1.3 the refusal of a client comes after the handshake.
        let came_back = agree(&place, terms, limits()).is_ok_and(|mut channel| {
            let mut back = [0; 5];
            channel.send_all(b"hello", limits(), "test").is_ok()
                && channel.receive_all(&mut back, limits(), "test").is_ok()
                && &back == b"hello"
        });
        server.join().unwrap();
        came_back
    };
    assert!(round_trip(&TlsTerms { identity, ..certificates.terms("storage.test") }));
    assert!(!round_trip(&certificates.terms("storage.test")));
}

#[test]
fn files_that_are_none_are_named() {
    let certificates = Certificates::new();
    std::fs::write(certificates.file("empty.pem"), "no certificate\n").unwrap();
    std::fs::write(certificates.file("broken.pem"), "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n")
        .unwrap();
    let refusal = |file: &Path| {
        let terms = TlsTerms { authorities: Some(file.to_owned()), ..certificates.terms("storage.test") };
        trust::config(&terms).expect_err("a refusal").to_string()
    };
    for name in ["missing.pem", "empty.pem", "broken.pem"] {
        let file = certificates.file(name);
        let refusal = refusal(&file);
        assert!(refusal.contains(&file.display().to_string()), "{refusal}");
    }
    let identity = Some((certificates.file("ca.pem"), certificates.file("empty.pem")));
    let terms = TlsTerms { identity, ..certificates.terms("storage.test") };
    assert!(trust::config(&terms).expect_err("a refusal").to_string().contains("empty.pem"));
}

#[test]
fn servers_that_speak_no_tls_end_the_handshake() {
    let certificates = Certificates::new();
    let terms = certificates.terms("storage.test");
    let (place, server) = serve(|mut stream| drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")));
    let refusal = agree(&place, &terms, limits()).err().unwrap_or_default();
    assert!(refusal.contains("the server does not speak TLS here") || refusal.contains("reset"), "{refusal}");
    server.join().unwrap();
    let (place, server) = serve(|mut stream| drop(stream.read(&mut [0; 10_000])));
    let cut = agree(&place, &terms, limits()).err().unwrap_or_default();
    assert!(cut.contains("closed the connection before TLS") || cut.contains("reset"), "{cut}");
    server.join().unwrap();
    // A silent server holds nobody who cancels.
    let (place, server) = serve(|mut stream| while matches!(stream.read(&mut [0; 10_000]), Ok(1..)) {});
    let is_over = || true;
    let silent = WaitLimits::new(Cancellation::new(&is_over), Duration::from_secs(3600));
    assert_eq!(agree(&place, &terms, silent).err().as_deref(), Some("the call was cancelled"));
    server.join().unwrap();
}

#[test]
fn a_server_may_be_its_own_authority_where_that_is_trusted() {
    let certificates = Certificates::new();
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["storage.test".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(certificates.file("own.pem"), certificate.pem()).unwrap();
    let config = || {
        let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Arc::new(builder.with_single_cert(vec![certificate.der().clone()], key).unwrap())
    };
    let terms = |name: &str| TlsTerms { authorities: Some(certificates.file("own.pem")), ..certificates.terms(name) };
    let (place, server) = echo(config());
    assert!(agree(&place, &terms("storage.test"), limits()).is_ok());
    server.join().unwrap();
    assert!(failure(config(), &terms("other.test")).contains("another host than other.test"));
    assert!(
        failure(config(), &certificates.terms("storage.test"))
            .contains("which is not trusted; http_ca names a file with it")
    );
}
