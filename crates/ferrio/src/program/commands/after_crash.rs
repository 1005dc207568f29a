//! `ferrio verify --after-crash`: checks whether data that jobs had synced before a crash is still there.
//!
//! Must not know: journals, blocks. Start reading at [`run`].

use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::described::of_jobs;
use crate::ui::exit::{self, Exit};
use crate::ui::own_options;
use anyhow::anyhow;
use clap::Args;
use ferrio::session::VERSION;
use ferrio_formats::words;
use ferrio_job::{Mode, SystemEnvironment, UsageError};
use ferrio_run::crash::check::{CrashCheck, CrashReport, Violation, after_crash};
use ferrio_run::crash::judge::Verdict;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

const PROGRAM: &str = "ferrio verify";

/// Assumed size of a device's atomic writes, without another statement by the user.
const SECTOR_BYTES: usize = 512;

/// Memory for the blocks of a journal, MiB, unless something else is asked for.
const MEMORY_MIB: usize = 512;

/// Violations that are shown; the others are counted.
const MAX_SHOWN: u64 = 1000;

/// The parsed arguments.
struct Request {
    check: CrashCheck,
    /// The job, as fio takes it; first the name of the program.
    job: Vec<OsString>,
}

// The command's own options.
#[derive(Debug, Args)]
struct CrashOptions {
    /// What is verified: the files of jobs after a power cut
    #[arg(long, required = true)]
    after_crash: bool,
    /// What the device writes as a whole [default: 512]
    #[arg(long, value_name = "BYTES", value_parser = unit_bytes)]
    atomic_unit: Option<usize>,
    /// Memory for the blocks of a journal; where they need more, the journal is read several times [default: 512]
    #[arg(long, value_name = "MIB", value_parser = memory_bytes)]
    memory: Option<usize>,
}

fn unit_bytes(text: &str) -> anyhow::Result<usize> {
    let bytes = text.parse().ok().filter(|bytes: &usize| *bytes >= SECTOR_BYTES && bytes.is_power_of_two());
    bytes.ok_or_else(|| anyhow!("a power of two is wanted, at least 512"))
}

fn memory_bytes(text: &str) -> anyhow::Result<usize> {
    let bytes = text.parse().ok().filter(|mib| *mib > 0).and_then(|mib: usize| mib.checked_mul(1 << 20));
    bytes.ok_or_else(|| anyhow!("a number of MiB is wanted, at least 1"))
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    let command = of_jobs("ferrio verify", "Say which synced writes a crash has lost")
        .long_about(
            "Read the journal (verify_crash_log) and the files of each job, change nothing, and say what became of every \
             block that was written.",
        )
        .after_help("Exit code: 0; 1 if a synced block is lost, or a block is torn; 2 after an error.");
    CrashOptions::augment_args(command)
}

/// Runs the command with its arguments (the command's name first). Exit code 1: a device lost synced data.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::standard();
    if arguments.get(1).is_some_and(|word| word == "--help" || word == "-h") {
        console.info(&arguments::help_text(describe()));
        return ExitCode::SUCCESS;
    }
    let request = match request(arguments) {
        Ok(request) => request,
        Err(complaint) => {
            console.error(&format!("{PROGRAM}: {complaint}\n{}", arguments::help_text(describe())));
            return Exit::Failed.into();
        }
    };
    match check(&request, &mut console) {
        Ok(reports) => {
            for report in &reports {
                console.info(&text(report));
            }
            let is_sound = reports.iter().all(|report| report.n_violations() == 0);
            if is_sound || console.has_failed { exit::at_end(console.has_failed) } else { Exit::Found.into() }
        }
        Err(message) => {
            console.error(&message.to_string());
            Exit::Failed.into()
        }
    }
}

fn request(arguments: &[OsString]) -> anyhow::Result<Request> {
    let mut job = arguments.to_vec();
    let options: CrashOptions = own_options::take(&mut job)?;
    job[0] = OsString::from("ferrio");
    if job.len() < 2 {
        return Err(anyhow!("there is no job: name its job file, or give its options"));
    }
    let check = CrashCheck {
        unit_bytes: options.atomic_unit.unwrap_or(SECTOR_BYTES),
        memory_bytes: options.memory.unwrap_or(MEMORY_MIB << 20),
    };
    Ok(Request { check, job })
}

fn check(request: &Request, console: &mut Console) -> anyhow::Result<Vec<CrashReport>> {
    let invocation = ferrio_job::parse(&request.job, &SystemEnvironment::new(VERSION));
    let refusal = |error: UsageError| match error.refusals() {
        Some(lines) => lines.lines().flat_map(|line| [PROGRAM, ": ", line, "\n"]).collect::<String>(),
        None => error.to_string(),
    };
    let invocation = invocation.map_err(|error| anyhow!(refusal(error)))?;
    console.print_all(&invocation.messages);
    if invocation.mode != Mode::Run {
        return Err(anyhow!(arguments::help_text(describe())));
    }
    let mut n_told = 0;
    let mut tell = |violation: Violation| {
        n_told += 1;
        if n_told <= MAX_SHOWN {
            console.error(&line(&violation));
        }
    };
    let reports =
        after_crash(&invocation.run.jobs, request.check, &mut tell).map_err(|error| anyhow!("{PROGRAM}: {error}\n"))?;
    if n_told > MAX_SHOWN {
        console.error(&format!("{PROGRAM}: {} more are not shown\n", n_told - MAX_SHOWN));
    }
    Ok(reports)
}

fn line(violation: &Violation) -> String {
    let what = match &violation.verdict {
        Ok(Verdict::Lost { wanted, found: Some(found) }) => {
            format!("lost: write {wanted} was synced, and the block is that of write {found}")
        }
        Ok(Verdict::Lost { wanted, found: None }) => format!("lost: write {wanted} was synced, and none is there"),
        Ok(Verdict::Torn { n_bad, n_units }) => {
            format!("torn: {n_bad} of {n_units} atomic units are of no write that may be there")
        }
        // These findings are no violations.
        Ok(_) => String::new(),
        Err(error) => format!("cannot be read: {}", words::system_error(error)),
    };
    format!("ferrio verify: {} offset {}: {what}\n", violation.file, violation.offset_bytes)
}

fn text(report: &CrashReport) -> String {
    let mut text = format!(
        "{}: {} writes issued, {} acknowledged, {} of them before the last completed sync\n",
        report.job_name, report.n_issued, report.n_acknowledged, report.n_durable
    );
    if report.n_issued == 0 {
        text.push_str("  nothing is checked: the journal has no writes\n");
    }
    for (what, n_blocks) in [
        ("blocks", report.n_blocks),
        ("there", report.n_there),
        ("in flight, not there", report.n_in_flight),
        ("lost after the last sync (allowed)", report.n_lost_later),
        ("of several writes (allowed)", report.n_mixed),
        ("lost before the last sync", report.n_lost),
        ("torn", report.n_torn),
        ("unreadable", report.n_unreadable),
    ] {
        // A string takes everything.
        let _ = writeln!(text, "  {what}: {n_blocks}");
    }
    let _ = writeln!(
        text,
        "  memory for them: at most {} bytes, the journal read {} times",
        report.memory_bytes, report.n_readings
    );
    if report.n_cut_bytes > 0 {
        let _ = writeln!(text, "  the journal ends with {} bytes of no record", report.n_cut_bytes);
    }
    text
}
