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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_covers_all_writes_since_the_last_sync() {
        let mut ranges = UnsyncedRanges::new(2);
        ranges.wrote(1, 8192..12288);
        ranges.wrote(1, 4096..8192);
        ranges.wrote(1, 65536..69632);
        assert_eq!(ranges.take(1), 4096..69632);
        assert_eq!(ranges.take(1), 0..0, "nothing was written since");
        assert_eq!(ranges.take(0), 0..0, "nothing was written");
        ranges.wrote(1, 0..4096);
        assert_eq!(ranges.take(1), 0..4096);
    }
}
