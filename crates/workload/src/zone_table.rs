//! The zones of one file: their places, and the state that all workers share.
//!
//! The state is an array of words that several processes may share; who owns the memory, and the lock around it, is for the
//! caller ([`ZoneState`]). Must not know: the next I/O, the meaning of the words. Start reading at [`ZoneTable`], then at [`ZonesView`].

mod view;

use std::fmt::Debug;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
pub(crate) use view::ZonesView;

/// What another job has to release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A zone to which it has writes in flight.
    Zone,
    /// A place among the zones that may be open.
    Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneShape {
    /// Number of bytes, from its start, that can be written; at most the distance to the next zone.
    pub capacity_bytes: u64,
    /// The zone must be written from start to end; other zones can be written anywhere.
    pub is_sequential: bool,
}

/// The places of a file's zones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneLayout {
    /// Bytes from the start of a zone to that of the next; at least 1.
    pub zone_bytes: u64,
    pub n_zones: usize,
    /// The shape of all zones, or of each.
    pub shapes: ZoneShapes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZoneShapes {
    /// All zones have the same shape.
    Same(ZoneShape),
    /// One shape for each zone.
    Each(Box<[ZoneShape]>),
}

impl ZoneLayout {
    pub fn shape(&self, zone: usize) -> ZoneShape {
        match &self.shapes {
            ZoneShapes::Same(shape) => *shape,
            ZoneShapes::Each(shapes) => shapes[zone],
        }
    }

    /// The zone that contains a byte; `None`: the byte is behind the last zone.
    pub fn zone_of(&self, offset_bytes: u64) -> Option<usize> {
        usize::try_from(offset_bytes / self.zone_bytes).ok().filter(|zone| *zone < self.n_zones)
    }
}

/// Limits for the number of zones in certain states; 0: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ZoneLimits {
    /// Zones that the jobs write at the same time.
    pub max_open: usize,
    /// Partly written zones of the device, including those that other programs wrote.
    pub max_active: usize,
    /// Open zones of the device. To open another, the device itself closes zones that were not opened on request.
    pub max_device_open: usize,
}

/// How a zone counts for the limits of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneActivity {
    /// Not at all: the zone is empty or full.
    None,
    /// As active: the zone is partly written.
    Active,
    /// As open: a program has asked the device to open it.
    OpenByRequest,
}

/// A block that could not be written to its zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedBlock {
    pub start_bytes: u64,
    /// Its contents; empty if they are not known.
    pub data: Box<[u8]>,
}

/// The memory of a table's words, and the device behind the zones.
pub trait ZoneState: Debug + Send + Sync {
    /// Runs `act` on the words under the lock. All words are zero at first.
    fn with(&self, act: &mut dyn FnMut(&[AtomicU64]));

    /// Lets the device reset a zone. Emulated zones have nothing to do.
    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32>;

