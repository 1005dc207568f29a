//! Settings of a connection, from the options of `net` and of the job: which end listens, the addresses, the protocol.
//!
//! Must not know: system calls. Start reading at [`Settings::new`].

use crate::compat;
use crate::contract::options::EngineOptions;
use crate::contract::{EngineError, JobFacts};
use ferrio_spec::engines::options::declaration::EngineOption;
use ferrio_spec::engines::options::net::{self, Transport};
use ferrio_sys::socket::Family;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// The transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp(Family),
    Udp(Family),
    Unix,
    Vsock,
}

impl Protocol {
    fn of(transport: Transport) -> Self {
        match transport {
            Transport::Tcp => Self::Tcp(Family::Inet),
            Transport::TcpV6 => Self::Tcp(Family::Inet6),
            Transport::Udp => Self::Udp(Family::Inet),
            Transport::UdpV6 => Self::Udp(Family::Inet6),
            Transport::Unix => Self::Unix,
            Transport::Vsock => Self::Vsock,
        }
    }

    pub(super) fn family(self) -> Family {
        match self {
            Self::Tcp(family) | Self::Udp(family) => family,
            Self::Unix => Family::Unix,
            Self::Vsock => Family::Vsock,
        }
    }

    /// True if the connection carries a stream of bytes, not datagrams.
    pub(super) fn is_stream(self) -> bool {
        !matches!(self, Self::Udp(_))
    }

    pub(super) fn is_tcp(self) -> bool {
        matches!(self, Self::Tcp(_))
    }
}

/// The address at which a job listens or to which it connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoint {
    Port(u16),
    /// A port of another host, or of a multicast group.
    Host(SocketAddr),
    /// Path of a Unix socket.
    Path(PathBuf),
    /// A port of a virtual machine; `None`: of any machine (only to listen).
    Machine(Option<u32>, u32),
}

/// The options, each checked by itself.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) engine: &'static str,
    pub(super) protocol: Protocol,
    pub(super) nodelay: bool,
    pub(super) pingpong: bool,
    pub(super) interface: Option<String>,
    pub(super) ttl: u32,
    pub(super) window_bytes: Option<usize>,
    pub(super) mss_bytes: Option<i32>,
    /// Datagrams of other senders than the other end are left out.
    pub(super) hears_peer_only: bool,
    hostname: Option<String>,
    port: Option<u32>,
    listen: bool,
}

impl Options {
    pub(super) fn new(engine: &'static str, options: &EngineOptions) -> Result<Self, EngineError> {
        let positive = |option: &EngineOption<Option<i64>>| match options.get(option).filter(|value| *value != 0) {
            None => Ok(None),
            Some(value) => i32::try_from(value)
                .ok()
                .filter(|value| *value > 0)
                .map(Some)
                .ok_or_else(|| EngineError::bad_option(engine, option.name(), &value, "allowed: 0 to 2147483647")),
        };
        let ttl = options.get(&net::TTL);
        if !(0..=255).contains(&ttl) {
            return Err(EngineError::bad_option(engine, net::TTL.name(), &ttl, "allowed: 0 to 255"));
        }
        Ok(Self {
            engine,
            protocol: Protocol::of(options.get(&net::PROTOCOL)),
            nodelay: options.get(&net::NODELAY),
            pingpong: options.get(&net::PINGPONG),
            interface: options.get(&net::INTERFACE).map(str::to_owned),
            ttl: ttl as u32,
            window_bytes: positive(&net::WINDOW_SIZE)?.map(|bytes| bytes as usize),
            mss_bytes: positive(&net::MSS)?,
            hears_peer_only: compat::hears_peer_only(options.compatibility()),
            hostname: options.get(&net::HOSTNAME).map(str::to_owned),
            port: options.get(&net::PORT).and_then(|port| u32::try_from(port).ok()),
            listen: options.get(&net::LISTEN),
        })
    }

    fn bad(&self, option: &'static str, value: &str, why: &str) -> EngineError {
        EngineError::bad_option(self.engine, option, value, why)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) options: Options,
    /// This end waits for the other one to connect.
    pub(super) is_listener: bool,
    pub(super) place: Endpoint,
    /// The data is verified, so it must reach the other end unchanged.
    pub(super) is_verified: bool,
}

