//! Writes that are to be read back, normally in the order in which they were made. If writes may overlap or files are
//! read one after the other, only the newest write of each place is kept, in ascending order.
//!
//! Must not know: how blocks are checked. Start reading at [`PendingWrites`].
//! Facts: reference "Verify", the default flow.

use std::collections::BTreeMap;

/// Most writes that are kept. They take 2 GiB in order, or about 4 GiB, including the map, if only the newest of each
/// place are kept.
pub const MAX_PENDING: usize = 1 << 26;

/// A write that is to be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingWrite {
    pub file_index: u32,
    /// Length, bytes, below 4 GiB like every block; 0: the write failed.
    pub length_bytes: u32,
    pub offset_bytes: u64,
    pub seed: u64,
    pub number: WriteNumber,
}

/// The number of a write, and whether its block was trimmed since, so that it must read as zeroes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteNumber(u64);

/// Flag bit; no job makes this many writes.
const TRIMMED: u64 = 1 << 63;

impl WriteNumber {
    /// The number of a write whose block was not trimmed; below 2^63.
    pub fn new(sequence: u64) -> Self {
        Self(sequence & !TRIMMED)
    }

    /// Number of the job's writes before this one.
    pub fn sequence(self) -> u64 {
        self.0 & !TRIMMED
    }

    /// True if the block was trimmed after the write.
    pub fn is_trimmed(self) -> bool {
        self.0 & TRIMMED != 0
    }
}

impl PendingWrite {
    fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.length_bytes)
    }

    /// True if the two writes have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.file_index == other.file_index
            && self.offset_bytes < other.end_bytes()
            && other.offset_bytes < self.end_bytes()
    }
}

/// There are more writes than can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

#[derive(Debug)]
pub struct PendingWrites {
    kept: Kept,
    limit: usize,
    /// The writes are read back by their numbers, even if they are kept by place.
    by_number: bool,
    /// Largest number of writes that were kept at once.
    n_most: usize,
}

#[derive(Debug)]
enum Kept {
    /// No write overlaps another.
    InOrder {
        writes: Vec<PendingWrite>,
        /// Number of writes in the list that are not to be read back: they were forgotten or taken.
        n_forgotten: usize,
        /// Index of the first write that was not taken.
        first: usize,
    },
    /// The newest writes by file and offset; writes may overlap.
    Newest(BTreeMap<(u32, u64), PendingWrite>),
}

impl PendingWrites {
    /// `by_place`: keep the writes by file and offset, which is necessary if writes of a pass may overlap; otherwise in
    /// their order.
    pub fn new(by_place: bool) -> Self {
        Self::with_limit(by_place, MAX_PENDING)
    }

    /// The same with at most `limit` writes.
    pub fn with_limit(by_place: bool, limit: usize) -> Self {
        let kept = if by_place {
            Kept::Newest(BTreeMap::new())
        } else {
            Kept::InOrder { writes: Vec::new(), n_forgotten: 0, first: 0 }
        };
        Self { kept, limit, by_number: !by_place, n_most: 0 }
    }

    /// Keeps writes by file and offset, so that those of a range can be forgotten, but reads them back in their order.
    #[must_use]
    pub fn in_order_of_numbers(self) -> Self {
        Self { by_number: true, ..self }
    }

    /// True if the writes are kept by file and offset.
    pub fn is_by_place(&self) -> bool {
        matches!(self.kept, Kept::Newest(_))
    }

    /// Largest number of writes that were kept at once so far.
    pub fn n_most(&self) -> usize {
        self.n_most
    }

    /// Memory for a write, without the overhead of lists and maps.
    pub fn entry_bytes(&self) -> usize {
        match &self.kept {
            Kept::InOrder { .. } => size_of::<PendingWrite>(),
            Kept::Newest(_) => size_of::<((u32, u64), PendingWrite)>(),
        }
    }

    /// Number of writes to read back.
    pub fn len(&self) -> usize {
        match &self.kept {
            Kept::InOrder { writes, n_forgotten, .. } => writes.len() - n_forgotten,
            Kept::Newest(writes) => writes.len(),
        }
    }

