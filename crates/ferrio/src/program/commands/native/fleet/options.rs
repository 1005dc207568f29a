//! The options of `ferrio fleet`, and its description.

use super::manifest::Pods;
use crate::commands::native::web::ViewOptions;
use crate::commands::native::{CsvOption, JsonOption, PageOption, describe};
use crate::shared::hosts::{DOUBLED, HostsOptions, MeetingOptions};
use crate::shared::serving::ServeOptions;
use crate::ui::described::of_jobs;
use crate::ui::permits::AllowOptions;
use clap::{Arg, Args, Command, ValueEnum};
use ferrio::fleet::worker::FleetRank;
use ferrio_spec::OUTPUT_FORMAT_NAMES;

// The hosts, and the other ways to have some.
#[derive(Debug, Args)]
pub(super) struct FleetOptions {
    #[command(flatten)]
    pub(super) hosts: HostsOptions,
    #[command(flatten)]
    pub(super) serve: ServeOptions,
    #[command(flatten)]
    pub(super) meeting: MeetingOptions,
    // The command `sweep` takes it, and makes the runs.
    /// Make the same run on the first host, on two, four and so on up to all of them, or on these numbers of hosts (1,2,3,4), and report how throughput grows: where the storage saturates. It is a sweep over hosts, and takes the options of ferrio sweep (--repeat, --folder, --over, --json, ...)
    #[arg(long, value_name = "NUMBERS", num_args = 0..=1, require_equals = true, default_missing_value = DOUBLED)]
    scale: Option<String>,
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
    #[arg(long, value_name = "RANK/HOSTS", hide = true)]
    pub(super) attend: Option<FleetRank>,
}

/// Where a fleet is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ManifestKind {
    /// An indexed Job with its Service and its Secret.
    Kubernetes,
}

impl FleetOptions {
    /// The pods of a manifest.
    pub(super) fn pods(&self) -> Pods<'_> {
        let scale = self.scale.as_ref().map(|numbers| format!("--scale={numbers}"));
        Pods {
            image: self.image.as_deref().unwrap_or_default(),
            n_hosts: self.pods.unwrap_or(1),
            claim: self.claim.as_deref(),
            // Images are fetched first.
            options: self.hosts.words_for_ranks(300).into_iter().chain(scale).collect(),
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
    let command = ViewOptions::augment_args(PageOption::augment_args(command.args(describe::files_of_a_run())));
    AllowOptions::augment_args(FleetOptions::augment_args(command))
}
