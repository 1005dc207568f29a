//! Results as a page.
//!
//! Must not know: how results are stored, how a page looks. Start reading at [`show`].

use super::Request;
use crate::console::Console;
use ferrio_results::RunResult;
use ferrio_sys::output::{KeptFiles, WholeFile};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

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
    let kept = Arc::new(KeptFiles::inputs(&request.results));
    match write_page(output, &kept, &results) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (output, error) = (output.display(), ferrio_units::error_text(&error));
            console.error(&format!("ferrio report: cannot write {output}: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Writes the page of results: whole, or not at all.
fn write_page(path: &Path, kept: &Arc<KeptFiles>, results: &[RunResult]) -> std::io::Result<()> {
    WholeFile::create(path, kept)?.write(ferrio_pictures::page::page(results).as_bytes())
}
