//! Rows of one performance log as the bytes of its file.
//!
//! Must not know: files, connections. Start reading at [`LogEncoder`].

use super::compressed::Pieces;
use super::is_compressed;
use super::text::{self, RowWriter};
use ferrio_stats::{HistogramRow, LogColumns, LogFile, LogRow};
use std::io;

/// Makes the bytes of a log. All bytes of its calls, one after the other, are the file.
pub struct LogEncoder {
    rows: Rows,
    coarseness: u32,
}

enum Rows {
    Text(Box<RowWriter>),
    Compressed(Pieces),
}

impl LogEncoder {
    pub fn new(file: &LogFile) -> Self {
        let rows = if is_compressed(file) {
            Rows::Compressed(Pieces::new(file.columns, file.compressed_chunk_bytes.unwrap_or(0)))
        } else {
            Rows::Text(Box::new(RowWriter::new(file.columns)))
        };
        Self { rows, coarseness: file.coarseness }
    }

    pub(super) fn of_text(columns: LogColumns) -> Self {
        Self { rows: Rows::Text(Box::new(RowWriter::new(columns))), coarseness: 0 }
    }

    /// Adds whole rows, or whole pieces of compressed records.
    ///
    /// # Errors
    /// The rows cannot be compressed.
    pub fn rows(&mut self, rows: &[LogRow], bytes: &mut Vec<u8>) -> io::Result<()> {
        match &mut self.rows {
            Rows::Text(writer) => {
                for row in rows {
                    writer.row(row, bytes);
                }
                Ok(())
            }
            Rows::Compressed(pieces) => pieces.rows(rows, bytes),
        }
    }

    pub fn histogram(&mut self, row: &HistogramRow, bytes: &mut Vec<u8>) {
        text::histogram(row, self.coarseness, bytes);
    }

    /// Adds the last piece.
    ///
    /// # Errors
    /// It cannot be compressed.
    pub fn finish(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        match &mut self.rows {
            Rows::Text(_) => Ok(()),
            Rows::Compressed(pieces) => pieces.finish(bytes),
        }
    }

    /// The file consists of lines.
    pub(super) fn has_lines(&self) -> bool {
        matches!(self.rows, Rows::Text(_))
    }
}
