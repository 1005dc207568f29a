//! The report of another program as a table of headline figures, with what its own evidence says against them.
//!
//! Must not know: rules, how reports are read. Start reading at [`show`].

use super::Request;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::shared::inputs;
use crate::commands::native::report_text;
use ferrio_job::SystemEnvironment;
use ferrio_results::RunResult;
use ferrio::session::VERSION;
use ferrio::session::adopted;
use ferrio_stats::{Audit, RunRecord};
use ferrio_sys::output::KeptFiles;
use std::process::ExitCode;

/// The record that a result stands for, with its audit, which is that of the run if that was examined.
pub(crate) fn record_of(result: &RunResult) -> RunRecord {
    let record = adopted::record_of(result, &SystemEnvironment::new(VERSION));
    let own = result.findings.clone().map(|findings| Audit {
        findings,
        unexamined: result.unexamined.clone(),
        n_rules: result.n_rules,
    });
    RunRecord { audit: own.or_else(|| record.audit.clone()), ..record }
}

/// Examines results that nobody has looked at.
pub(crate) fn complete(results: &mut [RunResult]) {
    let environment = SystemEnvironment::new(VERSION);
    for result in results {
        adopted::examine(result, &environment);
    }
}

/// Shows the report that the request names.
pub(super) fn show(request: &Request) -> ExitCode {
    let mut console = Console::of_command("ferrio report");
    let fail = |console: &mut Console, text: String| {
        console.error(&format!("ferrio report: {text}\n"));
        Exit::Failed.into()
    };
    let mut results = match inputs::read(&request.results) {
        Ok(results) => results,
        Err(reason) => return fail(&mut console, reason),
    };
    let Some(result) = results.first_mut().filter(|result| adopted::is_of_report(result)) else {
        return fail(&mut console, "it has no jobs with their options: for charts of logs: -o PAGE.html".to_owned());
    };
    if request.anonymous {
        result.make_anonymous();
    }
    if let Some(output) = &request.output {
        console = match Console::to_file(output, &KeptFiles::inputs(&request.results)) {
            Ok(file) => file,
            Err(error) => {
                let (output, error) = (output.display(), ferrio_units::error_text(&error));
                return fail(&mut console, format!("cannot open output file {output}: {error}"));
            }
        };
    }
    console.report(&report_text(&record_of(result)));
    exit::at_end(console.has_failed)
}
