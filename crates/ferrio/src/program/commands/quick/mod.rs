//! `ferrio quick`: four tests that everybody wants first, on one file of its own, with one table at the end.
//!
//! Must not know: how runs work, how options of jobs are spelled.
//! Start reading at [`run`]; its steps are in `measure_target`, and each step has a file of its own.

mod arguments;
mod baseline;
mod conditions;
mod layout;
mod notes;
mod page_file;
mod place;
mod size;
mod suite;
mod survey;
mod table;
mod target_file;
mod test_figures;

use crate::shared::engine_choice::EngineChoice;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::signals::Signals;
use crate::ui::step_bar::StepBar;
use anyhow::{Context, Result, ensure};
use arguments::QuickRequest;
use conditions::Conditions;
use ferrio::session::VERSION;
use ferrio_formats::native::Headline;
use ferrio_stats::{Anonymizer, Finding, Provenance};
use ferrio_sys::process::Signal;
use ferrio_sys::signals;
use notes::QuickNote;
use page_file::PageFile;
use place::FilePlace;
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use suite::TestOutcome;
use survey::DirectorySurvey;
use target_file::TargetFile;
use test_figures::TestFigures;

/// Prefix of its errors.
const PROGRAM: &str = "ferrio quick";

#[derive(Debug, thiserror::Error)]
#[error("ended by signal {0}")]
struct Interrupted(i32);

/// Results to print at the end. Other commands read the keys of `ferrio run --json` among them: `version`, `timestamp_ms`, `elapsed_ns`, `jobs`,
/// `findings`, `provenance`.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    /// When the last test ended.
    timestamp_ms: u64,
    /// Time of all tests.
    elapsed_ns: u64,
    conditions: Conditions,
    tests: Vec<TestFigures>,
    /// The same figures, a row for each test.
    jobs: Vec<Headline>,
    /// What speaks against the figures, test by test.
    findings: Vec<Finding>,
    notes: Vec<QuickNote>,
    /// The machine, and the tests as jobs.
    provenance: Option<serde_json::Value>,
}

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    <arguments::QuickRequest as clap::CommandFactory>::command()
}

/// Runs the command with its arguments (the command's name first). A signal that ends it adds 128 to the exit code.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command(PROGRAM);
    let request = match arguments::parse(arguments) {
        Ok(request) => request,
        Err(answer) if !answer.use_stderr() => {
            console.info(&answer.to_string());
            return exit_code(&console);
        }
        Err(error) => {
            let text = error.to_string();
            console.error(&format!("{PROGRAM}: {}", text.strip_prefix("error: ").unwrap_or(&text)));
            return Exit::Failed.into();
        }
    };
    match measure_target(&request, &mut console) {
        Ok(()) => exit_code(&console),
        Err(error) => fail(&error, &mut console),
    }
}

fn exit_code(console: &Console) -> ExitCode {
    exit::at_end(console.has_failed)
}

fn fail(error: &anyhow::Error, console: &mut Console) -> ExitCode {
    // The message about a signal does not contain the interrupted step.
    let Some(end) = error.downcast_ref::<Interrupted>() else {
        tell(&chain_text(error), console);
        return Exit::Failed.into();
    };
    tell(&end.to_string(), console);
    // Signal numbers are below 65.
    ExitCode::from((128 + end.0) as u8)
}

fn tell(text: &str, console: &mut Console) {
    console.error(&format!("{PROGRAM}: {text}\n"));
}

/// An error and its causes. Errors of the system name theirs in their own text already.
fn chain_text(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.ends_with(&cause) {
        true => text,
        false if text.is_empty() => cause,
        false => format!("{text}: {cause}"),
    })
}

/// From the request to the printed report. The file is gone when it returns, however it returns.
fn measure_target(request: &QuickRequest, console: &mut Console) -> Result<()> {
    let place = FilePlace::find(&request.target, request.is_file)?;
    let survey = DirectorySurvey::of_directory(&place.directory)?;
    let size = size::choose(request.size_bytes, survey.available_bytes)
        .with_context(|| format!("no room in {}", place.directory.display()))?;
    let engine = EngineChoice::make();
    let page = request.html.as_deref().map(PageFile::create).transpose()?;
    let signals = catch_signals()?;
    let mut file = TargetFile::create(&place)?;
    let result = measure_file(request, &place, survey, (size, &engine), &file, &signals, console);
    let removed = file.remove();
    match result {
        Ok(report) => {
            console.info(&if request.is_json {
                json(&report, request.is_anonymous)
            } else {
                table::render(&report, columns())
            });
            let written = page.map_or(Ok(()), |page| page.write(json(&report, request.is_anonymous)));
            removed.and(written)
        }
        Err(error) => {
            if let Err(left_behind) = removed {
                tell(&chain_text(&left_behind), console);
            }
            Err(error)
        }
    }
}

