//! A job file that is being written, with its comments; and its way to a new file.
//!
//! Must not know: which options there are. Start reading at [`JobText`], then [`write()`].

use crate::ui::console::Console;
use anyhow::anyhow;
use ferrio_formats::native::wrap;
use ferrio_sys::output::{self, AtomicFile, OutputStart, ProtectedPaths};
use ferrio_units::error_text;
use std::fmt::{Display, Write as _};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

/// Lines of comments end before this column.
const MAX_COLUMNS: usize = 78;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct JobText(String);

impl JobText {
    /// A comment, in lines of their own.
    pub(crate) fn comment(&mut self, text: &str) {
        let text: String = text.chars().map(|symbol| if symbol.is_control() { '?' } else { symbol }).collect();
        for line in wrap(&text, "", MAX_COLUMNS - 2).lines() {
            // A string takes everything.
            let _ = writeln!(self.0, "# {line}");
        }
    }

    /// The heading of a section, with an empty line before it. Characters that a heading cannot have are replaced.
    pub(crate) fn section(&mut self, name: &str) {
        let fits = |symbol: char| symbol.is_ascii_alphanumeric() || "-_.:".contains(symbol);
        let name: String = name.chars().map(|symbol| if fits(symbol) { symbol } else { '_' }).collect();
        let _ = writeln!(self.0, "\n[{name}]");
    }

    pub(crate) fn option(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}={value}");
    }

    /// An option that needs no value.
    pub(crate) fn flag(&mut self, name: &str) {
        let _ = writeln!(self.0, "{name}");
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes a job file to the standard output, or to a file that is not there yet; `replaces`: or takes its place, but for the kept files.
pub(crate) fn write(
    job: &JobText,
    place: Option<&Path>,
    replaces: bool,
    kept: ProtectedPaths,
    console: &mut Console,
) -> anyhow::Result<()> {
    let Some(path) = place else {
        console.report(job.as_str());
        return Ok(());
    };
    let failed = |error: std::io::Error| anyhow!("{}: it cannot be written: {}", path.display(), error_text(&error));
    if replaces {
        let whole = AtomicFile::create(path, &Arc::new(kept));
        return whole.and_then(|file| file.write(job.as_str().as_bytes())).map_err(failed);
    }
    let mut file = output::open(path, OutputStart::New, &kept).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!("{}: it is there already; --force replaces it", path.display()),
        _ => failed(error),
    })?;
    file.write_all(job.as_str().as_bytes()).map_err(|error| {
        // Half a job is none; the file was made above.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

/// A value of an option that stands for itself in a job file: no characters that would end its line or begin a comment.
pub(crate) fn check_value(text: &str) -> anyhow::Result<String> {
    match text.chars().find(|symbol| symbol.is_control() || ";#".contains(*symbol)) {
        Some(symbol) => Err(anyhow!("{} cannot stand in a job file", symbol.escape_default())),
        None if text.trim() != text || text.is_empty() => Err(anyhow!("it is empty, or begins or ends with a blank")),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        let mut job = JobText::default();
        job.comment("a\nb");
        job.section("x]\n[y");
        job.option("bs", 4096);
        job.flag("time_based");
        assert_eq!(job.as_str(), "# a?b\n\n[x___y]\nbs=4096\ntime_based\n");
        let mut long = JobText::default();
        long.comment(&"word ".repeat(40));
        assert!(long.as_str().lines().count() > 1 && long.as_str().lines().all(|line| line.starts_with("# ")));
        assert!(long.as_str().lines().all(|line| line.len() <= MAX_COLUMNS));
    }

    #[test]
    fn values_stay_in_their_line() {
        assert_eq!(check_value("/mnt/a b").expect("a value"), "/mnt/a b");
        for bad in ["", " a", "a\nrw=write", "a;b", "a #b"] {
            assert!(check_value(bad).is_err(), "{bad:?}");
        }
    }
}