    /// Number of writes that take memory.
    fn n_kept(&self) -> usize {
        match &self.kept {
            Kept::InOrder { writes, .. } => writes.len(),
            Kept::Newest(writes) => writes.len(),
        }
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a write. Earlier writes that it overlaps, wholly or in part, are no longer read back.
    pub fn push(&mut self, write: PendingWrite) -> Result<(), TooMany> {
        if self.n_kept() >= self.limit {
            return Err(TooMany);
        }
        match &mut self.kept {
            Kept::InOrder { writes, .. } => writes.push(write),
            Kept::Newest(writes) => {
                forget_under(writes, write.file_index, write.offset_bytes, write.length_bytes.into());
                writes.insert((write.file_index, write.offset_bytes), write);
            }
        }
        self.n_most = self.n_most.max(self.n_kept());
        Ok(())
    }

    /// Forgets a write that failed or whose result is unknown. A newer write to its place stays.
    pub fn forget(&mut self, write: &PendingWrite) {
        match &mut self.kept {
            Kept::InOrder { .. } => self.trim(write, false),
            Kept::Newest(writes) => {
                let key = (write.file_index, write.offset_bytes);
                if writes.get(&key).is_some_and(|other| other.number.sequence() == write.number.sequence()) {
                    writes.remove(&key);
                }
            }
        }
    }

    /// Forgets a range after a trim outside of the backlog: the contents of writes that it overlaps are unknown.
    pub fn forget_range(&mut self, file_index: u32, offset_bytes: u64, length_bytes: u64) {
        match &mut self.kept {
            // No write overlaps another, and none comes before a trim of its range.
            Kept::InOrder { .. } => {}
            Kept::Newest(writes) => forget_under(writes, file_index, offset_bytes, length_bytes),
        }
    }

    /// True if the write is still to be read back and was not trimmed.
    pub fn has(&self, write: &PendingWrite) -> bool {
        let sequence = write.number.sequence();
        let found = match &self.kept {
            Kept::InOrder { writes, .. } => place(writes, sequence).map(|index| &writes[index]),
            Kept::Newest(writes) => writes.get(&(write.file_index, write.offset_bytes)),
        };
        found.is_some_and(|found| found.number == write.number && found.length_bytes > 0)
    }

    /// Marks the block of a write as trimmed. If it `stays`, zeroes are read back from its place.
    pub fn trim(&mut self, write: &PendingWrite, stays: bool) {
        let sequence = write.number.sequence();
        match &mut self.kept {
            Kept::InOrder { writes, n_forgotten, .. } => {
                match place(writes, sequence).filter(|at| writes[*at].length_bytes > 0) {
                    Some(index) if stays => writes[index].number.0 |= TRIMMED,
                    Some(index) => {
                        writes[index].length_bytes = 0;
                        *n_forgotten += 1;
                    }
                    None => {}
                }
            }
            Kept::Newest(writes) => {
                let key = (write.file_index, write.offset_bytes);
                match writes.get_mut(&key) {
                    Some(found) if stays => found.number.0 |= TRIMMED,
                    _ => _ = writes.remove(&key),
                }
            }
        }
    }

    /// Takes the first `n` writes, or all if there are fewer, in the order in which they are to be read back.
    pub fn take_some(&mut self, n: usize) -> Vec<PendingWrite> {
        self.take_some_of(n, |_| true)
    }

    /// The same for the wanted writes only; in a list in order, only those before the first unwanted one.
    pub fn take_some_of(&mut self, n: usize, is_wanted: impl Fn(&PendingWrite) -> bool) -> Vec<PendingWrite> {
        match &mut self.kept {
            Kept::InOrder { writes, n_forgotten, first } => {
                let mut taken = Vec::with_capacity(n.min(writes.len() - *first));
                while taken.len() < n
                    && let Some(write) =
                        writes.get_mut(*first).filter(|write| write.length_bytes == 0 || is_wanted(write))
                {
                    if write.length_bytes > 0 {
                        taken.push(*write);
                        write.length_bytes = 0;
                        *n_forgotten += 1;
                    }
                    *first += 1;
                }
                // Done rarely, so that each write is moved about once.
                if *first > writes.len() / 2 {
                    writes.drain(..*first);
                    *n_forgotten -= *first;
                    *first = 0;
                }
                taken
            }
            Kept::Newest(writes) if self.by_number => {
                let mut wanted: Vec<PendingWrite> = writes.values().copied().filter(|write| is_wanted(write)).collect();
                wanted.sort_unstable_by_key(|write| write.number.sequence());
                wanted.truncate(n);
                for write in &wanted {
                    writes.remove(&(write.file_index, write.offset_bytes));
                }
                wanted
            }
            Kept::Newest(writes) => {
                let wanted = writes.iter().filter(|(_, write)| is_wanted(write)).take(n);
                let keys: Vec<_> = wanted.map(|(key, _)| *key).collect();
                keys.iter().filter_map(|key| writes.remove(key)).collect()
            }
        }
    }

    /// Takes all writes, in the order in which they are to be read back.
    pub fn take(&mut self) -> Vec<PendingWrite> {
        match &mut self.kept {
            Kept::InOrder { writes, n_forgotten, first } => {
                let has_gaps = *n_forgotten > 0;
                (*n_forgotten, *first) = (0, 0);
                let mut writes = std::mem::take(writes);
                if has_gaps {
                    writes.retain(|write| write.length_bytes > 0);
                }
                writes
            }
            Kept::Newest(writes) => {
                let mut writes: Vec<PendingWrite> = std::mem::take(writes).into_values().collect();
                if self.by_number {
                    writes.sort_unstable_by_key(|write| write.number.sequence());
                }
                writes
            }
        }
    }
}

/// Index of a write in the ordered list.
fn place(writes: &[PendingWrite], sequence: u64) -> Option<usize> {
    writes.binary_search_by_key(&sequence, |write| write.number.sequence()).ok()
}

fn forget_under(
    writes: &mut BTreeMap<(u32, u64), PendingWrite>,
    file_index: u32,
    offset_bytes: u64,
    length_bytes: u64,
) {
    let end_bytes = offset_bytes.saturating_add(length_bytes);
    // The write before may reach into the new one; several may begin within it.
    let before = writes.range(..(file_index, offset_bytes)).next_back();
    let reaches = before.filter(|(key, old)| key.0 == file_index && old.end_bytes() > offset_bytes);
    let mut under: Vec<(u32, u64)> = reaches.map(|(key, _)| *key).into_iter().collect();
    under.extend(writes.range((file_index, offset_bytes)..(file_index, end_bytes)).map(|(key, _)| *key));
    for key in under {
        writes.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(offset_bytes: u64, length_bytes: u32, sequence: u64) -> PendingWrite {
        PendingWrite { file_index: 0, length_bytes, offset_bytes, seed: 0, number: WriteNumber::new(sequence) }
    }

    #[test]
    fn writes_come_back_in_their_order() {
        let mut pending = PendingWrites::new(false);
        for (sequence, offset) in [8192, 0, 4096].into_iter().enumerate() {
            pending.push(write(offset, 4096, sequence as u64)).unwrap();
        }
        pending.forget(&write(0, 4096, 1));
        assert_eq!(pending.take(), [write(8192, 4096, 0), write(4096, 4096, 2)]);
        assert!(pending.is_empty());
    }

    /// In a list kept by place, a range can be forgotten, writes may overlap, and a newer write to a place is read back
    /// in its own turn.
    #[test]
    fn writes_that_are_kept_by_place_may_come_back_in_their_order() {
        let fill = || {
            let mut pending = PendingWrites::new(true).in_order_of_numbers();
            for (sequence, block) in [5, 3, 4, 0, 1, 2, 4].into_iter().enumerate() {
                pending.push(write(block * 4096, 4096, sequence as u64)).unwrap();
            }
            pending.forget_range(0, 4096, 4096);
            pending
        };
        let expected = [(5, 0), (3, 1), (0, 3), (2, 5), (4, 6)].map(|(block, n)| write(block * 4096, 4096, n));
        assert_eq!(fill().take(), expected);
        let mut pending = fill();
        assert_eq!(pending.take_some_of(2, |write| write.number.sequence() != 1), [expected[0], expected[2]]);
        assert_eq!(pending.take_some(1), [expected[1]]);
        assert_eq!(pending.take(), expected[3..]);
    }

    #[test]
    fn what_is_trimmed_is_zeroes_or_forgotten() {
        for overlap in [false, true] {
            let mut pending = PendingWrites::new(overlap);
            let writes = [0, 1, 2].map(|index| write(index * 4096, 4096, index));
            for write in &writes {
                pending.push(*write).unwrap();
            }
            pending.trim(&writes[1], true);
            pending.trim(&writes[2], false);
            assert_eq!((pending.len(), writes.map(|write| pending.has(&write))), (2, [true, false, false]));
            let left = pending.take();
            assert_eq!(left.iter().map(|write| write.number.is_trimmed()).collect::<Vec<_>>(), [false, true]);
            assert_eq!((left[1].number.sequence(), pending.len()), (1, 0));
        }
    }

    /// Writes are taken a few at a time while others are added, forgotten and taken: each comes once, in order.
    #[test]
    fn some_are_taken_in_order() {
        for overlap in [false, true] {
            let mut pending = PendingWrites::new(overlap);
            let (mut taken, mut n_forgotten) = (Vec::new(), 0);
            for sequence in 0..500 {
                pending.push(write(sequence * 4096, 4096, sequence)).unwrap();
                if sequence % 7 == 3 {
                    pending.forget(&write(sequence * 4096, 4096, sequence));
                    n_forgotten += 1;
                }
                if sequence % 4 == 0 {
                    taken.extend(pending.take_some(3));
                }
                assert_eq!(pending.len() + taken.len() + n_forgotten, sequence as usize + 1);
            }
            taken.extend(pending.take());
            assert_eq!(taken.len(), 500 - n_forgotten);
            assert!(taken.is_sorted_by_key(|write| write.number.sequence()) && pending.is_empty());
        }
    }

    #[test]
    fn what_lies_under_a_trim_is_forgotten() {
        let mut pending = PendingWrites::new(true);
        for index in [0, 1, 2] {
            pending.push(write(index * 4096, 4096, index)).unwrap();
        }
        pending.forget_range(0, 8191, 2);
        assert_eq!(pending.take(), [write(0, 4096, 0)]);
    }

    proptest! {
        /// Compared with a map from each byte to the write that wrote it last: every write that is left is whole and
        /// the newest, and every write that still owns all of its bytes is left.
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
                prop_assert!(is_whole(write.number.sequence(), write.offset_bytes, write.length_bytes));
            }
            for (sequence, (offset, length)) in ranges.iter().enumerate() {
                if is_whole(sequence as u64, *offset, *length) {
                    prop_assert!(left.iter().any(|write| write.number.sequence() == sequence as u64));
                }
            }
        }
    }
}