    /// Lets the device finish a zone, so that it counts as written to its end. Emulated zones have nothing to do.
    fn finish(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32>;

    /// After a failed write: writes what is missing in the zone with this start up to `wanted_bytes` of it, from these
    /// blocks in the order of their places, and zeroes where there is none. Returns the number of bytes that the zone holds
    /// then. `None`: there is no device to ask.
    fn recover(
        &self,
        start_bytes: u64,
        wanted_bytes: u64,
        blocks: &mut dyn Iterator<Item = &FailedBlock>,
    ) -> Option<u64>;

    /// Wakes workers that wait for this.
    fn released(&self, what: Awaited) {
        let _ = what;
    }

    /// A number that changes whenever a worker that waits for this may continue.
    fn ticket(&self, what: Awaited) -> u32 {
        let _ = what;
        0
    }

    /// Sleeps until the number differs from `ticket`, or for `limit`. False: it did not change.
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
    /// Number of words that the state of a table needs; `None`: too many.
    pub fn n_words(layout: &ZoneLayout, max_open: usize, max_ranges: usize) -> Option<usize> {
        ZonesView::n_words(layout.n_zones, max_open, max_ranges)
    }

    /// A table of empty zones.
    pub fn new(layout: ZoneLayout, limits: ZoneLimits, max_ranges: usize, state: Box<dyn ZoneState>) -> Self {
        Self { layout, limits, max_ranges, state }
    }

    pub fn layout(&self) -> &ZoneLayout {
        &self.layout
    }

    /// The limits for the number of zones in certain states.
    pub fn limits(&self) -> ZoneLimits {
        self.limits
    }

    /// Most ranges whose written bytes can be counted.
    pub(super) fn max_ranges(&self) -> usize {
        self.max_ranges
    }

    /// Sets the state of a zone before the run: its written bytes, and how it counts for the limits of the device.
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

    /// Counts partly written zones before `end` as open, as far as the limit allows.
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

    /// Number of written bytes of a zone.
    pub fn written(&self, zone: usize) -> u64 {
        self.with(|zones| zones.written(zone))
    }

    /// Starts to count the written bytes of the zones from `first` to before `end`; returns the index of the counter.
    /// `None`: too many ranges.
    pub fn count_range(&self, first: usize, end: usize) -> Option<usize> {
        self.with(|zones| zones.count_range(first, end))
    }

    /// Lets the device reset the zones of a range.
    pub fn trim(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32> {
        self.state.reset(start_bytes, length_bytes)
    }

    /// A number that changes whenever a worker that waits for this may continue.
    pub(crate) fn ticket(&self, what: Awaited) -> u32 {
        self.state.ticket(what)
    }

    /// Sleeps until the number differs from `ticket`, or for `limit`. False: it did not change.
    pub(crate) fn wait(&self, what: Awaited, ticket: u32, limit: Duration) -> bool {
        let n_released = self.state.ticket(Awaited::Zone);
        self.state.wait(what, ticket, limit) || self.state.ticket(Awaited::Zone) != n_released
    }

    /// Called after a worker has ended: it has no I/Os in flight any longer, and its open zones have no owner.
    pub fn release(&self, worker: u32) {
        self.with(|zones| zones.release(worker));
        self.state.released(Awaited::Zone);
        self.state.released(Awaited::Place);
    }

    pub(crate) fn reset_device(&self, zone: usize) -> Result<(), i32> {
        let zone_bytes = self.layout.zone_bytes;
        self.state.reset(zone as u64 * zone_bytes, zone_bytes)
    }

    /// The zones that a worker has open, oldest first.
    pub fn open_zones_of(&self, owner: u32) -> Vec<usize> {
        self.with(|zones| zones.open_zones().filter(|(_, other)| *other == owner).map(|(zone, _)| zone).collect())
    }

    /// After failed writes: number of bytes that a zone holds once the missing data is written, as far as the device
    /// accepts it.
    pub(crate) fn recover_on_device(
        &self,
        zone: usize,
        wanted_bytes: u64,
        blocks: &mut dyn Iterator<Item = &FailedBlock>,
    ) -> Option<u64> {
        self.state.recover(zone as u64 * self.layout.zone_bytes, wanted_bytes, blocks)
    }

    /// Lets the device finish a zone, so that it counts as full.
    pub(crate) fn finish_on_device(&self, zone: usize) -> Result<(), i32> {
        let zone_bytes = self.layout.zone_bytes;
        self.state.finish(zone as u64 * zone_bytes, zone_bytes)
    }

    /// Wakes workers that wait for this.
    pub(crate) fn released(&self, what: Awaited) {
        self.state.released(what);
    }

    /// Runs `act` under the lock of the zones.
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

    /// Words in the memory of one process.
    #[derive(Debug)]
    pub(crate) struct Local {
        words: Vec<AtomicU64>,
        lock: Mutex<()>,
    }

    impl ZoneState for Local {
        fn recover(&self, _: u64, _: u64, _: &mut dyn Iterator<Item = &FailedBlock>) -> Option<u64> {
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
        table_of(ZoneLayout { zone_bytes, n_zones, shapes }, max_open)
    }

    /// Zones of which the first ones can be written anywhere.
    pub(crate) fn table_behind(n_conventional: usize, zone_bytes: u64, n_zones: usize) -> ZoneTable {
        let shape = |zone| ZoneShape { capacity_bytes: zone_bytes, is_sequential: zone >= n_conventional };
        let shapes = ZoneShapes::Each((0..n_zones).map(shape).collect());
        table_of(ZoneLayout { zone_bytes, n_zones, shapes }, 0)
    }

    fn table_of(layout: ZoneLayout, max_open: usize) -> ZoneTable {
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
