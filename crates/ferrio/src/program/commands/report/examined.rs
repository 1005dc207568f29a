//! The report of another program as a table of headline figures, with what its own evidence says against them.
//!
//! Must not know: rules, how reports are read. Start reading at [`show`].

use super::Request;
use crate::shared::audited_text::report_text;
use crate::shared::examined::record_of;
use crate::shared::inputs;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use ferrio::session::adopted;
use ferrio_sys::output::ProtectedPaths;
use std::fmt::Display;
use std::process::ExitCode;

/// Shows the report that the request names.
pub(super) fn show(request: &Request) -> ExitCode {
    let mut console = Console::of_command("ferrio report");
    let fail = |console: &mut Console, text: &dyn Display| {
        console.error(&format!("ferrio report: {text}\n"));
        Exit::Failed.into()
    };
    let mut results = match inputs::read(&request.results) {
        Ok(results) => results,
        Err(reason) => return fail(&mut console, &reason),
    };
    let Some(result) = results.first_mut().filter(|result| adopted::is_of_report(result)) else {
        return fail(&mut console, &"it has no jobs with their options: for charts of logs: -o PAGE.html");
    };
    if request.anonymous {
        result.make_anonymous();
    }
    if let Some(output) = &request.output {
        console = match Console::to_file(output, &ProtectedPaths::inputs(&request.results)) {
            Ok(file) => file,
            Err(error) => {
                let (output, error) = (output.display(), ferrio_units::error_text(&error));
                return fail(&mut console, &format!("cannot open output file {output}: {error}"));
            }
        };
    }
    console.report(&report_text(&record_of(result)));
    exit::at_end(console.has_failed)
}
