//! What a client and a server say to each other before their connection becomes that of a coordinator and its worker.
//!
//! ```text
//! client: ferrio client 1 NONCE
//! server: ferrio server 1 NONCE VERSION PROOF
//! client: run RANK KEY
//! server: ready
//! ```
//!
//! PROOF shows that the server has the key that both share. KEY is that of the run, sealed with a key of this connection: it shows the same
//! of the client. What was recorded of one connection opens no other. Nobody without the key makes a server do more than this. Start
//! reading at [`connect`] (the client) and [`answer`] (the server).

use super::listener::addresses;
use crate::fleet::wire::secrets::{RunKey, SecretsError, nonce};
use crate::fleet::wire::stream::{FleetConnection, FleetStream};
use crate::session::VERSION;
use ferrio_job::command_line::remote::ServerAddress;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Time for all of it.
pub(super) const LIMIT: Duration = Duration::from_secs(5);
/// Longest line, bytes.
const MOST_LINE_BYTES: usize = 256;

const CLIENT_GREETING: &str = "ferrio client 1";
const SERVER_GREETING: &str = "ferrio server 1";
const READY: &str = "ready";
const BUSY: &str = "busy";
const PROOF_OF_SERVER: &str = "server";

/// A server cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Its host has no address.
    #[error("{}", ferrio_units::error_text(.0))]
    Resolve(io::Error),
    /// Nobody listens.
    #[error("{}", ferrio_units::error_text(.0))]
    Connect(io::Error),
    /// Something else answers, or nothing.
    #[error("no ferrio server answers there: the protocol of fio's own servers is another one")]
    Stranger,
    /// Their keys differ.
    #[error("the server has another key: copy its file server.key, or name it with --server-key")]
    Key,
    /// It has another version.
    #[error("the server is {0}, and this is {VERSION}: both need the same version")]
    Version(String),
    /// It runs as many jobs as it may.
    #[error("the server has too many clients at the same time")]
    Busy,
    /// There are no random numbers.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
}

/// The other end is no client.
#[derive(Debug, thiserror::Error)]
pub(super) enum StrangerError {
    /// It has gone, or something is wrong with the connection.
    #[error("it has gone: {0}")]
    Gone(#[from] io::Error),
    /// It says something else.
    #[error("refused: it is no client of ferrio (fio's own protocol is not spoken)")]
    Stranger,
    /// It has no proof.
    #[error("refused: it does not have the key of this server")]
    Key,
    /// There are no random numbers.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
}

/// A client that has the key.
#[derive(Debug)]
pub(super) struct Greeted {
    pub(super) run: RunKey,
    pub(super) rank: u32,
}

/// Connects to a server as the client's worker of this rank in a run with this key.
///
/// # Errors
/// There is no server of ours.
pub fn connect(
    address: &ServerAddress,
    shared: &RunKey,
    run: &RunKey,
    rank: u32,
) -> Result<FleetConnection, ConnectError> {
    match address {
        ServerAddress::Ip { host, port, is_ip6 } => {
            let mut last = io::ErrorKind::AddrNotAvailable.into();
            for place in addresses(host, *port, *is_ip6, true).map_err(ConnectError::Resolve)? {
                match TcpStream::connect_timeout(&place, LIMIT) {
                    Ok(stream) => {
                        let _ = stream.set_nodelay(true);
                        stream.set_read_timeout(Some(LIMIT)).map_err(ConnectError::Connect)?;
                        greet(&mut &stream, shared, run, rank)?;
                        stream.set_read_timeout(None).map_err(ConnectError::Connect)?;
                        return Ok(stream.into());
                    }
                    Err(error) => last = error,
                }
            }
            Err(ConnectError::Connect(last))
        }
        ServerAddress::Socket(path) => {
            let stream = UnixStream::connect(path).map_err(ConnectError::Connect)?;
            stream.set_read_timeout(Some(LIMIT)).map_err(ConnectError::Connect)?;
            greet(&mut &stream, shared, run, rank)?;
            stream.set_read_timeout(None).map_err(ConnectError::Connect)?;
            Ok(stream.into())
        }
    }
}

/// The client's side.
fn greet(connection: &mut (impl Read + Write), shared: &RunKey, run: &RunKey, rank: u32) -> Result<(), ConnectError> {
    let own = nonce()?;
    let say = |connection: &mut dyn Write, line: String| {
        connection.write_all(line.as_bytes()).map_err(|_| ConnectError::Stranger)
    };
    say(connection, format!("{CLIENT_GREETING} {own}\n"))?;
    let until = Instant::now() + LIMIT;
    let line = line_of(connection, until).ok_or(ConnectError::Stranger)?;
    let words: Vec<&str> =
        line.strip_prefix(SERVER_GREETING).ok_or(ConnectError::Stranger)?.split_whitespace().collect();
    let [theirs, version, proof] = words[..] else { return Err(ConnectError::Stranger) };
    if version != VERSION {
        return Err(ConnectError::Version(version.to_owned()));
    }
    let nonces = format!("{own} {theirs}");
    if !shared.has_proof(PROOF_OF_SERVER, &nonces, proof) {
        return Err(ConnectError::Key);
    }
    say(connection, format!("run {rank} {}\n", shared.seal(&nonces, rank, run)?))?;
    match line_of(connection, until).as_deref() {
        Some(READY) => Ok(()),
        Some(BUSY) => Err(ConnectError::Busy),
        _ => Err(ConnectError::Key),
    }
}

/// A line, read byte by byte, so that nothing behind it is taken.
fn line_of(connection: &mut impl Read, until: Instant) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < MOST_LINE_BYTES && Instant::now() < until {
        match connection.read(&mut byte) {
            Ok(1) if byte[0] == b'\n' => return String::from_utf8(line).ok(),
            Ok(1) => line.push(byte[0]),
            _ => return None,
        }
    }
    None
}

