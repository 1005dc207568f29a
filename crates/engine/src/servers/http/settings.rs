//! The options of the engine, checked.
//!
//! Must not know: sockets, requests. Start reading at [`HttpSettings::new`].

use super::NAME;
use super::signature::Signer;
use crate::contract::EngineError;
use crate::contract::options::EngineOptions;
use crate::mix::{MixError, WordMix};
use crate::servers::remote::silence::limit_of;
use crate::servers::remote::tls::{Checks, TlsTerms};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferrio_spec::engines::options::http::{self, HttpFlavour, HttpObjects, Https};
use ferrio_stats::ObjectRequestKind;
use md5::Digest as _;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

const CUSTOMER_KEY_BYTES: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HttpPlace {
    /// Value of the header `Host`.
    pub(super) header: String,
    /// Name or address, without brackets.
    pub(super) name: String,
    pub(super) port: u16,
}

impl fmt::Display for HttpPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, port) = (&self.name, self.port);
        if name.contains(':') { write!(formatter, "[{name}]:{port}") } else { write!(formatter, "{name}:{port}") }
    }
}

impl HttpPlace {
    /// The place that `http_host` names; `None`: it names none.
    pub(super) fn parse(text: &str, usual_port: u16) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\\"<>".contains(&byte);
        if !text.bytes().all(is_plain) {
            return None;
        }
        let (name, rest) = match text.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']')?,
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = match rest.strip_prefix(':') {
            Some(digits) => digits.parse().ok().filter(|port| *port > 0)?,
            None if rest.is_empty() => usual_port,
            None => return None,
        };
        (!name.is_empty()).then(|| Self { header: text.to_owned(), name: name.to_owned(), port })
    }
}

/// The protocol, with what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HttpProtocol {
    Webdav,
    S3(Box<S3Settings>),
    /// With a token, if there is one.
    Swift(Option<String>),
}

/// What requests to S3 carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct S3Settings {
    pub(super) signer: Signer,
    pub(super) token: Option<String>,
    pub(super) storage_class: String,
    pub(super) customer_key: Option<CustomerKey>,
}

/// The key with which a server encrypts objects for a customer, as headers have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CustomerKey {
    pub(super) algorithm: String,
    pub(super) key: String,
    pub(super) key_md5: String,
}

impl CustomerKey {
    /// As in fio, a key that is too short is filled with zero bytes, and of a long one the beginning counts.
    fn new(algorithm: &str, text: &str) -> Self {
        let mut key = [0; CUSTOMER_KEY_BYTES];
        key.iter_mut().zip(text.bytes()).for_each(|(byte, given)| *byte = given);
        Self {
            algorithm: algorithm.to_owned(),
            key: STANDARD.encode(key),
            key_md5: STANDARD.encode(md5::Md5::digest(key)),
        }
    }
}

