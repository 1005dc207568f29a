//! Logs as compressed pieces, one after another: each is a zlib stream of an array of fixed-size records.
//!
//! Must not know: names of files, sources of rows. Start reading at [`Pieces`] (writing) and [`inflate`] (reading).
//! Facts: reference "Compression". A record is native-endian: time, value, maximum (u64), direction and flags (u32),
//! priority (u16), two bytes of padding, block size (u64), then offset and issue time (u64) if the flags say so.

use super::text::RowWriter;
use ferrio_stats::{LogColumns, LogRow};
use ferrio_units::DataDirection;
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{self, BufRead, Read, Write};

const HAS_OFFSET: u32 = 0x8000_0000;
const HAS_FULL_PRIORITY: u32 = 0x4000_0000;
const HAS_MAXIMUM: u32 = 0x2000_0000;
const HAS_ISSUE_TIME: u32 = 0x1000_0000;
/// Bytes of a record without offset and issue time.
const PLAIN_BYTES: usize = 40;
const MAX_RECORD_BYTES: usize = PLAIN_BYTES + 16;
/// Limits for the length of the records in one piece: smaller pieces would save nothing because of the stream's own
/// bytes; with larger ones, a thousand jobs would hold gigabytes.
const PIECE_BYTES: std::ops::RangeInclusive<usize> = 1024..=1 << 20;

/// Collects rows, and compresses a piece when it is full.
pub(super) struct Pieces {
    columns: LogColumns,
    chunk_bytes: usize,
    raw: Vec<u8>,
}

impl Pieces {
    pub(super) fn new(columns: LogColumns, chunk_bytes: usize) -> Self {
        Self { columns, chunk_bytes: chunk_bytes.clamp(*PIECE_BYTES.start(), *PIECE_BYTES.end()), raw: Vec::new() }
    }

    /// Takes rows; appends full pieces to `out`.
    pub(super) fn rows(&mut self, rows: &[LogRow], out: &mut Vec<u8>) -> io::Result<()> {
        for row in rows {
            record(row, self.columns, &mut self.raw);
            if self.raw.len() >= self.chunk_bytes {
                self.finish(out)?;
            }
        }
        Ok(())
    }

    /// Appends the rest as a last piece.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        if self.raw.is_empty() {
            return Ok(());
        }
        let mut encoder = ZlibEncoder::new(&mut *out, Compression::default());
        encoder.write_all(&self.raw)?;
        encoder.finish()?;
        self.raw.clear();
        Ok(())
    }
}

fn record(row: &LogRow, columns: LogColumns, raw: &mut Vec<u8>) {
    let flags = [
        (columns.offset, HAS_OFFSET),
        (columns.full_priority, HAS_FULL_PRIORITY),
        (columns.maximum, HAS_MAXIMUM),
        (columns.issue_time, HAS_ISSUE_TIME),
    ];
    let flags = flags.into_iter().filter(|(is_on, _)| *is_on).fold(0, |all, (_, flag)| all | flag);
    for word in [row.time_ms, row.value, row.maximum] {
        raw.extend_from_slice(&word.to_ne_bytes());
    }
    raw.extend_from_slice(&(row.direction as u32 | flags).to_ne_bytes());
    raw.extend_from_slice(&row.ioprio.to_ne_bytes());
    raw.extend_from_slice(&[0; 2]);
    raw.extend_from_slice(&row.block_bytes.to_ne_bytes());
    if columns.offset {
        raw.extend_from_slice(&row.offset_bytes.to_ne_bytes());
    }
    if columns.issue_time {
        raw.extend_from_slice(&row.issue_ns.to_ne_bytes());
    }
}

/// Why a compressed log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum InflateError {
    /// Reading or writing failed, or the file is no zlib stream.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A stream does not consist of records.
    #[error("not a log: record {record} is broken")]
    NotALog {
        /// Number of the record in the file, from 1.
        record: u64,
    },
}

/// Writes the rows of a compressed log as text. Memory does not depend on the size of the log.
pub fn inflate(log: &mut dyn BufRead, out: &mut dyn Write) -> Result<(), InflateError> {
    let mut n_records = 0;
    while !log.fill_buf()?.is_empty() {
        let mut stream = ZlibDecoder::new(&mut *log);
        inflate_stream(&mut stream, &mut n_records, out)?;
    }
    out.flush()?;
    Ok(())
}

