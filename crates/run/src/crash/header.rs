//! The description at the start of a journal: the job, its files and its blocks.
//!
//! Must not know: records. Start reading at [`CrashHeader`].

use crate::crash::error::JournalError;
use ferrio_spec::{JobSpec, VerifyContentSpec};
use ferrio_units::checksum::crc32c;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::PathBuf;

/// First bytes of a journal; the last of them are its version.
const MAGIC: &[u8; 8] = b"ferrioC1";

/// Magic, length of the description, its checksum.
const HEAD_BYTES: usize = 16;

/// The longest description that is read, bytes.
const MAX_HEADER_BYTES: u32 = 16 << 20;

const MAX_BLOCK_BYTES: u64 = 1 << 30;

/// The description at the start of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashHeader {
    pub job_name: String,
    /// Number of the clone in the run, as the headers of its blocks have it.
    pub job_number: u16,
    /// What its blocks contain.
    pub content: VerifyContentSpec,
    pub files: Vec<String>,
    /// Size of its largest block, bytes.
    pub block_bytes: u64,
    /// Every acknowledged write is durable (`sync`).
    pub writes_are_durable: bool,
}

impl CrashHeader {
    /// The bytes of the description, with its length and checksum.
    pub fn encode(&self) -> Vec<u8> {
        // Cannot fail: the struct has only strings, numbers and enumerations.
        let text = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(crc32c(&text).to_le_bytes());
        bytes.extend(text);
        bytes
    }

    /// Reads the description; the records follow it.
    pub(crate) fn read(input: &mut impl Read) -> Result<Self, JournalError> {
        let mut head = [0; HEAD_BYTES];
        input.read_exact(&mut head).map_err(|_| JournalError::NoJournal)?;
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| head[at + index]));
        if !head.starts_with(MAGIC) || word(8) > MAX_HEADER_BYTES {
            return Err(JournalError::Version);
        }
        let mut text = Vec::new();
        input.take(word(8).into()).read_to_end(&mut text)?;
        if text.len() != word(8) as usize || crc32c(&text) != word(12) {
            return Err(JournalError::Damaged);
        }
        let header: Self = serde_json::from_slice(&text)?;
        if header.block_bytes == 0 || header.block_bytes > MAX_BLOCK_BYTES {
            return Err(JournalError::BlockSize { block_bytes: header.block_bytes });
        }
        Ok(header)
    }
}

/// Path of the journal of a clone; if a job has several clones, the clone's number is appended to the name.
pub fn log_path(job: &JobSpec, clone_index: u32) -> Option<PathBuf> {
    let path = job.verify.as_ref()?.crash_log.as_ref()?;
    if job.numjobs < 2 {
        return Some(path.clone());
    }
    let mut path = path.clone().into_os_string();
    path.push(format!(".{clone_index}"));
    Some(PathBuf::from(path))
}
