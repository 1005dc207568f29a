//! The record of a run as a file: written by `--record`, read by `ferrio report`.
//!
//! The file has a line `ferrio record FORM`, the length and the checksum of the rest, and the record as `ferrio_stats::wire` has it (CBOR).
//! The bytes of a file are not trusted: reading any bytes gives either a record that can be shown, or an error, in bounded memory.
//! Must not know: files, formats of reports. Start reading at [`encode`] and [`decode`].

use ferrio_stats::wire::{Packed, WireError};
use ferrio_stats::{RECORD_FORMAT, RunRecord, SteadyState, WorkerRecord};
use ferrio_units::checksum::crc32c;

/// First bytes of every file; the version of the record's form and a line end follow.
pub const MAGIC: &str = "ferrio record ";

/// The oldest form that is read. `tests/records/` has a file of each.
const OLDEST_FORM: u32 = 6;

/// Length and checksum.
const FRAME_BYTES: usize = 8 + 4;

/// Largest file that is read; a record takes a few KiB for each worker.
pub const MAX_BYTES: u64 = 1 << 30;

/// Most digits of figures and percentiles: far more than a double has, and few enough for any line.
const MAX_DIGITS: u32 = 64;

/// Most clones of all jobs together, because reports that add them up have room for each.
const MAX_CLONES: u32 = 1_000_000;

/// Most samples in the windows of all searches for a steady state together, because reports also show missing ones.
const MAX_WINDOW_SAMPLES: usize = 1 << 24;

/// Why a file is no record that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// It begins with other bytes.
    #[error("it is no record of ferrio: it does not begin with `ferrio record`")]
    NoRecord,
    #[error("it is a JSON document, not a record: records are what --record writes")]
    Document,
    /// It was written by another version, with this word for the form of the record.
    #[error("it is a record of form {0}, and this version of ferrio reads forms {OLDEST_FORM} to {RECORD_FORMAT}")]
    Format(String),
    /// Its end is missing.
    #[error("it is truncated: {found} bytes of {expected}")]
    Truncated {
        /// Number of bytes found.
        found: u64,
        /// Expected number of bytes.
        expected: u64,
    },
    /// There are more bytes than expected.
    #[error("it is damaged: {0} bytes follow its end")]
    Trailing(u64),
    #[error("it is damaged: its checksum is wrong")]
    Checksum,
    #[error("it is damaged: its content is no record ({0})")]
    Content(ContentFault),
    /// A value is out of range.
    #[error("it is damaged: {name} is {value}, and at most {max} is allowed")]
    Value { name: &'static str, value: u32, max: u32 },
    /// It is larger than any record.
    #[error("it is larger than {MAX_BYTES} bytes")]
    TooLarge,
}

/// Why the content of a file is no record, although its checksum is right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentFault {
    /// Its bytes are no encoding of a record.
    #[error("{0}")]
    Encoding(WireError),
    /// The windows of a steady state have more samples than can be shown.
    #[error("windows of a steady state")]
    SteadyWindows,
    /// A host has hosts or workers of its own.
    #[error("hosts")]
    Hosts,
}

/// The bytes of a record's file.
pub fn encode(record: &RunRecord) -> Vec<u8> {
    let content = record.pack();
    let mut file = format!("{MAGIC}{RECORD_FORMAT}\n").into_bytes();
    file.extend((content.len() as u64).to_le_bytes());
    file.extend(crc32c(&content).to_le_bytes());
    file.extend(content);
    file
}

pub fn decode(file: &[u8]) -> Result<RunRecord, SavedError> {
    if file.len() as u64 > MAX_BYTES {
        return Err(SavedError::TooLarge);
    }
    let (form, content) = content(file)?;
    let mut record: RunRecord =
        RunRecord::unpack(content).map_err(|error| SavedError::Content(ContentFault::Encoding(error)))?;
    check(&record, form)?;
    record.format = RECORD_FORMAT;
    Ok(record)
}

