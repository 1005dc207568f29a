//! `--inflate-log`: the rows of a compressed performance log on standard output.
//!
//! Must not know: jobs. Start reading at [`print()`].

use crate::ui::console::Console;
use ferrio_formats::logs::{InflateError, inflate};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

/// Prints the log. A reader that has seen enough ends it without a complaint.
pub(crate) fn print(path: &Path) -> ExitCode {
    let mut console = Console::standard();
    let mut log = match File::open(path) {
        Ok(file) => BufReader::new(file),
        Err(error) => {
            console.complain(&format!("cannot open log {}: {error}", path.display()));
            return ExitCode::FAILURE;
        }
    };
    match inflate(&mut log, &mut BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(InflateError::Io(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            console.complain(&format!("failed inflating log {}: {error}", path.display()));
            ExitCode::FAILURE
        }
    }
}