/// The server's side, up to its last word.
pub(super) async fn answer(stream: &mut FleetStream, shared: &RunKey) -> Result<Greeted, StrangerError> {
    let line = next_line(stream, CLIENT_GREETING).await?;
    let theirs = line.strip_prefix(CLIENT_GREETING).ok_or(StrangerError::Stranger)?.trim();
    let own = nonce()?;
    let nonces = format!("{theirs} {own}");
    let proof = shared.proof(PROOF_OF_SERVER, &nonces);
    stream.write_all(format!("{SERVER_GREETING} {own} {VERSION} {proof}\n").as_bytes()).await?;
    let line = next_line(stream, "run ").await?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["run", rank, sealed] = words[..] else { return Err(StrangerError::Stranger) };
    let rank: u32 = rank.parse().map_err(|_| StrangerError::Stranger)?;
    let run = shared.unseal(&nonces, rank, sealed).ok_or(StrangerError::Key)?;
    Ok(Greeted { run, rank })
}

/// Tells a client that it is served.
pub(super) async fn accept(stream: &mut FleetStream) -> io::Result<()> {
    stream.write_all(format!("{READY}\n").as_bytes()).await
}

/// Tells a client that it is not.
pub(super) async fn refuse(stream: &mut FleetStream) {
    let _ = stream.write_all(format!("{BUSY}\n").as_bytes()).await;
}

/// A line that begins so; what begins otherwise is given up at its first byte that differs.
async fn next_line(stream: &mut FleetStream, beginning: &str) -> Result<String, StrangerError> {
    let mut line: Vec<u8> = Vec::new();
    while line.len() < MOST_LINE_BYTES {
        match stream.read_u8().await? {
            b'\n' => return String::from_utf8(line).map_err(|_| StrangerError::Stranger),
            byte => line.push(byte),
        }
        let n_known = line.len().min(beginning.len());
        if line[..n_known] != beginning.as_bytes()[..n_known] {
            break;
        }
    }
    Err(StrangerError::Stranger)
}
