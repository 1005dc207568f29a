//! The zones of one file: where they lie, and what all workers know of them together.
//!
//! The state is an array of words that several processes may share; who owns the memory, and the lock around it, is for the
//! caller ([`ZoneState`]). Must not know: which I/O comes next, which word means what. Start reading at [`ZoneTable`], then at
//! [`ZonesView`].

use super::Awaited;
use super::view::ZonesView;
use std::fmt::Debug;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

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

    /// The zone in which a byte lies; `None`: behind the last.
    pub fn zone_of(&self, offset_bytes: u64) -> Option<usize> {
        usize::try_from(offset_bytes / self.zone_bytes).ok().filter(|zone| *zone < self.n_zones)
    }
}

/// How many zones may be in which state; 0: any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ZoneLimits {
    /// Zones that the jobs write at once.
    pub max_open: usize,
    /// Zones of the device that are written in part, whoever wrote them.
    pub max_active: usize,
    /// Zones of the device that are open; of these it closes, to open others, what nobody asked it to open.
    pub max_device_open: usize,
}

/// What a zone takes of the limits of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneActivity {
    /// Nothing: it is empty or full.
    None,
    /// It is written in part.
    Active,
    /// It is open, because somebody asked for that.
    OpenByRequest,
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

    /// Has the device count a zone as written to its end. Emulated zones have nothing to do.
    ///
    /// # Errors
    /// The errno of the device.
    fn finish(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32>;

    /// Bytes that the zone with this start holds after a failed write, when the device has taken zeroes for what was to be there.
    /// `None`: there is no device that knows.
    fn recover(&self, start_bytes: u64, wanted_bytes: u64) -> Option<u64>;

    /// Somebody may go on who waited for this.
    fn released(&self, what: Awaited) {
        let _ = what;
    }

    /// A number that changes whenever somebody may go on who waits for this.
    fn ticket(&self, what: Awaited) -> u32 {
        let _ = what;
        0
    }

    /// Sleeps until the number is another than `ticket`, or for `limit`. False: it is not.
    fn wait(&self, what: Awaited, ticket: u32, limit: Duration) -> bool {
        let _ = (what, ticket, limit);
        false
    }
}

/// The zones of one file, for all workers that use it.
#[derive(Debug)]
pub struct ZoneTable {
    layout: ZoneLayout,
    limits: ZoneLimits,
    max_ranges: usize,
    state: Box<dyn ZoneState>,
}

impl ZoneTable {
    /// Words that the state of a table has to have; `None`: more than there can be.
    pub fn n_words(layout: &ZoneLayout, max_open: usize, max_ranges: usize) -> Option<usize> {
        ZonesView::n_words(layout.n_zones, max_open, max_ranges)
    }

    /// A table of which nothing was written.
    pub fn new(layout: ZoneLayout, limits: ZoneLimits, max_ranges: usize, state: Box<dyn ZoneState>) -> Self {
        Self { layout, limits, max_ranges, state }
    }

    /// Where the zones lie.
    pub fn layout(&self) -> &ZoneLayout {
        &self.layout
    }

    /// How many zones may be in which state.
    pub fn limits(&self) -> ZoneLimits {
        self.limits
    }

    /// How many ranges can be counted.
    pub(super) fn max_ranges(&self) -> usize {
        self.max_ranges
    }

    /// Tells what a zone holds before the run, and what it takes of the limits of the device.
    pub fn found(&self, zone: usize, written_bytes: u64, activity: ZoneActivity) {
        self.with(|zones| {
            zones.set_written(zone, written_bytes);
            zones.settle(zone);
            if activity != ZoneActivity::None {
                zones.activate(zone);
            }
            if activity == ZoneActivity::OpenByRequest {
                zones.set_open_by_request(zone);
            }
        });
    }

    /// Zones before `end` that are written in part are among those that are written at once, as far as there is room.
    pub fn open_found(&self, first: usize, end: usize) {
        self.with(|zones| {
            let found = || (first..end.min(self.layout.n_zones)).filter(|zone| zones.is_active(*zone));
            let by_request = found().filter(|zone| zones.is_open_by_request(*zone));
            for zone in by_request.chain(found()) {
                if !zones.is_open(zone) && zones.n_open() < self.limits.max_open && zones.may_open(zone) {
                    zones.open(zone, 0);
                }
            }
        });
    }

    /// What a zone holds.
    pub fn written(&self, zone: usize) -> u64 {
        self.with(|zones| zones.written(zone))
    }

