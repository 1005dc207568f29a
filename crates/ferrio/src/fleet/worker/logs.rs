//! Performance logs of a worker whose coordinator wants them: their rows go over the connection, and nothing is written here.
//!
//! Must not know: what the coordinator does with them. Start reading at [`SentLogs`].

use crate::fleet::wire::{FleetReport, LogBytes, LogPart, SentLogName};
use ferrio_formats::logs::{self, LogEncoder};
use ferrio_stats::{HistogramRow, LogFile, LogId, LogRow, LogSink};
use std::io;
use std::path::PathBuf;
use tokio::sync::mpsc;

/// Bytes of a log that make a message; a message has at most as many and those of one call more.
const PIECE_BYTES: usize = 32 << 10;
/// Most bytes of a message.
const MOST_PIECE_BYTES: usize = 256 << 10;

/// The logs of a run. Each call waits for room on the connection; where the coordinator has gone, it fails.
pub(super) struct SentLogs {
    reports: mpsc::Sender<FleetReport>,
    logs: Vec<Option<SentLog>>,
}

struct SentLog {
    encoder: LogEncoder,
    /// Bytes that were not sent yet.
    waiting: Vec<u8>,
}

impl SentLogs {
    pub(super) fn new(reports: mpsc::Sender<FleetReport>) -> Self {
        Self { reports, logs: Vec::new() }
    }

    fn send(&self, part: LogPart) -> io::Result<()> {
        self.reports.blocking_send(FleetReport::Log(part)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Adds bytes to a log, and sends what is enough for a message, or all of it.
    fn add(
        &mut self,
        log: LogId,
        sends_all: bool,
        encode: impl FnOnce(&mut LogEncoder, &mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let open = self.logs.get_mut(log.0).and_then(Option::as_mut).ok_or(io::ErrorKind::NotFound)?;
        encode(&mut open.encoder, &mut open.waiting)?;
        if !sends_all && open.waiting.len() < PIECE_BYTES {
            return Ok(());
        }
        let waiting = std::mem::take(&mut open.waiting);
        for piece in waiting.chunks(MOST_PIECE_BYTES) {
            self.send(LogPart::Bytes { number: log.0 as u32, bytes: LogBytes(piece.to_vec()) })?;
        }
        Ok(())
    }
}

impl LogSink for SentLogs {
    fn open(&mut self, file: &LogFile) -> io::Result<LogId> {
        let name = SentLogName {
            prefix: file.prefix.to_string_lossy().into_owned(),
            kind: file.kind,
            worker_number: file.worker_number,
            is_compressed: logs::is_compressed(file),
        };
        self.send(LogPart::Opened(name))?;
        self.logs.push(Some(SentLog { encoder: LogEncoder::new(file), waiting: Vec::new() }));
        Ok(LogId(self.logs.len() - 1))
    }

    fn rows(&mut self, log: LogId, rows: &[LogRow]) -> io::Result<()> {
        self.add(log, false, |encoder, bytes| encoder.rows(rows, bytes))
    }

    fn histogram(&mut self, log: LogId, row: &HistogramRow) -> io::Result<()> {
        self.add(log, false, |encoder, bytes| {
            encoder.histogram(row, bytes);
            Ok(())
        })
    }

    fn close(&mut self, log: LogId) -> io::Result<()> {
        let sent = self.add(log, true, LogEncoder::finish);
        if let Some(open) = self.logs.get_mut(log.0) {
            *open = None;
        }
        sent.and_then(|()| self.send(LogPart::Closed { number: log.0 as u32 }))
    }

    fn name(&self, file: &LogFile) -> PathBuf {
        logs::path(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{LogColumns, LogKind};
    use ferrio_units::DataDirection;

    fn file() -> LogFile {
        LogFile {
            prefix: PathBuf::from("x"),
            kind: LogKind::Bw,
            worker_number: Some(2),
            columns: LogColumns::default(),
            coarseness: 0,
            compressed_chunk_bytes: None,
        }
    }

    #[test]
    fn a_log_comes_whole_and_in_small_messages() {
        let (reports, mut sent) = mpsc::channel(1_000);
        let mut logs = SentLogs::new(reports);
        let log = logs.open(&file()).expect("room");
        let rows: Vec<LogRow> = (0..10_000).map(|ms| LogRow::of_window(ms, DataDirection::Read, 7, 0)).collect();
        for some in rows.chunks(100) {
            logs.rows(log, some).expect("room");
        }
        logs.close(log).expect("room");
        let (mut text, mut n_messages) = (Vec::new(), 0);
        while let Ok(FleetReport::Log(part)) = sent.try_recv() {
            n_messages += 1;
            if let LogPart::Bytes { number: 0, bytes } = part {
                assert!(bytes.0.len() <= MOST_PIECE_BYTES);
                text.extend(bytes.0);
            }
        }
        // 10 + 90 * 2 + 900 * 3 + 9,000 * 4 digits, and ", 7, 0, 0, 0\n" in each row.
        assert_eq!(text.len(), 10 + 180 + 2_700 + 36_000 + 13 * 10_000);
        assert!((5..=10).contains(&n_messages), "{n_messages}");
    }

    #[test]
    fn a_log_fails_when_nobody_hears_it() {
        let (reports, sent) = mpsc::channel(1);
        drop(sent);
        assert!(SentLogs::new(reports).open(&file()).is_err());
    }
}