impl HttpProtocol {
    fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        let text = |value: Option<&str>| value.filter(|text| !text.is_empty()).map(str::to_owned);
        match options.get(&http::HTTP_MODE) {
            HttpFlavour::Webdav => Ok(Self::Webdav),
            HttpFlavour::Swift => Ok(Self::Swift(text(options.get(&http::HTTP_SWIFT_AUTH_TOKEN)))),
            HttpFlavour::S3 => {
                let needed = |name: &'static str, value: Option<&str>| {
                    let why = "http_mode=s3 needs it, as every request is signed";
                    text(value).ok_or_else(|| EngineError::bad_option(NAME, name, "", why))
                };
                let algorithm = options.get(&http::HTTP_S3_SSE_CUSTOMER_ALGORITHM);
                let customer_key = text(options.get(&http::HTTP_S3_SSE_CUSTOMER_KEY));
                Ok(Self::S3(Box::new(S3Settings {
                    signer: Signer {
                        key_id: needed("http_s3_keyid", options.get(&http::HTTP_S3_KEYID))?,
                        secret: needed("http_s3_key", options.get(&http::HTTP_S3_KEY))?,
                        region: options.get(&http::HTTP_S3_REGION).to_owned(),
                        service: "s3",
                    },
                    token: text(options.get(&http::HTTP_S3_SECURITY_TOKEN)),
                    storage_class: options.get(&http::HTTP_S3_STORAGE_CLASS).to_owned(),
                    customer_key: customer_key.map(|key| CustomerKey::new(algorithm, &key)),
                })))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartSettings {
    /// Largest part, bytes; a block that is no larger is written as a whole.
    pub(super) part_bytes: usize,
    /// Parts that are sent at the same time, each over a connection of its own.
    pub(super) n_at_once: usize,
}

#[derive(Debug, Clone)]
pub(super) struct HttpSettings {
    pub(super) place: HttpPlace,
    pub(super) protocol: HttpProtocol,
    /// What is demanded of the server; `None`: without TLS.
    pub(super) tls: Option<TlsTerms>,
    /// Reads ask for a part of the object of a file.
    pub(super) by_range: bool,
    pub(super) reads: WordMix<ObjectRequestKind>,
    /// Path of the bucket that is listed, if it is not the beginning of the path of the object.
    pub(super) bucket: Option<String>,
    /// Most names in a list.
    pub(super) n_list_names: i64,
    /// Writes in parts (S3).
    pub(super) parts: Option<PartSettings>,
    /// How often a request is sent again, at most.
    pub(super) n_retries: u32,
    /// A server that answers nothing for so long is gone.
    pub(super) most_silence: Duration,
    /// User and password (WebDAV).
    pub(super) login: Option<(String, String)>,
}

impl HttpSettings {
    /// The scheme of addresses on this server.
    pub(super) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    pub(super) fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        let host = options.get(&http::HTTP_HOST);
        let checks = match (options.get(&http::HTTPS), options.get(&http::HTTP_CA)) {
            (Https::Off | Https::Insecure, Some(file)) => {
                let why = "it has no effect without https=on, which checks certificates";
                return Err(EngineError::bad_option(NAME, "http_ca", file, why));
            }
            (Https::Off, None) => None,
            (Https::Insecure, None) => Some((Checks::Nothing, None)),
            (Https::On, file) => Some((Checks::All, file)),
        };
        let place = HttpPlace::parse(host, if checks.is_some() { 443 } else { 80 }).ok_or_else(|| {
            let why = "allowed: NAME, NAME:PORT, [ADDRESS] and [ADDRESS]:PORT; what follows the host is in filename, https in https=on";
            EngineError::bad_option(NAME, "http_host", host, why)
        })?;
        let tls = checks.map(|(checks, file)| TlsTerms {
            name: place.name.clone(),
            checks,
            authorities: file.map(PathBuf::from),
            identity: None,
            option: "http_ca",
        });
        let protocol = HttpProtocol::new(options)?;
        let reads = read_mode(options)?;
        let login = options.get(&http::HTTP_USER).zip(options.get(&http::HTTP_PASS));
        Ok(Self {
            login: login
                .filter(|_| protocol == HttpProtocol::Webdav)
                .map(|(user, password)| (user.to_owned(), password.to_owned())),
            place,
            protocol,
            tls,
            parts: parts(options)?,
            most_silence: limit_of(options.get(&http::SERVER_TIMEOUT)),
            n_retries: options.get(&http::HTTP_RETRIES) as u32,
            bucket: bucket(options, &reads)?,
            reads,
            n_list_names: options.get(&http::HTTP_LIST_KEYS),
            by_range: options.get(&http::HTTP_OBJECT_MODE) == HttpObjects::Range,
        })
    }
}

fn read_mode(options: &EngineOptions) -> Result<WordMix<ObjectRequestKind>, EngineError> {
    let text = options.get(&http::HTTP_READ_MODE);
    let kind = |word: &str| match word {
        "get" => Ok(ObjectRequestKind::Get),
        "head" => Ok(ObjectRequestKind::Head),
        "list" => Ok(ObjectRequestKind::List),
        _ => Err(MixError::Word(format!("{word} is no request that reads; allowed: get, head, list"))),
    };
    WordMix::parse("http_read_mode", text, kind)
        .map_err(|why| EngineError::bad_option(NAME, "http_read_mode", text, why.to_string()))
}

/// The path of the bucket, without a slash at its end.
fn bucket(options: &EngineOptions, reads: &WordMix<ObjectRequestKind>) -> Result<Option<String>, EngineError> {
    let Some(path) = options.get(&http::HTTP_BUCKET) else { return Ok(None) };
    let refused = |why| Err(EngineError::bad_option(NAME, "http_bucket", path, why));
    if !reads.have(ObjectRequestKind::List) {
        return refused("it has no effect unless http_read_mode has list");
    }
    if options.get(&http::HTTP_MODE) == HttpFlavour::Webdav {
        return refused("http_mode=webdav has no buckets: the directory of the object is listed");
    }
    if path.starts_with('/') && !path.contains(['?', '#']) {
        return Ok(Some(if path == "/" { path.to_owned() } else { path.trim_end_matches('/').to_owned() }));
    }
    refused("a path begins with /, such as /BUCKET; / where http_host has the bucket")
}

fn parts(options: &EngineOptions) -> Result<Option<PartSettings>, EngineError> {
    let Some(part_bytes) = options.get(&http::HTTP_S3_PART_SIZE) else { return Ok(None) };
    if options.get(&http::HTTP_MODE) != HttpFlavour::S3 {
        return Err(EngineError::bad_option(NAME, "http_s3_part_size", &part_bytes, "only http_mode=s3 has parts"));
    }
    // Both are positive.
    let n_at_once = options.get(&http::HTTP_S3_PARALLEL) as usize;
    Ok(Some(PartSettings { part_bytes: part_bytes as usize, n_at_once }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn customers_keys_have_32_bytes() {
        let key = CustomerKey::new("AES256", "0123456789abcdef0123456789abcdefX");
        // base64 and openssl md5 of these 32 bytes.
        assert_eq!(key.key, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
        assert_eq!(key.key_md5, "hRasmdxgYDKV3nvbahU1MA==");
        let key = CustomerKey::new("AES256", "k");
        assert_eq!(
            (key.key.as_str(), key.key_md5.as_str()),
            ("awAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "ahK7LV1xbaapp7AX0A6u4Q==")
        );
    }

    #[test]
    fn options_without_an_effect_are_refused() {
        let refused = |texts: &[(&str, &str)]| {
            let options = EngineOptions::new(crate::testing::given("http", texts));
            HttpSettings::new(&options).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(refused(&[("http_s3_part_size", "5")]).contains("only http_mode=s3 has parts"));
        assert!(refused(&[("http_ca", "file")]).contains("without https=on"));
        assert!(refused(&[("http_ca", "file"), ("https", "insecure")]).contains("without https=on"));
        assert_eq!(refused(&[("http_ca", "file"), ("https", "on")]), "");
        assert!(refused(&[("http_bucket", "/b")]).contains("no effect unless http_read_mode has list"));
        assert!(refused(&[("http_bucket", "/b"), ("http_read_mode", "list")]).contains("webdav has no buckets"));
    }

    #[test]
    fn hosts_have_a_port_or_none() {
        let parsed = |text| HttpPlace::parse(text, 80).map(|place| (place.to_string(), place.header));
        let found = |shown: &str, header: &str| Some((shown.to_owned(), header.to_owned()));
        assert_eq!(parsed("localhost"), found("localhost:80", "localhost"));
        assert_eq!(parsed("h:9000"), found("h:9000", "h:9000"));
        assert_eq!(parsed("[::1]:81"), found("[::1]:81", "[::1]:81"));
        for text in
            ["", ":80", "h:", "h:0", "h:x", "h:99999", "http://h", "h/x", "u@h", "[::1", "[::1]x", "a b", "h\r\nX: y"]
        {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
