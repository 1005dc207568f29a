//! The zones of one file under their lock: the meaning of the state's words.
//!
//! Must not know: the owner of the words, the next I/O. Start reading at [`ZonesView`].

use super::ZoneTable;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of words before the list of open zones: number of open zones, of active ones, of those open by request.
const OPEN_AT: usize = 3;

/// Words of a counted range: first zone, end, bytes written in it.
const RANGE_WORDS: usize = 3;

/// Number of words of a zone: bytes written, bytes of which no write is in flight, holder.
const ZONE_WORDS: usize = 3;

/// In the holder's word: the device counts the zone as active.
const ACTIVE: u64 = 1 << 63;

/// In the holder's word: the zone was opened on request.
const OPEN_BY_REQUEST: u64 = 1 << 62;

/// In the holder's word: position of the worker's number, above the number of I/Os in flight.
const OWNER_SHIFT: u32 = 32;

const OWNER_MASK: u64 = (1 << 30) - 1;

/// The zones, under their lock.
pub(crate) struct ZonesView<'a> {
    table: &'a ZoneTable,
    words: &'a [AtomicU64],
}

impl<'a> ZonesView<'a> {
    /// Number of words that the state of a table needs; `None`: too many.
    pub(super) fn n_words(n_zones: usize, max_open: usize, max_ranges: usize) -> Option<usize> {
        let before = max_ranges.checked_mul(RANGE_WORDS)?.checked_add(max_open)?.checked_add(OPEN_AT + 1)?;
        n_zones.checked_mul(ZONE_WORDS)?.checked_add(before)
    }

    pub(super) fn new(table: &'a ZoneTable, words: &'a [AtomicU64]) -> Self {
        Self { table, words }
    }

