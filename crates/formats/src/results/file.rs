//! Files as every reader uses them: on a disk, or in memory.
//!
//! Must not know: what they contain. Start reading at [`ResultFile`].

use crate::results::error::{ReadError, ReadErrorKind};
use std::fs::File;
use std::io::{BufRead, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    path: PathBuf,
    /// `None`: it is on a disk.
    content: Option<Arc<[u8]>>,
}

impl ResultFile {
    pub fn on_disk(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), content: None }
    }

    /// Bytes that are read as if a file with this name had them.
    pub fn in_memory(path: impl Into<PathBuf>, content: impl Into<Arc<[u8]>>) -> Self {
        Self { path: path.into(), content: Some(content.into()) }
    }

    /// Its path, which may be a name alone.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name without its folder: the short name of its result.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Its folder, as it was given; empty: none was given.
    pub(crate) fn folder(&self) -> String {
        self.path.parent().map(|folder| folder.display().to_string()).unwrap_or_default()
    }

    /// Opens it for reading. It may be opened several times, so that pipes are refused; a pipe that nobody writes to
    /// would also be waited for without an end, and a device may have no end.
    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send>, ReadError> {
        if let Some(content) = &self.content {
            return Ok(Box::new(Cursor::new(Arc::clone(content))));
        }
        let metadata = std::fs::metadata(&self.path).map_err(|error| self.system(&error))?;
        if !metadata.is_file() {
            return Err(ReadErrorKind::NoFile.of(&self.path));
        }
        Ok(Box::new(File::open(&self.path).map_err(|error| self.system(&error))?))
    }

    /// Its whole content.
    ///
    /// # Errors
    /// It cannot be read, or has more bytes than allowed.
    pub fn whole(&self, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.open()?.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| self.system(&error))?;
        if bytes.len() as u64 > max_bytes {
            return Err(ReadErrorKind::TooLarge(max_bytes).of(&self.path));
        }
        Ok(bytes)
    }

    pub(crate) fn system(&self, error: &std::io::Error) -> ReadError {
        ReadErrorKind::System(ferrio_units::error_text(error)).of(&self.path)
    }

    /// The error of a line of it, counted from 1.
    pub(crate) fn at_line(&self, line: u64, kind: ReadErrorKind) -> ReadError {
        ReadError { path: self.path.clone(), line: Some(line), kind }
    }

    /// Reads the next line into `line`, with its end; false: there is none.
    ///
    /// # Errors
    /// The line is longer than `max_bytes`, or cannot be read. `number` is that of the line.
    pub(crate) fn read_line(
        &self,
        reader: &mut dyn BufRead,
        line: &mut Vec<u8>,
        number: u64,
        max_bytes: u64,
    ) -> Result<bool, ReadError> {
        line.clear();
        let length = reader.take(max_bytes).read_until(b'\n', line).map_err(|error| self.system(&error))?;
        if length as u64 == max_bytes && line.last() != Some(&b'\n') {
            return Err(self.at_line(number, ReadErrorKind::LongLine(max_bytes)));
        }
        Ok(length > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        for path in ["/dev/zero", "/"] {
            let error = ResultFile::on_disk(path).open().err().expect("no file");
            assert_eq!(error.to_string(), format!("{path}: it is no regular file: results are read from files alone"));
        }
        let error = ResultFile::on_disk("/nothing/here").whole(1).expect_err("no such file");
        assert!(matches!(error.kind, ReadErrorKind::System(_)), "{error}");
    }

    #[test]
    fn lengths_are_bounded() {
        let file = ResultFile::in_memory("a", *b"123\n4567\n8");
        assert_eq!(file.whole(10).map(|bytes| bytes.len()), Ok(10));
        assert_eq!(file.whole(9).map_err(|error| error.kind), Err(ReadErrorKind::TooLarge(9)));
        let lines = |max_bytes| {
            let (mut text, mut line) = (&b"123\n4567\n8"[..], Vec::new());
            let mut lengths = Vec::new();
            for number in 1.. {
                match file.read_line(&mut text, &mut line, number, max_bytes) {
                    Ok(true) => lengths.push(line.len()),
                    Ok(false) => break,
                    Err(error) => return Err(error.to_string()),
                }
            }
            Ok(lengths)
        };
        assert_eq!(lines(5), Ok(vec![4, 5, 1]));
        assert_eq!(lines(4), Err("a:2: it has more than 4 bytes: no result has such a line".to_owned()));
    }
}