    /// Has the bytes counted that are written in the zones from `first` to before `end`. `None`: too many ranges.
    pub fn count_range(&self, first: usize, end: usize) -> Option<usize> {
        self.with(|zones| zones.count_range(first, end))
    }

    /// Has the device forget what was written to the zones of a range.
    ///
    /// # Errors
    /// The errno of the device.
    pub fn trim(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32> {
        self.state.reset(start_bytes, length_bytes)
    }

    /// A number that changes whenever some worker may go on who waits for this.
    pub(crate) fn ticket(&self, what: Awaited) -> u32 {
        self.state.ticket(what)
    }

    /// Sleeps until the number is another than `ticket`, or for `limit`. False: nobody did anything meanwhile.
    pub(crate) fn wait(&self, what: Awaited, ticket: u32, limit: Duration) -> bool {
        let n_released = self.state.ticket(Awaited::Zone);
        self.state.wait(what, ticket, limit) || self.state.ticket(Awaited::Zone) != n_released
    }

    /// A worker has ended: what it had in flight is not, and its open zones are nobody's.
    pub fn release(&self, worker: u32) {
        self.with(|zones| zones.release(worker));
        self.state.released(Awaited::Zone);
        self.state.released(Awaited::Place);
    }

    /// Has the device behind the zones reset one.
    pub(crate) fn reset_device(&self, zone: usize) -> Result<(), i32> {
        let zone_bytes = self.layout.zone_bytes;
        self.state.reset(zone as u64 * zone_bytes, zone_bytes)
    }

    /// Zones that a worker has open, oldest first.
    pub fn open_zones_of(&self, owner: u32) -> Vec<usize> {
        self.with(|zones| zones.open_zones().filter(|(_, other)| *other == owner).map(|(zone, _)| zone).collect())
    }

    /// Bytes that a zone holds after a failed write once what was to be there is zeroes, as far as the device takes them.
    pub(crate) fn recover_on_device(&self, zone: usize, wanted_bytes: u64) -> Option<u64> {
        self.state.recover(zone as u64 * self.layout.zone_bytes, wanted_bytes)
    }

    /// Has the device behind the zones count one as full.
    pub(crate) fn finish_on_device(&self, zone: usize) -> Result<(), i32> {
        let zone_bytes = self.layout.zone_bytes;
        self.state.finish(zone as u64 * zone_bytes, zone_bytes)
    }

    /// Somebody may go on who waited for this.
    pub(crate) fn released(&self, what: Awaited) {
        self.state.released(what);
    }

    /// Runs `act` while no other worker looks at the zones.
    pub(crate) fn with<T: Default>(&self, mut act: impl FnMut(&ZonesView<'_>) -> T) -> T {
        let mut result = T::default();
        self.state.with(&mut |words| result = act(&ZonesView::new(self, words)));
        result
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
        fn recover(&self, _: u64, _: u64) -> Option<u64> {
            None
        }

        fn with(&self, act: &mut dyn FnMut(&[AtomicU64])) {
            let _held = self.lock.lock().unwrap();
            act(&self.words);
        }

        fn reset(&self, _: u64, _: u64) -> Result<(), i32> {
            Ok(())
        }

        fn finish(&self, _: u64, _: u64) -> Result<(), i32> {
            Ok(())
        }
    }

    pub(crate) fn table(zone_bytes: u64, capacity_bytes: u64, n_zones: usize, max_open: usize) -> ZoneTable {
        let shapes = ZoneShapes::Same(ZoneShape { capacity_bytes, is_sequential: true });
        let layout = ZoneLayout { zone_bytes, n_zones, shapes };
        let n_words = ZoneTable::n_words(&layout, max_open, 2).unwrap();
        let words = std::iter::repeat_with(AtomicU64::default).take(n_words).collect();
        ZoneTable::new(
            layout,
            ZoneLimits { max_open, ..ZoneLimits::default() },
            2,
            Box::new(Local { words, lock: Mutex::new(()) }),
        )
    }

    #[test]
    fn what_cannot_be_held_is_known() {
        let shapes = ZoneShapes::Same(ZoneShape { capacity_bytes: 1, is_sequential: true });
        let layout = ZoneLayout { zone_bytes: 1, n_zones: usize::MAX, shapes };
        assert_eq!(ZoneTable::n_words(&layout, 0, 0), None);
    }
}