/// The form of the record, and the content of the frame, after its length and checksum were checked.
fn content(file: &[u8]) -> Result<(u32, &[u8]), SavedError> {
    let Some(rest) = file.strip_prefix(MAGIC.as_bytes()) else {
        return Err(foreign(file));
    };
    // The version of the form has only a few digits.
    let end = rest.iter().take(16).position(|byte| *byte == b'\n');
    let Some(end) = end else {
        return Err(if rest.len() < 16 {
            truncated(file, RECORD_FORMAT.to_string().len() + 1 + FRAME_BYTES)
        } else {
            SavedError::NoRecord
        });
    };
    let word = String::from_utf8_lossy(&rest[..end]);
    let is_read = |form: &u32| (OLDEST_FORM..=RECORD_FORMAT).contains(form) && form.to_string() == word;
    let Some(form) = word.parse().ok().filter(is_read) else {
        return Err(SavedError::Format(word.into_owned()));
    };
    let frame = &rest[end + 1..];
    let Some((length, frame)) = frame.split_first_chunk::<8>() else {
        return Err(truncated(file, end + 1 + FRAME_BYTES));
    };
    let Some((checksum, content)) = frame.split_first_chunk::<4>() else {
        return Err(truncated(file, end + 1 + FRAME_BYTES));
    };
    let (length, found) = (u64::from_le_bytes(*length), content.len() as u64);
    let head = file.len() as u64 - found;
    match found.cmp(&length) {
        std::cmp::Ordering::Less => {
            return Err(SavedError::Truncated { found: file.len() as u64, expected: head.saturating_add(length) });
        }
        std::cmp::Ordering::Greater => return Err(SavedError::Trailing(found - length)),
        std::cmp::Ordering::Equal => {}
    }
    if crc32c(content) != u32::from_le_bytes(*checksum) {
        return Err(SavedError::Checksum);
    }
    Ok((form, content))
}

fn truncated(file: &[u8], n_behind_magic: usize) -> SavedError {
    SavedError::Truncated { found: file.len() as u64, expected: (MAGIC.len() + n_behind_magic) as u64 }
}

/// The error for a file that does not begin like a record.
fn foreign(file: &[u8]) -> SavedError {
    if !file.is_empty() && MAGIC.as_bytes().starts_with(file) {
        return truncated(file, FRAME_BYTES + 2);
    }
    let first = file.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'{') { SavedError::Document } else { SavedError::NoRecord }
}

/// Checks values that decide about widths of figures and lengths of lists.
fn check(record: &RunRecord, form: u32) -> Result<(), SavedError> {
    if record.format != form {
        return Err(SavedError::Format(record.format.to_string()));
    }
    for settings in record.workers.iter().map(|worker| &worker.settings) {
        let digits = [
            ("significant_figures", settings.significant_figures),
            ("percentile_precision", settings.percentile_digits),
        ];
        if let Some((name, value)) = digits.into_iter().find(|(_, value)| *value > MAX_DIGITS) {
            return Err(SavedError::Value { name, value, max: MAX_DIGITS });
        }
    }
    let jobs = |record: &RunRecord| -> u32 {
        let jobs = record.provenance.iter().flat_map(|provenance| &provenance.jobs);
        jobs.fold(0_u32, |sum, job| sum.saturating_add(job.n_clones))
    };
    let value = record.hosts().iter().fold(jobs(record), |sum, host| sum.saturating_add(jobs(&host.record)));
    if value > MAX_CLONES {
        return Err(SavedError::Value { name: "numjobs", value, max: MAX_CLONES });
    }
    // What is of a host has no workers, and no hosts.
    if record.hosts().iter().any(|host| !host.record.workers.is_empty() || !host.record.hosts().is_empty()) {
        return Err(SavedError::Content(ContentFault::Hosts));
    }
    let mut windows = record.workers.iter().filter_map(WorkerRecord::steady_state).map(SteadyState::n_window);
    let n_samples = windows.try_fold(0_usize, |sum, n_window| sum.checked_add(n_window?));
    n_samples
        .filter(|n_samples| *n_samples <= MAX_WINDOW_SAMPLES)
        .map(|_| ())
        .ok_or(SavedError::Content(ContentFault::SteadyWindows))
}

#[cfg(test)]
mod tests;
