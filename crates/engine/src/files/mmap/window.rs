//! Which part of a file is mapped. Plain arithmetic.
//!
//! Must not know: mappings. Start reading at [`MappedWindow`].

/// Mappings begin at multiples of this: at least the page size of every machine known to us (64 KiB on some).
const ALIGN_BYTES: u64 = 65_536;

/// Most bytes that all windows of a job cover together, where files cannot be mapped whole: 1 GiB.
const MAX_WINDOWS_BYTES: u64 = 1 << 30;

/// A range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MappedWindow {
    pub(super) start: u64,
    pub(super) length_bytes: u64,
}

impl MappedWindow {
    pub(super) const fn new(start: u64, length_bytes: u64) -> Self {
        Self { start, length_bytes }
    }

    /// Length of a window for this number of files, at least enough for a block at any offset.
    pub(super) fn bytes_for(n_files: u32, max_block_bytes: u64) -> u64 {
        let share = MAX_WINDOWS_BYTES / u64::from(n_files.max(1));
        share.max(max_block_bytes.saturating_add(ALIGN_BYTES))
    }

    const fn end(self) -> u64 {
        self.start.saturating_add(self.length_bytes)
    }

    /// True if the other range lies within this one.
    #[inline]
    pub(super) const fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end() <= self.end()
    }

    /// This range, extended down to an offset where a mapping can begin.
    pub(super) const fn aligned(self) -> Self {
        let start = self.start / ALIGN_BYTES * ALIGN_BYTES;
        Self { start, length_bytes: self.end() - start }
    }

    /// The part of this range to map for an I/O: from the I/O to the end of the window or of the range. An I/O outside
    /// of the range gets a part of its own length.
    pub(super) fn part_for(self, wanted: Self, window_bytes: u64) -> Self {
        let from = wanted.aligned();
        let end = self.end().min(from.start.saturating_add(window_bytes)).max(from.end());
        Self { start: from.start, length_bytes: end - from.start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_the_io_and_stays_within_window_and_range() {
        let range = MappedWindow::new(10_000, 1_000_000);
        for offset in (0..1_200_000).step_by(4099) {
            let wanted = MappedWindow::new(offset, 5000);
            let part = range.part_for(wanted, 200_000);
            assert!(part.holds(wanted) && part.start.is_multiple_of(ALIGN_BYTES), "{part:?}");
            assert!(part.length_bytes <= 200_000 && part.end() <= range.end().max(wanted.end()), "{part:?}");
        }
        assert_eq!(range.aligned(), MappedWindow::new(0, 1_010_000));
    }

    #[test]
    fn a_window_always_has_room_for_a_block() {
        assert_eq!(MappedWindow::bytes_for(4, 4096), 1 << 28);
        assert_eq!(MappedWindow::bytes_for(100_000, 1 << 20), (1 << 20) + ALIGN_BYTES);
        assert_eq!(MappedWindow::bytes_for(0, 0), 1 << 30);
    }
}
