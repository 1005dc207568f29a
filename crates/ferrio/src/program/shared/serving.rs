//! What the processes of `ferrio --server` have in common: settings, the loop until a signal, and the server in the background.
//!
//! Must not know: who has started them, what is served. Start reading at [`serve_until_signal`].

use crate::shared::user_config::user_config;
use crate::ui::signals::Signals;
use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use ferrio::fleet::server::{ServerListener, ServerPolicy, ServerSettings, serve, shared_key};
use ferrio::fleet::wire::secrets::RunKey;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Facility "daemon" and severity "informational" of RFC 5424, as one number.
const DAEMON_INFORMATION: u32 = 3 * 8 + 6;

/// Gets a line for each event.
pub(crate) type ServerLog = Arc<dyn Fn(&str) + Send + Sync>;

// A server in the background, and the process of a client: other processes of ferrio start them.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Serve on the socket that is the standard input, with the process id in this file
    #[arg(long, value_name = "FILE", hide = true, value_hint = ValueHint::FilePath)]
    serve: Option<PathBuf>,
    /// The path of that socket
    #[arg(long, value_name = "FILE", hide = true)]
    serve_socket: Option<PathBuf>,
    /// The key of the server
    #[arg(long, value_name = "FILE", hide = true)]
    serve_key: Option<PathBuf>,
    /// The policy of the server
    #[arg(long, value_name = "FILE", hide = true)]
    serve_policy: Option<PathBuf>,
    /// Serve one client
    #[arg(long, hide = true)]
    pub(crate) serve_client: bool,
}

impl ServeOptions {
    /// Serves in the background, if this process is there for that.
    pub(crate) fn in_background(&self) -> Option<anyhow::Result<()>> {
        let pid_file = self.serve.as_deref()?;
        Some(in_background(pid_file, self))
    }
}

/// The settings of a server: its key, and what it allows.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn settings(key_file: Option<&Path>, policy_file: Option<&Path>) -> anyhow::Result<ServerSettings> {
    let home = std::env::current_dir().context("the directory of the server")?;
    let own = || user_config("server.toml").filter(|path| path.exists());
    let policy = match policy_file.map(Path::to_owned).or_else(own) {
        Some(path) => ServerPolicy::read(&path, home)?,
        None => ServerPolicy::of_home(home),
    };
    Ok(ServerSettings { key: shared_key_of(key_file)?, policy })
}

/// The key that this user's servers and clients share.
///
/// # Errors
/// It cannot be read or made.
pub(crate) fn shared_key_of(key_file: Option<&Path>) -> anyhow::Result<RunKey> {
    let path = key_file.map(Path::to_owned).or_else(|| user_config("server.key"));
    let path =
        path.ok_or_else(|| anyhow!("neither XDG_CONFIG_HOME nor HOME says where the key is: --server-key=FILE"))?;
    Ok(shared_key(&path)?)
}

/// Serves until a signal.
///
/// # Errors
/// The system lacks something.
pub(crate) fn serve_until_signal(
    listener: ServerListener,
    settings: ServerSettings,
    signals: &Signals,
    log: ServerLog,
) -> anyhow::Result<()> {
    let outcome = serve(&listener, settings, &|| signals.first().is_some(), log);
    listener.end();
    Ok(outcome?)
}

fn in_background(pid_file: &Path, options: &ServeOptions) -> anyhow::Result<()> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    ferrio_sys::process::release_standard_streams()?;
    ferrio_sys::process::set_session()?;
    let signals = Signals::listen(false)?;
    let listener = ServerListener::inherited(socket, options.serve_socket.clone());
    let served = settings(options.serve_key.as_deref(), options.serve_policy.as_deref())
        .and_then(|settings| serve_until_signal(listener, settings, &signals, Arc::new(system_log)));
    if let Err(error) = &served {
        system_log(&format!("{error:#}"));
    }
    // Only a file that still names this process.
    let own = std::process::id().to_string();
    if fs::read_to_string(pid_file).is_ok_and(|text| text.trim() == own) {
        let _ = fs::remove_file(pid_file);
    }
    served
}

/// A line of the system's log.
fn system_log(line: &str) {
    let line = ferrio_units::terminal_text::escape_controls(line);
    let text = format!("<{DAEMON_INFORMATION}>ferrio[{}]: {line}", std::process::id());
    // Without a log there is nobody to be told.
    let _ = UnixDatagram::unbound().and_then(|socket| socket.send_to(text.as_bytes(), "/dev/log"));
}