impl Settings {
    /// The settings, if the options fit together. The order and the kind of checks are those of fio 3.41.
    pub(super) fn new(options: Options, job: &JobFacts) -> Result<Self, EngineError> {
        if job.is_random {
            return Err(options.bad("rw", "rand*", "network I/O can't be random; allowed: read, write, rw"));
        }
        if job.trims {
            return Err(options.bad("rw", "trim", "network I/O has no trims; allowed: read, write, rw"));
        }
        let protocol = options.protocol;
        let is_listener = match protocol {
            Protocol::Tcp(_) | Protocol::Vsock => options.listen,
            Protocol::Udp(_) | Protocol::Unix if options.listen => {
                return Err(options.bad(
                    "listen",
                    "1",
                    "only valid for tcp, tcpv6 and vsock: of the others the reader listens",
                ));
            }
            Protocol::Udp(_) if job.reads && job.writes => {
                return Err(options.bad("rw", "rw", "datagram network connections must be read or write"));
            }
            Protocol::Udp(_) | Protocol::Unix => job.reads,
        };
        let place = options.place(is_listener, job)?;
        Ok(Self { is_verified: job.is_verified, options, is_listener, place })
    }
}

impl Options {
    fn place(&self, is_listener: bool, job: &JobFacts) -> Result<Endpoint, EngineError> {
        // As in fio, `filename` gives the other end's address if no other option does.
        let host = self.hostname.as_deref().or(job.filename.as_deref());
        if self.protocol == Protocol::Unix {
            if let Some(port) = self.port {
                return Err(self.bad("port", &port.to_string(), "not valid with a unix socket"));
            }
            let path =
                host.ok_or_else(|| self.bad("hostname", "", "unix sockets need hostname or filename: a path"))?;
            return Ok(Endpoint::Path(path.into()));
        }
        let Some(port) = self.port else {
            return Err(self.bad("port", "", "network I/O needs a port; allowed: 1 to 65535"));
        };
        let port = port.saturating_add(job.clone_index);
        if self.protocol == Protocol::Vsock {
            return self.machine(is_listener, host, port);
        }
        let port = u16::try_from(port).map_err(|_| {
            let why = "port and number of the clone together are above 65535";
            self.bad("port", &port.to_string(), why)
        })?;
        match host {
            None if is_listener => Ok(Endpoint::Port(port)),
            None => Err(self.bad("hostname", "", "no host to connect to")),
            Some(host) => self.host(is_listener, host, port),
        }
    }

    fn machine(&self, is_listener: bool, host: Option<&str>, port: u32) -> Result<Endpoint, EngineError> {
        match host {
            _ if is_listener => Ok(Endpoint::Machine(None, port)),
            None => Err(self.bad("hostname", "", "no machine to connect to (its number; 1: this one, 2: the host)")),
            Some(host) => match host.parse() {
                Ok(cid) => Ok(Endpoint::Machine(Some(cid), port)),
                Err(_) => Err(self.bad("hostname", host, "with protocol=vsock it is the number of a machine")),
            },
        }
    }

    fn host(&self, is_listener: bool, host: &str, port: u16) -> Result<Endpoint, EngineError> {
        let family = self.protocol.family();
        let found = (host, port).to_socket_addrs().map_err(|source| EngineError::Failed {
            engine: self.engine,
            step: "getaddrinfo",
            what: format!("option hostname={host}"),
            source: named(source),
        })?;
        let is_of_family = |address: &SocketAddr| address.is_ipv4() == (family == Family::Inet);
        let Some(address) = found.into_iter().find(is_of_family) else {
            let why = if family == Family::Inet { "it has no address of IPv4" } else { "it has no address of IPv6" };
            return Err(self.bad("hostname", host, why));
        };
        let is_group = !self.protocol.is_stream() && is_multicast(address.ip());
        if is_listener && !is_group {
            return Err(self.bad(
                "hostname",
                host,
                "not valid for inbound network I/O, unless it is a multicast group",
            ));
        }
        Ok(Endpoint::Host(address))
    }
}

/// A host name that cannot be resolved gives no errno; fio reports EINVAL.
fn named(source: std::io::Error) -> std::io::Error {
    if source.raw_os_error().is_some() { source } else { std::io::Error::new(std::io::ErrorKind::InvalidInput, source) }
}

