//! The journal as a whole: which writes may be found at a place, and which of them must not be older.
//!
//! A write counts as durable when it was acknowledged before a sync of its file was issued that was completed. What was
//! acknowledged before such a write was issued can no longer be there. Of writes at one place of which nobody knows the order
//! (several in flight) each may be there.
//!
//! Memory is bounded: where the places do not fit, a history has the first of them, and the journal is seen again for the next.
//! Must not know: contents. Start reading at [`SyncedRecords`], which sees the journal first, then [`History`], which sees it again.

use super::record::{JournalEvent, JournalRecord};
use crate::verify::block::Write;
use std::collections::BTreeMap;

/// Key of a place: file and offset.
type Key = (u32, u64);

/// Bytes of a place without its writes: what it takes in the map, whose nodes may be half empty, and to allocate the list.
const PLACE_BYTES: usize = 2 * size_of::<(Key, WrittenPlace)>() + 16;

/// Writes of a place that are remembered however little memory there may be.
const MIN_CANDIDATES: usize = 16;

/// Up to where the journal is durable, by file.
#[derive(Debug, Clone, Default)]
pub struct SyncedRecords {
    covers: BTreeMap<u32, u64>,
    /// Every acknowledged write is durable (`sync`).
    all: bool,
}

impl SyncedRecords {
    /// Without a record. `all`: every acknowledged write is durable (`sync`).
    pub fn new(all: bool) -> Self {
        Self { covers: BTreeMap::new(), all }
    }

    /// Takes a record.
    pub fn see(&mut self, record: &JournalRecord) {
        if let JournalEvent::Synced { covers } = record.event {
            let entry = self.covers.entry(record.file_index).or_default();
            *entry = covers.max(*entry);
        }
    }

    fn covers(&self, file_index: u32, record_index: u64) -> bool {
        self.all || self.covers.get(&file_index).is_some_and(|covers| record_index < *covers)
    }
}

/// A write that may be found at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The write.
    pub write: Write,
    /// Number of its first record.
    issued_at: u64,
    /// Number of the record that acknowledges it.
    acknowledged_at: Option<u64>,
    /// It must be there, unless another candidate is.
    pub is_durable: bool,
}

impl Candidate {
    /// The writer was told that it is done.
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged_at.is_some()
    }
}

/// A place that was written.
#[derive(Debug, Clone, Default)]
pub struct WrittenPlace {
    /// Length of its writes, bytes.
    pub length_bytes: u32,
    /// What may be there, in the order of issue.
    pub candidates: Vec<Candidate>,
    /// Candidates were left out: those of this place alone took more memory than there may be.
    pub has_more: bool,
}

impl WrittenPlace {
    fn bytes(&self) -> usize {
        PLACE_BYTES + self.candidates.capacity() * size_of::<Candidate>()
    }

    fn acknowledge(&mut self, record: &JournalRecord, record_index: u64, is_durable: bool) {
        // It is one of the last that were issued.
        let this = self.candidates.iter_mut().rev().find(|candidate| candidate.write == record.write);
        let Some(this) = this else { return };
        this.acknowledged_at = Some(record_index);
        this.is_durable = is_durable;
        let issued_at = this.issued_at;
        if is_durable {
            let is_over = |candidate: &Candidate| candidate.acknowledged_at.is_some_and(|at| at < issued_at);
            self.candidates.retain(|candidate| !is_over(candidate));
        }
    }

    fn issue(&mut self, candidate: Candidate) {
        if self.candidates.len() == self.candidates.capacity() {
            // Most places have one write.
            self.candidates.reserve_exact(self.candidates.len().max(1));
        }
        self.candidates.push(candidate);
    }

    /// Forgets the older half of its writes, but none that must be there.
    fn forget_oldest(&mut self) {
        let mut n_left = (self.candidates.len() / 2).min(self.candidates.len().saturating_sub(MIN_CANDIDATES));
        self.has_more |= n_left > 0;
        self.candidates.retain(|candidate| {
            let is_kept = n_left == 0 || candidate.is_durable;
            n_left -= usize::from(!is_kept);
            is_kept
        });
        self.candidates.shrink_to_fit();
    }
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("writes at offsets {first} and {second} of file {file_index} lie over parts of each other")]
pub struct Overlap {
    /// The file.
    pub file_index: u32,
    /// Offset of the one, bytes.
    pub first: u64,
    /// Offset of the other, bytes.
    pub second: u64,
}

