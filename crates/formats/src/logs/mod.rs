//! Performance logs on disk: text, or pieces of compressed records.
//!
//! Must not know: sources of rows, threads. Start reading at [`LogFiles`]; rows are in `text`, compressed pieces in
//! `compressed`. Facts: reference "Performance logs".

mod aggregate;
mod compressed;
pub(crate) mod reader;
mod text;

pub use aggregate::AggregateLogs;
pub use compressed::{InflateError, inflate};

use compressed::Pieces;
use ferrio_stats::{HistogramRow, LogFile, LogId, LogRow, LogSink};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use text::RowWriter;

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
    rows: Rows,
    coarseness: u32,
}

enum Rows {
    Text(Box<RowWriter>),
    Compressed(Pieces),
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
fn path(file: &LogFile) -> PathBuf {
    let mut path = file.prefix.clone().into_os_string();
    path.push(format!("_{}", file.kind.name()));
    if let Some(number) = file.worker_number {
        path.push(format!(".{number}"));
    }
    path.push(".log");
    // Histograms are text even if other logs are compressed.
    if is_compressed(file) {
        path.push(".fz");
    }
    PathBuf::from(path)
}

fn is_compressed(file: &LogFile) -> bool {
    file.compressed_chunk_bytes.is_some() && file.kind != ferrio_stats::LogKind::ClatHist
}

impl LogSink for LogFiles {
    fn open(&mut self, file: &LogFile) -> io::Result<LogId> {
        let is_shared = file.worker_number.is_none();
        // Any number of workers and runs append whole rows to a shared file.
        let start = if is_shared { OutputStart::Append } else { OutputStart::Empty };
        let opened = output::open(&path(file), start, &self.kept)?;
        let chunk_bytes = file.compressed_chunk_bytes.unwrap_or(0);
        let rows = if is_compressed(file) {
            Rows::Compressed(Pieces::new(file.columns, chunk_bytes))
        } else {
            Rows::Text(Box::new(RowWriter::new(file.columns)))
        };
        self.logs.push(Some(OpenLog { file: opened, is_shared, end: 0, rows, coarseness: file.coarseness }));
        Ok(LogId(self.logs.len() - 1))
    }

    fn rows(&mut self, log: LogId, rows: &[LogRow]) -> io::Result<()> {
        let (log, text) = self.log(log)?;
        match &mut log.rows {
            Rows::Text(writer) => rows.iter().for_each(|row| writer.row(row, text)),
            Rows::Compressed(pieces) => pieces.rows(rows, text)?,
        }
        log.append(text)
    }

    fn histogram(&mut self, log: LogId, row: &HistogramRow) -> io::Result<()> {
        let (log, text) = self.log(log)?;
        text::histogram(row, log.coarseness, text);
        log.append(text)
    }

    fn close(&mut self, log: LogId) -> io::Result<()> {
        let (open, text) = self.log(log)?;
        let last = match &mut open.rows {
            Rows::Text(_) => Ok(()),
            Rows::Compressed(pieces) => pieces.finish(text),
        };
        let written = last.and_then(|()| open.append(text));
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
                let kept = match &self.rows {
                    Rows::Text(_) => whole_lines(bytes, written),
                    Rows::Compressed(_) => 0,
                };
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
