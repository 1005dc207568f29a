//! Addresses of exports: `nbd://HOST[:PORT]/EXPORT` and `nbd+unix:///EXPORT?socket=PATH`.
//!
//! Must not know: sockets. Start reading at [`Uri::parse`].

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The port of NBD servers.
const PORT: u16 = 10809;

/// Longest name of an export, bytes, as the protocol says.
const LONGEST_EXPORT_BYTES: usize = 4096;

/// The address of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uri {
    pub(super) server: Server,
    /// Name of the export; empty: the default of the server.
    pub(super) export: Vec<u8>,
    /// The address as it was given.
    text: String,
}

/// The place of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Server {
    /// A port of a host.
    Host(String, u16),
    /// A Unix socket.
    Path(PathBuf),
}

impl fmt::Display for Uri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Uri {
    /// The address, or the reason why there is no such address.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("allowed: nbd://HOST[:PORT]/EXPORT and nbd+unix:///EXPORT?socket=PATH");
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let export = decoded(path).ok_or("a % stands before two hexadecimal digits")?;
        if export.len() > LONGEST_EXPORT_BYTES {
            return Err("the name of an export has at most 4096 bytes");
        }
        let server = match scheme.to_ascii_lowercase().as_str() {
            "nbd" if !query.is_empty() => return Err("an address of TCP has no parameters"),
            "nbd" => host(authority)?,
            "nbd+unix" if !authority.is_empty() => {
                return Err("a Unix socket has no host: nbd+unix:///EXPORT?socket=PATH");
            }
            "nbd+unix" => Server::Path(socket(query)?),
            "nbds" | "nbds+unix" | "nbds+vsock" => return Err("TLS is not built; allowed: nbd and nbd+unix"),
            _ => return Err("unknown scheme; allowed: nbd and nbd+unix"),
        };
        Ok(Self { server, export, text: text.to_owned() })
    }
}

fn host(authority: &str) -> Result<Server, &'static str> {
    // A user in front of the host is of TLS only.
    if authority.contains('@') {
        return Err("a user is of use with TLS only, which is not built");
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
    Ok(Server::Host(name.to_owned(), port))
}

fn socket(query: &str) -> Result<PathBuf, &'static str> {
    let missing = "a Unix socket needs its path: nbd+unix:///EXPORT?socket=PATH";
    let mut path = None;
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("socket", value)) => path = Some(decoded(value).ok_or("a % stands before two hexadecimal digits")?),
            _ => return Err("unknown parameter; allowed: socket"),
        }
    }
    path.filter(|path| !path.is_empty()).map(|path| OsString::from_vec(path).into()).ok_or(missing)
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

    fn parsed(text: &str) -> Result<(Server, String), &'static str> {
        Uri::parse(text).map(|uri| (uri.server, String::from_utf8(uri.export).unwrap()))
    }

    fn of_host(name: &str, port: u16, export: &str) -> (Server, String) {
        (Server::Host(name.to_owned(), port), export.to_owned())
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
        let of_path = |path: &str, export: &str| Ok((Server::Path(path.into()), export.to_owned()));
        assert_eq!(parsed("nbd+unix:///?socket=/tmp/s"), of_path("/tmp/s", ""));
        assert_eq!(parsed("nbd+unix:///disk?socket=/tmp/a%3fb"), of_path("/tmp/a?b", "disk"));
        assert_eq!(parsed("nbd+unix://?socket=s"), of_path("s", ""));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "h",
            "http://h/x",
            "nbds://h/x",
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
