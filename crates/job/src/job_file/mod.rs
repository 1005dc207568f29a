//! Job files: sections, comments, includes. Gives the text of a file in parts; the meaning of options is decided
//! elsewhere.
//!
//! Must not know: which options exist. Start reading at [`read`].

pub mod arithmetic;
pub mod reader;
pub mod sections;
pub mod substitute;

use crate::compat;
use crate::environment::Environment;
use crate::error::JobError;
use crate::origin::Origin;
use ferrio_units::byte_text;
use reader::{Line, LineReader, MAX_FILE_BYTES};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Deepest nesting of includes.
pub const MAX_INCLUDE_DEPTH: usize = 16;

/// A section: the name in its brackets and the lines up to the next section, included files inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawSection {
    /// Text between the brackets.
    pub name: String,
    /// Where the brackets stand.
    pub origin: Origin,
    pub lines: Vec<Line>,
}

impl RawSection {
    /// True for a section that sets defaults for those after it.
    pub fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// A job file, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct RawFile {
    /// Sections that were read; the last is incomplete when there is a failure.
    pub sections: Vec<RawSection>,
    /// Error that ended reading early.
    pub failure: Option<JobError>,
}

/// Reads the job file `name`, or standard input for `-`.
pub fn read(name: &OsStr, environment: &dyn Environment) -> RawFile {
    let mut sections = Vec::new();
    let mut budget = MAX_FILE_BYTES;
    let failure = open_named(name, environment).and_then(|(input, label)| {
        let directory = Path::new(name).parent().map(Path::to_owned).unwrap_or_default();
        let mut source = JobFileText { environment, directory, depth: 0, budget: &mut budget };
        source.read_sections(LineReader::new(input, label), &mut sections)
    });
    RawFile { sections, failure: failure.err() }
}

type Opened = (Box<dyn Read>, Arc<str>);

fn open_named(name: &OsStr, environment: &dyn Environment) -> Result<Opened, JobError> {
    if name == "-" {
        return Ok((environment.stdin(), Arc::from("stdin")));
    }
    match environment.open(Path::new(name)) {
        Ok(input) => Ok((input, Arc::from(name.to_string_lossy()))),
        Err(error) => {
            let (name, reason) = (name.to_string_lossy().into_owned(), ferrio_units::error_text(&error));
            Err(JobError::Unopened { name, reason, included: None })
        }
    }
}

/// A file being read, with the data that its includes need.
struct JobFileText<'a> {
    environment: &'a dyn Environment,
    /// Directory of the file. An include is searched here if the current directory does not have it.
    directory: PathBuf,
    depth: usize,
    budget: &'a mut usize,
}

impl JobFileText<'_> {
    fn read_sections(&mut self, mut reader: LineReader, sections: &mut Vec<RawSection>) -> Result<(), JobError> {
        while let Some(line) = reader.next_line(self.budget)? {
            if line.text.starts_with('[') {
                let name = section_name(&line)?;
                sections.push(RawSection { name, origin: line.origin, lines: Vec::new() });
                continue;
            }
            if sections.is_empty() && line.is_comment {
                // A comment above all sections is for all jobs.
                sections.push(RawSection { name: "global".to_owned(), origin: line.origin.clone(), lines: Vec::new() });
            }
            let Some(section) = sections.last_mut() else {
                return Err(JobError::OutsideSection { text: line.text, place: place_of(&line.origin) });
            };
            self.take_line(line, &mut section.lines)?;
        }
        Ok(())
    }

    fn take_line(&mut self, line: Line, lines: &mut Vec<Line>) -> Result<(), JobError> {
        // A comment includes no file.
        if let Some(name) = included_name(&line.text).filter(|_| !line.is_comment).map(str::to_owned) {
            return self.include(&name, &line.origin, lines);
        }
        lines.push(line);
        Ok(())
    }

    fn include(&mut self, name: &str, origin: &Origin, lines: &mut Vec<Line>) -> Result<(), JobError> {
        if self.depth == MAX_INCLUDE_DEPTH {
            let what = format!("includes nested deeper than {MAX_INCLUDE_DEPTH}: does {name} include itself?");
            return Err(JobError::BadFile { place: place_of(origin), what });
        }
        let (input, path) = self.open_included(name, origin)?;
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut reader = LineReader::new(input, Arc::from(path.to_string_lossy()));
        let mut inner =
            JobFileText { environment: self.environment, directory, depth: self.depth + 1, budget: &mut *self.budget };
        while let Some(line) = reader.next_line(inner.budget)? {
            if line.text.starts_with('[') {
                return Err(JobError::SectionIncluded { name: name.to_owned(), place: place_of(&line.origin) });
            }
            inner.take_line(line, lines)?;
        }
        Ok(())
    }

    /// Opens `name` relative to the current directory, else to the directory of the including file.
    fn open_included(&self, name: &str, origin: &Origin) -> Result<(Box<dyn Read>, PathBuf), JobError> {
        let mut first_error = None;
        let name_as_given = byte_text::to_os_string(name);
        for path in [PathBuf::from(&name_as_given), self.directory.join(&name_as_given)] {
            match self.environment.open(&path) {
                Ok(input) => return Ok((input, path)),
                Err(error) => first_error.get_or_insert(error),
            };
        }
        let reason = first_error.map(|error| ferrio_units::error_text(&error)).unwrap_or_default();
        Err(JobError::Unopened { name: name.to_owned(), reason, included: Some(place_of(origin)) })
    }
}

fn place_of(origin: &Origin) -> String {
    origin.with_column().unwrap_or_default()
}

fn section_name(line: &Line) -> Result<String, JobError> {
    let name = compat::section_name(&line.text[1..]);
    if name.trim().is_empty() {
        let what = format!("section without a name: {}", line.text);
        return Err(JobError::BadFile { place: place_of(&line.origin), what });
    }
    if let Some((at, byte)) = byte_text::first_byte(&name) {
        let what = format!("name of a section: byte {at} ({byte:#04x}) is not UTF-8, and a name is text");
        return Err(JobError::BadFile { place: place_of(&line.origin), what });
    }
    Ok(name)
}

/// The file of an `include FILE` or `include=FILE` line.
fn included_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("include")?;
    rest.strip_prefix(['=', ' ', '\t']).map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests;
