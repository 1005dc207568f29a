//! `ferrio profile`: what storage can do, in one report, from a file of its own or from the reads of a device.
//!
//! Must not know: what is measured, how a page is laid out. Start reading at [`run`].

mod page;
mod text;

use crate::shared::engine_choice::engine_of_this_kernel;
use crate::shared::own_directory::OwnDirectory;
use crate::ui::arguments;
use crate::ui::byte_size;
use crate::ui::console::Console;
use crate::ui::exit;
use crate::ui::runs_on_terminal::RunsOnTerminal;
use crate::ui::signals::Signals;
use anyhow::anyhow;
use clap::{CommandFactory, Parser};
use ferrio::profile::{ProfileError, ProfileOutcome, ProfileTarget, Profiling};
use ferrio::session::VERSION;
use ferrio_job::SystemEnvironment;
use ferrio_sys::block_device;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::file_space::file_system_space;
use ferrio_sys::output::AtomicFile;
use ferrio_units::humanize::bytes_text;
use ferrio_units::value::{TimeUnit, parse_time_us};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const PROGRAM: &str = "ferrio profile";

const TIME_MS: u64 = 15 * 60_000;
const QUICK_MS: u64 = 2 * 60_000 + 30_000;
const LEAST_MS: u64 = 5_000;
/// The largest file that is taken without being asked for, and the part of the free space that it may be.
const DEFAULT_BYTES: u64 = 8 << 30;
const FREE_PARTS: u64 = 10;
const LEAST_BYTES: u64 = 64 << 20;
/// Free space that a file of a size that was asked for leaves.
const LEFT_FREE_BYTES: u64 = 64 << 20;

const ABOUT: &str = "\
Measure what storage can do, in one report: latency of one I/O at a time, IOPS and bandwidth by block size and depth, a mix of reads and writes, syncs, long runs (burst, then \
sustained; slow I/Os over time), and what the page cache adds.

  ferrio profile /data -o profile.html
  ferrio profile /dev/nvme1n1 -o reads.html     reads alone, no write

