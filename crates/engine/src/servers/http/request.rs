//! The head of a request: request line and headers.
//!
//! Must not know: connections, answers. Start reading at [`HttpRequest::write`].

use super::login::hex;
use super::settings::{HttpProtocol, HttpSettings, S3Settings};
use super::signature::{Signed, hash};
use md5::Digest as _;
use std::io::Write as _;

/// What a request does with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    /// Asks what is in a directory (WebDAV).
    Propfind,
    Put,
    Delete,
    /// Begins or ends a write in parts.
    Post,
}

impl Method {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Propfind => "PROPFIND",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Post => "POST",
        }
    }

    /// fio's word for it, in the line about a failed one.
    pub(super) const fn fio_name(self) -> &'static str {
        match self {
            Self::Get | Self::Head | Self::Propfind => "DDIR_READ",
            Self::Put | Self::Post => "DDIR_WRITE",
            Self::Delete => "DDIR_TRIM",
        }
    }
}

pub(super) struct HttpRequest<'a> {
    pub(super) method: Method,
    /// Path of the object, as it stands in the request line.
    pub(super) target: &'a str,
    /// Part of the object: first byte and length.
    pub(super) range: Option<(u64, u64)>,
    /// Data of a PUT, or body of a POST.
    pub(super) body: &'a [u8],
    pub(super) authorization: Option<&'a str>,
}

impl HttpRequest<'_> {
    /// Appends the head to a list. `time` is that of the request, as `YYYYMMDDTHHMMSSZ`.
    pub(super) fn write(&self, settings: &HttpSettings, time: impl FnOnce() -> String, head: &mut Vec<u8>) {
        let host = &settings.place.header;
        // Writing to a list cannot fail.
        let _ = write!(head, "{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method.name(), self.target);
        if let Some((start, length)) = self.range {
            let _ = write!(head, "Range: bytes={start}-{}\r\n", start.saturating_add(length).saturating_sub(1));
        }
        match &settings.protocol {
            HttpProtocol::Webdav => head.extend_from_slice(b"Accept: */*\r\n"),
            HttpProtocol::S3(s3) => self.write_s3(s3, host, &time(), head),
            HttpProtocol::Swift(token) => self.write_swift(token.as_deref(), head),
        }
        if let Some(value) = self.authorization {
            let _ = write!(head, "Authorization: {value}\r\n");
        }
        if self.method == Method::Propfind {
            head.extend_from_slice(b"Depth: 1\r\n");
        }
        if matches!(self.method, Method::Put | Method::Post | Method::Propfind) {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        head.extend_from_slice(b"\r\n");
        if self.method == Method::Post {
            head.extend_from_slice(self.body);
        }
    }

    fn write_swift(&self, token: Option<&str>, head: &mut Vec<u8>) {
        if let Some(token) = token {
            let _ = write!(head, "x-auth-token: {token}\r\n");
        }
        if self.method == Method::Put {
            let _ = write!(head, "etag: {}\r\n", hex(&md5::Md5::digest(self.body)));
        }
    }

    fn write_s3(&self, s3: &S3Settings, host: &str, time: &str, head: &mut Vec<u8>) {
        let body_hash = hash(self.body);
        // In the order of their names, as the signature wants them.
        let mut headers = vec![
            ("host", host.to_owned()),
            ("x-amz-content-sha256", body_hash.clone()),
            ("x-amz-date", time.to_owned()),
        ];
        headers.extend(s3.token.iter().map(|token| ("x-amz-security-token", token.clone())));
        if let Some(customer) = &s3.customer_key {
            headers.push(("x-amz-server-side-encryption-customer-algorithm", customer.algorithm.clone()));
            headers.push(("x-amz-server-side-encryption-customer-key", customer.key.clone()));
            headers.push(("x-amz-server-side-encryption-customer-key-md5", customer.key_md5.clone()));
        }
        headers.push(("x-amz-storage-class", s3.storage_class.clone()));
        let (path, query) = self.target.split_once('?').unwrap_or((self.target, ""));
        let method = self.method.name();
        let signed = Signed { method, path, query, headers: &headers, body_hash: &body_hash, time };
        let authorization = s3.signer.authorization(&signed);
        for (name, value) in headers.iter().filter(|(name, _)| *name != "host") {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "Authorization: {authorization}\r\n");
    }
}
