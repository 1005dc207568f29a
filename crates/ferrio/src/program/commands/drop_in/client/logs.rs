//! Performance logs of servers, which the client writes: `NAME.log.SERVER`, as fio names them.
//!
//! A server says of which job a log is and of what kind, and the client makes the name. The file is in the directory of the client, or where a
//! job file that the client has sent says it is: whatever a server sends, it changes no other file. Start reading at [`ReceivedLogs::take`].

use super::RemoteServer;
use ferrio::fleet::wire::{LogPart, SentJobFile, SentLogName};
use ferrio_formats::logs::path_of;
use ferrio_job::beyond::is_log;
use ferrio_job::command_line::remote::ServerAddress;
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_units::error_text;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Most logs of a server.
const MOST_LOGS: u32 = 100_000;
/// Most bytes of all logs of a server.
const MOST_BYTES: u64 = 64 << 30;
/// The name of this host in the names of logs.
const THIS_HOST: &str = "localhost";

/// The logs of all servers.
pub(super) struct ReceivedLogs {
    servers: Vec<LoggingServer>,
    /// Logs that are open, by the rank of the server and the number that it gives them.
    open: BTreeMap<(u32, u32), OpenedLog>,
    kept: Arc<ProtectedPaths>,
}

struct LoggingServer {
    /// The end of the names of its logs.
    suffix: String,
    /// Names that its job files have for logs and jobs.
    named: HashSet<String>,
    n_opened: u32,
    n_bytes: u64,
}

struct OpenedLog {
    path: PathBuf,
    /// `None`: it takes nothing more.
    file: Option<File>,
}

impl ReceivedLogs {
    pub(super) fn new(servers: &[RemoteServer], kept: Arc<ProtectedPaths>) -> Self {
        let addresses: Vec<&ServerAddress> = servers.iter().map(|server| &server.address).collect();
        let of_server = |(suffix, server): (String, &RemoteServer)| LoggingServer {
            suffix,
            named: names_in(&server.jobs.files),
            n_opened: 0,
            n_bytes: 0,
        };
        let servers = suffixes(&addresses).into_iter().zip(servers).map(of_server).collect();
        Self { servers, open: BTreeMap::new(), kept }
    }

    /// Takes a part of a log of a server.
    ///
    /// # Errors
    /// The log is not written from now on, for this reason.
    pub(super) fn take(&mut self, rank: u32, part: &LogPart) -> Result<(), String> {
        let server = self.servers.get_mut(rank as usize).ok_or("a log of no server")?;
        match part {
            LogPart::Opened(name) => {
                let number = server.n_opened;
                server.n_opened = server.n_opened.saturating_add(1);
                if number >= MOST_LOGS {
                    // Said once.
                    return if number == MOST_LOGS {
                        Err(format!("it has more than {MOST_LOGS} logs"))
                    } else {
                        Ok(())
                    };
                }
                let path = server.path(name)?;
                // Workers of one run append to a log that they share, as those of several runs do.
                let start = if name.worker_number.is_none() { OutputStart::Append } else { OutputStart::Empty };
                let opened = output::open(&path, start, &self.kept);
                let file =
                    opened.map_err(|error| format!("cannot open log {}: {}", path.display(), error_text(&error)))?;
                self.open.insert((rank, number), OpenedLog { path, file: Some(file) });
            }
            LogPart::Bytes { number, bytes } => {
                let Some(log) = self.open.get_mut(&(rank, *number)) else { return Ok(()) };
                let Some(file) = &mut log.file else { return Ok(()) };
                server.n_bytes = server.n_bytes.saturating_add(bytes.0.len() as u64);
                let written = if server.n_bytes > MOST_BYTES {
                    Err(format!("the logs of this server are longer than {} GiB", MOST_BYTES >> 30))
                } else {
                    file.write_all(&bytes.0).map_err(|error| error_text(&error))
                };
                written.map_err(|error| {
                    log.file = None;
                    format!("cannot write log {}: {error}", log.path.display())
                })?;
            }
            LogPart::Closed { number } => {
                self.open.remove(&(rank, *number));
            }
        }
        Ok(())
    }

    /// The run is over. A line for each log that is not whole and was not named before.
    pub(super) fn end(&mut self) -> Vec<String> {
        let open = std::mem::take(&mut self.open).into_values().filter(|log| log.file.is_some());
        open.map(|log| format!("log {} is not whole", log.path.display())).collect()
    }
}

impl LoggingServer {
    /// The path of a log.
    ///
    /// # Errors
    /// No job file of the client says that it is there.
    fn path(&self, name: &SentLogName) -> Result<PathBuf, String> {
        if !self.named.contains(&name.prefix) && !is_plain(&name.prefix) {
            return Err(format!(
                "log {:?} is not written: no job file that was sent names this path, and without that logs are in the directory of the client",
                name.prefix
            ));
        }
        let path = path_of(Path::new(&name.prefix), name.kind, name.worker_number, name.is_compressed);
        let mut path = path.into_os_string();
        path.push(format!(".{}", self.suffix));
        Ok(PathBuf::from(path))
    }
}

/// A name of a file in this directory.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    is_name && !name.chars().any(char::is_control)
}

