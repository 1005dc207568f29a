//! A record of the journal: 48 bytes with a checksum, so that a record that the crash cut off is recognised.
//!
//! Layout, all little endian: crc32c of the rest (4), kind (4), file (4), length (4), offset (8), seed (8), number (8), start (8).
//! Must not know: files. Start reading at [`JournalRecord`].

use ferrio_units::checksum::crc32c;
use ferrio_workload::verify::block::Write;

pub const RECORD_BYTES: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalEvent {
    Issued,
    Acknowledged,
    Failed,
    /// A sync of a file was completed.
    Synced {
        /// Number of records in the journal when the sync was issued: writes acknowledged in them are durable.
        covers: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalRecord {
    pub event: JournalEvent,
    pub file_index: u32,
    /// Length of the write, bytes; 0 for a sync.
    pub length_bytes: u32,
    /// The write; zeroes for a sync.
    pub write: Write,
}

impl JournalRecord {
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let (kind, number) = match self.event {
            JournalEvent::Issued => (1_u32, self.write.sequence),
            JournalEvent::Acknowledged => (2, self.write.sequence),
            JournalEvent::Failed => (3, self.write.sequence),
            JournalEvent::Synced { covers } => (4, covers),
        };
        let mut bytes = [0; RECORD_BYTES];
        for (place, word) in bytes[4..16].chunks_exact_mut(4).zip([kind, self.file_index, self.length_bytes]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let words = [self.write.offset_bytes, self.write.seed, number, self.write.start_ns];
        for (place, word) in bytes[16..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let crc = crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a record; `None`: the bytes are no record.
    pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        if short(0) != crc32c(&bytes[4..]) {
            return None;
        }
        let number = long(32);
        let (event, sequence) = match short(4) {
            1 => (JournalEvent::Issued, number),
            2 => (JournalEvent::Acknowledged, number),
            3 => (JournalEvent::Failed, number),
            4 => (JournalEvent::Synced { covers: number }, 0),
            _ => return None,
        };
        let write = Write { offset_bytes: long(16), seed: long(24), sequence, start_ns: long(40) };
        Some(Self { event, file_index: short(8), length_bytes: short(12), write })
    }
}
