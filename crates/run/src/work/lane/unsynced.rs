//! Ranges of files that were written since the last `sync_file_range`.
//!
//! Must not know: I/O. Start reading at [`UnsyncedRanges`].

use std::ops::Range;

/// The range from the lowest to the highest byte, by file.
pub(crate) struct UnsyncedRanges(Vec<Option<Range<u64>>>);

impl UnsyncedRanges {
    pub(crate) fn new(n_files: usize) -> Self {
        Self(vec![None; n_files])
    }

    /// Called for a write.
    pub(crate) fn wrote(&mut self, file_index: u32, bytes: Range<u64>) {
        let range = &mut self.0[file_index as usize];
        *range = Some(match range {
            Some(known) => known.start.min(bytes.start)..known.end.max(bytes.end),
            None => bytes,
        });
    }

    /// The range of a file, which is synced now; empty if nothing was written.
    pub(crate) fn take(&mut self, file_index: u32) -> Range<u64> {
        self.0[file_index as usize].take().unwrap_or_default()
    }
}
