//! `ferrio btrace`: a block trace becomes a job file that imitates it.
//!
//! Must not know: the format of traces, which option imitates what. Start reading at [`run`].

mod job;
mod shown;

use crate::ui::exit;
use crate::ui::{arguments, job_text};
use anyhow::anyhow;
use clap::{CommandFactory, Parser, ValueEnum};
use ferrio_stats::note::TraceFault;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::output::{FileRole, ProtectedPaths};
use ferrio_units::error_text;
use ferrio_workload::replay::{TraceBytes, TraceError, TraceProfile, profile};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const PROGRAM: &str = "ferrio btrace";

/// Most traces that are read at the same time; each takes 256 KiB and a descriptor.
const MAX_TRACES: usize = 512;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ferrio btrace",
    bin_name = "ferrio btrace",
    about = "Make a job file that imitates a block trace",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN,
)]
struct Request {
    /// Binary traces of blktrace: those of one recording, one for each CPU
    #[arg(value_name = "FILE", required = true)]
    traces: Vec<PathBuf>,
    /// Write the job file here, where no file is yet
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace that file if it is there
    #[arg(long)]
    force: bool,
    /// File or device of the jobs; without it, a new file of at most 1 GiB
    #[arg(short = 'd', long, value_name = "PATH", value_parser = job_text::check_value)]
    target: Option<String>,
    /// How the jobs keep the pace of the trace
    #[arg(long, value_name = "KIND", default_value = "rate")]
    pace: ImitatedPace,
    /// Largest iodepth of a job
    #[arg(short = 'D', long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=1 << 16))]
    max_depth: u64,
    /// Leave out processes with a smaller share of the I/Os, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = arguments::percent)]
    min_share: f64,
    /// A further option for all jobs, such as invalidate=0
    #[arg(short = 'a', long, value_name = "NAME=VALUE", value_parser = job_text::check_value)]
    add: Vec<String>,
    /// Print the figures of the trace as JSON, instead of a job file
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

const LONG_ABOUT: &str = "\
Make a job file that imitates a block trace.

Each process of the trace becomes a job with its directions, block sizes, order, \
depth and rate. A trace is recorded with blktrace -d /dev/sda -o sda, which \
writes a file for each CPU: give all of them. To replay each I/O of a trace as \
it was, use read_iolog instead. Without --target the jobs use a new file, so \
that they destroy nothing.

  ferrio btrace sda.blktrace.* -o sda.fio
  ferrio btrace sda.blktrace.* --target=/mnt/test/file --pace=none";

/// How the times of a trace are imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImitatedPace {
    /// As many I/Os a second
    Rate,
    /// The same pauses where nothing was in flight
    Thinktime,
    /// As fast as the device can
    None,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::run(PROGRAM, arguments, |request: &Request, console| {
        let profile = read(&request.traces)?;
        if request.json {
            console.report(&format!("{:#}\n", shown::document(&profile)));
            return Ok(());
        }
        let job = job::imitation(request, &profile);
        // Also with `--force` the job file replaces neither a trace nor the target.
        let mut kept = ProtectedPaths::inputs(&request.traces);
        request.target.iter().for_each(|target| kept.add(PathBuf::from(target), FileRole::Target));
        job_text::write(&job, request.output.as_deref(), request.force, kept, console)
    })
}

/// Reads the traces.
///
/// # Errors
/// In words: the trace, and why it cannot be read.
fn read(paths: &[PathBuf]) -> anyhow::Result<TraceProfile> {
    if paths.len() > MAX_TRACES {
        return Err(anyhow!("{} traces are too many: at most {MAX_TRACES} are read together", paths.len()));
    }
    let failed = |index: usize, error: &TraceError| {
        let path = paths.get(index).map(|path| path.display().to_string()).unwrap_or_default();
        anyhow!("{path}: {}", reason(error))
    };
    let mut traces: Vec<Arc<dyn TraceBytes>> = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        traces.push(Arc::new(open(path).map_err(|error| failed(index, &error.into()))?));
    }
    profile(traces, &|| false).map_err(|(index, error)| failed(index, &error))
}

#[derive(Debug)]
struct TraceOnDisk(File);

impl TraceBytes for TraceOnDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
}

fn open(path: &Path) -> io::Result<TraceOnDisk> {
    // Before it is opened: to open a pipe would wait for its other end.
    let kind = FileInfo::of_path(path).map(|info| info.kind);
    match kind {
        Ok(FileKind::Regular) | Err(_) => File::open(path).map(TraceOnDisk),
        Ok(FileKind::Directory) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a directory")),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Why a trace cannot be read.
fn reason(error: &TraceError) -> String {
    match error {
        TraceError::Io(error) if error.raw_os_error().is_some() => format!("it cannot be read: {}", error_text(error)),
        TraceError::Io(error) => error_text(error),
        TraceError::Stopped => "stopped".to_owned(),
        TraceError::Fault(fault) => match fault {
            TraceFault::Empty => "it is empty".to_owned(),
            TraceFault::NotBlktrace => "it is no binary trace of blktrace".to_owned(),
            TraceFault::Magic { magic, offset } => {
                format!("at byte {offset} is no record of blktrace: it begins with {magic:#x}")
            }
            TraceFault::Version { version, offset } => {
                format!("the record at byte {offset} has version {version}, and only version 7 is known")
            }
            TraceFault::NoIo { .. } => "no read, write or trim enters a queue in the trace".to_owned(),
            // Only replays meet these.
            other => format!("it cannot be imitated: {other:?}"),
        },
    }
}
