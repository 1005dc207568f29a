//! What commands need beside their data, such as metadata in a buffer of their own or the ranges of a trim; and the reads whose metadata
//! are checked here.
//!
//! Must not know: what the metadata mean. Start reading at [`Payloads`].

use crate::contract::parts::TagMismatch;
use crate::contract::{EngineError, IoUnit};
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest, Region};
use std::io;

/// Memory with a part for each I/O in flight, by its slot.
pub(crate) struct Payloads {
    memory: Arena,
    part_bytes: usize,
}

impl Payloads {
    /// Parts of at least this length. Parts of slots do not share a cache line.
    pub(crate) fn new(engine: &'static str, n_slots: usize, bytes: usize) -> Result<Self, EngineError> {
        let part_bytes = bytes.next_multiple_of(64);
        let size_bytes = n_slots.saturating_mul(part_bytes);
        let memory = ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 0 };
        let mut memory = Arena::new(&memory).map_err(|error| EngineError::Failed {
            engine,
            step: "init",
            what: format!("memory for metadata and ranges, {bytes} bytes for each I/O in flight"),
            source: io::Error::from_raw_os_error(error.errno().unwrap_or(libc::ENOMEM)),
        })?;
        memory.touch();
        Ok(Self { memory, part_bytes })
    }

    /// The first bytes of the part of a slot, for the kernel.
    #[inline]
    pub(crate) fn region(&self, unit_index: u32, n_bytes: usize) -> Region {
        self.memory.region(unit_index as usize * self.part_bytes, n_bytes)
    }

    /// The same, to be read and written here.
    #[inline]
    pub(crate) fn slice_mut(&mut self, unit_index: u32, n_bytes: usize) -> &mut [u8] {
        self.memory.slice_mut(unit_index as usize * self.part_bytes, n_bytes)
    }
}

/// Reads whose tuples are checked here when they are done, by slot, and the mismatches that were found.
pub(crate) struct CheckedReads {
    units: Vec<Option<IoUnit>>,
    mismatches: Vec<Option<TagMismatch>>,
}

impl CheckedReads {
    pub(crate) fn new(n_slots: usize) -> Self {
        Self { units: vec![None; n_slots], mismatches: vec![None; n_slots] }
    }

    /// Called when a read is queued; `None`: its tuples are not checked here.
    #[inline]
    pub(crate) fn note(&mut self, unit_index: u32, unit: Option<IoUnit>) {
        self.units[unit_index as usize] = unit;
    }

    /// The read of a slot, which is done; `None`: its tuples are not checked here.
    pub(crate) fn done(&mut self, unit_index: u32) -> Option<IoUnit> {
        self.units[unit_index as usize].take()
    }

    /// Keeps what was found in the read of a slot.
    pub(crate) fn keep(&mut self, unit_index: u32, mismatch: TagMismatch) {
        self.mismatches[unit_index as usize] = Some(mismatch);
    }

    /// What was found in the last read of a slot, once.
    pub(crate) fn take_mismatch(&mut self, unit_index: u32) -> Option<TagMismatch> {
        self.mismatches.get_mut(unit_index as usize)?.take()
    }
}
