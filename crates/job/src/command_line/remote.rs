//! `--server` and `--client`: who serves, where job files run, and the addresses of both.
//!
//! Must not know: connections, job files. Start reading at [`RemoteSettings`]. Source: reference, "Client and server".

use super::switches::Switch;
use crate::invocation::Mode;
use std::fmt;
use std::path::PathBuf;

/// The port of servers.
pub const DEFAULT_PORT: u16 = 8765;

/// Why nothing is done where both are given.
const BOTH: &str = "can't be both client and server";

/// Where a server listens, or is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerAddress {
    /// Over the network.
    Ip {
        /// As it was written; empty: any address of a server, the local host of a client.
        host: String,
        port: u16,
        /// `ip6:`: only addresses of that family are taken.
        is_ip6: bool,
    },
    /// A local socket.
    Socket(PathBuf),
}

/// A text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The port is no number up to 65,535, or is 0.
    #[error("bad server port {0}")]
    Port(String),
    /// A socket has no path.
    #[error("a local socket has a path: sock:/path")]
    NoPath,
}

impl ServerAddress {
    /// Reads `HOST`, `HOST,PORT`, `,PORT`, `:PORT`, `ip:...`, `ip4:...`, `ip6:...` or `sock:PATH`.
    ///
    /// # Errors
    /// It is none of these.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("sock:") {
            return if path.is_empty() { Err(AddressError::NoPath) } else { Ok(Self::Socket(PathBuf::from(path))) };
        }
        let is_ip6 = text.starts_with("ip6:");
        let rest = ["ip:", "ip4:", "ip6:"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
        let (host, port) = match rest.strip_prefix(':').filter(|port| !port.contains([':', ','])) {
            Some(port) => ("", Some(port)),
            None => rest.split_once(',').map_or((rest, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map_or(Ok(DEFAULT_PORT), |port| {
            port.parse().ok().filter(|number| *number > 0).ok_or_else(|| AddressError::Port(port.to_owned()))
        })?;
        Ok(Self::Ip { host: host.to_owned(), port, is_ip6 })
    }

    /// The host as it was written; the path of a local socket.
    pub fn host(&self) -> String {
        match self {
            Self::Ip { host, .. } => host.clone(),
            Self::Socket(path) => path.display().to_string(),
        }
    }

    /// The port; 0 of a local socket.
    pub fn port(&self) -> u16 {
        match self {
            Self::Ip { port, .. } => *port,
            Self::Socket(_) => 0,
        }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip { host, port, .. } => write!(formatter, "{host},{port}"),
            Self::Socket(path) => write!(formatter, "sock:{}", path.display()),
        }
    }
}

/// A job file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientFile {
    /// A file here, which is sent to the server.
    Sent(PathBuf),
    /// `--remote-config`: a file on the server.
    There(String),
}

/// A server, or several, and what it is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRequest {
    /// Its address, or the name of a file with addresses.
    pub address: String,
    pub files: Vec<ClientFile>,
    /// Switches behind it that are the server's: `--section`, `--readonly`, `--warnings-fatal`, `--status-interval`.
    pub switches: Vec<String>,
}

/// The options about clients and servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteSettings {
    /// `--server`: its address; empty: none was given.
    pub server: Option<String>,
    /// `--daemonize`: the file with the process id of a server in the background.
    pub pid_file: Option<PathBuf>,
    /// `--client`, in order.
    pub clients: Vec<ClientRequest>,
    /// `--trigger-remote`: command that servers run when a trigger ends the jobs.
    pub trigger: Option<String>,
    /// `--server-key`.
    pub key_file: Option<PathBuf>,
    /// `--server-policy`.
    pub policy_file: Option<PathBuf>,
}

impl RemoteSettings {
    /// Enters a switch; false: it is none of these.
    pub(super) fn set(&mut self, switch: Switch, value: Option<&str>) -> bool {
        let text = value.unwrap_or_default();
        match switch {
            Switch::Server => self.server = Some(text.to_owned()),
            Switch::Daemonize => self.pid_file = Some(PathBuf::from(text)),
            Switch::Client => {
                self.clients.push(ClientRequest { address: text.to_owned(), files: Vec::new(), switches: Vec::new() });
            }
            Switch::RemoteConfig => match self.clients.last_mut() {
                Some(client) => client.files.push(ClientFile::There(text.to_owned())),
                None => return true,
            },
            Switch::TriggerRemote => self.trigger = (!text.is_empty()).then(|| text.to_owned()),
            Switch::ServerKey => self.key_file = Some(PathBuf::from(text)),
            Switch::ServerPolicy => self.policy_file = Some(PathBuf::from(text)),
            _ => return false,
        }
        true
    }

    /// The job files that are sent to servers.
    pub fn sent_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.clients.iter().flat_map(|client| &client.files).filter_map(|file| match file {
            ClientFile::Sent(path) => Some(path),
            ClientFile::There(_) => None,
        })
    }

    /// Keeps a switch for the server of the client before it; false: there is none.
    pub(super) fn forward(&mut self, name: &str, value: Option<&str>) -> bool {
        let Some(client) = self.clients.last_mut() else { return false };
        client.switches.push(value.map_or_else(|| format!("--{name}"), |value| format!("--{name}={value}")));
        true
    }

    /// The task that these options give; `None`: none.
    ///
    /// # Errors
    /// They contradict each other. Where fio has no words for it, there are none.
    pub(super) fn mode(&self, has_local_jobs: bool) -> Result<Option<Mode>, Option<&'static str>> {
        match (&self.server, self.clients.as_slice()) {
            (Some(_), [_, ..]) => Err(Some(BOTH)),
            (Some(_), []) if has_local_jobs => Err(Some("a server has no jobs of its own: clients bring them")),
            (Some(_), []) => Ok(Some(Mode::Serve)),
            (None, []) if self.pid_file.is_some() => Err(Some("--daemonize needs --server")),
            (None, []) if self.trigger.is_some() => Err(Some("--trigger-remote needs --client")),
            (None, []) => Ok(None),
            (None, _) if has_local_jobs => {
                Err(Some("with --client, jobs are those of the job files behind each client, and no others"))
            }
            (None, clients) if clients.iter().any(|client| client.files.is_empty()) => {
                Err(Some("--client needs a job file behind it, or --remote-config"))
            }
            (None, _) => Ok(Some(Mode::Client)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(host: &str, port: u16) -> ServerAddress {
        ServerAddress::Ip { host: host.to_owned(), port, is_ip6: false }
    }

    #[test]
    fn addresses_have_the_forms_of_fio() {
        for (text, expected) in [
            ("", Ok(ip("", 8765))),
            (",8770", Ok(ip("", 8770))),
            (":8770", Ok(ip("", 8770))),
            ("node", Ok(ip("node", 8765))),
            ("node,80", Ok(ip("node", 80))),
            ("ip:10.0.0.1,80", Ok(ip("10.0.0.1", 80))),
            ("ip4:10.0.0.1", Ok(ip("10.0.0.1", 8765))),
            ("ip6:::1,80", Ok(ServerAddress::Ip { host: "::1".to_owned(), port: 80, is_ip6: true })),
            ("::1,80", Ok(ip("::1", 80))),
            ("sock:/run/x", Ok(ServerAddress::Socket(PathBuf::from("/run/x")))),
            ("node,70000", Err(AddressError::Port("70000".to_owned()))),
            (",0", Err(AddressError::Port("0".to_owned()))),
            ("sock:", Err(AddressError::NoPath)),
        ] {
            assert_eq!(ServerAddress::parse(text), expected, "{text}");
        }
    }
}
