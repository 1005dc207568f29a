//! Results as a page, or as a table of figures.
//!
//! Must not know: how results are stored, how a page looks. Start reading at [`show`].

use super::Request;
use crate::shared::inputs;
use crate::ui::console::Console;
use crate::ui::csv_table::csv_table;
use crate::ui::exit::{self, Exit};
use ferrio_formats::RunResult;
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Reads the results and writes the page or the table.
pub(super) fn show(request: &Request) -> ExitCode {
    let mut console = Console::of_command("ferrio report");
    let mut results = match inputs::read(&request.results) {
        Ok(results) => results,
        Err(error) => {
            console.error(&format!("ferrio report: {error}\n"));
            return Exit::Failed.into();
        }
    };
    if request.anonymous {
        results.iter_mut().for_each(RunResult::make_anonymous);
    }
    crate::shared::examined::complete(&mut results);
    let content = if request.is_for_table() { csv_table(&results) } else { ferrio_pictures::page::page(&results) };
    let Some(output) = &request.output else {
        console.report(&content);
        return exit::at_end(console.has_failed);
    };
    let kept = Arc::new(ProtectedPaths::inputs(&request.results));
    match write_whole(output, &kept, &content) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (output, error) = (output.display(), ferrio_units::error_text(&error));
            console.error(&format!("ferrio report: cannot write {output}: {error}\n"));
            Exit::Failed.into()
        }
    }
}

/// Writes a file: whole, or not at all.
fn write_whole(path: &Path, kept: &Arc<ProtectedPaths>, content: &str) -> std::io::Result<()> {
    AtomicFile::create(path, kept)?.write(content.as_bytes())
}
