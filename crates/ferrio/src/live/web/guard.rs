//! Requests that are served: those for an address or a name of this machine, and with the token where there is one.
//!
//! A page of another site can make a browser ask a server on loopback under a name of that site's choice (DNS rebinding). So only names
//! of this machine are served. Must not know: sockets, requests. Start reading at [`WebGuard`].

use ferrio_sys::system_info::SystemInfo;
use std::net::IpAddr;
use thiserror::Error;

/// Why the pages of a run cannot be served.
#[derive(Debug, Error)]
pub enum WebError {
    /// The address has another form.
    #[error("{given} is no address to listen on: give HOST:PORT, or PORT alone for 127.0.0.1 (0: any free port)")]
    Address {
        /// The address as it was given.
        given: String,
    },
    /// The host has no address.
    #[error("cannot find {given}: {reason}")]
    Host {
        /// The address as it was given.
        given: String,
        /// The reason.
        reason: String,
    },
    /// The address is open to other machines, and there is no token.
    #[error(
        "{given} can be reached from other machines: give a token that they must know \
         (--web-token=TOKEN, or the environment variable FERRIO_WEB_TOKEN), or listen on 127.0.0.1"
    )]
    NoToken {
        /// The address as it was given.
        given: String,
    },
    /// The token cannot be a part of an address.
    #[error("the token must have 8 to 200 characters, and only letters, digits and -._~")]
    Token,
    /// The system refuses the address.
    #[error("cannot listen on {given}: {reason}")]
    Listen {
        /// The address as it was given.
        given: String,
        /// The reason.
        reason: String,
    },
}

/// A host and a port, as `--web` has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostAndPort {
    pub(super) host: String,
    pub(super) port: u16,
}

impl HostAndPort {
    /// Reads `HOST:PORT`, `[IPV6]:PORT`, `:PORT` or `PORT`.
    pub(super) fn parse(given: &str) -> Result<Self, WebError> {
        let error = || WebError::Address { given: given.to_owned() };
        let (host, port) = given.rsplit_once(':').unwrap_or(("", given));
        let bare = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(error)?,
            // Without brackets it is not clear where an address of IPv6 ends.
            None if host.contains(':') => return Err(error()),
            None if host.is_empty() => "127.0.0.1",
            None => host,
        };
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| is_number).ok_or_else(error)?;
        Ok(Self { host: bare.to_owned(), port })
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The request names no host.
    NoHost,
    /// The request is for another host.
    OtherHost,
    /// The request has no token, or a wrong one.
    NoToken,
}

/// What a request must have.
#[derive(Debug, Clone)]
pub(super) struct WebGuard {
    host: String,
    /// The address that the server listens on.
    address: IpAddr,
    machine: String,
    token: Option<String>,
}

impl WebGuard {
    pub(super) fn new(host: String, address: IpAddr, token: Option<String>) -> Self {
        Self { host, address, machine: SystemInfo::read().host_name, token }
    }

    /// Judges a request by its headers `Host` and `Authorization` and by its query.
    pub(super) fn judge(
        &self,
        host: Option<&str>,
        authorization: Option<&str>,
        query: Option<&str>,
    ) -> Result<(), Refused> {
        let host = host.ok_or(Refused::NoHost)?;
        if !self.is_own(host) {
            return Err(Refused::OtherHost);
        }
        let Some(token) = &self.token else { return Ok(()) };
        let (scheme, value) = authorization.and_then(|text| text.split_once(' ')).unwrap_or_default();
        let bearer = Some(value).filter(|_| scheme.eq_ignore_ascii_case("bearer")).map(str::trim);
        let of_query =
            query.into_iter().flat_map(|query| query.split('&')).find_map(|pair| pair.strip_prefix("token="));
        let is_known = [bearer, of_query].into_iter().flatten().any(|given| is_equal(given, token));
        if is_known { Ok(()) } else { Err(Refused::NoToken) }
    }

    /// The host of a request is this server: its address, its name as it was given, or `localhost` on loopback. A server on all
    /// addresses has all of them, and the name of the machine. The port may be another one, because tunnels change it.
    fn is_own(&self, host: &str) -> bool {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, rest)) if rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port) => name,
            Some(_) => return false,
            None => host.rsplit_once(':').map_or(host, |(name, port)| if is_port(port) { name } else { host }),
        };
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let has_all = self.address.is_unspecified();
        match name.parse::<IpAddr>() {
            Ok(address) => has_all || address.to_canonical() == self.address.to_canonical(),
            Err(_) if is("localhost") => has_all || self.address.to_canonical().is_loopback(),
            Err(_) => is(&self.host) || (has_all && is(&self.machine)),
        }
    }
}

