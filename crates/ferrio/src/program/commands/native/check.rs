//! `ferrio check`: finds reasons for wrong figures before the run.
//!
//! Must not know: rules. Start reading at [`run`].

use super::errors::run_error_text;
use super::{Request, parse};
use crate::shared::audited_text::audit_text;
use crate::shared::examined;
use crate::shared::inputs;
use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::own_options;
use crate::ui::permits;
use anyhow::anyhow;
use clap::{Args, ValueHint};
use ferrio_formats::RunResult;
use ferrio_formats::native::{TEXT_WIDTH, audit_document, plan_lines, report_lines, wrap};
use ferrio_stats::{Audit, Severity};
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Promises no more than can be seen before a run.
const NOTHING_FOUND: &str = "Nothing found before the run: no rule speaks against the jobs and their targets.\nferrio run examines the figures after the run.\n";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command("ferrio check");
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(&arguments::help_text(super::describe::check()));
        return exit::at_end(arguments.len() == 1);
    }
    match result_file(arguments) {
        Ok(Some(path)) => return check_result(path, arguments, &mut console),
        Ok(None) => {}
        Err(text) => {
            console.error(&format!("ferrio check: {text}\n"));
            return Exit::Failed.into();
        }
    }
    match parse("check", arguments) {
        Ok(request) => check(request, arguments, &mut console),
        Err(messages) => {
            console.print_all(&messages);
            Exit::Failed.into()
        }
    }
}

// A result instead of jobs.
#[derive(Debug, Args)]
pub(super) struct ResultOption {
    /// Examine the result of a run instead, such as the JSON, the text or the terse lines of fio: which figures its own evidence contradicts, and what could not be examined
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    result: Option<PathBuf>,
}

/// The file of `--result`; `None`: there is no such option.
///
/// # Errors
/// There is no file, or there are other arguments beside it.
fn result_file(arguments: &[OsString]) -> anyhow::Result<Option<PathBuf>> {
    let mut words: Vec<OsString> = arguments.iter().skip(1).cloned().collect();
    let ResultOption { result } = own_options::take(&mut words)?;
    if result.is_some() && words.iter().any(|word| word != "--json" && word != "--anonymous") {
        return Err(anyhow!("--result takes one file, and no jobs beside it: --result=FILE"));
    }
    Ok(result)
}

fn check_result(path: PathBuf, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let mut results = match inputs::read(&[path]) {
        Ok(results) => results,
        Err(error) => {
            console.error(&format!("ferrio check: {error}\n"));
            return Exit::Failed.into();
        }
    };
    let has = |name: &str| arguments.iter().any(|word| word == name);
    examined::complete(&mut results);
    if has("--anonymous") {
        results.iter_mut().for_each(RunResult::make_anonymous);
    }
    let audit = results.into_iter().next().and_then(|result| result.audit);
    let Some(audit) = audit else {
        console.error("ferrio check: it has no jobs with their options that could be examined\n");
        return Exit::Failed.into();
    };
    let document = has("--json").then(|| audit_document(&audit));
    let accounts = audit.accounts.as_deref().filter(|_| document.is_none());
    for line in accounts.map(report_lines).unwrap_or_default() {
        console.report(&wrap(&line, "", TEXT_WIDTH));
    }
    show(&audit, document, console)
}

fn check(request: Request, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let command_line: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_anonymous = request.invocation.output.is_anonymous;
    let (beyond, changes) = if is_anonymous {
        (Vec::new(), Vec::new())
    } else {
        (permits::of_files(&request.invocation), request.invocation.changes)
    };
    let mut record = match ferrio::session::survey(request.invocation.run, &command_line, request.invocation.readonly) {
        Ok(record) => record,
        Err(error) => {
            console.error(&format!("ferrio check: {}\n", run_error_text(&error)));
            return Exit::Failed.into();
        }
    };
    if is_anonymous {
        record.make_anonymous();
    }
    let audit = record.audit.unwrap_or_default();
    if !request.own.json {
        console.report(&permits::shown(&beyond, &changes));
        let lines = audit.accounts.as_deref().map(plan_lines).unwrap_or_default();
        for line in &lines {
            console.report(&wrap(line, "", TEXT_WIDTH));
        }
        if audit.findings.is_empty() && audit.unexamined.is_empty() {
            if !has_options_in_vain(&audit) {
                console.report(NOTHING_FOUND);
            }
            return exit::at_end(console.has_failed);
        }
    }
    let mut document = audit_document(&audit);
    document["beyond"] = permits::listed(&beyond);
    document["changes"] = permits::listed_changes(&beyond, &changes);
    show(&audit, request.own.json.then_some(document), console)
}

/// Before a run, its accounts have the options that can have no effect, and no others.
fn has_options_in_vain(audit: &Audit) -> bool {
    audit.accounts.as_deref().is_some_and(|accounts| accounts.jobs.iter().any(|job| !job.options.is_empty()))
}

/// Shows an audit, as a document if there is one; the exit code says whether a figure is wrong.
fn show(audit: &Audit, document: Option<Value>, console: &mut Console) -> ExitCode {
    let text = document.map_or_else(|| audit_text(audit), |document| format!("{document:#}\n"));
    console.report(&text);
    let is_wrong = audit.findings.iter().any(|finding| finding.severity == Severity::Wrong);
    if is_wrong && !console.has_failed { Exit::Found.into() } else { exit::at_end(console.has_failed) }
}
