//! The journal as a whole: which writes may be found at a place, and which of them must not be older.
//!
//! A write counts as durable when it was acknowledged before a sync of its file was issued that was completed. What was
//! acknowledged before such a write was issued can no longer be there. Of writes at one place of which nobody knows the order
//! (several in flight) each may be there.
//! Must not know: contents. Start reading at [`Syncs`], which sees the journal first, then [`History`], which sees it again.

use super::record::{Event, Record};
use crate::verify::block::Write;
use std::collections::BTreeMap;

/// Writes after the durable one that are remembered of a place; older ones of them are known by their headers.
const MAX_LATER: usize = 16;

/// Up to where the journal is durable, by file.
#[derive(Debug, Clone, Default)]
pub struct Syncs {
    covers: BTreeMap<u32, u64>,
    /// Every acknowledged write is durable (`sync`).
    all: bool,
}

impl Syncs {
    /// Without a record. `all`: every acknowledged write is durable (`sync`).
    pub fn new(all: bool) -> Self {
        Self { covers: BTreeMap::new(), all }
    }

    /// Takes a record.
    pub fn see(&mut self, record: &Record) {
        if let Event::Synced { covers } = record.event {
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
pub struct Place {
    /// Length of its writes, bytes.
    pub length_bytes: u32,
    /// What may be there, in the order of issue.
    pub candidates: Vec<Candidate>,
    /// Candidates were left out: there were too many.
    pub has_more: bool,
}

impl Place {
    fn acknowledge(&mut self, record: &Record, record_index: u64, is_durable: bool) {
        let this = self.candidates.iter_mut().find(|candidate| candidate.write == record.write);
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
        if self.candidates.len() >= MAX_LATER {
            let oldest = self.candidates.iter().position(|candidate| !candidate.is_durable);
            self.candidates.remove(oldest.unwrap_or(0));
            self.has_more = true;
        }
        self.candidates.push(candidate);
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

/// All places that were written.
#[derive(Debug, Clone, Default)]
pub struct History {
    syncs: Syncs,
    /// By file and offset.
    pub places: BTreeMap<(u32, u64), Place>,
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
    /// A history without records.
    pub fn new(syncs: Syncs) -> Self {
        Self { syncs, ..Self::default() }
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// Its write lies over a part of another.
    pub fn see(&mut self, record: &Record) -> Result<(), Overlap> {
        let record_index = self.n_records;
        self.n_records += 1;
        let key = (record.file_index, record.write.offset_bytes);
        match record.event {
            Event::Issued => {
                self.check_overlap(record)?;
                self.n_issued += 1;
                self.last = Some(record.write);
                let place = self.places.entry(key).or_default();
                place.length_bytes = record.length_bytes;
                let write = record.write;
                place.issue(Candidate { write, issued_at: record_index, acknowledged_at: None, is_durable: false });
            }
            Event::Acknowledged => {
                self.n_acknowledged += 1;
                let is_durable = self.syncs.covers(record.file_index, record_index);
                self.n_durable += u64::from(is_durable);
                if let Some(place) = self.places.get_mut(&key) {
                    place.acknowledge(record, record_index, is_durable);
                }
            }
            // What a write that failed has left, nobody knows: it stays one that may be there.
            Event::Failed | Event::Synced { .. } => {}
        }
        Ok(())
    }

    fn check_overlap(&self, record: &Record) -> Result<(), Overlap> {
        let (file_index, first) = (record.file_index, record.write.offset_bytes);
        let end = first.saturating_add(record.length_bytes.into());
        let within = self.places.range((file_index, 0)..(file_index, end)).next_back();
        match within {
            Some(((_, second), place))
                if (*second != first || place.length_bytes != record.length_bytes)
                    && second.saturating_add(place.length_bytes.into()) > first =>
            {
                Err(Overlap { file_index, first, second: *second })
            }
            _ => Ok(()),
        }
    }
}
