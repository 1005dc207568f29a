//! The options of `ferrio fleet`, and its description.

use crate::commands::native::{JsonOption, PageOption};
use crate::ui::described::of_jobs;
use crate::ui::permits::AllowOptions;
use anyhow::{Context, anyhow};
use clap::{Args, Command, ValueEnum, ValueHint};
use ferrio::fleet::LostHost;
use ferrio::fleet::launch::{Meeting, RemoteShell};
use std::path::PathBuf;
use std::time::Duration;

// Where the jobs run, and what becomes of a fleet that loses a host.
#[derive(Debug, Args)]
pub(super) struct FleetOptions {
    /// The hosts, which ssh reaches by these names
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    hosts: Vec<String>,
    /// A file with a host in each line; empty lines and # are left out
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    hostfile: Option<PathBuf>,
    /// The program that runs a command on a host, with its own options
    #[arg(long, value_name = "COMMAND", default_value = "ssh -oBatchMode=yes")]
    rsh: String,
    /// ferrio on the hosts
    #[arg(long, value_name = "PATH", default_value = "ferrio")]
    remote_program: String,
    /// A directory that all hosts share, in which ranks that srun or mpirun started find each other
    #[arg(long, value_name = "DIRECTORY", default_value = ".", value_hint = ValueHint::DirPath)]
    rendezvous: PathBuf,
    /// Host and port of rank 0, where the hosts share no directory
    #[arg(long, value_name = "HOST:PORT", requires = "key_file")]
    coordinator: Option<String>,
    /// A file with the key of the run, which all ranks have: 64 hexadecimal digits that nobody else can read
    #[arg(long, value_name = "FILE", requires = "coordinator", value_hint = ValueHint::FilePath)]
    key_file: Option<PathBuf>,
    /// A host that is lost ends the run, or the others go on without it
    #[arg(long, value_name = "ACTION", value_enum, default_value_t)]
    on_lost_host: OnLostHost,
    /// Time for all hosts to come, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    join_limit: u64,
    /// Be a worker: a fleet starts its workers so
    #[arg(long, value_name = "RANK", hide = true)]
    pub(super) attend: Option<u32>,
}

/// What is done when a host is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum OnLostHost {
    /// The run ends, and what all have done is reported.
    #[default]
    End,
    /// The others go on.
    Continue,
}

impl FleetOptions {
    /// The hosts, each once for each worker.
    ///
    /// # Errors
    /// There are none.
    pub(super) fn hosts(&self) -> anyhow::Result<Vec<String>> {
        let mut hosts = self.hosts.clone();
        if let Some(path) = &self.hostfile {
            let text = std::fs::read_to_string(path).with_context(|| format!("--hostfile={}", path.display()))?;
            let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            hosts.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        }
        if let Some(host) = hosts.iter().find(|host| host.is_empty() || host.starts_with('-')) {
            return Err(anyhow!("{host:?} is no host"));
        }
        if hosts.is_empty() {
            return Err(anyhow!("no hosts are given: --hosts=a,b,c or --hostfile=FILE, or start it by srun or mpirun"));
        }
        Ok(hosts)
    }

    /// True if hosts are given.
    pub(super) fn has_hosts(&self) -> bool {
        !self.hosts.is_empty() || self.hostfile.is_some()
    }

    /// Where ranks of a step meet.
    pub(super) fn meeting(&self, step: &str) -> Meeting {
        match (&self.coordinator, &self.key_file) {
            (Some(address), Some(key_file)) => Meeting::Known { address: address.clone(), key_file: key_file.clone() },
            _ => Meeting::in_directory(&self.rendezvous, step),
        }
    }

    pub(super) fn shell(&self) -> RemoteShell {
        let command = self.rsh.split_whitespace().map(str::to_owned).collect();
        RemoteShell { command, program: self.remote_program.clone() }
    }

    pub(super) fn join_limit(&self) -> Duration {
        Duration::from_secs(self.join_limit)
    }

    pub(super) fn on_lost_host(&self) -> LostHost {
        match self.on_lost_host {
            OnLostHost::End => LostHost::End,
            OnLostHost::Continue => LostHost::Continue,
        }
    }
}

/// `ferrio fleet`.
pub(crate) fn describe() -> Command {
    let command = of_jobs("ferrio fleet", "Run fio's jobs on many hosts at once")
        .long_about(
            "Run fio's job files and options on many hosts at once, and report what all of them have measured: for each job the figures \
             of all hosts together (merged exactly, not averaged) and of each host. All hosts lay out their files, then start at the same \
             moment, and pass each stonewall together.\n\n  \
             ferrio fleet --hosts=a,b,c JOBFILE    (by ssh)\n  \
             srun ferrio fleet JOBFILE             (a step of Slurm)\n  \
             mpirun ferrio fleet JOBFILE           (started by MPI)\n\n\
             All hosts need the same ferrio. In job files $rank is the number of a host from 0, $host its name and \
             $hosts their number.",
        )
        .after_help(
            "Exit code: the number of failed jobs and lost hosts; 128 more after a signal; 2 if nothing could be run.",
        );
    let command = PageOption::augment_args(JsonOption::augment_args(command));
    AllowOptions::augment_args(FleetOptions::augment_args(command))
}
