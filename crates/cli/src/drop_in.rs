//! The drop-in for fio: same arguments, streams, outputs and exit codes.
//!
//! Must not know: how jobs are parsed or run. Start reading at [`run`].

use crate::console::Console;
use crate::progress::Progress;
use crate::version::VERSION;
use ferrio_job::debug::GROUPS;
use ferrio_job::invocation::{EtaWhen, Formats, OutputSettings};
use ferrio_job::message::{Message, Stream};
use ferrio_job::{Invocation, Mode, SystemEnvironment, UsageError};
use ferrio_report::eta::EtaLine;
use ferrio_report::terse::TerseVersion;
use ferrio_report::{LocalTime, OutputFormat, RenderOptions, combined};
use ferrio_run::{EtaSettings, RunOutcome, RunSettings, TraceSettings};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Does what the arguments (the first is the program's name) ask for.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match ferrio_job::parse(arguments, &SystemEnvironment::new(VERSION)) {
        Ok(invocation) => invoke(invocation),
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &UsageError) -> ExitCode {
    let mut console = open_console(error.output_file.as_deref()).unwrap_or_else(|_| Console::standard());
    print_all(&mut console, &error.messages);
    ExitCode::from(error.exit_code)
}

fn open_console(path: Option<&Path>) -> std::io::Result<Console> {
    path.map_or_else(|| Ok(Console::standard()), Console::to_file)
}

fn print_all(console: &mut Console, messages: &[Message]) {
    for (stream, text) in messages {
        match stream {
            Stream::Stdout => console.info(text),
            Stream::Stderr => console.error(text),
        }
    }
}

fn invoke(invocation: Invocation) -> ExitCode {
    let mut console = match open_console(invocation.output.file.as_deref()) {
        Ok(console) => console,
        Err(error) => {
            let path = invocation.output.file.as_deref().unwrap_or(Path::new(""));
            Console::standard().error(&format!("fio: cannot open output file {}: {error}\n", path.display()));
            return ExitCode::FAILURE;
        }
    };
    print_all(&mut console, &invocation.messages);
    if invocation.mode == Mode::Run { start(invocation, &mut console) } else { ExitCode::SUCCESS }
}

fn start(invocation: Invocation, console: &mut Console) -> ExitCode {
    let formats = formats_of(&invocation.output);
    let render = RenderOptions {
        terse_version: TerseVersion::from_number(u32::from(invocation.output.terse_version)).unwrap_or_default(),
        zone: LocalTime::system(),
    };
    let settings = RunSettings {
        version: VERSION.to_owned(),
        readonly: invocation.readonly,
        trace: trace_settings(&invocation),
        eta: EtaSettings { enabled: shows_eta(&invocation), interval_ms: invocation.eta.interval_ms },
    };
    if writes_to_stdout(&invocation) {
        console.keep_stdout_free();
    }
    let mut progress = Progress {
        console,
        formats: &formats,
        render: &render,
        eta: invocation.eta,
        line: EtaLine::default(),
        line_started_at: Instant::now(),
        has_line: false,
    };
    match ferrio_run::run(invocation.run, &settings, &mut progress) {
        Ok(outcome) => {
            console.info(&combined::render(&outcome.result, &formats, &render));
            exit_code(&outcome, console)
        }
        Err(error) => {
            console.error(&format!("{error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Groups of `--debug` by name.
fn trace_settings(invocation: &Invocation) -> TraceSettings {
    let is_set = |index: &usize| invocation.debug.mask & (1 << *index) != 0;
    let names = (0..GROUPS.len()).filter(is_set).map(|index| GROUPS[index]);
    TraceSettings::new(names, invocation.debug.job_number)
}

/// Number of failed jobs, and 128 more when a signal ended the run.
fn exit_code(outcome: &RunOutcome, console: &Console) -> ExitCode {
    let signal = if outcome.signal.is_some() { 128 } else { 0 };
    let code = (outcome.n_failed + signal + u32::from(console.has_failed)) & 0xff;
    ExitCode::from(code as u8)
}

fn formats_of(output: &OutputSettings) -> BTreeSet<OutputFormat> {
    let Formats { normal, terse, json, json_plus } = output.formats;
    let wanted = [
        (normal, OutputFormat::Normal),
        (terse, OutputFormat::Terse),
        (json, OutputFormat::Json),
        (json_plus, OutputFormat::JsonPlus),
    ];
    wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, format)| format).collect()
}

/// The ETA line is for terminals, unless it is always wanted; it never goes between machine-readable output.
fn shows_eta(invocation: &Invocation) -> bool {
    let shares_output = invocation.output.file.is_none() && !invocation.output.formats.normal;
    match invocation.eta.when {
        EtaWhen::Always => true,
        EtaWhen::Never => false,
        EtaWhen::Auto => std::io::stdout().is_terminal() && !shares_output,
    }
}

fn writes_to_stdout(invocation: &Invocation) -> bool {
    invocation.run.jobs.iter().any(|job| {
        job.pattern.mix != ferrio_job::spec::DirectionMix::Read && job.target.filenames.iter().any(|name| name == "-")
    })
}
