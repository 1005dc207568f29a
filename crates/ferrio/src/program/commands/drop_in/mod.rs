//! The drop-in for fio: same arguments, streams, outputs and exit codes.
//!
//! Must not know: how jobs are parsed or run. Start reading at [`run`].

mod client;
mod inflate_log;
mod machine_tests;
mod server;

use crate::shared::engine_library;
use crate::shared::keeping::Keeping;
use crate::shared::protected_files;
use crate::shared::records::{self, EventLog};
use crate::ui::console::{Console, show_aside};
use crate::ui::exit;
use crate::ui::permits::{self, Author};
use crate::ui::progress::ProgressPrinter;
use crate::ui::reporter::Reporter;
use crate::ui::signals::Signals;
use ferrio::session::VERSION;
use ferrio::session::{Session, SessionOutcome};
use ferrio_formats::logs::AggregateLogs;
use ferrio_formats::record_file;
use ferrio_job::invocation::{EtaWhen, OutputSettings};
use ferrio_job::message::OutputStream;
use ferrio_job::{Invocation, Mode, SystemEnvironment, UsageError};
use ferrio_run::RunError;
use ferrio_spec::{ControlSettings, FormatKind, Trigger};
use ferrio_stats::{MessageStream, RunRecord};
use ferrio_sys::output::{AtomicFile, FileRole, ProtectedPaths};
use ferrio_units::Wording;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs ferrio as fio with `arguments` (the first is the program's name). The page `front` is printed before the help;
/// without arguments it is printed alone.
pub(crate) fn run(arguments: &[OsString], front: &str) -> ExitCode {
    let environment = SystemEnvironment::new(VERSION);
    if let Some(exit_code) = engine_library::help(arguments) {
        return exit_code;
    }
    match ferrio_job::parse(arguments, &environment) {
        Ok(invocation) if invocation.mode == Mode::Help => {
            let kept = protected_files::of_words(arguments, environment.opened_files());
            let mut console =
                open_console(invocation.output.file.as_deref(), &kept).unwrap_or_else(|_| Console::standard());
            if !front.is_empty() {
                console.info(&format!("{front}\n"));
            }
            console.print_all(&invocation.messages);
            ExitCode::SUCCESS
        }
        Ok(invocation) => invoke(invocation, environment.opened_files(), arguments),
        Err(error) if arguments.len() == 1 && !front.is_empty() => {
            let errors = error.messages.iter().filter(|(stream, _)| *stream == OutputStream::Stderr);
            errors.for_each(|(_, text)| Console::standard().error_line(text));
            Console::standard().info(front);
            ExitCode::from(error.exit_code)
        }
        Err(error) => refuse(&error, &protected_files::of_words(arguments, environment.opened_files())),
    }
}

fn refuse(error: &UsageError, kept: &ProtectedPaths) -> ExitCode {
    let mut console = open_console(error.output_file.as_deref(), kept).unwrap_or_else(|_| Console::standard());
    console.print_all(&error.messages);
    ExitCode::from(error.exit_code)
}

fn open_console(path: Option<&Path>, kept: &ProtectedPaths) -> std::io::Result<Console> {
    path.map_or_else(|| Ok(Console::standard()), |path| Console::to_file(path, kept))
}

/// Lines are written while the run goes on, before all names are known.
const LINES_TELL_ALL: &str = "--anonymous and --output-format=jsonl do not go together: lines are written before all names are known. \
                              'ferrio report --anonymous --output-format=jsonl' shows the record of a run that wrote jsonl";

fn invoke(invocation: Invocation, inputs: Vec<PathBuf>, arguments: &[OsString]) -> ExitCode {
    if let Some(path) = &invocation.inflate_log {
        return inflate_log::print(path);
    }
    let mut kept = protected_files::of_run(&invocation.run, &inputs);
    invocation.remote.sent_files().for_each(|path| kept.add(path.clone(), FileRole::Input));
    let mut console = match open_console(invocation.output.file.as_deref(), &kept) {
        Ok(console) => console,
        Err(error) => {
            let path = invocation.output.file.as_deref().unwrap_or(Path::new(""));
            Console::standard().complain(&format!("cannot open output file {}: {error}", path.display()));
            return ExitCode::FAILURE;
        }
    };
    if let Some(path) = &invocation.output.file {
        kept.add(path.clone(), FileRole::Output);
    }
    if matches!(invocation.mode, Mode::Run | Mode::MergeTraces) && !is_permitted(&invocation, &mut console) {
        return ExitCode::FAILURE;
    }
    if invocation.mode == Mode::MergeTraces {
        return merge_traces(invocation, &inputs, &mut console);
    }
    if invocation.mode != Mode::Run {
        if invocation.mode == Mode::Client && invocation.output.formats.has_documents_alone() {
            console.collect_messages();
        }
        console.print_all(&invocation.messages);
        return match invocation.mode {
            Mode::Serve => server::run(&invocation.remote, &kept, &mut console),
            Mode::Client => client::run(&invocation, &words_of(arguments), &Arc::new(kept), &mut console),
            Mode::IdleCalibration => calibrate_idle(&mut console),
            Mode::Machine(test) => machine_tests::run(test, &mut console),
            _ => ExitCode::SUCCESS,
        };
    }
    if invocation.output.is_anonymous && invocation.output.formats.has(FormatKind::Records) {
        console.complain(LINES_TELL_ALL);
        return ExitCode::FAILURE;
    }
    if invocation.output.formats.has_documents_alone() {
        console.collect_messages();
        if invocation.output.formats.has(FormatKind::Records) {
            console.keep_records_alone();
        }
    }
    if writes_to_stdout(&invocation) {
        console.keep_stdout_free();
    }
    console.print_all(&invocation.messages);
    start(invocation, &FilesOfRun { inputs, kept: Arc::new(kept) }, arguments, &mut console)
}

/// False, and said: with `--safe`, a job file would do more than a native command permits. With `--readonly` alone its jobs run as in fio, and
/// what they change is said.
fn is_permitted(invocation: &Invocation, console: &mut Console) -> bool {
    if let Some(lines) = permits::safe_refusal(invocation) {
        lines.lines().for_each(|line| console.complain(line));
        return false;
    }
    for line in permits::readonly_changes(invocation, Author::User) {
        show_aside(&format!("fio: --readonly: {line}, as in fio; --safe refuses it\n"));
    }
    true
}

/// `--merge-blktrace-only`.
fn merge_traces(mut invocation: Invocation, inputs: &[PathBuf], console: &mut Console) -> ExitCode {
    console.print_all(&invocation.messages);
    let reporter = Reporter::new(&invocation.output);
    let mut merge = || {
        let (signals, session) =
            (Signals::listen(false)?, Session::of_invocation(&mut invocation, inputs.to_vec(), [])?);
        let mut progress = ProgressPrinter::new(console, &reporter, &signals, invocation.eta);
        signals.steer(session.handle());
        session.merge_traces(&mut [&mut progress])
    };
    match merge() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.error(&format!("{}\n", text_of(&error)));
            ExitCode::FAILURE
        }
    }
}

