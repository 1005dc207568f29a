//! The options of `ferrio fleet`, and its description.

use super::manifest::Pods;
use crate::commands::native::{CsvOption, JsonOption, PageOption, describe};
use crate::shared::hosts::HostsOptions;
use crate::shared::serving::ServeOptions;
use crate::ui::described::of_jobs;
use crate::ui::permits::AllowOptions;
use clap::{Arg, Args, Command, ValueEnum, ValueHint};
use ferrio::fleet::launch::Meeting;
use ferrio_spec::OUTPUT_FORMAT_NAMES;
use std::path::PathBuf;

// The hosts, and the other ways to have some.
#[derive(Debug, Args)]
pub(super) struct FleetOptions {
    #[command(flatten)]
    pub(super) hosts: HostsOptions,
    #[command(flatten)]
    pub(super) serve: ServeOptions,
    /// A directory that all hosts share, in which ranks that srun or mpirun started find each other
    #[arg(long, value_name = "DIRECTORY", default_value = ".", value_hint = ValueHint::DirPath)]
    rendezvous: PathBuf,
    /// Host and port of rank 0, where the hosts share no directory
    #[arg(long, value_name = "HOST:PORT", requires = "key_file")]
    coordinator: Option<String>,
    /// A file with the key of the run, which all ranks have: 64 hexadecimal digits that nobody else can read
    #[arg(long, value_name = "FILE", requires = "coordinator", value_hint = ValueHint::FilePath)]
    key_file: Option<PathBuf>,
    /// Print what Kubernetes needs to run the fleet in pods, and run nothing
    #[arg(long, value_name = "KIND", value_enum, requires = "image", requires = "pods", conflicts_with_all = ["hosts", "hostfile"])]
    pub(super) manifest: Option<ManifestKind>,
    /// The image of the pods, with ferrio in its path
    #[arg(long, value_name = "IMAGE", requires = "manifest")]
    image: Option<String>,
    /// Number of pods
    #[arg(long, value_name = "N", requires = "manifest", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pods: Option<u32>,
    /// A persistent volume claim that all pods have as their directory
    #[arg(long, value_name = "CLAIM", requires = "manifest")]
    claim: Option<String>,
    /// Be a worker: a fleet starts its workers so
    #[arg(long, value_name = "RANK", hide = true)]
    pub(super) attend: Option<u32>,
}

/// Where a fleet is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ManifestKind {
    /// An indexed Job with its Service and its Secret.
    Kubernetes,
}

impl FleetOptions {
    /// Where ranks of a step meet.
    pub(super) fn meeting(&self, step: &str) -> Meeting {
        match (&self.coordinator, &self.key_file) {
            (Some(address), Some(key_file)) => Meeting::Known { address: address.clone(), key_file: key_file.clone() },
            _ => Meeting::in_directory(&self.rendezvous, step),
        }
    }

    /// The pods of a manifest.
    pub(super) fn pods(&self) -> Pods<'_> {
        Pods {
            image: self.image.as_deref().unwrap_or_default(),
            n_hosts: self.pods.unwrap_or(1),
            claim: self.claim.as_deref(),
            // Images are fetched first.
            options: self.hosts.words_for_ranks(300),
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
             All hosts need the same ferrio; --push copies it to those that lack it. In job files $rank (or ${FERRIO_RANK}) is the number of a host from 0, $host its name and \
             $hosts their number. Hosts that would write to one file or device are refused: --partition gives each a part of it, \
             --shared-writes allows it.",
        )
        .after_help(
            "Exit code: the number of failed jobs and lost hosts; 128 more after a signal; 2 if nothing could be run.",
        );
    let formats = format!(
        "The report in formats of fio, joined by commas: {OUTPUT_FORMAT_NAMES}. jsonl alone: a line of JSON for each second of each job, with host and rank, while the run goes on. --status-interval=TIME sets another length than a second"
    );
    let formats = Arg::new("output-format").long("output-format").value_name("LIST").help(formats);
    let command = CsvOption::augment_args(JsonOption::augment_args(command)).arg(formats);
    let command = PageOption::augment_args(command.args(describe::files_of_a_run()));
    AllowOptions::augment_args(FleetOptions::augment_args(command))
}
