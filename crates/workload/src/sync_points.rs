//! Syncs between the writes.
//!
//! Must not know: files. Start reading at [`SyncPoints::due`].

use crate::plan::SyncIntervals;
use ferrio_units::Direction;

/// The points at which the three kinds of sync are due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SyncPoints {
    intervals: SyncIntervals,
    any: bool,
}

impl SyncPoints {
    pub(crate) fn new(intervals: SyncIntervals) -> Self {
        Self { intervals, any: intervals != SyncIntervals::default() }
    }

    /// The sync that is due after `n_writes` writes. It is due only directly after a write, so that reads that follow a
    /// sync do not cause a second one. fsync goes before fdatasync.
    #[inline]
    pub(crate) fn due(&self, n_writes: u64, last: Option<Direction>) -> Option<Direction> {
        if !self.any || last != Some(Direction::Write) {
            return None;
        }
        let on = |interval: u32| interval != 0 && n_writes.is_multiple_of(interval.into());
        if on(self.intervals.fsync_blocks) {
            Some(Direction::Sync)
        } else if on(self.intervals.fdatasync_blocks) {
            Some(Direction::Datasync)
        } else if on(self.intervals.sync_file_range_blocks) {
            Some(Direction::SyncFileRange)
        } else {
            None
        }
    }
}