/// The names that job files have for logs and jobs, as they stand there.
fn names_in(files: &[SentJobFile]) -> HashSet<String> {
    let mut names = HashSet::new();
    for file in files {
        let SentJobFile::Here { text, .. } = file else { continue };
        for line in String::from_utf8_lossy(text).lines().map(str::trim) {
            let section = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name);
            let value = line.split_once('=').map(|(option, value)| (option.trim(), value.trim()));
            let of_option = value.filter(|(option, _)| *option == "name" || is_log(option)).map(|(_, value)| value);
            names.extend(section.or(of_option).map(str::to_owned));
        }
    }
    names
}

/// The ends of the names of logs, different for each server: its host as it was written, with the port where several servers have one host, and
/// a number where a server is named several times.
fn suffixes(addresses: &[&ServerAddress]) -> Vec<String> {
    let host = |address: &ServerAddress| {
        let host = address.host();
        let host = host.trim_start_matches('/').replace('/', ".");
        if host.is_empty() { THIS_HOST.to_owned() } else { host }
    };
    let with_port = |address: &ServerAddress| match address {
        ServerAddress::Ip { port, .. } => format!("{},{port}", host(address)),
        ServerAddress::Socket(_) => host(address),
    };
    let mut all: Vec<String> = Vec::new();
    for address in addresses {
        let is_alone = addresses.iter().filter(|other| host(other) == host(address)).count() == 1;
        let name = if is_alone { host(address) } else { with_port(address) };
        let mut suffix = name.clone();
        let mut number = 1;
        while all.contains(&suffix) {
            number += 1;
            suffix = format!("{name}.{number}");
        }
        all.push(suffix);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio::fleet::wire::{ClientJobs, LogBytes};
    use ferrio_stats::LogKind;
    use std::fs;

    fn address(text: &str) -> ServerAddress {
        ServerAddress::parse(text).expect("an address")
    }

    #[test]
    fn each_server_has_names_of_its_own() {
        let texts = ["node1", "node1,80", ",81", "sock:/run/a", "10.0.0.1", "node2", "node2", "node2"];
        let addresses = texts.map(address);
        assert_eq!(
            suffixes(&addresses.iter().collect::<Vec<_>>()),
            ["node1,8765", "node1,80", "localhost", "run.a", "10.0.0.1", "node2,8765", "node2,8765.2", "node2,8765.3"]
        );
    }

    #[test]
    fn a_server_chooses_no_path() {
        let text = b"[a]\nwrite_bw_log = logs/deep\n[../up]\nname=x/y\nfilename=/etc/passwd\n".to_vec();
        let files = vec![SentJobFile::Here { name: "job".to_owned(), text }];
        let jobs = ClientJobs { files, ..ClientJobs::default() };
        let logs = ReceivedLogs::new(&[RemoteServer { address: address("h"), jobs }], Arc::default());
        let path = |prefix: &str| {
            let name = SentLogName {
                prefix: prefix.to_owned(),
                kind: LogKind::Clat,
                worker_number: Some(2),
                is_compressed: false,
            };
            logs.servers[0].path(&name).ok().map(|path| path.display().to_string())
        };
        for (prefix, expected) in [
            ("b", Some("b_clat.2.log.h")),
            ("logs/deep", Some("logs/deep_clat.2.log.h")),
            ("../up", Some("../up_clat.2.log.h")),
            ("x/y", Some("x/y_clat.2.log.h")),
            ("", None),
            (".", None),
            ("..", None),
            ("/etc/passwd", None),
            ("logs/other", None),
            ("../b", None),
            ("b/", None),
            ("b\n", None),
        ] {
            assert_eq!(path(prefix), expected.map(str::to_owned), "{prefix:?}");
        }
    }

    #[test]
    fn parts_of_no_open_log_change_nothing() {
        let directory = std::env::temp_dir().join(format!("ferrio-received-logs.{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let prefix = directory.join("x").display().to_string();
        let text = format!("[j]\nwrite_bw_log={prefix}\n").into_bytes();
        let files = vec![SentJobFile::Here { name: "job".to_owned(), text }];
        let jobs = ClientJobs { files, ..ClientJobs::default() };
        let mut logs = ReceivedLogs::new(&[RemoteServer { address: address("h"), jobs }], Arc::default());
        let bytes = |number, text: &str| LogPart::Bytes { number, bytes: LogBytes(text.as_bytes().to_vec()) };
        let name = SentLogName { prefix, kind: LogKind::Bw, worker_number: None, is_compressed: false };
        for part in [
            bytes(0, "lost"),
            LogPart::Closed { number: 7 },
            LogPart::Opened(name.clone()),
            bytes(0, "a\n"),
            bytes(1, "lost"),
            LogPart::Closed { number: 0 },
            bytes(0, "lost"),
            LogPart::Opened(name),
            bytes(1, "b\n"),
        ] {
            logs.take(0, &part).expect("no error");
        }
        assert!(logs.take(1, &bytes(0, "of nobody")).is_err());
        let path = directory.join("x_bw.log.h");
        assert_eq!(fs::read_to_string(&path).expect("the log"), "a\nb\n", "a shared log grows");
        assert_eq!(logs.end(), [format!("log {} is not whole", path.display())]);
        fs::remove_dir_all(&directory).expect("a directory");
    }
}
