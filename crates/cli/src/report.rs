//! `ferrio report`: the reports of a run again, from its record (`--record`).
//!
//! Must not know: how a report looks, how a record is stored. Start reading at [`run`].

use crate::console::Console;
use crate::record_file;
use crate::reporter::Reporter;
use clap::Parser;
use ferrio_report::terse::TerseVersion;
use ferrio_spec::{OUTPUT_FORMAT_NAMES, OutputFormat, OutputFormats};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio report",
    bin_name = "ferrio report",
    about = "Show the report of a run again, from its record",
    long_about = LONG_ABOUT,
    after_help = "Exit code: 0; 1 after an error.",
)]
struct Request {
    /// File that --record=FILE of the run has written
    #[arg(value_name = "RECORD")]
    record: PathBuf,
    #[arg(long, help = format!("Formats joined by commas: {OUTPUT_FORMAT_NAMES}"), value_name = "LIST", default_value = "normal", value_parser = formats)]
    output_format: OutputFormats,
    /// Version of terse output: 2 to 5
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=5))]
    terse_version: u32,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

// Lines are broken by hand, because clap can wrap text only with a further dependency.
const LONG_ABOUT: &str = "\
Show the report of a run again, from its record, in any format.

  ferrio --record=run.record JOBFILE
  ferrio report --output-format=json run.record

A report is that of the run to the byte. What the run printed beside its
reports (start-up lines, progress) is not in the record. Lines of jsonl are
there if the run wrote them too.";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match Request::try_parse_from(arguments) {
        Ok(request) => show(&request),
        Err(error) => {
            let mut console = Console::of_command("ferrio report");
            if error.use_stderr() {
                console.error(&error.to_string());
                return ExitCode::FAILURE;
            }
            console.report(&error.to_string());
            ExitCode::SUCCESS
        }
    }
}

fn show(request: &Request) -> ExitCode {
    let mut console = Console::of_command("ferrio report");
    let path = request.record.display();
    let record = match record_file::read(&request.record) {
        Ok(record) => record,
        Err(reason) => {
            console.error(&format!("ferrio report: {path}: {reason}\n"));
            return ExitCode::FAILURE;
        }
    };
    let terse_version = TerseVersion::from_number(request.terse_version).unwrap_or_default();
    let reporter = Reporter::of_formats(request.output_format.clone(), terse_version);
    if reporter.writes_records() && record.course.is_empty() {
        console.error(&format!(
            "ferrio report: {path}: it holds no intervals for jsonl: a run records them when its --output-format has jsonl\n"
        ));
        return ExitCode::FAILURE;
    }
    if let Some(output) = &request.output {
        console = match Console::to_file(output) {
            Ok(file) => file,
            Err(error) => {
                let (output, error) = (output.display(), ferrio_units::error_text(&error));
                console.error(&format!("ferrio report: cannot open output file {output}: {error}\n"));
                return ExitCode::FAILURE;
            }
        };
    }
    reporter.show_again(&mut console, &record);
    if console.has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Parses names of formats joined by commas.
fn formats(text: &str) -> Result<OutputFormats, String> {
    let no_format = |name| format!("{name:?} is no format: allowed are {OUTPUT_FORMAT_NAMES}, joined by commas");
    text.split(',').map(|name| OutputFormat::from_name(name).ok_or_else(|| no_format(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words = ["report"].iter().chain(words).map(OsString::from);
        Request::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn formats_are_those_of_the_table() {
        let request = parsed(&["--output-format=json+,terse", "r"]).expect("a request");
        assert_eq!(request.output_format, OutputFormats::from_iter([OutputFormat::JsonPlus, OutputFormat::Terse]));
        assert_eq!(parsed(&["r"]).expect("a request").output_format, OutputFormats::from_iter([OutputFormat::Normal]));
        let error = parsed(&["--output-format=xml", "r"]).expect_err("no format");
        assert!(error.contains(OUTPUT_FORMAT_NAMES), "{error}");
        assert!(parsed(&[]).is_err() && parsed(&["--terse-version=6", "r"]).is_err());
    }
}
