//! The index of the registered buffer that holds a unit's data.
//!
//! The kernel registers at most 1 GiB as one buffer, so a larger area is registered as overlapping windows: each is
//! twice as long as the distance between two starts, so that every unit up to that distance fits within one window.
//! Must not know: requests. Start reading at [`Windows`].
#![expect(unsafe_code, reason = "the registered area outlives the ring by the promise of the caller")]

use super::explain;
use crate::contract::EngineError;
use ferrio_sys::arena::{Arena, Region};
use ferrio_sys::uring::{CompletionForm, RequestForm, RingOf};

/// Longest registered buffer: a limit of the kernel.
const MAX_WINDOW_BYTES: usize = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Windows {
    area_bytes: usize,
    step_bytes: usize,
}

impl Windows {
    /// Windows over an area, for units up to half a window.
    pub(crate) fn new(area_bytes: usize) -> Self {
        Self::with_window(area_bytes, MAX_WINDOW_BYTES)
    }

    fn with_window(area_bytes: usize, window_bytes: usize) -> Self {
        Self { area_bytes, step_bytes: if area_bytes <= window_bytes { area_bytes.max(1) } else { window_bytes / 2 } }
    }

    /// True if every unit of this length lies within a window.
    pub(crate) fn can_hold(self, max_block_bytes: usize) -> bool {
        self.step_bytes >= self.area_bytes || max_block_bytes <= self.step_bytes
    }

    pub(crate) fn regions(self, arena: &Arena) -> Vec<Region> {
        let window = |start: usize| arena.region(start, (self.step_bytes * 2).min(self.area_bytes - start));
        (0..self.area_bytes.max(1)).step_by(self.step_bytes).map(window).collect()
    }

    #[inline]
    pub(crate) fn index_of(self, offset: usize) -> u16 {
        // Fits: 2^16 windows of half a GiB are 32 TiB.
        (offset / self.step_bytes) as u16
    }
}

/// Registers an area with the ring of an engine.
///
/// # Safety
/// The area lives until the ring is dropped.
pub(crate) unsafe fn register<S: RequestForm, C: CompletionForm>(
    engine: &'static str,
    ring: &RingOf<S, C>,
    arena: &Arena,
    max_block_bytes: usize,
) -> Result<Windows, EngineError> {
    let windows = Windows::new(arena.len());
    if !windows.can_hold(max_block_bytes) {
        let why = "with buffers of more than 1 GiB in all, blocks are at most 512 MiB";
        return Err(EngineError::bad_option(engine, "fixedbufs", &1, why));
    }
    // SAFETY: promised by the caller.
    unsafe { ring.register_buffers(&windows.regions(arena)) }
        .map_err(|error| explain::buffers(engine, arena.len(), error.errno()))?;
    Ok(windows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_sys::arena::{ArenaKind, ArenaRequest};

    #[test]
    fn every_unit_lies_within_its_window() {
        let request = ArenaRequest { kind: ArenaKind::Malloc, size_bytes: 1000, offset_bytes: 0, hugepage_bytes: 0 };
        let arena = Arena::new(&request).unwrap();
        for window_bytes in [100, 128, 1000, 4000] {
            let windows = Windows::with_window(1000, window_bytes);
            let regions = windows.regions(&arena);
            for length in 1..=50 {
                assert!(windows.can_hold(length));
                for offset in 0..=1000 - length {
                    let window = regions[windows.index_of(offset) as usize];
                    let start = window.as_ptr() as usize - arena.as_ptr() as usize;
                    assert!(start <= offset && offset + length <= start + window.len(), "{window_bytes} {offset}");
                    assert!(window.len() <= window_bytes.max(1));
                }
            }
        }
        assert!(!Windows::with_window(1000, 100).can_hold(51));
        assert!(Windows::with_window(1000, 1000).can_hold(1000));
        assert_eq!(Windows::new(4096).step_bytes, 4096);
    }
}
