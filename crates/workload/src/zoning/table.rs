//! The zones of one file: where they lie, and what all workers know of them together.
//!
//! The state is an array of words that several processes may share; who owns the memory, and the lock around it, is for the
//! caller ([`ZoneState`]). Must not know: which I/O comes next. Start reading at [`ZoneTable`], then [`Zones`].

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words before the list of open zones: how many there are.
const OPEN_AT: usize = 1;

/// Words of a counted range: first zone, end, bytes written in it.
const RANGE_WORDS: usize = 3;

/// What a zone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneShape {
    /// Bytes from its start that can be written; at most the distance to the next zone.
    pub capacity_bytes: u64,
    /// It is written from its start to its end; else anywhere.
    pub is_sequential: bool,
}

/// Where the zones of a file lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneLayout {
    /// Bytes from the start of a zone to that of the next; at least 1.
    pub zone_bytes: u64,
    /// How many there are.
    pub n_zones: usize,
    /// The shape of all of them, or of each.
    pub shapes: ZoneShapes,
}

/// Shapes of zones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneShapes {
    /// All have the same.
    Same(ZoneShape),
    /// One for each zone.
    Each(Box<[ZoneShape]>),
}

impl ZoneLayout {
    /// The shape of a zone.
    pub fn shape(&self, zone: usize) -> ZoneShape {
        match &self.shapes {
            ZoneShapes::Same(shape) => *shape,
            ZoneShapes::Each(shapes) => shapes[zone],
        }
    }
}

/// What holds the words of a table, and the device behind the zones.
pub trait ZoneState: Debug + Send + Sync {
    /// Runs `act` on the words while nobody else does. They are all zero at first.
    fn with(&self, act: &mut dyn FnMut(&[AtomicU64]));

    /// Has the device forget what was written to a zone. Emulated zones have nothing to do.
    ///
    /// # Errors
    /// The errno of the device.
    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32>;
}

/// The zones of one file, for all workers that use it.
#[derive(Debug)]
pub struct ZoneTable {
    layout: ZoneLayout,
    max_open: usize,
    max_ranges: usize,
    state: Box<dyn ZoneState>,
}

impl ZoneTable {
    /// Words that the state of a table has to have; `None`: more than there can be.
    pub fn n_words(layout: &ZoneLayout, max_open: usize, max_ranges: usize) -> Option<usize> {
        let before = max_ranges.checked_mul(RANGE_WORDS)?.checked_add(max_open)?.checked_add(OPEN_AT + 1)?;
        layout.n_zones.checked_add(before)
    }

    /// A table of which nothing was written. `max_open` 0: any number of zones is written at once.
    pub fn new(layout: ZoneLayout, max_open: usize, max_ranges: usize, state: Box<dyn ZoneState>) -> Self {
        Self { layout, max_open, max_ranges, state }
    }

    /// Where the zones lie.
    pub fn layout(&self) -> &ZoneLayout {
        &self.layout
    }

    /// Most zones that are written at once; 0: any number.
    pub fn max_open(&self) -> usize {
        self.max_open
    }

    /// Tells what a zone holds before the run.
    pub fn set_written(&self, zone: usize, bytes: u64) {
        self.with(|zones| zones.set_written(zone, bytes));
    }

    /// What a zone holds.
    pub fn written(&self, zone: usize) -> u64 {
        self.with(|zones| zones.written(zone))
    }

    /// Has the bytes counted that are written in the zones from `first` to before `end`. `None`: there is no room for more
    /// ranges.
    pub fn count_range(&self, first: usize, end: usize) -> Option<usize> {
        self.with(|zones| zones.count_range(first, end))
    }

    /// Bytes that can be written to the smallest of the zones that are written in sequence and can be written at all.
    pub fn least_capacity_bytes(&self) -> Option<u64> {
        let capacity = |shape: &ZoneShape| Some(shape.capacity_bytes).filter(|bytes| shape.is_sequential && *bytes > 0);
        match &self.layout.shapes {
            ZoneShapes::Same(shape) => capacity(shape),
            ZoneShapes::Each(shapes) => shapes.iter().filter_map(capacity).min(),
        }
    }

    /// Has the device forget what was written to the zones of a range.
    ///
    /// # Errors
    /// The errno of the device.
    pub fn trim(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32> {
        self.state.reset(start_bytes, length_bytes)
    }

    /// Has the device behind the zones reset one.
    pub(crate) fn reset_device(&self, zone: usize) -> Result<(), i32> {
        let zone_bytes = self.layout.zone_bytes;
        self.state.reset(zone as u64 * zone_bytes, zone_bytes)
    }

    /// Runs `act` while no other worker looks at the zones.
    pub(crate) fn with<T: Default>(&self, mut act: impl FnMut(&Zones<'_>) -> T) -> T {
        let mut result = T::default();
        self.state.with(&mut |words| result = act(&Zones { table: self, words }));
        result
    }
}

/// The zones while nobody else looks at them.
pub(crate) struct Zones<'a> {
    table: &'a ZoneTable,
    words: &'a [AtomicU64],
}

impl<'a> Zones<'a> {
    /// The table that they belong to.
    pub(crate) fn table(&self) -> &'a ZoneTable {
        self.table
    }