fn measure_file(
    request: &QuickRequest,
    place: &FilePlace,
    survey: DirectorySurvey,
    (size, engine): (size::FileSize, &EngineChoice),
    file: &TargetFile,
    signals: &Signals,
    console: &mut Console,
) -> Result<Report> {
    let mut progress = StepBar::start(baseline::TESTS.len() + 1);
    let laid_out = layout::lay_out(file, size, survey.is_memory, signals, &mut progress)?;
    let conditions = Conditions::new(request, place, file, survey, engine, laid_out);
    if !request.is_json {
        progress.aside(|| console.info(&conditions.text(columns())));
    }
    let mut outcomes = Vec::new();
    for (test, load) in baseline::TESTS.iter().zip(&conditions.loads) {
        ensure!(file.is_in_place(), "{} was replaced or removed while it was measured", file.path().display());
        check_signals(signals)?;
        outcomes.push(suite::measure(test, *load, &conditions, file, signals, &mut progress)?);
    }
    progress.end();
    let leftovers = target_file::leftovers(&place.directory, file.path());
    Ok(Report::new(conditions, outcomes, leftovers, request.is_anonymous))
}

impl Report {
    fn new(conditions: Conditions, outcomes: Vec<TestOutcome>, leftovers: Vec<PathBuf>, is_anonymous: bool) -> Self {
        let timestamp_ms = outcomes.last().map_or(0, |outcome| outcome.timestamp_ms);
        let elapsed_ns = outcomes.iter().map(|outcome| outcome.elapsed_ns).sum();
        let (mut tests, mut jobs, mut findings) = (Vec::new(), Vec::new(), Vec::new());
        let mut machine: Option<Box<Provenance>> = None;
        for outcome in outcomes {
            tests.push(outcome.figures);
            jobs.extend(outcome.rows);
            findings.extend(outcome.findings);
            match (&mut machine, outcome.provenance) {
                (Some(machine), Some(of_test)) => machine.jobs.extend(of_test.jobs),
                (machine, of_test) => *machine = machine.take().or(of_test),
            }
        }
        if let Some(machine) = machine.as_mut().filter(|_| is_anonymous) {
            let mut names = Anonymizer::default();
            names.look_at_provenance(machine);
            names.mask_provenance(machine);
        }
        let notes = notes::find(&conditions, &tests, leftovers);
        let provenance = machine.map(|machine| machine.to_document());
        Self { version: VERSION, timestamp_ms, elapsed_ns, conditions, tests, jobs, findings, notes, provenance }
    }
}

/// Number of columns of the terminal that the report goes to; `None` if it is no terminal.
fn columns() -> Option<usize> {
    ferrio_sys::terminal::columns(std::io::stdout())
}

/// From here on no signal but `SIGKILL` and those of bugs ends the program before it has put its file away.
fn catch_signals() -> Result<Signals> {
    let signals = Signals::listen(true)?;
    // A limit on the size of files becomes an error of the write.
    signals::ignore(Signal::XFSZ)?;
    Ok(signals)
}

/// Ends the work if a signal came between two steps.
fn check_signals(signals: &Signals) -> Result<()> {
    signals.first().map_or(Ok(()), |number| Err(Interrupted(number).into()))
}

fn json(report: &Report, is_anonymous: bool) -> String {
    // Cannot fail: no map with keys that are not text, no writer.
    let mut text = if is_anonymous {
        let mut document = serde_json::to_value(report).unwrap_or_default();
        let mut names = Anonymizer::default();
        names.look_at(&document);
        names.mask(&mut document);
        serde_json::to_string_pretty(&document)
    } else {
        serde_json::to_string_pretty(report)
    }
    .unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_are_told_once() {
        let cause = ferrio_sys::file::unlink(std::path::Path::new("/no/such/file")).unwrap_err();
        let expected = "cannot do it: unlink /no/such/file: No such file or directory (os error 2)";
        assert_eq!(chain_text(&Err::<(), _>(cause).context("cannot do it").unwrap_err()), expected);
        assert_eq!(chain_text(&anyhow::anyhow!("inner").context("outer")), "outer: inner");
    }

    #[test]
    fn an_end_by_signal_is_known_behind_any_context() {
        let error = Err::<(), _>(anyhow::Error::new(Interrupted(15))).context("cannot fill the file").unwrap_err();
        assert!(error.downcast_ref::<Interrupted>().is_some_and(|end| end.0 == 15));
    }
}
