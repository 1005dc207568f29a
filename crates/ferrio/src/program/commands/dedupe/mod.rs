//! `ferrio dedupe`: how much of a file or device repeats, and how much compresses.
//!
//! Must not know: how blocks are counted, the layout of the text. Start reading at [`run`].

mod progress;
mod shown;

use crate::ui::exit;
use crate::ui::signals::Signals;
use crate::ui::{arguments, byte_size};
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio_run::repeats::{OpenError, RepeatFigures, Scan, ScanFailure, ScanRequest};
use ferrio_sys::Error as SystemError;
use ferrio_units::error_text;
use progress::ScanBar;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const PROGRAM: &str = "ferrio dedupe";

/// More threads are of no use: reading limits them.
const MAX_DEFAULT_THREADS: usize = 8;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio dedupe",
    bin_name = "ferrio dedupe",
    about = "Show how much of a file or device repeats, and how much compresses",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN_OR_SIGNAL,
)]
struct Request {
    /// File or block device, which is only read
    #[arg(value_name = "FILE")]
    target: PathBuf,
    /// Size of a block, such as 4k
    #[arg(short = 'b', long, value_name = "BYTES", default_value = "4096", value_parser = byte_size::parse)]
    block_size: u64,
    /// Threads that read [default: one a CPU, at most 8]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: Option<u64>,
    /// Read past the page cache (`O_DIRECT`)
    #[arg(short = 'o', long)]
    direct: bool,
    /// Compress each different block by itself
    #[arg(short = 'C', long)]
    compress: bool,
    /// List the N blocks that occur most often
    #[arg(short = 'd', long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    most: u64,
    /// Memory for the table of blocks, MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    memory: u64,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

const LONG_ABOUT: &str = "\
Show how much of a file or device repeats, and how much compresses.

Reads all whole blocks and compares them by hash values of 128 bits. Where the \
different blocks need more than --memory, it goes on with every second, fourth, \
... hash value, and the figures are estimates. Ctrl-C ends it with the figures \
so far. The last lines are options for jobs that write such data.

  ferrio dedupe --compress /var/lib/images/disk.img
  ferrio dedupe --block-size=128k --direct --threads=4 /dev/sdb";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::answer(PROGRAM, arguments, |request: &Request, console| {
        let (repeats, signal) = scan(request)?;
        if request.json {
            console.report(&format!("{:#}\n", shown::document(&request.target, &repeats)));
        } else {
            console.report(&shown::text(&repeats));
        }
        if let Some(why) = shown::unreadable(&repeats) {
            console.error(&format!("{PROGRAM}: {}: {why}\n", request.target.display()));
        }
        let is_whole = repeats.is_complete() && !console.has_failed;
        Ok(signal.map_or_else(|| exit::at_end(!is_whole), |signal| exit::by_signal(Some(signal))))
    })
}

/// The figures, and the signal that ended the scan.
fn scan(request: &Request) -> anyhow::Result<(RepeatFigures, Option<i32>)> {
    let of_machine = || std::thread::available_parallelism().map_or(1, usize::from).min(MAX_DEFAULT_THREADS);
    let wanted = ScanRequest {
        block_bytes: usize::try_from(request.block_size).unwrap_or(usize::MAX),
        n_threads: request.threads.map_or_else(of_machine, |threads| threads as usize),
        is_direct: request.direct,
        packs: request.compress,
        memory_bytes: (request.memory as usize) << 20,
        n_most: request.most as usize,
    };
    let path = &request.target;
    let scan = Scan::open(path, wanted).map_err(|error| anyhow!("{}: {}", path.display(), reason(&error)))?;
    // Before the threads of the scan.
    let signals = Signals::listen(true).map_err(|error| anyhow!("signals cannot be received: {error}"))?;
    let bar = ScanBar::start(scan.whole_bytes());
    let repeats = scan.run(&mut |n_bytes| {
        bar.set(n_bytes);
        signals.first().is_none()
    });
    bar.end();
    let repeats = repeats.map_err(|error| anyhow!(why_not_run(path, &error)))?;
    let signal = signals.first().filter(|_| repeats.was_stopped);
    Ok((repeats, signal))
}

/// Why a target cannot be opened, without its name.
fn reason(error: &OpenError) -> String {
    match error {
        OpenError::System(SystemError::Call { source, .. }) => format!("it cannot be read: {}", error_text(source)),
        other => other.to_string(),
    }
}

fn why_not_run(path: &Path, error: &ScanFailure) -> String {
    format!("{}: {error}", path.display())
}