/// Places that were written: all of them, or the first that memory has room for.
#[derive(Debug, Clone, Default)]
pub struct History {
    syncs: SyncedRecords,
    /// By file and offset.
    pub places: BTreeMap<Key, WrittenPlace>,
    /// Those before are in an earlier part.
    from: Key,
    /// Those from here on do not fit.
    until: Option<Key>,
    /// The last place of the part before, and the length of its writes.
    before: Option<(Key, u32)>,
    limit_bytes: usize,
    n_bytes: usize,
    n_most_bytes: usize,
    n_records: u64,
    /// Writes that were issued.
    pub n_issued: u64,
    /// Writes that were acknowledged.
    pub n_acknowledged: u64,
    /// Those of them that are durable.
    pub n_durable: u64,
    /// The write that was issued last.
    pub last: Option<Write>,
}

impl History {
    /// A history without records, whose places may take so many bytes.
    pub fn new(syncs: SyncedRecords, limit_bytes: usize) -> Self {
        Self { syncs, limit_bytes, ..Self::default() }
    }

    /// What comes after the places of this one, to see the journal once more; `None`: nothing does.
    pub fn next_part(self) -> Option<Self> {
        let from = self.until?;
        let last = self.places.last_key_value().map(|(key, place)| (*key, place.length_bytes));
        Some(Self { from, before: last.or(self.before), ..Self::new(self.syncs, self.limit_bytes) })
    }

    /// The most memory that its places took, bytes.
    pub fn n_most_bytes(&self) -> usize {
        self.n_most_bytes
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// Its write lies over a part of another.
    pub fn see(&mut self, record: &JournalRecord) -> Result<(), Overlap> {
        let record_index = self.n_records;
        self.n_records += 1;
        match record.event {
            JournalEvent::Issued => {
                self.n_issued += 1;
                self.last = Some(record.write);
                self.issue(record, record_index)?;
            }
            JournalEvent::Acknowledged => {
                self.n_acknowledged += 1;
                let is_durable = self.syncs.covers(record.file_index, record_index);
                self.n_durable += u64::from(is_durable);
                if let Some(place) = self.places.get_mut(&(record.file_index, record.write.offset_bytes)) {
                    place.acknowledge(record, record_index, is_durable);
                }
            }
            // What a write that failed has left, nobody knows: it stays one that may be there.
            JournalEvent::Failed | JournalEvent::Synced { .. } => {}
        }
        Ok(())
    }

    fn issue(&mut self, record: &JournalRecord, record_index: u64) -> Result<(), Overlap> {
        let key = (record.file_index, record.write.offset_bytes);
        if key < self.from || self.until.is_some_and(|until| key >= until) {
            return Ok(());
        }
        self.check_overlap(record)?;
        let n_before = self.places.get(&key).map_or(0, WrittenPlace::bytes);
        let place = self.places.entry(key).or_default();
        place.length_bytes = record.length_bytes;
        let write = record.write;
        place.issue(Candidate { write, issued_at: record_index, acknowledged_at: None, is_durable: false });
        self.n_bytes = self.n_bytes + place.bytes() - n_before;
        self.make_room();
        self.n_most_bytes = self.n_most_bytes.max(self.n_bytes);
        Ok(())
    }

    /// Leaves the last places to the next part until what stays fits.
    fn make_room(&mut self) {
        while self.n_bytes > self.limit_bytes
            && self.places.len() > 1
            && let Some((key, place)) = self.places.pop_last()
        {
            self.n_bytes -= place.bytes();
            self.until = Some(key);
        }
        if self.n_bytes > self.limit_bytes
            && let Some(mut only) = self.places.first_entry()
        {
            only.get_mut().forget_oldest();
            self.n_bytes = only.get().bytes();
        }
    }

    fn check_overlap(&self, record: &JournalRecord) -> Result<(), Overlap> {
        let (file_index, first) = (record.file_index, record.write.offset_bytes);
        let end = first.saturating_add(record.length_bytes.into());
        let within = self.places.range((file_index, 0)..(file_index, end)).next_back();
        let within = within.map(|((_, second), place)| (*second, place.length_bytes));
        let before = self.before.filter(|((file, _), _)| *file == file_index);
        match within.or(before.map(|((_, second), length_bytes)| (second, length_bytes))) {
            Some((second, length_bytes))
                if (second != first || length_bytes != record.length_bytes)
                    && second.saturating_add(length_bytes.into()) > first =>
            {
                Err(Overlap { file_index, first, second })
            }
            _ => Ok(()),
        }
    }
}
