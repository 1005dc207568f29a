//! The contents of the device: `sim_data=1`.
//!
//! The contents are one anonymous mapping of the device's capacity. The kernel gives it memory page by page as data is
//! written, so it is sparse, and nothing is allocated after the start. This file also carries out faults, so that the
//! data really shows them.
//! Must not know: times. Start reading at [`Store::apply`].

use super::NAME;
use super::fault::SimFault;
use crate::contract::EngineError;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest};
use ferrio_units::Direction;
use std::io;

/// A trim clears its range in steps of this length, and only steps that hold data.
const CLEAR_STEP_BYTES: usize = 4096;

pub(crate) struct Store {
    memory: Arena,
}

/// A range of the device that lies within it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceRange {
    pub(crate) address: usize,
    pub(crate) length_bytes: usize,
}

impl Store {
    /// Zeroed contents of a device.
    pub(crate) fn new(capacity_bytes: u64) -> Result<Self, EngineError> {
        let size_bytes = usize::try_from(capacity_bytes).unwrap_or(usize::MAX);
        let request =
            ArenaRequest { kind: ArenaKind::Mmap(None), size_bytes, offset_bytes: 0, hugepage_bytes: 2 << 20 };
        let memory = Arena::new(&request).map_err(|error| EngineError::Refused {
            engine: NAME,
            what: format!("mapping the contents of {capacity_bytes} bytes (sim_data=1)"),
            source: io::Error::from_raw_os_error(error.errno().unwrap_or(libc::ENOMEM)),
            hint: "give a smaller sim_capacity, or allow overcommit (vm.overcommit_memory)".to_owned(),
        })?;
        Ok(Self { memory })
    }

    /// Does to the contents, and to the buffer of a read, what an I/O with this fault does. `span_bytes` is how much of
    /// the device is in use: misdirected writes stay below it.
    pub(crate) fn apply(
        &mut self,
        direction: Direction,
        extent: DeviceRange,
        fault: SimFault,
        buffer: &mut [u8],
        span_bytes: u64,
    ) {
        let DeviceRange { address, length_bytes } = extent;
        match direction {
            Direction::Read => {
                buffer.copy_from_slice(self.memory.slice(address, length_bytes));
                if let SimFault::Flip(bit) = fault {
                    flip(buffer, bit);
                }
            }
            Direction::Write => self.write(extent, fault, buffer, span_bytes),
            Direction::Trim => match fault {
                SimFault::Lost => {}
                SimFault::Torn(kept_bytes) => {
                    self.clear(DeviceRange { length_bytes: length_bytes.min(kept_bytes as usize), ..extent });
                }
                _ => self.clear(extent),
            },
            _ => {}
        }
    }

    fn write(&mut self, extent: DeviceRange, fault: SimFault, buffer: &[u8], span_bytes: u64) {
        let DeviceRange { address, length_bytes } = extent;
        match fault {
            SimFault::Lost => {}
            SimFault::Torn(kept_bytes) => {
                let kept = length_bytes.min(kept_bytes as usize);
                self.memory.slice_mut(address, kept).copy_from_slice(&buffer[..kept]);
            }
            SimFault::Misdirected(draw) => {
                if let Some(other) = other_place(extent, draw, span_bytes) {
                    self.memory.slice_mut(other, length_bytes).copy_from_slice(buffer);
                }
            }
            fault => {
                let stored = self.memory.slice_mut(address, length_bytes);
                stored.copy_from_slice(buffer);
                if let SimFault::Flip(bit) = fault {
                    flip(stored, bit);
                }
            }
        }
    }

    fn clear(&mut self, extent: DeviceRange) {
        let stored = self.memory.slice_mut(extent.address, extent.length_bytes);
        for step in stored.chunks_mut(CLEAR_STEP_BYTES) {
            // Reading a page that was never written takes no memory for it; clearing it would.
            if step.iter().any(|&byte| byte != 0) {
                step.fill(0);
            }
        }
    }
}

fn flip(bytes: &mut [u8], bit: u64) {
    if let Some(byte) = bytes.get_mut((bit / 8) as usize) {
        *byte ^= 1 << (bit % 8);
    }
}

/// Another multiple of the length within the span, where a misdirected write goes; `None` if there is none.
fn other_place(extent: DeviceRange, draw: u64, span_bytes: u64) -> Option<usize> {
    let DeviceRange { address, length_bytes } = extent;
    let n_places = usize::try_from(span_bytes).ok()?.checked_div(length_bytes)?;
    if n_places < 2 {
        return None;
    }
    let place = (draw % n_places as u64) as usize * length_bytes;
    // Cannot overflow: both are at most the span.
    Some(if place == address { (place + length_bytes) % (n_places * length_bytes) } else { place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_place_is_aligned_within_the_span_and_another() {
        let extent = DeviceRange { address: 4096, length_bytes: 4096 };
        for draw in 0..100 {
            let place = other_place(extent, draw, 3 * 4096 + 100).unwrap();
            assert!(place == 0 || place == 8192, "{place}");
        }
        assert_eq!(other_place(extent, 7, 8191), None);
        assert_eq!(other_place(DeviceRange { address: 0, length_bytes: 0 }, 7, 8191), None);
    }
}
