//! Performance logs on disk: text, or pieces of compressed records.
//!
//! Must not know: sources of rows, threads. Start reading at [`LogFiles`] and [`LogEncoder`]; rows are in `text`, compressed pieces
//! in `compressed`. Facts: reference "Performance logs".

mod aggregate;
mod compressed;
mod encoder;
pub(crate) mod reader;
mod text;

pub use aggregate::AggregateLogs;
pub use compressed::{InflateError, inflate};
pub use encoder::LogEncoder;

use ferrio_stats::{HistogramRow, LogFile, LogId, LogKind, LogRow, LogSink};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The logs of a run, written as rows come. A file always ends with a whole row or piece, even if the disk is full.
#[derive(Default)]
pub struct LogFiles {
    logs: Vec<Option<OpenLog>>,
    text: Vec<u8>,
    kept: Arc<ProtectedPaths>,
}

struct OpenLog {
    file: File,
    /// Other workers write to the same file, which may exist from before the run.
    is_shared: bool,
    /// Offset of the end of the last whole row.
    end: u64,
    encoder: LogEncoder,
}

impl LogFiles {
    /// A sink without files. Its logs will replace none of the kept files.
    pub fn new(kept: &Arc<ProtectedPaths>) -> Self {
        Self { kept: Arc::clone(kept), ..Self::default() }
    }

    fn log(&mut self, log: LogId) -> io::Result<(&mut OpenLog, &mut Vec<u8>)> {
        self.text.clear();
        let log = self.logs.get_mut(log.0).and_then(Option::as_mut);
        Ok((log.ok_or(io::ErrorKind::NotFound)?, &mut self.text))
    }
}

/// `PREFIX_KIND.N.log`, without the number for a file of all workers, and with `.fz` appended if it is compressed.
pub fn path(file: &LogFile) -> PathBuf {
    path_of(&file.prefix, file.kind, file.worker_number, is_compressed(file))
}

/// As [`path`], from the parts of a name.
pub fn path_of(prefix: &Path, kind: LogKind, worker_number: Option<u32>, is_compressed: bool) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(format!("_{}", kind.name()));
    if let Some(number) = worker_number {
        path.push(format!(".{number}"));
    }
    path.push(".log");
    if is_compressed {
        path.push(".fz");
    }
    PathBuf::from(path)
}

/// True if the file has compressed pieces. Histograms are text even if other logs are compressed.
pub fn is_compressed(file: &LogFile) -> bool {
    file.compressed_chunk_bytes.is_some() && file.kind != LogKind::ClatHist
}

impl LogSink for LogFiles {
    fn open(&mut self, file: &LogFile) -> io::Result<LogId> {
        let is_shared = file.worker_number.is_none();
        // Any number of workers and runs append whole rows to a shared file.
        let start = if is_shared { OutputStart::Append } else { OutputStart::Empty };
        let opened = output::open(&path(file), start, &self.kept)?;
        self.logs.push(Some(OpenLog { file: opened, is_shared, end: 0, encoder: LogEncoder::new(file) }));
        Ok(LogId(self.logs.len() - 1))
    }

    fn rows(&mut self, log: LogId, rows: &[LogRow]) -> io::Result<()> {
        let (log, text) = self.log(log)?;
        log.encoder.rows(rows, text)?;
        log.append(text)
    }

    fn histogram(&mut self, log: LogId, row: &HistogramRow) -> io::Result<()> {
        let (log, text) = self.log(log)?;
        log.encoder.histogram(row, text);
        log.append(text)
    }

    fn close(&mut self, log: LogId) -> io::Result<()> {
        let (open, text) = self.log(log)?;
        let written = open.encoder.finish(text).and_then(|()| open.append(text));
        self.logs[log.0] = None;
        written
    }

    fn name(&self, file: &LogFile) -> PathBuf {
        path(file)
    }
}

impl OpenLog {
    /// Writes whole rows, or removes the part that was written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.is_shared {
            self.end = self.file.seek(SeekFrom::End(0))?;
        }
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.end += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                let written = self.file.metadata().map_or(self.end, |data| data.len()).saturating_sub(self.end);
                let kept = if self.encoder.has_lines() { whole_lines(bytes, written) } else { 0 };
                // If the file cannot be truncated it ends in the middle of a row; nothing more can be done.
                let _ = self.file.set_len(self.end + kept);
                Err(error)
            }
        }
    }
}

/// Length of the whole lines in the first `n_written` bytes.
fn whole_lines(bytes: &[u8], n_written: u64) -> u64 {
    let n_written = usize::try_from(n_written).unwrap_or(usize::MAX).min(bytes.len());
    bytes[..n_written].iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position as u64 + 1)
}

#[cfg(test)]
mod tests;

/// Every column that a log may have.
#[cfg(test)]
const ALL_COLUMNS: ferrio_stats::LogColumns =
    ferrio_stats::LogColumns { maximum: true, offset: true, full_priority: true, issue_time: true };