/// The reason why nothing ran, or why traces were not merged.
fn text_of(error: &RunError) -> String {
    match error {
        RunError::Merge(note) => ferrio_formats::words::merge(note, Wording::Fio),
        error => error.to_string(),
    }
}

/// `--idle-prof=calibrate`: text, whatever the format.
fn calibrate_idle(console: &mut Console) -> ExitCode {
    match ferrio_run::calibrate_idle() {
        Ok(idleness) => {
            console.info(&ferrio_formats::normal::calibration(&idleness));
            ExitCode::SUCCESS
        }
        Err(error) => {
            console.complain(&format!("how idle the CPUs are is not measured: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn open_record(
    output: &OutputSettings,
    kept: &Arc<ProtectedPaths>,
    console: &mut Console,
) -> Result<Option<AtomicFile>, ExitCode> {
    let path = output.record.as_deref();
    let file = path.map(|path| AtomicFile::create(path, kept)).transpose();
    file.map_err(|error| {
        let (path, error) = (path.unwrap_or(Path::new("")).display(), ferrio_units::error_text(&error));
        console.complain(&format!("cannot write a record to {path}: {error}"));
        ExitCode::FAILURE
    })
}

/// Adds to the record of a run what was told beside its reports.
fn complete_record(record: &mut RunRecord, course: EventLog, is_anonymous: bool, console: &Console) {
    console.all_messages().clone_into(&mut record.messages);
    record.course = course.told;
    // The record leaves out what it tells about the machine.
    if is_anonymous {
        record.make_anonymous();
    }
}

/// Writes the record of a run. One that cannot be written counts in the exit code.
fn write_record(file: AtomicFile, record: &RunRecord, console: &mut Console) {
    if let Err(error) = file.write(&record_file::encode(record)) {
        console.complain(&format!("cannot write the record: {}", ferrio_units::error_text(&error)));
        console.has_failed = true;
    }
}

/// The files of a run that no output may replace.
struct FilesOfRun {
    /// Those that were read for its specification.
    inputs: Vec<PathBuf>,
    kept: Arc<ProtectedPaths>,
}

fn start(mut invocation: Invocation, files: &FilesOfRun, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let reporter = Reporter::new(&invocation.output);
    let record_file = match open_record(&invocation.output, &files.kept, console) {
        Ok(file) => file,
        Err(code) => return code,
    };
    let keeping = match Keeping::of(invocation.output.keep.as_deref(), None, console) {
        Ok(keeping) => keeping,
        Err(code) => return code,
    };
    let started_at = Instant::now();
    let global_options = invocation.run.global_options.clone();
    let is_stored = record_file.is_some() || keeping.is_some();
    let mut course = EventLog::new(is_stored, global_options.clone());
    let is_asked = record_file.is_some() || keeping.as_ref().is_some_and(Keeping::is_asked);
    let wish = match (is_asked, is_stored) {
        (true, _) => RecordMode::Whole,
        (false, true) => RecordMode::Aside,
        (false, false) => RecordMode::None,
    };
    let session = session_of(&mut invocation, files, arguments, wish);
    let run = session.and_then(|session| run_jobs(&invocation, session, &files.kept, &reporter, &mut course, console));
    match run {
        Ok((mut outcome, signal)) => {
            if reporter.writes_records() {
                let exit = exit::exit_number(&outcome, signal, console);
                course.end(console, exit, signal, started_at.elapsed());
            }
            reporter.report(console, &outcome.run.record);
            if is_stored {
                complete_record(&mut outcome.run.record, course, invocation.output.is_anonymous, console);
            }
            if let Some(file) = record_file {
                write_record(file, &outcome.run.record, console);
            }
            if let Some(keeping) = keeping {
                keeping.keep(&outcome.run.record, console);
            }
            ExitCode::from(exit::exit_number(&outcome, signal, console))
        }
        Err(error) => {
            let text = text_of(&error);
            console.error(&format!("{text}\n"));
            if reporter.writes_records() {
                course.message(console, MessageStream::Error, &text);
                course.end(console, 1, None, started_at.elapsed());
            }
            if reporter.writes_json() {
                // Readers of a document get one in any case; it states why nothing ran.
                reporter.report(console, &ferrio_run::without_jobs(VERSION.to_owned(), global_options));
            }
            ExitCode::FAILURE
        }
    }
}

/// The command line, for the record.
fn words_of(arguments: &[OsString]) -> Vec<String> {
    arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What is wanted of the record of a run, beside its reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordMode {
    /// Nothing.
    None,
    /// As much as does not change the reports: a setting keeps the run.
    Aside,
    /// All that there is: an option asks for it.
    Whole,
}

/// The session of a command line. Only a document or a record shows findings.
fn session_of(
    invocation: &mut Invocation,
    files: &FilesOfRun,
    arguments: &[OsString],
    wish: RecordMode,
) -> Result<Session, RunError> {
    let mut session = Session::of_invocation(invocation, files.inputs.clone(), words_of(arguments))?;
    let interval = Duration::from_millis(invocation.eta.interval_ms);
    session.settings.snapshot_interval = shows_eta(invocation).then_some(interval);
    session.settings.control = control_settings(invocation, wish);
    session.settings.record_interval = record_interval(invocation);
    // A document shows what follows from the course of a run.
    let has_document = invocation.output.formats.has(FormatKind::Document);
    session.settings.keeps_series = wish == RecordMode::Whole || (wish == RecordMode::Aside && !has_document);
    session.is_audited = wish == RecordMode::Whole || has_document;
    Ok(session)
}

/// Runs the jobs while the console shows events. Returns the outcome, and the first signal that asked for the end.
fn run_jobs(
    invocation: &Invocation,
    session: Session,
    kept: &ProtectedPaths,
    reporter: &Reporter,
    course: &mut EventLog,
    console: &mut Console,
) -> Result<(SessionOutcome, Option<i32>), RunError> {
    let bandwidth_logs = invocation.output.bandwidth_log.as_deref().map(|prefix| AggregateLogs::create(prefix, kept));
    // Before anything else: from now on a signal ends in a report.
    let signals = Signals::listen(false)?;
    let mut progress = ProgressPrinter::new(console, reporter, &signals, invocation.eta);
    if let Some(logs) = bandwidth_logs {
        progress.write_bandwidth_logs(logs);
    }
    if let Some(n_slices) = invocation.n_latency_slices {
        progress.count_slices(n_slices);
    }
    std::mem::swap(&mut progress.course, course);
    let outcome = signals.run(session, &mut [&mut progress]);
    progress.clear();
    std::mem::swap(&mut progress.course, course);
    let outcome = outcome?;
    progress.end_bandwidth_logs();
    progress.tell_slices();
    // After the run: a signal that came until now still counts in the exit code, and is reported here.
    progress.tell_signal();
    Ok((outcome, signals.first()))
}

/// A row of the table of latencies.
const SLICE: Duration = Duration::from_secs(3_600);

/// Length of the intervals of records: the time between reports, if one is given.
fn record_interval(invocation: &Invocation) -> Option<Duration> {
    let recorded = invocation.output.formats.has(FormatKind::Records).then(|| records::interval(invocation));
    recorded.or_else(|| invocation.n_latency_slices.map(|_| SLICE))
}

/// Settings from the command line and from the program. Where only documents are written, the command of a trigger does not
/// write to the standard output, so that its text cannot come between reports. For a whole record the run opens
/// further files, which fio does not open. Reports for people show no evidence that fio does not have.
fn control_settings(invocation: &Invocation, wish: RecordMode) -> ControlSettings {
    let (control, formats) = (&invocation.control, &invocation.output.formats);
    let keeps_stdout_free = formats.has_documents_alone();
    let shows_evidence =
        formats.has(FormatKind::Document) || formats.has(FormatKind::Records) || wish != RecordMode::None;
    ControlSettings {
        skips_evidence: !shows_evidence,
        status_file: Some(temporary_directory().join("fio-dump-status")),
        looks_into_files: wish == RecordMode::Whole,
        trigger: Trigger { keeps_stdout_free, ..control.trigger.clone() },
        ..control.clone()
    }
}

/// The directory in which fio looks for the file that asks for a report.
fn temporary_directory() -> PathBuf {
    let given = ["TMPDIR", "TEMP"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    given.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// The ETA line is for terminals, unless it is always wanted; it never goes between machine-readable output, not even
/// with `--eta=always`: so it is in fio.
fn shows_eta(invocation: &Invocation) -> bool {
    let shares_output = invocation.output.file.is_none() && !invocation.output.formats.has(FormatKind::Text);
    match invocation.eta.when {
        _ if shares_output => false,
        EtaWhen::Always => true,
        EtaWhen::Never => false,
        EtaWhen::Auto => std::io::stdout().is_terminal(),
    }
}

fn writes_to_stdout(invocation: &Invocation) -> bool {
    invocation.run.jobs.iter().any(|job| {
        job.pattern.mix != ferrio_spec::DirectionMix::Read && job.target.filenames.iter().any(|name| name == "-")
    })
}