/// A token that can stand in a query as it is.
pub(super) fn is_good_token(token: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (8..=200).contains(&token.len()) && token.bytes().all(is_plain)
}

/// Compares in a time that depends on the lengths alone.
fn is_equal(given: &str, expected: &str) -> bool {
    let (given, expected) = (given.as_bytes(), expected.as_bytes());
    let differences =
        given.iter().zip(expected).fold(0, |sum: u8, (one, other)| std::hint::black_box(sum | (one ^ other)));
    given.len() == expected.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port_and_perhaps_a_host() {
        let table = [
            ("8080", Some(("127.0.0.1", 8080))),
            (":0", Some(("127.0.0.1", 0))),
            ("localhost:1", Some(("localhost", 1))),
            ("[::1]:65535", Some(("::1", 65535))),
            ("0.0.0.0:80", Some(("0.0.0.0", 80))),
            ("", None),
            ("localhost", None),
            ("localhost:", None),
            ("host:65536", None),
            ("host:+1", None),
            ("::1:80", None),
            ("[::1:80", None),
            ("http://localhost:80", None),
        ];
        for (given, expected) in table {
            let found = HostAndPort::parse(given).ok();
            let found = found.as_ref().map(|found| (found.host.as_str(), found.port));
            assert_eq!(found, expected, "{given}");
        }
    }

    fn guard(host: &str, address: &str, token: Option<&str>) -> WebGuard {
        WebGuard {
            host: host.to_owned(),
            address: address.parse().unwrap(),
            machine: "box".to_owned(),
            token: token.map(str::to_owned),
        }
    }

    #[test]
    fn only_names_of_this_machine_are_served() {
        let table = [
            ("127.0.0.1", &["127.0.0.1:8080", "127.0.0.1", "localhost:9", "LOCALHOST"][..]),
            ("::1", &["[::1]:8080", "[::1]", "localhost:8080"]),
            ("192.0.2.7", &["192.0.2.7:8080", "db1:8080"]),
            ("0.0.0.0", &["192.0.2.7:8080", "127.0.0.1", "[::1]:1", "box:8080", "localhost", "db1"]),
        ];
        let all = [
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "[::1",
            "[::1]x",
            "box.evil",
            "10.0.0.1:x",
        ];
        for (address, good) in table {
            let guard = guard("db1", address, None);
            for host in good {
                assert_eq!(guard.judge(Some(host), None, None), Ok(()), "{address} {host}");
            }
            for host in all {
                assert_eq!(guard.judge(Some(host), None, None), Err(Refused::OtherHost), "{address} {host}");
            }
        }
        let own = guard("127.0.0.1", "127.0.0.1", None);
        assert_eq!(own.judge(Some("192.0.2.7"), None, None), Err(Refused::OtherHost));
        assert_eq!(own.judge(None, None, None), Err(Refused::NoHost));
    }

    #[test]
    fn the_token_is_in_the_query_or_in_a_header() {
        let guard = guard("127.0.0.1", "127.0.0.1", Some("secret-123"));
        let judge = |authorization, query| guard.judge(Some("127.0.0.1"), authorization, query);
        for query in ["token=secret-123", "page&token=secret-123"] {
            assert_eq!(judge(None, Some(query)), Ok(()));
        }
        for header in ["Bearer secret-123", "bearer secret-123"] {
            assert_eq!(judge(Some(header), None), Ok(()));
        }
        for query in ["token=", "token=secret-12", "token=secret-1234", "token=secret-124", "tokens=secret-123"] {
            assert_eq!(judge(None, Some(query)), Err(Refused::NoToken), "{query}");
        }
        for header in ["secret-123", "Basic secret-123", "Bearer", "Bearer x"] {
            assert_eq!(judge(Some(header), None), Err(Refused::NoToken), "{header}");
        }
        assert_eq!(judge(None, None), Err(Refused::NoToken));
    }

    #[test]
    fn a_token_is_no_part_of_a_query() {
        assert!(is_good_token("abcDEF12-._~") && !is_good_token("short") && !is_good_token(&"x".repeat(201)));
        assert!(!is_good_token("with space") && !is_good_token("with&and=") && !is_good_token("ünicode-1"));
    }
}
