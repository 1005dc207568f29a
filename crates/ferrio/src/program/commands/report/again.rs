//! The report of a run again, from its record.
//!
//! Must not know: how a report looks, how a record is stored. Start reading at [`show`].

use super::{Request, examined};
use crate::shared::records;
use crate::ui::console::Console;
use crate::ui::exit::{self, Exit};
use crate::ui::reporter::Reporter;
use ferrio_formats::terse::TerseVersion;
use ferrio_spec::{OutputFormat, OutputFormats};
use ferrio_sys::output::ProtectedPaths;
use std::process::ExitCode;

pub(super) fn show(request: &Request) -> ExitCode {
    let mut console = Console::of_command("ferrio report");
    let [path] = &request.results[..] else {
        console
            .error("ferrio report: the report of one record is shown; for a page of several results: -o PAGE.html\n");
        return Exit::Failed.into();
    };
    let mut record = match records::read(path) {
        Ok(record) => record,
        // A report of a program, such as fio's JSON, has no other form to be shown in but that of ferrio.
        Err(_) if request.output_format.is_none() && !records::is_record(path) => return examined::show(request),
        Err(reason) => {
            let path = path.display();
            console.error(&format!("ferrio report: {path}: {reason}\n"));
            return Exit::Failed.into();
        }
    };
    if request.anonymous {
        record.make_anonymous();
    }
    let terse_version = TerseVersion::from_number(request.terse_version).unwrap_or_default();
    let formats = request.output_format.clone().unwrap_or_else(|| OutputFormats::from_iter([OutputFormat::Normal]));
    let reporter = Reporter::of_formats(formats, terse_version);
    if reporter.writes_records() && record.course.is_empty() {
        let path = path.display();
        console.error(&format!(
            "ferrio report: {path}: it holds no intervals for jsonl: a run records them when its --output-format has jsonl\n"
        ));
        return Exit::Failed.into();
    }
    if let Some(output) = &request.output {
        console = match Console::to_file(output, &ProtectedPaths::inputs(&request.results)) {
            Ok(file) => file,
            Err(error) => {
                let (output, error) = (output.display(), ferrio_units::error_text(&error));
                console.error(&format!("ferrio report: cannot open output file {output}: {error}\n"));
                return Exit::Failed.into();
            }
        };
    }
    reporter.show_again(&mut console, &record);
    exit::at_end(console.has_failed)
}
