//! The trigger of a client: it ends the jobs on all servers, which then run the command of `--trigger-remote`.
//!
//! Must not know: servers. Start reading at [`TriggerWatch::watch`].

use ferrio_run::Handle;
use ferrio_spec::Trigger;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks for the file.
const TICK: Duration = Duration::from_millis(100);

/// Waits for a trigger while servers run jobs.
#[derive(Debug, Default)]
pub(super) struct TriggerWatch {
    has_begun: AtomicBool,
    is_over: AtomicBool,
}

impl TriggerWatch {
    /// The jobs have begun: from now on the time of `--trigger-timeout` counts.
    pub(super) fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// The jobs have ended.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits for the trigger or the end of the jobs; then starts the command of this host, and waits for it.
    ///
    /// # Errors
    /// The command cannot be started.
    pub(super) fn watch(&self, trigger: &Trigger, handle: &Handle) -> std::io::Result<()> {
        if trigger.file.is_none() && trigger.timeout.is_none() {
            return Ok(());
        }
        let mut began: Option<Instant> = None;
        while !self.is_over.load(Ordering::Relaxed) {
            if began.is_none() && self.has_begun.load(Ordering::Relaxed) {
                began = Some(Instant::now());
            }
            let is_late = trigger.timeout.zip(began).is_some_and(|(limit, began)| began.elapsed() >= limit);
            let is_there = trigger.file.as_ref().is_some_and(|path| path.exists());
            if is_late || is_there {
                if let Some(path) = trigger.file.as_ref().filter(|_| is_there) {
                    fs::remove_file(path)?;
                }
                handle.trigger();
                return Self::run(trigger);
            }
            std::thread::sleep(TICK);
        }
        Ok(())
    }

    fn run(trigger: &Trigger) -> std::io::Result<()> {
        let Some(text) = &trigger.command else { return Ok(()) };
        let mut command = Command::new("/bin/sh");
        ferrio_sys::signals::reset_in_program(command.args(["-c", text]));
        command.spawn()?.wait().map(drop)
    }
}
