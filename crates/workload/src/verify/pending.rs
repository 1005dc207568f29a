//! Writes that are to be read back: in the order in which they were made, or, where one may lie over another, the newest of
//! each place in ascending order.
//!
//! Must not know: how blocks are checked. Start reading at [`PendingWrites`].
//! Facts: reference "Verify", the default flow.

use std::collections::BTreeMap;

/// Most writes that are kept: with all that belongs to them, about 4 GiB.
const MAX_PENDING: usize = 1 << 26;

/// A write that is to be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingWrite {
    /// File of the job.
    pub file_index: u32,
    /// Bytes, below 4 GiB as those of every block; 0: the write failed.
    pub length_bytes: u32,
    /// Place in the file.
    pub offset_bytes: u64,
    /// Seed of the data.
    pub seed: u64,
    /// Number of the write.
    pub sequence: u64,
}

impl PendingWrite {
    fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.length_bytes)
    }

    /// They have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.file_index == other.file_index
            && self.offset_bytes < other.end_bytes()
            && other.offset_bytes < self.end_bytes()
    }
}

/// There are more writes than can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

/// The writes of a pass.
#[derive(Debug)]
pub enum PendingWrites {
    /// No write lies over another.
    InOrder(Vec<PendingWrite>),
    /// Writes may lie over others: by file and offset.
    Newest(BTreeMap<(u32, u64), PendingWrite>),
}

impl PendingWrites {
    /// `overlap`: a write of a pass may lie over another of it.
    pub fn new(overlap: bool) -> Self {
        if overlap { Self::Newest(BTreeMap::new()) } else { Self::InOrder(Vec::new()) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::InOrder(writes) => writes.len(),
            Self::Newest(writes) => writes.len(),
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a write; those that it lies over, wholly or in part, are no longer to be read back.
    ///
    /// # Errors
    /// There are too many.
    pub fn push(&mut self, write: PendingWrite) -> Result<(), TooMany> {
        if self.len() >= MAX_PENDING {
            return Err(TooMany);
        }
        match self {
            Self::InOrder(writes) => writes.push(write),
            Self::Newest(writes) => {
                forget_under(writes, &write);
                writes.insert((write.file_index, write.offset_bytes), write);
            }
        }
        Ok(())
    }

    /// Forgets the newest write to a place: it failed.
    pub fn forget(&mut self, file_index: u32, offset_bytes: u64) {
        match self {
            Self::InOrder(writes) => {
                let is_it =
                    |write: &&mut PendingWrite| (write.file_index, write.offset_bytes) == (file_index, offset_bytes);
                if let Some(write) = writes.iter_mut().rev().find(is_it) {
                    write.length_bytes = 0;
                }
            }
            Self::Newest(writes) => {
                writes.remove(&(file_index, offset_bytes));
            }
        }
    }

    /// Takes all, in the order in which they are to be read back.
    pub fn take(&mut self) -> Vec<PendingWrite> {
        match self {
            Self::InOrder(writes) => {
                let mut writes = std::mem::take(writes);
                writes.retain(|write| write.length_bytes > 0);
                writes
            }
            Self::Newest(writes) => std::mem::take(writes).into_values().collect(),
        }
    }
}

fn forget_under(writes: &mut BTreeMap<(u32, u64), PendingWrite>, write: &PendingWrite) {
    let file_index = write.file_index;
    // The one before may reach into it; of those that begin within it there may be several.
    let before = writes.range(..(file_index, write.offset_bytes)).next_back();
    let reaches = before.filter(|(key, old)| key.0 == file_index && old.end_bytes() > write.offset_bytes);
    let mut under: Vec<(u32, u64)> = reaches.map(|(key, _)| *key).into_iter().collect();
    under.extend(writes.range((file_index, write.offset_bytes)..(file_index, write.end_bytes())).map(|(key, _)| *key));
    for key in under {
        writes.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(offset_bytes: u64, length_bytes: u32, sequence: u64) -> PendingWrite {
        PendingWrite { file_index: 0, length_bytes, offset_bytes, seed: 0, sequence }
    }

    #[test]
    fn writes_come_back_in_their_order() {
        let mut pending = PendingWrites::new(false);
        for (sequence, offset) in [8192, 0, 4096].into_iter().enumerate() {
            pending.push(write(offset, 4096, sequence as u64)).unwrap();
        }
        pending.forget(0, 0);
        assert_eq!(pending.take(), [write(8192, 4096, 0), write(4096, 4096, 2)]);
        assert!(pending.is_empty());
    }

    proptest! {
        /// Against a plain map from byte to the write that wrote it last: what is left is whole and newest, and every write
        /// of which each byte is still its own is left.
        #[test]
        fn only_the_newest_are_left(ranges in prop::collection::vec((0u64..60, 1u32..12), 0..60)) {
            let mut pending = PendingWrites::new(true);
            let mut bytes = vec![None; 80];
            for (sequence, (offset, length)) in ranges.iter().enumerate() {
                pending.push(write(*offset, *length, sequence as u64)).unwrap();
                bytes[*offset as usize..][..*length as usize].fill(Some(sequence as u64));
            }
            let left = pending.take();
            prop_assert!(left.is_sorted_by_key(|write| write.offset_bytes));
            let is_whole = |sequence: u64, offset: u64, length: u32| {
                bytes[offset as usize..][..length as usize].iter().all(|byte| *byte == Some(sequence))
            };
            for write in &left {
                prop_assert!(is_whole(write.sequence, write.offset_bytes, write.length_bytes));
            }
            for (sequence, (offset, length)) in ranges.iter().enumerate() {
                if is_whole(sequence as u64, *offset, *length) {
                    prop_assert!(left.iter().any(|write| write.sequence == sequence as u64));
                }
            }
        }
    }
}
