//! Syncs between the writes.
//!
//! Must not know: files. Start reading at [`SyncPoints::due`].

use crate::plan::SyncIntervals;
use ferrio_units::Direction;

/// Intervals of the three kinds of sync, in writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SyncPoints {
    fsync_blocks: u64,
    fdatasync_blocks: u64,
    sync_file_range_blocks: u64,
    any: bool,
}

impl SyncPoints {
    pub(crate) fn new(intervals: SyncIntervals) -> Self {
        let SyncIntervals { fsync_blocks, fdatasync_blocks, sync_file_range_blocks } = intervals;
        Self {
            fsync_blocks: u64::from(fsync_blocks),
            fdatasync_blocks: u64::from(fdatasync_blocks),
            sync_file_range_blocks: u64::from(sync_file_range_blocks),
            any: intervals != SyncIntervals::default(),
        }
    }

    /// The sync that is due after `n_writes` writes. It is due only directly after a write, so that reads that follow a
    /// sync do not cause a second one. fsync goes before fdatasync.
    #[inline]
    pub(crate) fn due(&self, n_writes: u64, last: Option<Direction>) -> Option<Direction> {
        if !self.any || last != Some(Direction::Write) {
            return None;
        }
        let on = |interval: u64| interval != 0 && n_writes.is_multiple_of(interval);
        if on(self.fsync_blocks) {
            Some(Direction::Sync)
        } else if on(self.fdatasync_blocks) {
            Some(Direction::Datasync)
        } else if on(self.sync_file_range_blocks) {
            Some(Direction::SyncFileRange)
        } else {
            None
        }
    }
}
