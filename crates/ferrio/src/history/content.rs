//! Stored results: compressed, and inflated in bounded memory.
//!
//! Must not know: what a result is. Start reading at [`compress`].

use crate::history::HistoryError;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// Largest result that is read, as large as any record.
const MAX_BYTES: u64 = ferrio_formats::record_file::MAX_BYTES;
/// Largest compressed one: `SQLite` has 1,000,000,000 bytes for a row.
const MAX_STORED_BYTES: usize = 990_000_000;

/// The bytes that are stored for a result.
pub(crate) fn compress(content: &[u8]) -> Result<Vec<u8>, HistoryError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // A vector takes everything.
    let _ = encoder.write_all(content);
    let stored = encoder.finish().unwrap_or_default();
    if stored.len() > MAX_STORED_BYTES { Err(HistoryError::TooLarge(stored.len())) } else { Ok(stored) }
}

pub(crate) fn inflate(number: i64, stored: &[u8]) -> Result<Vec<u8>, HistoryError> {
    let damaged = |text: String| HistoryError::DamagedRun { number, text };
    let mut content = Vec::new();
    let read = ZlibDecoder::new(stored).take(MAX_BYTES + 1).read_to_end(&mut content);
    read.map_err(|error| damaged(ferrio_units::error_text(&error)))?;
    if content.len() as u64 > MAX_BYTES {
        return Err(damaged(format!("it has more than {MAX_BYTES} bytes")));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_come_back_and_damage_is_found() {
        let content: Vec<u8> = (0..100_000_u32).map(|number| (number / 7) as u8).collect();
        let stored = compress(&content).expect("it is small");
        assert!(stored.len() < content.len() / 10);
        assert_eq!(inflate(1, &stored).ok(), Some(content));
        let mut damaged = stored.clone();
        damaged[stored.len() / 2] ^= 0x55;
        for bytes in [&stored[..stored.len() / 2], &damaged, b"", b"text"] {
            let error = inflate(7, bytes).expect_err("damaged").to_string();
            assert!(error.starts_with("the stored result of run 7 is damaged: "), "{error}");
        }
    }
}
