//! The files of a trace, in the order in which it first names them.
//!
//! Must not know: what a name refers to. Start reading at [`FileNames`].

use super::TraceError;
use ferrio_stats::note::TraceFault;
use std::collections::HashMap;

/// Most files that one trace may name.
const MAX_FILES: usize = 1 << 18;

/// Most bytes of all names together.
const MAX_NAME_BYTES: usize = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TraceFile {
    /// A file with a name, as a text of [`ferrio_units::byte_text`], because a name may contain any bytes.
    Named(String),
    Device {
        major: u32,
        minor: u32,
    },
}

impl TraceFile {
    fn n_bytes(&self) -> usize {
        if let Self::Named(name) = self { name.len() } else { 0 }
    }
}

#[derive(Debug, Default)]
pub(super) struct FileNames {
    by_name: HashMap<String, u32>,
    by_device: HashMap<(u32, u32), u32>,
    files: Vec<TraceFile>,
    n_bytes: usize,
    /// All files are known from an earlier pass over the trace.
    is_complete: bool,
    /// All I/O goes to one file, whatever name the trace gives.
    has_one: bool,
}

impl FileNames {
    pub(super) fn one() -> Self {
        Self { has_one: true, ..Self::default() }
    }

    /// Closes the list: from now on, a name that is not in it is an error.
    pub(super) fn complete(&mut self) {
        self.is_complete = true;
    }

    pub(super) fn list(&self) -> &[TraceFile] {
        &self.files
    }

    pub(super) fn named(&mut self, name: &str) -> Result<u32, TraceError> {
        match self.by_name.get(name) {
            Some(index) => Ok(*index),
            None if self.has_one && !self.files.is_empty() => Ok(0),
            None => {
                let index = self.add(TraceFile::Named(name.to_owned()))?;
                self.by_name.insert(name.to_owned(), index);
                Ok(index)
            }
        }
    }

    pub(super) fn device(&mut self, major: u32, minor: u32) -> Result<u32, TraceError> {
        match self.by_device.get(&(major, minor)) {
            Some(index) => Ok(*index),
            None if self.has_one && !self.files.is_empty() => Ok(0),
            None => {
                let index = self.add(TraceFile::Device { major, minor })?;
                self.by_device.insert((major, minor), index);
                Ok(index)
            }
        }
    }

    /// Adds a file that an earlier pass found.
    pub(super) fn learn(&mut self, file: &TraceFile) -> Result<u32, TraceError> {
        match file {
            TraceFile::Named(name) => self.named(name),
            TraceFile::Device { major, minor } => self.device(*major, *minor),
        }
    }

    fn add(&mut self, file: TraceFile) -> Result<u32, TraceError> {
        if self.is_complete {
            return Err(TraceFault::Changed.into());
        }
        self.n_bytes += file.n_bytes();
        if self.files.len() == MAX_FILES || self.n_bytes > MAX_NAME_BYTES {
            return Err(TraceFault::TooManyFiles { n_files: self.files.len() }.into());
        }
        self.files.push(file);
        // Fits: below MAX_FILES.
        Ok(self.files.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_learned_once() {
        let mut names = FileNames::default();
        let indexes = ["a", "b", "a"].map(|name| names.named(name).unwrap());
        assert_eq!(indexes, [0, 1, 0]);
        assert_eq!([names.device(8, 1).unwrap(), names.device(8, 2).unwrap(), names.device(8, 1).unwrap()], [2, 3, 2]);
        names.complete();
        assert_eq!(names.named("b").unwrap(), 1);
        assert!(matches!(names.named("c"), Err(TraceError::Fault(TraceFault::Changed))));
        let mut one = FileNames::one();
        assert_eq!([one.named("a").unwrap(), one.device(1, 1).unwrap(), one.named("b").unwrap()], [0; 3]);
        assert_eq!(one.list().len(), 1);
    }

    #[test]
    fn names_are_bounded() {
        let mut names = FileNames::default();
        let result = (0..=MAX_FILES).try_for_each(|n| names.named(&n.to_string()).map(|_| ()));
        assert!(matches!(result, Err(TraceError::Fault(TraceFault::TooManyFiles { n_files: MAX_FILES }))));
        let mut names = FileNames::default();
        let long = |n: usize| format!("{n:016384}");
        let result = (0..=MAX_NAME_BYTES / 16_384).try_for_each(|n| names.named(&long(n)).map(|_| ()));
        assert!(result.is_err());
    }
}
