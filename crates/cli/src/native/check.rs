//! `ferrio check`: finds reasons for wrong figures before the run.
//!
//! Must not know: rules. Start reading at [`run`].

use super::{Request, audit_text, last_runs, parse, print_all};
use crate::console::Console;
use crate::native_words::run_error_text;
use ferrio_report::native::audit_document;
use ferrio_stats::Severity;
use std::ffi::OsString;
use std::process::ExitCode;

const HELP: &str = "\
usage: ferrio check [--json] [--anonymous] JOBFILE|OPTIONS...

Looks at the jobs and at what they would use, runs nothing and changes
nothing, and says what would make their figures wrong or easily misread.
Takes fio's job files and options.

  --json        the findings as JSON
  --anonymous   without names of host, paths and mounts

Exit code: 0; 1 where a figure would be wrong, and after an error.
";

/// Promises no more than can be seen before a run.
const NOTHING_FOUND: &str = "Nothing found before the run: no rule speaks against the jobs and their targets. What\nthe run itself shows is examined after it (ferrio run).\n";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command("ferrio check");
    if arguments.len() == 1 || arguments[1] == "--help" || arguments[1] == "-h" {
        console.report(HELP);
        return if arguments.len() == 1 { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    match parse("check", arguments) {
        Ok(request) => check(request, arguments, &mut console),
        Err(messages) => {
            print_all(&mut console, &messages);
            ExitCode::FAILURE
        }
    }
}

fn check(request: Request, arguments: &[OsString], console: &mut Console) -> ExitCode {
    let command_line: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_anonymous = request.invocation.output.is_anonymous;
    let mut record = match ferrio_run::survey(request.invocation.run, &command_line) {
        Ok(record) => record,
        Err(error) => {
            console.error(&format!("ferrio check: {}\n", run_error_text(&error)));
            return ExitCode::FAILURE;
        }
    };
    last_runs::look_up(&mut record);
    record.audit = Some(ferrio_insight::audit(&record));
    if is_anonymous {
        record.make_anonymous();
    }
    let audit = record.audit.unwrap_or_default();
    let text = match () {
        () if request.json => format!("{:#}\n", audit_document(&audit)),
        () if audit.findings.is_empty() && audit.unexamined.is_empty() => NOTHING_FOUND.to_owned(),
        () => audit_text(&audit),
    };
    console.report(&text);
    let would_be_wrong = audit.findings.iter().any(|finding| finding.severity == Severity::Wrong);
    if would_be_wrong || console.has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
