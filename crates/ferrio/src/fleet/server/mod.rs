//! `--server`: waits for clients that have its key, and runs what they want, as far as its policy allows it.
//!
//! Each client's jobs run in a process of their own, a worker whose coordinator is the client; this process has no part in them. Must not
//! know: arguments, how reports look. Start reading at [`serve`]; [`handshake`] is what both ends say before, [`ServerPolicy`] what jobs
//! may do.

pub mod handshake;
mod listener;
mod policy;
mod served;
mod shared_key;

pub use listener::ServerListener;
pub use policy::{PolicyError, ServerPolicy};
pub use served::{ServedError, attend_client};
pub use shared_key::shared_key;

use super::wire::secrets::RunKey;
use listener::{ArrivedClient, AsyncListener};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;

/// Connections that have not proved yet that they have the key; the oldest gives way to a new one.
const MOST_PENDING: usize = 256;
/// Clients whose jobs run at the same time.
const MOST_RUNS: usize = 64;
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
    /// It came through a local socket.
    is_local: bool,
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
    let server = Arc::new(ClientService { settings, children: Mutex::default(), log });
    runtime.block_on(async {
        let listener = AsyncListener::of(listener)?;
        let mut pending: VecDeque<AbortHandle> = VecDeque::new();
        while !should_end() {
            server.reap();
            match tokio::time::timeout(TICK, listener.accept()).await {
                Ok(Ok(accepted)) => {
                    pending.push_back(tokio::spawn(admit(accepted, Arc::clone(&server))).abort_handle());
                    pending.retain(|task| !task.is_finished());
                    if pending.len() > MOST_PENDING {
                        pending.pop_front().into_iter().for_each(|task| task.abort());
                    }
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
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Hears who has come, and starts its process.
async fn admit(accepted: ArrivedClient, server: Arc<ClientService>) {
    let ArrivedClient { mut stream, from, .. } = accepted;
    let limit = tokio::time::timeout(handshake::LIMIT, handshake::answer(&mut stream, &server.settings.key));
    let said = match limit.await {
        Ok(Ok(said)) => said,
        Ok(Err(error)) => return (server.log)(&format!("{from}: {error}")),
        Err(_) => return (server.log)(&format!("{from}: it has said nothing in time")),
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
        is_local: stream.is_local(),
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
