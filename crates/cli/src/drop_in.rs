//! The drop-in for fio: same arguments, streams, outputs and exit codes.
//!
//! Must not know: how jobs are parsed or run. Start reading at [`run`].

use crate::console::Console;
use crate::inflate_log;
use crate::progress::Progress;
use crate::records;
use crate::reporter::Reporter;
use crate::version::VERSION;
use ferrio_job::debug::GROUPS;
use ferrio_job::invocation::{EtaWhen, Formats, IdleKind};
use ferrio_job::message::{Message, Stream};
use ferrio_job::{Invocation, Mode, SystemEnvironment, UsageError};
use ferrio_report::logs::LogFiles;
use ferrio_run::{ControlSettings, EtaSettings, IdleDetail, RunOutcome, RunSettings, TraceSettings, Trigger};
use ferrio_stats::MessageStream;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Does what the arguments (the first is the program's name) ask for.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match ferrio_job::parse(arguments, &SystemEnvironment::new(VERSION)) {
        Ok(invocation) => invoke(invocation, arguments),
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

fn invoke(invocation: Invocation, arguments: &[OsString]) -> ExitCode {
    if let Some(path) = &invocation.inflate_log {
        return inflate_log::print(path);
    }
    let mut console = match open_console(invocation.output.file.as_deref()) {
        Ok(console) => console,
        Err(error) => {
            let path = invocation.output.file.as_deref().unwrap_or(Path::new(""));
            Console::standard().error(&format!("fio: cannot open output file {}: {error}\n", path.display()));
            return ExitCode::FAILURE;
        }
    };
    if invocation.mode == Mode::MergeTraces {
        return merge_traces(invocation, &mut console);
    }
    if invocation.mode != Mode::Run {
        print_all(&mut console, &invocation.messages);
        let calibrates = invocation.mode == Mode::IdleCalibration;
        return if calibrates { calibrate_idle(&mut console) } else { ExitCode::SUCCESS };
    }
    if has_documents_alone(invocation.output.formats) {
        console.collect_messages();
    }
    if writes_to_stdout(&invocation) {
        console.keep_stdout_free();
    }
    print_all(&mut console, &invocation.messages);
    start(invocation, arguments, &mut console)
}

/// `--merge-blktrace-only`.
fn merge_traces(invocation: Invocation, console: &mut Console) -> ExitCode {
    print_all(console, &invocation.messages);
    let reporter = Reporter::new(&invocation.output);
    let mut progress = Progress::new(console, &reporter, invocation.eta);
    match ferrio_run::merge_only(invocation.run, &mut progress) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.error(&format!("{error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// `--idle-prof=calibrate`: text, whatever the format.
fn calibrate_idle(console: &mut Console) -> ExitCode {
    match ferrio_run::calibrate_idle() {
        Ok(idleness) => {
            console.info(&ferrio_report::normal::calibration(&idleness));
            ExitCode::SUCCESS
        }
        Err(error) => {
            console.error(&format!("fio: how idle the CPUs are is not measured: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// JSON is wanted and text for people is not: nothing may stand between documents and records.
fn has_documents_alone(formats: Formats) -> bool {
    (formats.json || formats.json_plus || formats.jsonl) && !formats.normal
}

fn start(invocation: Invocation, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let reporter = Reporter::new(&invocation.output);
    let settings = RunSettings {
        version: VERSION.to_owned(),
        readonly: invocation.readonly,
        trace: trace_settings(&invocation),
        eta: EtaSettings { enabled: shows_eta(&invocation), interval_ms: invocation.eta.interval_ms },
        open_logs: || Box::new(LogFiles::new()),
        control: control_settings(&invocation.control, has_documents_alone(invocation.output.formats)),
        command_line: arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        record_interval: record_interval(&invocation),
    };
    let started_at = Instant::now();
    let mut progress = Progress::new(console, &reporter, invocation.eta);
    if let Some(prefix) = &invocation.control.bandwidth_log {
        progress.open_bandwidth_logs(prefix);
    }
    if let Some(n_slices) = invocation.n_latency_slices {
        progress.count_slices(n_slices);
    }
    let global_options = invocation.run.global_options.clone();
    match ferrio_run::run(invocation.run, &settings, &mut progress) {
        Ok(outcome) => {
            progress.tell_slices();
            if reporter.writes_records() {
                let exit = exit_number(&outcome, console);
                records::end(console, exit, outcome.signal, started_at.elapsed());
            }
            reporter.report(console, &outcome.result);
            ExitCode::from(exit_number(&outcome, console))
        }
        Err(error) => {
            console.error(&format!("{error}\n"));
            if reporter.writes_records() {
                records::message(console, MessageStream::Error, &error.to_string());
                records::end(console, 1, None, started_at.elapsed());
            }
            if reporter.writes_json() {
                // Who reads documents finds one, and in it why nothing ran.
                reporter.report(console, &ferrio_run::without_jobs(settings.version, global_options));
            }
            ExitCode::FAILURE
        }
    }
}

/// A row of the table of latencies.
const SLICE: Duration = Duration::from_secs(3_600);

/// Records of intervals have the length of the reports between, if there are any.
fn record_interval(invocation: &Invocation) -> Option<Duration> {
    let interval = invocation.control.status_interval_ms.map(Duration::from_millis);
    let recorded = invocation.output.formats.jsonl.then(|| interval.unwrap_or(records::DEFAULT_INTERVAL));
    recorded.or_else(|| invocation.n_latency_slices.map(|_| SLICE))
}

/// `keeps_stdout_free`: the command of a trigger writes nothing between the reports.
fn control_settings(control: &ferrio_job::invocation::ControlSettings, keeps_stdout_free: bool) -> ControlSettings {
    ControlSettings {
        status_interval: control.status_interval_ms.map(Duration::from_millis),
        status_file: Some(temporary_directory().join("fio-dump-status")),
        idle: control.idle.map(|kind| match kind {
            IdleKind::System => IdleDetail::System,
            IdleKind::PerCpu => IdleDetail::PerCpu,
        }),
        samples_bandwidth: control.bandwidth_log.is_some(),
        trigger: Trigger {
            file: control.trigger.file.clone(),
            timeout: control.trigger.timeout_secs.map(Duration::from_secs),
            command: control.trigger.command.clone(),
            keeps_stdout_free,
        },
    }
}

/// Where fio looks for the file that asks for a report.
fn temporary_directory() -> PathBuf {
    let given = ["TMPDIR", "TEMP"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    given.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// Groups of `--debug` by name.
fn trace_settings(invocation: &Invocation) -> TraceSettings {
    let is_set = |index: &usize| invocation.debug.mask & (1 << *index) != 0;
    let names = (0..GROUPS.len()).filter(is_set).map(|index| GROUPS[index]);
    TraceSettings::new(names, invocation.debug.job_number)
}

/// Number of failed jobs, and 128 more when a signal ended the run; output or logs that are not whole count as one.
fn exit_number(outcome: &RunOutcome, console: &Console) -> u8 {
    let signal = if outcome.signal.is_some() { 128 } else { 0 };
    let has_lost = console.has_failed || outcome.n_logs_lost > 0;
    let code = (outcome.n_failed + signal + u32::from(has_lost)) & 0xff;
    code as u8
}

/// The ETA line is for terminals, unless it is always wanted; it never goes between machine-readable output, not even
/// with `--eta=always`: so it is in fio.
fn shows_eta(invocation: &Invocation) -> bool {
    let shares_output = invocation.output.file.is_none() && !invocation.output.formats.normal;
    match invocation.eta.when {
        _ if shares_output => false,
        EtaWhen::Always => true,
        EtaWhen::Never => false,
        EtaWhen::Auto => std::io::stdout().is_terminal(),
    }
}

fn writes_to_stdout(invocation: &Invocation) -> bool {
    invocation.run.jobs.iter().any(|job| {
        job.pattern.mix != ferrio_job::spec::DirectionMix::Read && job.target.filenames.iter().any(|name| name == "-")
    })
}
