//! `--server`: waits for clients that have its key, and runs what they want, as far as its policy allows it.
//!
//! Each client's jobs run in a process of their own, a worker whose coordinator is the client; this process has no part in them. Must not
//! know: arguments, how reports look. Start reading at [`serve`]; [`handshake`] is what both ends say before, [`ServerPolicy`] what jobs
//! may do.

mod client_names;
pub mod handshake;
mod listener;
mod policy;
mod served;
mod shared_key;

pub use listener::ServerListener;
pub use policy::{PolicyError, ServerPolicy};
pub use served::attend_client;
pub use shared_key::shared_key;

use super::wire::secrets::RunKey;
use listener::{ArrivedClient, AsyncListener};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// Connections that have not proved yet that they have the key.
const MOST_PENDING: usize = 256;
/// Time that each of them has, also while others wait for its place.
const FAIR_TIME: Duration = Duration::from_millis(500);
/// Clients whose jobs run at the same time.
const MOST_RUNS: usize = 64;
/// Strangers that each have a line in the log.
const MOST_TOLD: u64 = 20;
/// Time between two looks whether the server is to end.
const TICK: Duration = Duration::from_millis(50);
/// Time to wait where no descriptor is left.
const BREATH: Duration = Duration::from_millis(20);

/// What a server needs to know.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The key that clients have.
    pub key: RunKey,
    /// What their jobs may do.
    pub policy: ServerPolicy,
}

/// What the process of a client gets on its standard input.
#[derive(Debug, Serialize, Deserialize)]
struct ServedClient {
    /// The key of the run.
    key: String,
    rank: u32,
    policy: ServerPolicy,
    /// Its address; `None`: it came through a local socket.
    address: Option<IpAddr>,
    /// The process of the server.
    server: u32,
}

/// Serves clients until `should_end` says so; then ends their jobs. `log` gets a line for each event.
///
/// # Errors
/// The system lacks something.
pub fn serve(
    listener: &ServerListener,
    settings: ServerSettings,
    should_end: &dyn Fn() -> bool,
    log: Arc<dyn Fn(&str) + Send + Sync>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Arc::new(ClientService { settings, children: Mutex::default(), n_strangers: AtomicU64::new(0), log });
    runtime.block_on(async {
        let listener = AsyncListener::of(listener)?;
        let mut pending: VecDeque<(Instant, AbortHandle)> = VecDeque::new();
        while !should_end() {
            server.reap();
            pending.retain(|(_, task)| !task.is_finished());
            // The oldest gives way, once it has had its time: others wait in front of the door until then.
            if let Some((since, _)) = pending.front().filter(|_| pending.len() >= MOST_PENDING) {
                if since.elapsed() < FAIR_TIME {
                    tokio::time::sleep(BREATH).await;
                    continue;
                }
                pending.pop_front().into_iter().for_each(|(_, task)| task.abort());
            }
            match tokio::time::timeout(TICK, listener.accept()).await {
                Ok(Ok(accepted)) => {
                    let task = tokio::spawn(admit(accepted, Arc::clone(&server)));
                    pending.push_back((Instant::now(), task.abort_handle()));
                }
                Ok(Err(_)) => tokio::time::sleep(BREATH).await,
                Err(_) => {}
            }
        }
        Ok::<(), io::Error>(())
    })?;
    server.end();
    Ok(())
}

struct ClientService {
    settings: ServerSettings,
    children: Mutex<Vec<Child>>,
    n_strangers: AtomicU64,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Hears who has come, and starts its process.
async fn admit(accepted: ArrivedClient, server: Arc<ClientService>) {
    let ArrivedClient { mut stream, address } = accepted;
    let from = address.map_or_else(|| "a local socket".to_owned(), |address| address.to_string());
    let limit = tokio::time::timeout(handshake::LIMIT, handshake::answer(&mut stream, &server.settings.key));
    let said = match limit.await {
        Ok(Ok(said)) => said,
        Ok(Err(error)) => return server.tell_stranger(&from, &error.to_string()),
        Err(_) => return server.tell_stranger(&from, "it has said nothing in time"),
    };
    if server.n_children() >= MOST_RUNS {
        (server.log)(&format!("{from}: too many clients at the same time"));
        return handshake::refuse(&mut stream).await;
    }
    if handshake::accept(&mut stream).await.is_err() {
        return;
    }
    let client = ServedClient {
        key: said.run.to_text(),
        rank: said.rank,
        policy: server.settings.policy.clone(),
        address,
        server: std::process::id(),
    };
    match stream.into_fd().and_then(|socket| start(&client, socket)) {
        Ok(child) => {
            (server.log)(&format!("{from}: a client, served by process {}", child.id()));
            server.children.lock().unwrap_or_else(PoisonError::into_inner).push(child);
        }
        Err(error) => (server.log)(&format!("{from}: no process can be started: {error}")),
    }
}

/// Starts the process of a client. What it needs goes through a pipe, so that it is on no command line.
fn start(client: &ServedClient, socket: OwnedFd) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("ferrio").args(["fleet", "--serve-client"]);
    command.stdin(Stdio::piped()).stdout(socket).stderr(Stdio::inherit());
    let mut child = command.spawn()?;
    let text = serde_json::to_string(client).map_err(io::Error::other)?;
    let sent = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    if let Err(error) = sent {
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    Ok(child)
}

impl ClientService {
    /// A line for the first strangers, then for each that has ten times as many before it: they must not fill a log.
    fn tell_stranger(&self, from: &str, reason: &str) {
        let number = self.n_strangers.fetch_add(1, Ordering::Relaxed) + 1;
        let is_round = number.to_string().trim_end_matches('0') == "1";
        if number <= MOST_TOLD || is_round {
            (self.log)(&format!("{from}: {reason} (stranger {number})"));
        }
    }

    fn n_children(&self) -> usize {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Forgets processes that have ended.
    fn reap(&self) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }

    /// Ends all processes of clients: their jobs end with them.
    fn end(&self) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        for mut child in children.drain(..) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
