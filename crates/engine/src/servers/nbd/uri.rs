//! Addresses of exports: `nbd://HOST[:PORT]/EXPORT` and `nbd+unix:///EXPORT?socket=PATH`, with `nbds` for TLS.
//!
//! Must not know: sockets, the library of TLS. Start reading at [`Uri::parse`].

use crate::servers::remote::reach::Place;
use crate::servers::remote::tls::{Checks, TlsTerms};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The port of NBD servers.
const PORT: u16 = 10809;

const HEXADECIMAL: &str = "a % stands before two hexadecimal digits";

/// Longest name of an export, bytes, as the protocol says.
const LONGEST_EXPORT_BYTES: usize = 4096;

const ALLOWED: &str =
    "allowed: nbd://HOST[:PORT]/EXPORT, nbd+unix:///EXPORT?socket=PATH, and the same with nbds for TLS";

/// Names of files of the directory that `tls-certificates` names.
const AUTHORITIES: &str = "ca-cert.pem";
const CERTIFICATE: &str = "client-cert.pem";
const KEY: &str = "client-key.pem";

/// The address of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uri {
    pub(super) place: Place,
    /// `None`: the bytes are not encrypted.
    pub(super) tls: Option<TlsTerms>,
    /// Name of the export; empty: the default of the server.
    pub(super) export: Vec<u8>,
    /// The address as it was given.
    text: String,
}

impl fmt::Display for Uri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Uri {
    /// The address, or the reason why there is no such address.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let (scheme, rest) = text.split_once("://").ok_or(ALLOWED)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let export = decoded(path).ok_or(HEXADECIMAL)?;
        if export.len() > LONGEST_EXPORT_BYTES {
            return Err("the name of an export has at most 4096 bytes");
        }
        let (is_unix, has_tls) = match scheme.to_ascii_lowercase().as_str() {
            "nbd" => (false, false),
            "nbds" => (false, true),
            "nbd+unix" => (true, false),
            "nbds+unix" => (true, true),
            _ => return Err("unknown scheme; allowed: nbd, nbds, nbd+unix, nbds+unix"),
        };
        let query = Query::parse(query)?;
        let place = match query.socket {
            Some(_) if !is_unix => return Err("an address of TCP has no socket="),
            None if !is_unix => host(authority)?,
            _ if !authority.is_empty() => return Err("a Unix socket has no host: nbd+unix:///EXPORT?socket=PATH"),
            Some(path) if !path.is_empty() => Place::Path(OsString::from_vec(path).into()),
            _ => return Err("a Unix socket needs its path: nbd+unix:///EXPORT?socket=PATH"),
        };
        let tls = match (has_tls, query.tls) {
            (true, asked) => Some(asked.unwrap_or_default().terms(&place)),
            (false, Some(_)) => return Err("parameters of TLS need the scheme nbds or nbds+unix"),
            (false, None) => None,
        };
        Ok(Self { place, tls, export, text: text.to_owned() })
    }
}

fn host(authority: &str) -> Result<Place, &'static str> {
    // A user in front of the host is one of a pre-shared key.
    if authority.contains('@') {
        return Err("a user belongs to a pre-shared key, which is not built; see tls-certificates");
    }
    let (name, rest) = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']').ok_or("a [ needs its ]")?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => PORT,
        Some("") => PORT,
        Some(digits) => digits.parse().ok().filter(|port| *port > 0).ok_or("a port is 1 to 65535")?,
        None => return Err("allowed after the host: a colon and a port"),
    };
    let name = if name.is_empty() { "localhost" } else { name };
    Ok(Place::Host(name.to_owned(), port))
}

/// The parameters of an address.
#[derive(Default)]
struct Query {
    socket: Option<Vec<u8>>,
    /// `None`: no parameter is one of TLS.
    tls: Option<TlsQuery>,
}

/// The parameters of TLS, by the names that the library of other clients has given them.
#[derive(Default)]
struct TlsQuery {
    /// A directory with files of fixed names.
    certificates: Option<PathBuf>,
    host_name: Option<String>,
    is_unchecked: bool,
}

impl Query {
    fn parse(query: &str) -> Result<Self, &'static str> {
        let mut found = Self::default();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = decoded(value).ok_or(HEXADECIMAL)?;
            match name {
                "socket" => found.socket = Some(value),
                "tls-certificates" => found.of_tls().certificates = Some(OsString::from_vec(value).into()),
                "tls-hostname" => {
                    let name = String::from_utf8(value).map_err(|_| "a host name has the letters of a host name")?;
                    found.of_tls().host_name = Some(name);
                }
                "tls-verify-peer" => {
                    found.of_tls().is_unchecked = match value.as_slice() {
                        b"true" | b"1" => false,
                        b"false" | b"0" => true,
                        _ => return Err("allowed for tls-verify-peer: true, false"),
                    };
                }
                "tls-type" if value == b"x509" => drop(found.of_tls()),
                "tls-type" | "tls-psk-file" | "tls-username" => {
                    return Err("pre-shared keys are not built; see tls-certificates");
                }
                _ => {
                    return Err("unknown parameter; allowed: socket, tls-certificates, tls-hostname, tls-verify-peer");
                }
            }
        }
        Ok(found)
    }

    fn of_tls(&mut self) -> &mut TlsQuery {
        self.tls.get_or_insert_default()
    }
}