pub(super) fn is_multicast(address: IpAddr) -> bool {
    address.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::given;

    fn settings(options: &[(&str, &str)], job: &JobFacts) -> Result<Settings, String> {
        let options =
            Options::new("net", &EngineOptions::new(given("net", options))).map_err(|error| error.to_string())?;
        Settings::new(options, job).map_err(|error| error.to_string())
    }

    fn reader() -> JobFacts {
        JobFacts { reads: true, ..JobFacts::default() }
    }

    fn writer() -> JobFacts {
        JobFacts { writes: true, ..JobFacts::default() }
    }

    #[test]
    fn what_does_not_go_together_is_refused_by_its_option() {
        let both = JobFacts { reads: true, writes: true, ..JobFacts::default() };
        let random = JobFacts { is_random: true, ..reader() };
        let trims = JobFacts { trims: true, ..JobFacts::default() };
        for (options, job, part) in [
            (&[("port", "9"), ("hostname", "127.0.0.1")][..], &random, "option rw"),
            (&[("port", "9"), ("hostname", "127.0.0.1")], &trims, "option rw"),
            (&[("hostname", "127.0.0.1")], &writer(), "option port"),
            (&[("listen", "1")], &reader(), "option port"),
            (&[("port", "9")], &writer(), "option hostname"),
            (&[("listen", "1"), ("port", "9"), ("hostname", "127.0.0.1")], &reader(), "option hostname"),
            (&[("listen", "1"), ("protocol", "udp"), ("port", "9")], &reader(), "option listen"),
            (&[("listen", "1"), ("protocol", "unix"), ("hostname", "s")], &reader(), "option listen"),
            (&[("protocol", "udp"), ("port", "9"), ("hostname", "127.0.0.1")], &both, "option rw"),
            (&[("protocol", "unix")], &writer(), "option hostname"),
            (&[("protocol", "unix"), ("hostname", "s"), ("port", "9")], &writer(), "option port"),
            (&[("protocol", "vsock"), ("hostname", "here"), ("port", "9")], &writer(), "option hostname"),
            (&[("protocol", "vsock"), ("port", "9")], &writer(), "option hostname"),
            (&[("protocol", "tcpv6"), ("hostname", "127.0.0.1"), ("port", "9")], &writer(), "option hostname"),
            (&[("protocol", "udp"), ("ttl", "256"), ("port", "9")], &reader(), "option ttl"),
            (&[("window_size", "-1"), ("port", "9")], &reader(), "option window_size"),
        ] {
            let error = settings(options, job).unwrap_err();
            assert!(error.contains(part), "{options:?}: {error}");
        }
    }

    #[test]
    fn the_reader_of_datagrams_and_of_unix_sockets_listens() {
        let of = |options: &[(&str, &str)], job: &JobFacts| settings(options, job).map(|s| (s.is_listener, s.place));
        assert_eq!(of(&[("protocol", "udp"), ("port", "9")], &reader()), Ok((true, Endpoint::Port(9))));
        let path = [("protocol", "unix"), ("hostname", "s")];
        assert_eq!(of(&path, &reader()), Ok((true, Endpoint::Path("s".into()))));
        assert_eq!(of(&path, &writer()), Ok((false, Endpoint::Path("s".into()))));
        let named = JobFacts { filename: Some("f".to_owned()), ..writer() };
        assert_eq!(of(&[("protocol", "unix")], &named), Ok((false, Endpoint::Path("f".into()))));
        let group = [("protocol", "udp"), ("port", "9"), ("hostname", "239.1.2.3")];
        let address = "239.1.2.3:9".parse().map(Endpoint::Host).unwrap();
        assert_eq!(of(&group, &reader()), Ok((true, address)));
    }

    #[test]
    fn clones_have_ports_in_a_row() {
        let third = JobFacts { clone_index: 2, ..writer() };
        let place = settings(&[("hostname", "::1"), ("protocol", "tcpv6"), ("port", "900")], &third).unwrap().place;
        assert_eq!(place, Endpoint::Host("[::1]:902".parse().unwrap()));
        let error = settings(&[("hostname", "127.0.0.1"), ("port", "65534")], &third).unwrap_err();
        assert!(error.contains("option port=65536"), "{error}");
        let machine = settings(&[("protocol", "vsock"), ("hostname", "1"), ("port", "5")], &third).unwrap().place;
        assert_eq!(machine, Endpoint::Machine(Some(1), 7));
    }
}