    pub(crate) fn table(&self) -> &'a ZoneTable {
        self.table
    }

    fn ranges_at(&self) -> usize {
        OPEN_AT + self.table.limits().max_open
    }

    fn zone_words(&self, zone: usize) -> [&AtomicU64; ZONE_WORDS] {
        let at = self.ranges_at() + 1 + self.table.max_ranges() * RANGE_WORDS + zone * ZONE_WORDS;
        [&self.words[at], &self.words[at + 1], &self.words[at + 2]]
    }

    /// Number of bytes written from the start of a zone, including writes in flight.
    pub(crate) fn written(&self, zone: usize) -> u64 {
        self.zone_words(zone)[0].load(Relaxed)
    }

    pub(crate) fn set_written(&self, zone: usize, bytes: u64) {
        let before = self.zone_words(zone)[0].swap(bytes, Relaxed);
        for range in 0..self.n_ranges() {
            let [first, end, sum] = self.range(range);
            if (first.load(Relaxed)..end.load(Relaxed)).contains(&(zone as u64)) {
                sum.store(sum.load(Relaxed).saturating_sub(before).saturating_add(bytes), Relaxed);
            }
        }
    }

    /// Number of bytes from the start of a zone of which no write is in flight.
    pub(crate) fn settled(&self, zone: usize) -> u64 {
        self.zone_words(zone)[1].load(Relaxed)
    }

    /// Counts all written bytes as settled: no write is in flight.
    pub(crate) fn settle(&self, zone: usize) {
        self.zone_words(zone)[1].store(self.written(zone), Relaxed);
    }

    /// The worker that has I/Os in flight which change a zone, and their number.
    pub(crate) fn holder(&self, zone: usize) -> Option<(u32, u32)> {
        let word = self.zone_words(zone)[2].load(Relaxed);
        let n_in_flight = word as u32;
        (n_in_flight > 0).then_some(((word >> OWNER_SHIFT & OWNER_MASK) as u32, n_in_flight))
    }

    /// Called before a worker changes a zone that no other worker holds.
    pub(crate) fn hold(&self, zone: usize, worker: u32) {
        let n_in_flight = self.holder(zone).map_or(0, |(_, n_in_flight)| n_in_flight);
        self.set_holder(zone, worker, n_in_flight + 1);
    }

    fn set_holder(&self, zone: usize, worker: u32, n_in_flight: u32) {
        let word = self.zone_words(zone)[2];
        let flags = word.load(Relaxed) & (ACTIVE | OPEN_BY_REQUEST);
        word.store(flags | (u64::from(worker) & OWNER_MASK) << OWNER_SHIFT | u64::from(n_in_flight), Relaxed);
    }

    /// Called after one of the I/Os of a worker that change a zone is done. True: it was the last.
    pub(crate) fn let_go(&self, zone: usize, worker: u32) -> bool {
        match self.holder(zone) {
            Some((owner, n_in_flight)) if owner == worker => {
                self.set_holder(zone, worker, n_in_flight - 1);
                n_in_flight == 1
            }
            _ => false,
        }
    }

    /// True if the device counts a zone as active: it is partly written, or about to be.
    pub(crate) fn is_active(&self, zone: usize) -> bool {
        self.zone_words(zone)[2].load(Relaxed) & ACTIVE != 0
    }

    pub(crate) fn activate(&self, zone: usize) {
        if !self.is_active(zone) {
            self.zone_words(zone)[2].fetch_or(ACTIVE, Relaxed);
            self.words[1].fetch_add(1, Relaxed);
        }
    }

    pub(super) fn set_open_by_request(&self, zone: usize) {
        self.zone_words(zone)[2].fetch_or(OPEN_BY_REQUEST, Relaxed);
        self.words[2].fetch_add(1, Relaxed);
    }

    /// True if the device keeps a zone open whether it is written or not.
    pub(crate) fn is_open_by_request(&self, zone: usize) -> bool {
        self.zone_words(zone)[2].load(Relaxed) & OPEN_BY_REQUEST != 0
    }

    /// Counts a zone as empty or full.
    pub(crate) fn deactivate(&self, zone: usize) {
        let flags = self.zone_words(zone)[2].fetch_and(!(ACTIVE | OPEN_BY_REQUEST), Relaxed);
        for (word, flag) in [(1, ACTIVE), (2, OPEN_BY_REQUEST)] {
            if flags & flag != 0 {
                self.words[word].fetch_sub(1, Relaxed);
            }
        }
    }

    fn n_active(&self) -> usize {
        self.words[1].load(Relaxed) as usize
    }

    /// Number of zones that the device counts as open if all zones that the jobs have open really are: these, and those
    /// opened on request.
    fn n_open_on_device(&self) -> usize {
        let n_by_request = self.words[2].load(Relaxed) as usize;
        if n_by_request == 0 {
            return self.n_open();
        }
        let n_both = self.open_zones().filter(|(zone, _)| self.is_open_by_request(*zone)).count();
        (self.n_open() + n_by_request).saturating_sub(n_both)
    }

    /// True if the device counts a zone as active already, or allows one more.
    pub(crate) fn may_activate(&self, zone: usize) -> bool {
        let max_active = self.table.limits().max_active;
        max_active == 0 || self.is_active(zone) || self.n_active() < max_active
    }

    /// True if the device accepts writes to a zone that the jobs do not have open.
    pub(crate) fn may_open(&self, zone: usize) -> bool {
        let max_open = self.table.limits().max_device_open;
        let has_place = || max_open == 0 || self.is_open_by_request(zone) || self.n_open_on_device() < max_open;
        self.may_activate(zone) && has_place()
    }

    /// Called after a worker has ended: it has no I/Os in flight any longer, and its open zones have no owner.
    pub(super) fn release(&self, worker: u32) {
        for index in 0..self.n_open() {
            let (zone, owner) = self.open_zone(index);
            if owner == worker {
                self.words[OPEN_AT + index].store((zone as u64) << 32, Relaxed);
            }
        }
        for zone in 0..self.table.layout().n_zones {
            if self.holder(zone).is_some_and(|(owner, _)| owner == worker) {
                self.set_holder(zone, worker, 0);
                // How far the device came with its writes is unknown.
                self.set_written(zone, self.settled(zone));
            }
        }
    }

    fn n_ranges(&self) -> usize {
        self.words[self.ranges_at()].load(Relaxed) as usize
    }

    fn range(&self, index: usize) -> [&AtomicU64; RANGE_WORDS] {
        let at = self.ranges_at() + 1 + index * RANGE_WORDS;
        [&self.words[at], &self.words[at + 1], &self.words[at + 2]]
    }

    /// Starts to count the written bytes of a range; returns the index of the counter. `None`: too many ranges.
    pub(super) fn count_range(&self, first: usize, end: usize) -> Option<usize> {
        let n_ranges = self.n_ranges();
        let is_same = |index: &usize| {
            let [known_first, known_end, _] = self.range(*index);
            (known_first.load(Relaxed), known_end.load(Relaxed)) == (first as u64, end as u64)
        };
        if let Some(known) = (0..n_ranges).find(is_same) {
            return Some(known);
        }
        if n_ranges == self.table.max_ranges() {
            return None;
        }
        let sum = (first..end).fold(0, |sum: u64, zone| sum.saturating_add(self.written(zone)));
        for (word, value) in self.range(n_ranges).into_iter().zip([first as u64, end as u64, sum]) {
            word.store(value, Relaxed);
        }
        self.words[self.ranges_at()].store(n_ranges as u64 + 1, Relaxed);
        Some(n_ranges)
    }

    /// Bytes written in a counted range.
    pub(crate) fn written_in_range(&self, index: usize) -> u64 {
        self.range(index)[RANGE_WORDS - 1].load(Relaxed)
    }

    pub(crate) fn n_open(&self) -> usize {
        self.words[0].load(Relaxed) as usize
    }

    /// An open zone by index, oldest first, and the worker that opened it.
    pub(crate) fn open_zone(&self, index: usize) -> (usize, u32) {
        let word = self.words[OPEN_AT + index].load(Relaxed);
        ((word >> 32) as usize, word as u32)
    }

    /// True if the jobs have the zone open.
    pub(crate) fn is_open(&self, zone: usize) -> bool {
        self.open_zones().any(|(open, _)| open == zone)
    }

    /// All open zones, oldest first, with the workers that opened them.
    pub(crate) fn open_zones(&self) -> impl Iterator<Item = (usize, u32)> {
        (0..self.n_open()).map(|index| self.open_zone(index))
    }

    /// Adds a zone to the open ones; there is room for it. It counts as active, because its first write may be next.
    pub(crate) fn open(&self, zone: usize, owner: u32) {
        self.activate(zone);
        let n_open = self.n_open();
        self.words[OPEN_AT + n_open].store((zone as u64) << 32 | u64::from(owner), Relaxed);
        self.words[0].store(n_open as u64 + 1, Relaxed);
    }

    /// Removes a zone from the open ones, if it was there; later ones move up.
    pub(crate) fn close(&self, zone: usize) {
        let n_open = self.n_open();
        let Some(found) = self.open_zones().position(|(open, _)| open == zone) else { return };
        for index in found..n_open - 1 {
            self.words[OPEN_AT + index].store(self.words[OPEN_AT + index + 1].load(Relaxed), Relaxed);
        }
        self.words[0].store(n_open as u64 - 1, Relaxed);
        if !(1..self.table.layout().shape(zone).capacity_bytes).contains(&self.written(zone)) {
            self.deactivate(zone);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::zone_table::ZoneActivity;
    use crate::zone_table::tests::table;

    #[test]
    fn open_zones_are_a_queue() {
        let table = table(8, 8, 4, 3);
        table.with(|zones| {
            for zone in [2, 0, 3] {
                zones.open(zone, 7);
            }
            zones.close(0);
            zones.close(1);
            assert_eq!(zones.open_zones().collect::<Vec<_>>(), [(2, 7), (3, 7)]);
            zones.open(1, 8);
            zones.close(2);
            assert_eq!(zones.open_zones().collect::<Vec<_>>(), [(3, 7), (1, 8)]);
        });
    }

    #[test]
    fn ranges_count_what_is_written_in_them() {
        let table = table(8, 8, 4, 0);
        table.found(1, 5, ZoneActivity::None);
        assert_eq!((table.count_range(0, 2), table.count_range(1, 4)), (Some(0), Some(1)));
        assert_eq!((table.count_range(0, 2), table.count_range(0, 4)), (Some(0), None));
        table.found(3, 4, ZoneActivity::None);
        table.found(1, 2, ZoneActivity::None);
        let sums = table.with(|zones| (zones.written_in_range(0), zones.written_in_range(1)));
        assert_eq!(sums, (2, 6));
        assert_eq!((table.written(1), table.written(3)), (2, 4));
    }
}
