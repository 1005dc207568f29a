//! The text of a log, which may be compressed.
//!
//! Must not know: rows. Start reading at [`RowSource::open`].

use super::COMPRESSED;
use crate::logs::{InflateError, inflate};
use crate::results::ResultFile;
use crate::results::error::{ReadError, ReadErrorKind};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind};
use std::path::Path;
use std::thread::JoinHandle;

/// Bytes that are looked at together.
const BUFFER_BYTES: usize = 1 << 20;

/// The text, and the thread that inflates it.
pub(super) struct RowSource {
    pub(super) reader: Box<dyn BufRead>,
    inflater: Option<JoinHandle<Result<(), InflateError>>>,
}

impl RowSource {
    /// Opens a log. A compressed one is inflated as it is read, so that its length costs no memory.
    pub(super) fn open(file: &ResultFile) -> Result<Self, ReadError> {
        let content = file.open()?;
        let is_compressed = file.path().to_str().is_some_and(|path| path.ends_with(COMPRESSED));
        if !is_compressed {
            return Ok(Self { reader: Box::new(BufReader::with_capacity(BUFFER_BYTES, content)), inflater: None });
        }
        let (from, to) = std::io::pipe().map_err(|error| file.system(&error))?;
        let work = move || inflate(&mut BufReader::new(content), &mut BufWriter::new(to));
        let inflater = std::thread::Builder::new().name("inflate".to_owned()).spawn(work);
        let inflater = inflater.map_err(|error| file.system(&error))?;
        Ok(Self { reader: Box::new(BufReader::with_capacity(BUFFER_BYTES, from)), inflater: Some(inflater) })
    }

    pub(super) fn finish(self, path: &Path) -> Result<(), ReadError> {
        // The thread ends when nobody reads its text any more.
        drop(self.reader);
        match self.inflater.map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(InflateError::Io(error)))) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Some(Ok(Err(error))) => Err(ReadErrorKind::Compressed(error.to_string()).of(path)),
            Some(Err(_)) => Err(ReadErrorKind::Compressed("it cannot be inflated".to_owned()).of(path)),
        }
    }
}
