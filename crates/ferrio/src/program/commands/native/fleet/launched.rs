//! The workers of a fleet, started all at once by ssh, or side by side with this process by another launcher.

use super::options::FleetOptions;
use anyhow::anyhow;
use ferrio::fleet::launch::{Launched, Published, Ranks, launch_here};
use ferrio::fleet::wire::secrets::RunKey;
use ferrio::fleet::{Coordinator, FleetSettings};
use std::sync::mpsc;

/// Workers that come to a coordinator.
pub(super) struct Fleet {
    workers: Vec<Launched>,
    n_hosts: u32,
    /// The coordinator can be found while this exists.
    _published: Option<Published>,
}

impl Fleet {
    /// Starts a worker on each host by the remote shell, all at the same time.
    ///
    /// # Errors
    /// A worker does not start; then all others are ended.
    pub(super) fn launched(options: &FleetOptions) -> anyhow::Result<(Coordinator, Self)> {
        let (hosts, shell, key) = (options.hosts()?, options.shell(), RunKey::new()?);
        let n_hosts = hosts.len() as u32;
        let coordinator = Coordinator::new(settings(options, n_hosts, hosts.clone()), key.clone())?;
        let (done, all) = mpsc::channel();
        std::thread::scope(|scope| {
            for (rank, host) in hosts.iter().enumerate() {
                let (done, shell, key) = (done.clone(), &shell, &key);
                scope.spawn(move || done.send(shell.launch(host, rank as u32, key)));
            }
        });
        drop(done);
        let mut fleet = Self { workers: Vec::new(), n_hosts, _published: None };
        let mut failures = Vec::new();
        for outcome in all {
            match outcome {
                Ok((worker, socket)) => {
                    coordinator.adopt(socket);
                    fleet.workers.push(worker);
                }
                Err(error) => failures.push(error.to_string()),
            }
        }
        if failures.is_empty() {
            return Ok((coordinator, fleet));
        }
        coordinator.dismiss();
        fleet.end();
        failures.sort();
        Err(anyhow!("{}", failures.join("; ")))
    }

    /// The coordinator of ranks that were started with this process, which is rank 0 and has a worker of its own.
    ///
    /// # Errors
    /// The others cannot find it, or its worker does not start.
    pub(super) fn gathered(options: &FleetOptions, ranks: &Ranks) -> anyhow::Result<(Coordinator, Self)> {
        let meeting = options.meeting(&ranks.step);
        let key = meeting.own_key()?;
        let coordinator = Coordinator::new(settings(options, ranks.size, Vec::new()), key.clone())?;
        let host = ferrio_sys::system_info::host_name();
        let (worker, socket) = launch_here(&host, ranks.rank, &key)?;
        coordinator.adopt(socket);
        let address = coordinator.listen(meeting.listen_address())?;
        let published = meeting.publish(&key, &host, address.port())?;
        let fleet = Self { workers: vec![worker], n_hosts: ranks.size, _published: Some(published) };
        Ok((coordinator, fleet))
    }

    pub(super) fn n_hosts(&self) -> u32 {
        self.n_hosts
    }

    /// Ends what has not ended by itself.
    pub(super) fn end(self) {
        self.workers.into_iter().for_each(Launched::end);
    }
}

fn settings(options: &FleetOptions, n_hosts: u32, names: Vec<String>) -> FleetSettings {
    FleetSettings { n_hosts, names, join_limit: options.join_limit(), on_lost_host: options.on_lost_host() }
}