In a directory, the file is ferrio's own: it is filled with random data before and removed afterwards, also after an error or Ctrl-C. It takes a tenth of the free space, \
at most 8 GiB. The report says what it does not tell.";

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio profile",
    bin_name = "ferrio profile",
    about = "Measure what storage can do, in one report",
    long_about = ABOUT,
    after_help = exit::PLAIN_OR_SIGNAL,
)]
struct Request {
    /// A directory on the storage, or a block device that is only read
    #[arg(value_name = "DIR|DEVICE", value_hint = clap::ValueHint::AnyPath)]
    path: PathBuf,
    /// Take two and a half minutes instead of fifteen
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    /// Time of all runs, such as 30m, at least 5s
    #[arg(long, value_name = "TIME", value_parser = time_ms)]
    time: Option<u64>,
    /// Size of the file, such as 2g, at least 64m
    #[arg(long, value_name = "SIZE", value_parser = file_size)]
    size: Option<u64>,
    /// Write the page
    #[arg(short = 'o', long, value_name = "PAGE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

fn time_ms(text: &str) -> anyhow::Result<u64> {
    let time_ms = parse_time_us(text, TimeUnit::Seconds)? / 1_000;
    if time_ms < LEAST_MS { Err(anyhow!("at least {} s are needed", LEAST_MS / 1_000)) } else { Ok(time_ms) }
}

fn file_size(text: &str) -> anyhow::Result<u64> {
    let bytes = byte_size::parse(text)?;
    if bytes < LEAST_BYTES { Err(anyhow!("a file has at least {}", bytes_text(LEAST_BYTES))) } else { Ok(bytes) }
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    arguments::answer(PROGRAM, arguments, answer)
}

fn answer(request: &Request, console: &mut Console) -> anyhow::Result<ExitCode> {
    let path = std::fs::canonicalize(&request.path)
        .map_err(|error| anyhow!("{}: {}", request.path.display(), ferrio_units::error_text(&error)))?;
    // A place that takes no page is known before the runs.
    let page = request.output.as_deref().map(|page| AtomicFile::create(page, &Arc::default())).transpose();
    let page = page.map_err(|error| anyhow!("the page cannot be written: {}", ferrio_units::error_text(&error)))?;
    // Before anything is made: from now on a signal ends in its removal.
    let signals = Signals::listen(true)?;
    let (target, own) = target(&path, request.size)?;
    let measured = measure(&target, request, &signals, console);
    if let Some(own) = &own {
        own.remove(PROGRAM, console);
    }
    let outcome = match measured {
        Err(ProfileError::Stopped) => {
            let number = signals.first().unwrap_or_default();
            console.error(&format!("{PROGRAM}: ended by signal {number}\n"));
            return Ok(exit::by_signal(Some(number)));
        }
        measured => measured?,
    };
    if request.json {
        let document =
            serde_json::json!({ "version": VERSION, "path": path, "engine": target.engine, "outcome": outcome });
        console.report(&format!("{document:#}\n"));
    } else {
        console.report(&text::outcome(&outcome));
    }
    if let Some(page) = page {
        let written = page.write(page::page(&outcome, &path, &target).as_bytes());
        written.map_err(|error| anyhow!("the page cannot be written: {}", ferrio_units::error_text(&error)))?;
    }
    Ok(exit::at_end(console.has_failed))
}

/// What is measured at a path, and the directory of a file that is made.
fn target(path: &Path, size: Option<u64>) -> anyhow::Result<(ProfileTarget, Option<OwnDirectory>)> {
    let engine = engine_of_this_kernel().to_owned();
    let info = FileInfo::of_path(path)?;
    match info.kind {
        FileKind::Directory => {
            let available = file_system_space(path)?.available_bytes;
            let bytes = size.unwrap_or((available / FREE_PARTS).min(DEFAULT_BYTES));
            let (free, least) = (bytes_text(available), bytes_text(LEAST_BYTES));
            if size.is_some_and(|bytes| bytes > available.saturating_sub(LEFT_FREE_BYTES)) {
                let left = bytes_text(LEFT_FREE_BYTES);
                return Err(anyhow!("{}: {free} are free, of which {left} are left alone", path.display()));
            }
            if bytes < LEAST_BYTES {
                let of_free = if size.is_none() {
                    format!("a tenth of {free}, which are free, is too little; ")
                } else {
                    String::new()
                };
                return Err(anyhow!("{}: {of_free}at least {least} are needed (--size)", path.display()));
            }
            let own = OwnDirectory::make(path, "profile")?;
            Ok((ProfileTarget { path: own.0.join("data"), bytes, is_written: true, engine }, Some(own)))
        }
        FileKind::Block if size.is_some() => Err(anyhow!("--size is about a file: a device is read as it is")),
        FileKind::Block => {
            let device = File::open(path)
                .map_err(|error| anyhow!("{}: {}", path.display(), ferrio_units::error_text(&error)))?;
            let bytes = block_device::size_bytes(&device)?;
            if bytes < LEAST_BYTES {
                return Err(anyhow!("{}: it has less than {}", path.display(), bytes_text(LEAST_BYTES)));
            }
            Ok((ProfileTarget { path: path.to_owned(), bytes, is_written: false, engine }, None))
        }
        _ => Err(anyhow!("{}: it is neither a directory nor a block device", path.display())),
    }
}

fn measure(
    target: &ProfileTarget,
    request: &Request,
    signals: &Signals,
    console: &mut Console,
) -> Result<ProfileOutcome, ProfileError> {
    let time_ms = request.time.unwrap_or(if request.quick { QUICK_MS } else { TIME_MS });
    let environment = SystemEnvironment::new(VERSION);
    let profiling = Profiling::new(target.clone(), time_ms, &environment)?;
    if !request.json {
        console.report(&text::before(target, time_ms, profiling.n_runs()));
    }
    let mut driver = RunsOnTerminal::start(signals, profiling.n_runs());
    let outcome = profiling.run(&mut driver);
    driver.end();
    outcome
}
