//! The state file of a verified job: the progress of its writes when it ended, so that a later run knows where to stop.
//!
//! There are two forms: the one of fio 3.42 and 3.41 lists the writes in flight, that of fio 3.33 the writes that were
//! completed last. All numbers are little endian.
//! Must not know: where files are stored. Start reading at [`VerifyState`].
//! Facts: reference "Verify state file" for 3.42; 3.41 differs only in the version of its files; the form of 3.33 as
//! seen in its files (three words as in 3.42, version 3; then number of offsets, depth, files, writes, job, kind and
//! words of the generator, name, entries of 16 bytes).

use crate::next::OffsetState;
use ferrio_spec::HeaderLayout;
use ferrio_stats::note::StateFault;
use ferrio_units::checksum::crc32c;

/// The largest file that is read or written, bytes.
pub const MAX_STATE_BYTES: usize = 16 << 20;

/// Length of a job's name; the last byte is zero.
const NAME_BYTES: usize = 64;
/// Length of the head: version, size of the rest, checksum.
const HEAD_BYTES: usize = 24;
const GENERATOR_BYTES: usize = 48;
/// Version of the files of fio 3.41, whose form is that of 3.42.
const VERSION_OF_3_41: u64 = 5;
/// A slot without a write in flight.
const NO_WRITE: u64 = u64::MAX;

/// The progress of a job's writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyState {
    /// Number of issued writes, or of durable ones; later writes are unknown.
    pub n_writes: u64,
    /// The job's number in its run, from 0.
    pub job_index: u64,
    pub offsets: OffsetState,
    /// Name of the job, cut to 63 bytes.
    pub job_name: String,
    pub last: LastWrites,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastWrites {
    /// All except for these (the form of 3.42).
    AllBut {
        /// By slot: the number of the write in flight; `u64::MAX`: none.
        in_flight: Vec<u64>,
        /// Numbers of writes that failed.
        failed: Vec<u64>,
    },
    /// Of the last `depth` writes, only these (the form of 3.33).
    Only {
        /// Largest number of writes that may have been in flight.
        depth: u32,
        n_files: u32,
        /// File and offset, in bytes, of completed writes: file by file, the newest first.
        places: Vec<(u64, u64)>,
    },
}

/// Bytes that are no state, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no state of a verified job: {0:?}")]
pub struct StateError(pub StateFault);

/// The head of a file, which says what the rest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateHead {
    /// Version of the form: 7 for fio 3.42, 5 for 3.41, 3 for 3.33.
    pub version: u64,
    /// Number of bytes behind the head.
    pub size_bytes: u64,
    /// CRC-32C of those bytes; the upper half is zero in every valid file.
    pub crc: u64,
}

impl StateHead {
    /// Splits the bytes of a file into head and rest. Neither was checked.
    ///
    /// # Errors
    /// There are fewer bytes than a head has.
    pub fn split(bytes: &[u8]) -> Result<(Self, &[u8]), StateError> {
        let mut words = StateWords(bytes);
        let (Some(version), Some(size_bytes), Some(crc)) = (words.u64(), words.u64(), words.u64()) else {
            return Err(StateError(StateFault::NoHeader));
        };
        Ok((Self { version, size_bytes, crc }, words.0))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFate {
    Done,
    /// The write failed; its block is not checked.
    Failed,
    /// Neither this write nor any later one was issued.
    NotIssued,
    /// Whether this write and those after it are on the device is unknown.
    InFlight,
}

impl VerifyState {
    pub const fn version(layout: HeaderLayout) -> u64 {
        match layout {
            HeaderLayout::V3 => 7,
            HeaderLayout::V2 => 3,
        }
    }

    /// The bytes of a file.
    pub fn encode(&self) -> Vec<u8> {
        let (version, body) = match &self.last {
            LastWrites::AllBut { in_flight, failed } => (7, self.body_of_slots(in_flight, failed)),
            LastWrites::Only { depth, n_files, places } => (3, self.body_of_places(*depth, *n_files, places)),
        };
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
        for word in [version, body.len() as u64, crc32c(&body).into()] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(body);
        bytes
    }

    fn body_of_slots(&self, in_flight: &[u64], failed: &[u64]) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend((in_flight.len() as u64 + failed.len() as u64).to_le_bytes());
        body.extend(self.n_writes.to_le_bytes());
        self.put_common(&mut body);
        in_flight.iter().chain(failed).for_each(|number| body.extend(number.to_le_bytes()));
        body
    }

    fn body_of_places(&self, depth: u32, n_files: u32, places: &[(u64, u64)]) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend((places.len() as u64).to_le_bytes());
        body.extend(depth.to_le_bytes());
        body.extend(n_files.to_le_bytes());
        body.extend(self.n_writes.to_le_bytes());
        self.put_common(&mut body);
        let end = body.len() + places_bytes(depth, n_files);
        for (file, offset_bytes) in places {
            body.extend(file.to_le_bytes());
            body.extend(offset_bytes.to_le_bytes());
        }
        body.resize(end, 0);
        body
    }

