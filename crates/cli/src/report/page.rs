//! Results as a page.
//!
//! Must not know: how results are stored, how a page looks. Start reading at [`show`].

use super::Request;
use crate::console::Console;
use crate::whole_file::WholeFile;
use ferrio_results::RunResult;
use std::path::Path;
use std::process::ExitCode;

/// Reads the results and writes the page.
pub(super) fn show(request: &Request) -> ExitCode {
    let mut console = Console::of_command("ferrio report");
    let results = match ferrio_results::read(&request.results) {
        Ok(results) => results,
        Err(error) => {
            console.error(&format!("ferrio report: {error}\n"));
            return ExitCode::FAILURE;
        }
    };
    // Only a page that was asked for.
    let Some(output) = &request.output else { return ExitCode::FAILURE };
    match write_page(output, &results) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (output, error) = (output.display(), ferrio_units::error_text(&error));
            console.error(&format!("ferrio report: cannot write {output}: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Writes the page of results: whole, or not at all.
fn write_page(path: &Path, results: &[RunResult]) -> std::io::Result<()> {
    WholeFile::create(path)?.write(ferrio_pictures::page::page(results).as_bytes())
}
