//! The workers of a fleet, started all at once.

use anyhow::anyhow;
use ferrio::fleet::Coordinator;
use ferrio::fleet::launch::{Launched, RemoteShell};
use ferrio::fleet::wire::secrets::RunKey;
use std::sync::mpsc;

/// Workers that were started.
pub(super) struct Fleet(Vec<Launched>);

impl Fleet {
    /// Starts a worker on each host, all at the same time, and lets the coordinator know them.
    ///
    /// # Errors
    /// A worker does not start; then all others are ended.
    pub(super) fn launch(
        shell: &RemoteShell,
        hosts: &[String],
        key: &RunKey,
        coordinator: &Coordinator,
    ) -> anyhow::Result<Self> {
        let (done, all) = mpsc::channel();
        std::thread::scope(|scope| {
            for (rank, host) in hosts.iter().enumerate() {
                let done = done.clone();
                scope.spawn(move || done.send(shell.launch(host, rank as u32, key)));
            }
        });
        drop(done);
        let (mut launched, mut failures) = (Vec::new(), Vec::new());
        for outcome in all {
            match outcome {
                Ok((worker, socket)) => {
                    coordinator.adopt(socket);
                    launched.push(worker);
                }
                Err(error) => failures.push(error.to_string()),
            }
        }
        let fleet = Self(launched);
        if failures.is_empty() {
            return Ok(fleet);
        }
        fleet.end();
        failures.sort();
        Err(anyhow!("{}", failures.join("; ")))
    }

    /// Ends what has not ended by itself.
    pub(super) fn end(self) {
        self.0.into_iter().for_each(Launched::end);
    }
}