    fn ranges_at(&self) -> usize {
        OPEN_AT + self.table.max_open
    }

    fn written_word(&self, zone: usize) -> &AtomicU64 {
        &self.words[self.ranges_at() + 1 + self.table.max_ranges * RANGE_WORDS + zone]
    }

    /// Bytes written from the start of a zone.
    pub(crate) fn written(&self, zone: usize) -> u64 {
        self.written_word(zone).load(Relaxed)
    }

    pub(crate) fn set_written(&self, zone: usize, bytes: u64) {
        let before = self.written_word(zone).swap(bytes, Relaxed);
        for range in 0..self.n_ranges() {
            let [first, end, sum] = self.range(range);
            if (first.load(Relaxed)..end.load(Relaxed)).contains(&(zone as u64)) {
                sum.store(sum.load(Relaxed).saturating_sub(before).saturating_add(bytes), Relaxed);
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

    fn count_range(&self, first: usize, end: usize) -> Option<usize> {
        let n_ranges = self.n_ranges();
        let is_same = |index: &usize| {
            let [known_first, known_end, _] = self.range(*index);
            (known_first.load(Relaxed), known_end.load(Relaxed)) == (first as u64, end as u64)
        };
        if let Some(known) = (0..n_ranges).find(is_same) {
            return Some(known);
        }
        if n_ranges == self.table.max_ranges {
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

    /// How many zones are open.
    pub(crate) fn n_open(&self) -> usize {
        self.words[0].load(Relaxed) as usize
    }

    /// An open zone, oldest first, and the worker that opened it.
    pub(crate) fn open_zone(&self, index: usize) -> (usize, u32) {
        let word = self.words[OPEN_AT + index].load(Relaxed);
        ((word >> 32) as usize, word as u32)
    }

    /// All open zones, oldest first, with the workers that opened them.
    pub(crate) fn open_zones(&self) -> impl Iterator<Item = (usize, u32)> {
        (0..self.n_open()).map(|index| self.open_zone(index))
    }

    /// A zone is open from now on. There is room for it.
    pub(crate) fn open(&self, zone: usize, owner: u32) {
        let n_open = self.n_open();
        self.words[OPEN_AT + n_open].store((zone as u64) << 32 | u64::from(owner), Relaxed);
        self.words[0].store(n_open as u64 + 1, Relaxed);
    }

    /// A zone is open no longer, if it was; those after it move up.
    pub(crate) fn close(&self, zone: usize) {
        let n_open = self.n_open();
        let Some(found) = self.open_zones().position(|(open, _)| open == zone) else { return };
        for index in found..n_open - 1 {
            self.words[OPEN_AT + index].store(self.words[OPEN_AT + index + 1].load(Relaxed), Relaxed);
        }
        self.words[0].store(n_open as u64 - 1, Relaxed);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Words of one process.
    #[derive(Debug)]
    pub(crate) struct Local {
        words: Vec<AtomicU64>,
        lock: Mutex<()>,
    }

    impl ZoneState for Local {
        fn with(&self, act: &mut dyn FnMut(&[AtomicU64])) {
            let _held = self.lock.lock().unwrap();
            act(&self.words);
        }

        fn reset(&self, _: u64, _: u64) -> Result<(), i32> {
            Ok(())
        }
    }

    pub(crate) fn table(zone_bytes: u64, capacity_bytes: u64, n_zones: usize, max_open: usize) -> ZoneTable {
        let shapes = ZoneShapes::Same(ZoneShape { capacity_bytes, is_sequential: true });
        let layout = ZoneLayout { zone_bytes, n_zones, shapes };
        let n_words = ZoneTable::n_words(&layout, max_open, 2).unwrap();
        let words = std::iter::repeat_with(AtomicU64::default).take(n_words).collect();
        ZoneTable::new(layout, max_open, 2, Box::new(Local { words, lock: Mutex::new(()) }))
    }

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
        table.set_written(1, 5);
        assert_eq!((table.count_range(0, 2), table.count_range(1, 4)), (Some(0), Some(1)));
        assert_eq!((table.count_range(0, 2), table.count_range(0, 4)), (Some(0), None));
        table.set_written(3, 4);
        table.set_written(1, 2);
        let sums = table.with(|zones| (zones.written_in_range(0), zones.written_in_range(1)));
        assert_eq!(sums, (2, 6));
        assert_eq!((table.written(1), table.written(3)), (2, 4));
    }

    #[test]
    fn what_cannot_be_held_is_known() {
        let shapes = ZoneShapes::Same(ZoneShape { capacity_bytes: 1, is_sequential: true });
        let layout = ZoneLayout { zone_bytes: 1, n_zones: usize::MAX, shapes };
        assert_eq!(ZoneTable::n_words(&layout, 0, 0), None);
    }
}
