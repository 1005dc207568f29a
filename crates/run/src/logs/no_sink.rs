//! The sink for performance logs that are not wanted.
//!
//! Must not know: the run. Start reading at [`NoSink`].

use ferrio_stats::{HistogramRow, LogFile, LogId, LogRow, LogSink};
use std::io;
use std::path::PathBuf;

/// Refuses every log, so that the run reports which ones are lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoSink;

fn refused<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "nobody takes the rows of logs"))
}

impl LogSink for NoSink {
    fn open(&mut self, _: &LogFile) -> io::Result<LogId> {
        refused()
    }

    fn rows(&mut self, _: LogId, _: &[LogRow]) -> io::Result<()> {
        refused()
    }

    fn histogram(&mut self, _: LogId, _: &HistogramRow) -> io::Result<()> {
        refused()
    }

    fn close(&mut self, _: LogId) -> io::Result<()> {
        Ok(())
    }

    fn name(&self, file: &LogFile) -> PathBuf {
        file.prefix.clone()
    }
}
