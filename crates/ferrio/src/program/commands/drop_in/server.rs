//! `--server`: fio's job files of clients that have this user's key.
//!
//! Must not know: connections, what clients may do. Start reading at [`run`].

use crate::shared::serving::{serve_until_signal, settings};
use crate::ui::console::Console;
use crate::ui::signals::Signals;
use anyhow::{Context, anyhow};
use ferrio::fleet::server::ServerListener;
use ferrio_job::command_line::remote::{RemoteSettings, ServerAddress};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

/// Serves until a signal; with `--daemonize`, another process does.
pub(super) fn run(remote: &RemoteSettings, kept: &ProtectedPaths, console: &mut Console) -> ExitCode {
    match served(remote, kept, console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn served(remote: &RemoteSettings, kept: &ProtectedPaths, console: &mut Console) -> anyhow::Result<()> {
    let text = remote.server.as_deref().filter(|text| !text.is_empty());
    let address = text.map(ServerAddress::parse).transpose()?;
    let settings = settings(remote.key_file.as_deref(), remote.policy_file.as_deref())?;
    let listener = ServerListener::bind(address.as_ref()).map_err(|error| {
        let place = address.as_ref().map_or_else(|| "127.0.0.1,8765".to_owned(), ToString::to_string);
        anyhow!("cannot listen to {place}: {}", ferrio_units::error_text(&error))
    })?;
    if let Some(pid_file) = &remote.pid_file {
        return daemonize(&listener, pid_file, remote, kept);
    }
    // Before any thread.
    let signals = Signals::listen(true)?;
    console.info(&format!("fio: server listening on {}\n", listener.shown()));
    let log = |line: &str| {
        let line = ferrio_units::terminal_text::escape_controls(line);
        // A reader that is gone does not end the server.
        let _ = writeln!(io::stderr(), "fio: server: {line}");
    };
    serve_until_signal(listener, settings, &signals, Arc::new(log))
}

/// Starts the process that serves in the background. It listens already, so that a client that comes at once is served.
fn daemonize(
    listener: &ServerListener,
    pid_file: &Path,
    remote: &RemoteSettings,
    kept: &ProtectedPaths,
) -> anyhow::Result<()> {
    let failed = |error: io::Error| anyhow!("{}: {}", pid_file.display(), ferrio_units::error_text(&error));
    let mut file = output::open(pid_file, OutputStart::Empty, kept).map_err(failed)?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0("ferrio").args(["fleet", "--serve"]).arg(std::path::absolute(pid_file)?);
    for (option, path) in [
        ("--serve-socket", listener.path()),
        ("--serve-key", remote.key_file.as_ref()),
        ("--serve-policy", remote.policy_file.as_ref()),
    ] {
        if let Some(path) = path {
            command.arg(option).arg(std::path::absolute(path)?);
        }
    }
    command.stdin(listener.to_fd()?).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("cannot start the server")?;
    file.write_all(format!("{}\n", child.id()).as_bytes()).map_err(|error| {
        let _ = child.kill();
        failed(error)
    })
}
