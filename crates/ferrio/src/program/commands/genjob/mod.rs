//! `ferrio genjob`: options or answers to questions become a job file with comments.
//!
//! Must not know: which options a job gets, how targets are looked at. Start reading at [`run`].

mod ask;
mod job;
mod request;
mod target;

use crate::ui::exit;
use crate::ui::{arguments, byte_size, job_text};
use clap::{CommandFactory, Parser};
use ferrio_sys::output::{FileRole, ProtectedPaths};
use request::{JobGoal, JobRequest};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use target::JobTarget;

const PROGRAM: &str = "ferrio genjob";

/// What is given; what is not has a default, or is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio genjob",
    bin_name = "ferrio genjob",
    about = "Make a job file, with comments that explain its options",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// What to measure [default: latency]
    #[arg(short = 'm', long, value_name = "KIND")]
    measure: Option<JobGoal>,
    /// A directory, a file or a block device [default: the current directory]
    #[arg(short = 't', long, value_name = "PATH", value_parser = job_text::check_value)]
    target: Option<String>,
    /// The job may write; otherwise it only reads
    #[arg(short = 'w', long)]
    write: bool,
    /// The job may also destroy what is on the target
    #[arg(long, requires = "write")]
    overwrite: bool,
    /// Share of reads, in percent
    #[arg(short = 'r', long, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(0..=100))]
    read_share: Option<u64>,
    /// Size of a block, such as 4k
    #[arg(short = 'b', long, value_name = "BYTES", value_parser = request::block_size)]
    block_size: Option<u64>,
    /// I/Os that are in flight together
    #[arg(short = 'q', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    depth: Option<u64>,
    /// Size of the data, such as 10g
    #[arg(short = 's', long, value_name = "BYTES", value_parser = byte_size::parse)]
    size: Option<u64>,
    /// Runtime in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    runtime: Option<u64>,
    /// Go through the page cache
    #[arg(long)]
    buffered: bool,
    /// Write the job file here, where no file is yet
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace that file if it is there
    #[arg(long)]
    force: bool,
    /// Ask for what is not given, also without a terminal
    #[arg(long)]
    ask: bool,
}

const LONG_ABOUT: &str = "\
Make a job file, with comments that explain its options.

Without options on a terminal, it asks. The job only reads unless --write is \
given, and it overwrites a device or a file with data only with --overwrite; \
devices that are mounted or otherwise in use are refused. Nothing is run.

  ferrio genjob --measure=iops --target=/mnt/data -o iops.fio
  ferrio genjob --measure=mixed --write --read-share=80 --block-size=16k";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        let is_alone = arguments.len() == 1 && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let wanted = if request.ask || is_alone {
            ask::all(request, &mut std::io::stdin().lock(), console)?
        } else {
            JobRequest::of(request)?
        };
        let target = JobTarget::look(&wanted)?;
        let job = job::text(&wanted, &target);
        let kept = ProtectedPaths::new([(PathBuf::from(&wanted.target), FileRole::Target)]);
        job_text::write(&job, request.output.as_deref(), request.force, kept, console)
    })
}