fn inflate_stream(stream: &mut impl Read, n_records: &mut u64, out: &mut dyn Write) -> Result<(), InflateError> {
    let mut writer: Option<(LogColumns, RowWriter)> = None;
    let mut text = Vec::new();
    loop {
        let mut raw = [0; MAX_RECORD_BYTES];
        let n_read = read_up_to(stream, &mut raw[..PLAIN_BYTES])?;
        if n_read == 0 {
            return Ok(out.write_all(&text)?);
        }
        *n_records += 1;
        let broken = InflateError::NotALog { record: *n_records };
        let Some((columns, n_more)) = (n_read == PLAIN_BYTES).then(|| columns_of(&raw)) else { return Err(broken) };
        let record_bytes = PLAIN_BYTES + n_more;
        if read_up_to(stream, &mut raw[PLAIN_BYTES..record_bytes])? < n_more {
            return Err(broken);
        }
        let row = row_of(&raw, columns).ok_or(broken)?;
        let writer = match &mut writer {
            Some((of, writer)) if *of == columns => writer,
            other => &mut other.insert((columns, RowWriter::new(columns))).1,
        };
        writer.row(&row, &mut text);
        if text.len() >= 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
}

/// Reads until `bytes` is full or the stream ends.
fn read_up_to(stream: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut n_read = 0;
    while n_read < bytes.len() {
        match stream.read(&mut bytes[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_read)
}

fn flags_of(raw: &[u8; MAX_RECORD_BYTES]) -> u32 {
    u32::from_ne_bytes([raw[24], raw[25], raw[26], raw[27]])
}

/// Columns of a record, and its length beyond that of a plain one.
fn columns_of(raw: &[u8; MAX_RECORD_BYTES]) -> (LogColumns, usize) {
    let has = |flag| flags_of(raw) & flag != 0;
    let columns = LogColumns {
        maximum: has(HAS_MAXIMUM),
        offset: has(HAS_OFFSET),
        full_priority: has(HAS_FULL_PRIORITY),
        issue_time: has(HAS_ISSUE_TIME),
    };
    (columns, 8 * (usize::from(columns.offset) + usize::from(columns.issue_time)))
}

fn row_of(raw: &[u8; MAX_RECORD_BYTES], columns: LogColumns) -> Option<LogRow> {
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&raw[at..at + 8]);
        u64::from_ne_bytes(bytes)
    };
    let flags = HAS_OFFSET | HAS_FULL_PRIORITY | HAS_MAXIMUM | HAS_ISSUE_TIME;
    let direction = DataDirection::ALL.get((flags_of(raw) & !flags) as usize).copied()?;
    let issue_at = if columns.offset { PLAIN_BYTES + 8 } else { PLAIN_BYTES };
    Some(LogRow {
        time_ms: word(0),
        value: word(8),
        maximum: word(16),
        direction,
        block_bytes: word(32),
        offset_bytes: if columns.offset { word(PLAIN_BYTES) } else { 0 },
        ioprio: u16::from_ne_bytes([raw[28], raw[29]]),
        issue_ns: if columns.issue_time { word(issue_at) } else { 0 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn row()(
            figures in any::<[u64; 6]>(),
            direction in 0usize..3,
            ioprio in any::<u16>(),
        ) -> LogRow {
            let [time_ms, value, maximum, block_bytes, offset_bytes, issue_ns] = figures;
            let direction = DataDirection::ALL[direction];
            LogRow { time_ms, value, maximum, direction, block_bytes, offset_bytes, ioprio, issue_ns }
        }
    }

    fn inflated(mut bytes: &[u8]) -> Result<String, InflateError> {
        let mut text = Vec::new();
        inflate(&mut bytes, &mut text)?;
        Ok(String::from_utf8(text).expect("digits"))
    }

    proptest! {
        #[test]
        fn a_compressed_log_has_the_rows_of_a_plain_one(
            rows in prop::collection::vec(row(), 0..200),
            flags in any::<[bool; 4]>(),
            chunk_bytes in 0usize..4096,
        ) {
            let [maximum, offset, full_priority, issue_time] = flags;
            let columns = LogColumns { maximum, offset, full_priority, issue_time };
            let (mut pieces, mut out) = (Pieces::new(columns, chunk_bytes), Vec::new());
            for part in rows.chunks(7) {
                pieces.rows(part, &mut out).expect("memory");
            }
            pieces.finish(&mut out).expect("memory");
            let (mut writer, mut text) = (RowWriter::new(columns), Vec::new());
            for row in &rows {
                writer.row(row, &mut text);
            }
            prop_assert_eq!(inflated(&out).expect("reads back"), String::from_utf8(text).expect("digits"));
        }

        #[test]
        fn garbage_is_an_error(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
            // The call must return, whatever the bytes are; an empty stream is no error.
            let _ = inflated(&bytes);
            let mut stream = Vec::new();
            let mut encoder = ZlibEncoder::new(&mut stream, Compression::default());
            encoder.write_all(&bytes).and_then(|()| encoder.finish().map(drop)).expect("memory");
            let _ = inflated(&stream);
        }
    }

    #[test]
    fn cut_logs_are_errors() {
        let row = LogRow {
            time_ms: 1,
            value: 2,
            maximum: 3,
            direction: DataDirection::Write,
            block_bytes: 4096,
            offset_bytes: 0,
            ioprio: 0,
            issue_ns: 0,
        };
        let (mut pieces, mut out) = (Pieces::new(LogColumns::default(), 0), Vec::new());
        pieces.rows(&[row; 3], &mut out).and_then(|()| pieces.finish(&mut out)).expect("memory");
        assert_eq!(inflated(&out).expect("whole"), "1, 2, 1, 4096, 0\n".repeat(3));
        assert!(matches!(inflated(&out[..out.len() / 2]), Err(InflateError::Io(_))));
        let mut stream = Vec::new();
        let mut encoder = ZlibEncoder::new(&mut stream, Compression::default());
        encoder.write_all(&[0; PLAIN_BYTES + 1]).and_then(|()| encoder.finish().map(drop)).expect("memory");
        assert!(matches!(inflated(&stream), Err(InflateError::NotALog { record: 2 })));
        assert_eq!(inflated(&[]).expect("an empty log"), "");
    }
}