impl TlsQuery {
    fn terms(self, place: &Place) -> TlsTerms {
        let (name, has_name) = match (self.host_name, place) {
            (Some(name), _) => (name, true),
            (None, Place::Host(name, _)) => (name.clone(), true),
            (None, Place::Path(_)) => ("localhost".to_owned(), false),
        };
        let checks = match (self.is_unchecked, has_name) {
            (true, _) => Checks::Nothing,
            (false, true) => Checks::All,
            (false, false) => Checks::Authority,
        };
        let is_asked = self.certificates.is_some();
        let directory = self.certificates.or_else(usual_directory);
        let file = |name: &str| directory.as_ref().map(|directory| directory.join(name));
        let identity = file(CERTIFICATE).zip(file(KEY)).filter(|(certificate, _)| certificate.exists());
        let authorities = file(AUTHORITIES).filter(|file| is_asked || file.exists());
        TlsTerms { name, checks, authorities, identity, option: "tls-certificates" }
    }
}

/// The directory in which other clients look for certificates where an address names none (seen with libnbd 1.14).
fn usual_directory() -> Option<PathBuf> {
    let candidates = if ferrio_sys::process::effective_user() == 0 {
        vec![PathBuf::from("/etc/pki/libnbd")]
    } else {
        let home = PathBuf::from(std::env::var_os("HOME")?);
        vec![home.join(".pki/libnbd"), home.join(".config/pki/libnbd")]
    };
    candidates.into_iter().find(|directory| directory.join(AUTHORITIES).exists())
}

/// The bytes of a text in which `%41` stands for `A`.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut out) = (text.bytes(), Vec::with_capacity(text.len()));
    let digit = |bytes: &mut std::str::Bytes<'_>| char::from(bytes.next()?).to_digit(16);
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => (digit(&mut bytes)? << 4 | digit(&mut bytes)?) as u8,
            byte => byte,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(Place, String), &'static str> {
        Uri::parse(text).map(|uri| (uri.place, String::from_utf8(uri.export).unwrap()))
    }

    fn of_host(name: &str, port: u16, export: &str) -> (Place, String) {
        (Place::Host(name.to_owned(), port), export.to_owned())
    }

    #[test]
    fn hosts_have_a_port_and_an_export() {
        assert_eq!(parsed("nbd://h/disk"), Ok(of_host("h", 10809, "disk")));
        assert_eq!(parsed("NBD://h:1"), Ok(of_host("h", 1, "")));
        assert_eq!(parsed("nbd://[::1]:7/a/b%20c"), Ok(of_host("::1", 7, "a/b c")));
        assert_eq!(parsed("nbd:///x"), Ok(of_host("localhost", 10809, "x")));
    }

    #[test]
    fn sockets_have_a_path() {
        let of_path = |path: &str, export: &str| Ok((Place::Path(path.into()), export.to_owned()));
        assert_eq!(parsed("nbd+unix:///?socket=/tmp/s"), of_path("/tmp/s", ""));
        assert_eq!(parsed("nbd+unix:///disk?socket=/tmp/a%3fb"), of_path("/tmp/a?b", "disk"));
        assert_eq!(parsed("nbd+unix://?socket=s"), of_path("s", ""));
    }

    #[test]
    fn tls_is_for_a_name_where_there_is_one() {
        let terms = |text: &str| Uri::parse(text).unwrap().tls.unwrap();
        let of_host = terms("nbds://h/x");
        assert_eq!((of_host.name.as_str(), of_host.checks), ("h", Checks::All));
        assert_eq!(terms("nbds+unix:///x?socket=/s").checks, Checks::Authority);
        let named = terms("NBDS+UNIX:///x?socket=/s&tls-hostname=n&tls-type=x509");
        assert_eq!((named.name.as_str(), named.checks), ("n", Checks::All));
        assert_eq!(terms("nbds://h/x?tls-verify-peer=false").checks, Checks::Nothing);
        let private = terms("nbds://h/x?tls-certificates=/a%20b");
        assert_eq!(private.authorities, Some(PathBuf::from("/a b/ca-cert.pem")));
        // A client without a certificate is no error: the server may want none.
        assert_eq!(private.identity, None);
        assert_eq!(Uri::parse("nbd://h/x").unwrap().tls, None);
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "h",
            "http://h/x",
            "nbds+vsock://1/x",
            "nbds://h/x?tls-verify-peer=perhaps",
            "nbds://h/x?tls-psk-file=/f",
            "nbds://h/x?tls-hostname=%ff",
            "nbd://h/x?tls-hostname=h",
            "nbd+unix:///x",
            "nbd+unix:///?socket=",
            "nbd+unix://h/?socket=/s",
            "nbd://h:0/",
            "nbd://h:99999",
            "nbd://[::1/",
            "nbd://[::1]x/",
            "nbd://u@h/",
            "nbd://h/%4",
            "nbd://h/%zz",
            "nbd://h/x?socket=/s",
            "nbd+unix:///?x=1",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
        assert!(parsed(&format!("nbd://h/{}", "x".repeat(4097))).is_err());
    }
}