    /// Writes the part that both forms have: job, generator, name.
    fn put_common(&self, body: &mut Vec<u8>) {
        body.extend(self.job_index.to_le_bytes());
        let is_wide = matches!(self.offsets, OffsetState::Taus258(_));
        body.extend(u64::from(is_wide).to_le_bytes());
        let end = body.len() + GENERATOR_BYTES;
        match &self.offsets {
            OffsetState::None => {}
            OffsetState::Taus88(words) => words.iter().for_each(|word| body.extend(word.to_le_bytes())),
            OffsetState::Taus258(words) => words.iter().for_each(|word| body.extend(word.to_le_bytes())),
        }
        body.resize(end, 0);
        let end = body.len() + NAME_BYTES;
        body.extend(short_name(&self.job_name).as_bytes());
        body.resize(end, 0);
    }

    /// Reads the bytes of a file. `iodepth` is that of the job that reads it; it separates slots from failed writes.
    pub fn decode(bytes: &[u8], iodepth: usize) -> Result<Self, StateError> {
        let (StateHead { version, size_bytes: size, crc }, rest) = StateHead::split(bytes)?;
        let has_slots = [Self::version(HeaderLayout::V3), VERSION_OF_3_41].contains(&version);
        if !has_slots && version != Self::version(HeaderLayout::V2) {
            return Err(StateError(StateFault::Version(version)));
        }
        let body = usize::try_from(size).ok().filter(|size| *size <= MAX_STATE_BYTES).and_then(|size| rest.get(..size));
        let body = body.ok_or(StateError(StateFault::Length { found: rest.len() as u64, wanted: size }))?;
        if u64::from(crc32c(body)) != crc {
            return Err(StateError(StateFault::Corrupt));
        }
        let words = StateWords(body);
        let state = if has_slots { Self::of_slots(words, iodepth) } else { Self::of_places(words) };
        state.ok_or(StateError(StateFault::Corrupt))
    }

    fn of_slots(mut words: StateWords<'_>, iodepth: usize) -> Option<Self> {
        let depth = words.u64()? as u32 as usize;
        let mut state = Self::common(&mut words)?;
        let numbers: Vec<u64> = std::iter::from_fn(|| words.u64()).collect();
        if numbers.len() != depth || !words.0.is_empty() {
            return None;
        }
        let (in_flight, failed) = numbers.split_at(iodepth.min(depth));
        state.last = LastWrites::AllBut { in_flight: in_flight.to_vec(), failed: failed.to_vec() };
        Some(state)
    }

    fn of_places(mut words: StateWords<'_>) -> Option<Self> {
        let n_places = words.u64()?;
        let both = words.u64()?;
        let (depth, n_files) = (both as u32, (both >> 32) as u32);
        let mut state = Self::common(&mut words)?;
        let n_rows = u64::from(depth) * u64::from(n_files);
        if words.0.len() as u64 != n_rows.checked_mul(16)? || n_places > n_rows {
            return None;
        }
        let place = |words: &mut StateWords<'_>| Some((words.u64()?, words.u64()?));
        let places = (0..n_places).map_while(|_| place(&mut words)).collect();
        state.last = LastWrites::Only { depth, n_files, places };
        Some(state)
    }

    fn common(words: &mut StateWords<'_>) -> Option<Self> {
        let (n_writes, job_index, is_wide) = (words.u64()?, words.u64()?, words.u64()?);
        let mut generator = StateWords(words.bytes(GENERATOR_BYTES)?);
        let mut states = [0; 5];
        for state in &mut states {
            *state = generator.u64()?;
        }
        let [first, second, ..] = states;
        let narrow = [first as u32, (first >> 32) as u32, second as u32];
        let offsets = match is_wide {
            // Bytes behind the generator's words have no meaning.
            0 if narrow == [0; 3] => OffsetState::None,
            0 => OffsetState::Taus88(narrow),
            1 => OffsetState::Taus258(states),
            _ => return None,
        };
        let name = words.bytes(NAME_BYTES)?.split(|byte| *byte == 0).next().unwrap_or_default();
        let job_name = short_name(&String::from_utf8_lossy(name)).to_owned();
        let last = LastWrites::AllBut { in_flight: Vec::new(), failed: Vec::new() };
        Some(Self { n_writes, job_index, offsets, job_name, last })
    }

    /// The state of a write with this number, file and offset.
    pub fn told(&self, number: u64, file_index: u32, offset_bytes: u64) -> WriteFate {
        if number >= self.n_writes {
            return WriteFate::NotIssued;
        }
        match &self.last {
            LastWrites::AllBut { in_flight, .. } if in_flight.contains(&number) => WriteFate::InFlight,
            LastWrites::AllBut { failed, .. } if failed.contains(&number) => WriteFate::Failed,
            LastWrites::Only { depth, places, .. }
                if number >= self.n_writes.saturating_sub((*depth).into())
                    && !places.contains(&(file_index.into(), offset_bytes)) =>
            {
                WriteFate::InFlight
            }
            LastWrites::AllBut { .. } | LastWrites::Only { .. } => WriteFate::Done,
        }
    }
}

/// A name, cut to the length that a state stores.
pub fn short_name(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES - 1);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// Slots without a write in flight.
pub fn empty_slots(iodepth: usize) -> Vec<u64> {
    vec![NO_WRITE; iodepth]
}

fn places_bytes(depth: u32, n_files: u32) -> usize {
    (depth as usize).saturating_mul(n_files as usize).saturating_mul(16).min(MAX_STATE_BYTES)
}

/// Bytes that are read as words.
struct StateWords<'a>(&'a [u8]);

impl<'a> StateWords<'a> {
    fn bytes(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn u64(&mut self) -> Option<u64> {
        let bytes = self.bytes(8)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests;
