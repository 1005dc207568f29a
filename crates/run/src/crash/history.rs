//! The whole journal: which writes each written block may hold after a crash, and which of them are the oldest allowed.
//!
//! A write counts as durable if it was acknowledged before a sync of its file was issued, and that sync was completed.
//! Writes that were acknowledged before such a write was issued can no longer be in the block. If several writes to a
//! block were in flight together, their order is unknown, and each may be there.
//!
//! Memory is bounded: if the blocks do not fit, a history has the first of them, and the journal is read again for the
//! next.
//! Must not know: contents. Start reading at [`SyncedRecords`], which reads the journal first, then [`History`], which reads
//! it again.

use crate::crash::record::{JournalEvent, JournalRecord};
use ferrio_workload::verify::block::Write;
use std::collections::BTreeMap;

/// Key of a written block: file and offset.
type Key = (u32, u64);

/// Memory of an entry without its writes: its part of the map, whose nodes may be half empty, and the overhead of the
/// list.
const PLACE_BYTES: usize = 2 * size_of::<(Key, WrittenPlace)>() + 16;

/// Number of writes of a block that are kept, however little memory is allowed.
const MIN_CANDIDATES: usize = 16;

/// By file: the point up to which the journal is durable.
#[derive(Debug, Clone, Default)]
pub struct SyncedRecords {
    covers: BTreeMap<u32, u64>,
    /// Every acknowledged write is durable (`sync`).
    all: bool,
}

impl SyncedRecords {
    /// The state before any record. `all`: every acknowledged write is durable (`sync`).
    pub fn new(all: bool) -> Self {
        Self { covers: BTreeMap::new(), all }
    }

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

/// A write that a block may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub write: Write,
    /// Index of the record that issues it.
    issued_at: u64,
    /// Index of the record that acknowledges it.
    acknowledged_at: Option<u64>,
    /// The block must hold this write, or another candidate.
    pub is_durable: bool,
}

impl Candidate {
    /// True if the writer was told that the write is done.
    pub fn is_acknowledged(&self) -> bool {
        self.acknowledged_at.is_some()
    }
}

#[derive(Debug, Clone, Default)]
pub struct WrittenPlace {
    pub length_bytes: u32,
    /// Writes that the block may hold, in the order of issue.
    pub candidates: Vec<Candidate>,
    /// Some candidates were left out, because those of this block alone exceeded the allowed memory.
    pub has_more: bool,
}

impl WrittenPlace {
    fn bytes(&self) -> usize {
        PLACE_BYTES + self.candidates.capacity() * size_of::<Candidate>()
    }

    fn acknowledge(&mut self, record: &JournalRecord, record_index: u64, is_durable: bool) {
        // Searched from the end: the write is one of the last that were issued.
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
            // Most blocks have one write.
            self.candidates.reserve_exact(self.candidates.len().max(1));
        }
        self.candidates.push(candidate);
    }

    /// Forgets the older half of the writes, except for durable ones.
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

/// Why the check is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("writes at offsets {first} and {second} of file {file_index} lie over parts of each other")]
pub struct Overlap {
    pub file_index: u32,
    /// Offset of the first write, bytes.
    pub first: u64,
    /// Offset of the second write, bytes.
    pub second: u64,
}

/// The written blocks: all of them, or as many as the allowed memory holds.
#[derive(Debug, Clone, Default)]
pub struct History {
    syncs: SyncedRecords,
    /// The blocks by file and offset.
    pub places: BTreeMap<Key, WrittenPlace>,
    /// Blocks before this key are in an earlier part.
    from: Key,
    /// Blocks from this key on do not fit; they are in a later part.
    until: Option<Key>,
    /// The last block of the part before, and the length of its writes.
    before: Option<(Key, u32)>,
    limit_bytes: usize,
    n_bytes: usize,
    n_most_bytes: usize,
    n_records: u64,
    pub n_issued: u64,
    pub n_acknowledged: u64,
    pub n_durable: u64,
    pub last: Option<Write>,
}

impl History {
    /// An empty history, whose blocks may take this many bytes of memory.
    pub fn new(syncs: SyncedRecords, limit_bytes: usize) -> Self {
        Self { syncs, limit_bytes, ..Self::default() }
    }

    /// An empty history for the blocks after this one, with which the journal is read again; `None`: there are no more
    /// blocks.
    pub fn next_part(self) -> Option<Self> {
        let from = self.until?;
        let last = self.places.last_key_value().map(|(key, place)| (*key, place.length_bytes));
        Some(Self { from, before: last.or(self.before), ..Self::new(self.syncs, self.limit_bytes) })
    }

    /// The most memory that the blocks took, bytes.
    pub fn n_most_bytes(&self) -> usize {
        self.n_most_bytes
    }

    /// Reads the next record.
    ///
    /// # Errors
    /// Its write overlaps a part of another write.
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
            // The result of a failed write is unknown, so it stays a candidate.
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

    /// Leaves blocks at the end to the next part until the rest fits.
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
