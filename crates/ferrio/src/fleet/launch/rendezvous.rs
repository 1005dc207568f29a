//! How workers that a launcher started side by side find their coordinator, and get the key of the run.
//!
//! Rank 0 writes its address and a new key to a file that only its user can read, in a directory that all hosts share; the others wait for
//! it. Where the hosts share no directory, address and key are given to all of them ([`Meeting::Known`]). Start reading at
//! [`Meeting::publish`] and [`Meeting::find`].

use crate::fleet::wire::secrets::{RunKey, SecretsError};
use ferrio_sys::process::effective_user;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two looks for the file or the coordinator.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// Time for one connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// Longest file that is read, bytes.
const MOST_BYTES: u64 = 1 << 12;

/// Where ranks meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meeting {
    /// A file in a directory that all hosts share.
    Shared {
        /// The file.
        path: PathBuf,
    },
    /// All ranks know the address and have the key in a file of their own.
    Known {
        /// Host and port of rank 0.
        address: String,
        /// The file with the key.
        key_file: PathBuf,
    },
}

/// Ranks do not meet.
#[derive(Debug, thiserror::Error)]
pub enum MeetingError {
    /// A file cannot be written or read.
    #[error("{}: {}", path.display(), ferrio_units::error_text(source))]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Others could have written or read the file.
    #[error("{}: its key may be known to others: it must belong to this user, and nobody else may read it", .0.display())]
    Open(PathBuf),
    /// It holds no key, or no address.
    #[error("{}: {source}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: SecretsError,
    },
    /// Rank 0 has not come.
    #[error("rank 0 was not found within {} s: {hint}", limit.as_secs())]
    Late {
        /// The time.
        limit: Duration,
        /// What may be wrong.
        hint: String,
    },
}

impl Meeting {
    /// The meeting of a step in a directory.
    pub fn in_directory(directory: &Path, step: &str) -> Self {
        let safe = |letter: char| if letter.is_ascii_alphanumeric() || ".-_".contains(letter) { letter } else { '_' };
        let name: String = step.chars().map(safe).collect();
        Self::Shared { path: directory.join(format!(".ferrio-fleet-{name}")) }
    }

    /// The key of a coordinator, rank 0: a new one, or that which all ranks have.
    ///
    /// # Errors
    /// There is none.
    pub fn own_key(&self) -> Result<RunKey, MeetingError> {
        match self {
            Self::Shared { path } => RunKey::new().map_err(|source| MeetingError::Key { path: path.clone(), source }),
            Self::Known { key_file, .. } => read_key(key_file).map(|(key, _)| key),
        }
    }

    /// The address on which the coordinator listens: all of the host's, on the port that the others know.
    pub fn listen_address(&self) -> SocketAddr {
        let port = match self {
            Self::Shared { .. } => 0,
            Self::Known { address, .. } => address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0),
        };
        SocketAddr::from(([0, 0, 0, 0], port))
    }

    /// Lets the other ranks know where the coordinator is. What is published is removed when the value is dropped.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn publish(&self, key: &RunKey, host: &str, port: u16) -> Result<Published, MeetingError> {
        let Self::Shared { path } = self else { return Ok(Published(None)) };
        let failed = |source| MeetingError::File { path: path.clone(), source };
        // A file of that name is of a run that did not end well. A new one takes its place at once, never half written.
        let text = format!("{}\n{host}:{port}\n", key.to_text());
        ferrio_sys::output::write_private(path, text.as_bytes()).map_err(failed)?;
        Ok(Published(Some(path.clone())))
    }

    /// Finds the coordinator; waits for it. Returns a connection and the key.
    ///
    /// # Errors
    /// It does not come in time, or the file is not to be trusted.
    pub fn find(&self, limit: Duration) -> Result<(TcpStream, RunKey), MeetingError> {
        let until = Instant::now() + limit;
        let mut hint = String::new();
        while Instant::now() < until {
            match self.look() {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(Attempt::Refused(error)) => return Err(error),
                Err(Attempt::NotYet(reason)) => hint = reason,
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        if let (true, Self::Shared { path }) = (hint.is_empty(), self) {
            let directory = path.parent().unwrap_or(path).display();
            hint = format!(
                "{} is not there. All hosts must share {directory}; --rendezvous=DIRECTORY names another directory, and \
                 --coordinator=HOST:PORT with --key-file=FILE does without one",
                path.display()
            );
        }
        Err(MeetingError::Late { limit, hint })
    }

    fn look(&self) -> Result<Option<(TcpStream, RunKey)>, Attempt> {
        let (key, address) = match self {
            Self::Shared { path } => match read_key(path) {
                Ok(found) => found,
                Err(MeetingError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(Attempt::Refused(error)),
            },
            Self::Known { address, key_file } => {
                let (key, _) = read_key(key_file).map_err(Attempt::Refused)?;
                (key, address.clone())
            }
        };
        let failed = |error: io::Error| Attempt::NotYet(format!("{address}: {}", ferrio_units::error_text(&error)));
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for place in address.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&place, CONNECT_LIMIT) {
                Ok(stream) => return Ok(Some((stream, key))),
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}

/// Why a look has found nothing.
enum Attempt {
    /// It may come yet.
    NotYet(String),
    /// It is not to be trusted.
    Refused(MeetingError),
}

/// A published address; dropping it removes the file.
#[derive(Debug)]
pub struct Published(Option<PathBuf>);

impl Drop for Published {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// The key and the address in a file that belongs to this user alone.
pub(crate) fn read_key(path: &Path) -> Result<(RunKey, String), MeetingError> {
    let failed = |source| MeetingError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    let is_ours = about.uid() == effective_user() || about.uid() == 0;
    if !is_ours || about.mode() & 0o077 != 0 || !about.is_file() {
        return Err(MeetingError::Open(path.to_owned()));
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    let mut lines = text.lines();
    let key = RunKey::from_text(lines.next().unwrap_or_default());
    let key = key.map_err(|source| MeetingError::Key { path: path.to_owned(), source })?;
    Ok((key, lines.next().unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("ferrio-meeting-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).expect("a directory");
        directory
    }

    #[test]
    fn ranks_meet_in_a_shared_directory() {
        let directory = directory("shared");
        let meeting = Meeting::in_directory(&directory, "7/0");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let key = meeting.own_key().expect("a key");
        let published = meeting.publish(&key, "127.0.0.1", listener.local_addr().expect("its address").port());
        let published = published.expect("a file");
        let (_, found) = meeting.find(Duration::from_secs(10)).expect("the coordinator");
        assert_eq!(found, key);
        drop(published);
        assert_eq!(fs::read_dir(&directory).expect("the directory").count(), 0);
        let late = meeting.find(Duration::ZERO).expect_err("nobody").to_string();
        assert!(late.contains("--rendezvous"), "{late}");
        fs::remove_dir(&directory).expect("it is empty");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let directory = directory("open");
        let meeting = Meeting::in_directory(&directory, "step");
        let _published = meeting.publish(&RunKey::new().expect("a key"), "127.0.0.1", 1).expect("a file");
        let Meeting::Shared { path } = &meeting else { unreachable!() };
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("permissions");
        let refused = meeting.find(Duration::from_secs(5)).expect_err("refused");
        assert!(matches!(refused, MeetingError::Open(_)), "{refused}");
        fs::remove_dir_all(&directory).expect("it goes");
    }
}
