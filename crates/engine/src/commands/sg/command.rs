//! The commands of units: which one a read, write or trim is, its blocks and its data.
//!
//! Must not know: files, slots in flight. Start reading at [`CommandTerms::transfer`].

use super::NAME;
use crate::commands::scsi::blocks;
use crate::contract::options::EngineOptions;
use crate::contract::{EngineError, IoUnit};
use ferrio_spec::engines::options::sg::{HIPRI, READFUA, SG_WRITE_MODE, ScsiWriteMode, WRITEFUA};
use ferrio_sys::Errno;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest, Region};
use ferrio_sys::scsi::cdb::{ByteCheck, Cdb, UNMAP_HEAD_BYTES, UNMAP_RANGE_BYTES, unmap_list};
use ferrio_sys::scsi::queue::ScsiData;
use ferrio_units::Direction;
use std::io;

/// What the options of a job say of its commands.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandTerms {
    write_mode: ScsiWriteMode,
    reads_with_fua: bool,
    writes_with_fua: bool,
    is_polled: bool,
}

impl CommandTerms {
    pub(super) fn parse(options: &EngineOptions) -> Self {
        Self {
            write_mode: options.get(&SG_WRITE_MODE),
            reads_with_fua: options.get(&READFUA),
            writes_with_fua: options.get(&WRITEFUA),
            is_polled: options.get(&HIPRI),
        }
    }

    /// True if the completion of such an I/O is polled for.
    pub(super) fn is_polled(self, direction: Direction) -> bool {
        self.is_polled && matches!(direction, Direction::Read | Direction::Write)
    }

    /// The command of a read or write, and its data, which is all or a part of the unit's.
    pub(super) fn transfer(self, unit: &IoUnit, block_bytes: u32, area: Region) -> Result<(Cdb, ScsiData), Errno> {
        use ScsiWriteMode as Mode;
        let (first, n_blocks) = blocks(unit, block_bytes)?;
        if unit.direction == Direction::Read {
            return Ok((Cdb::read(first, n_blocks, self.reads_with_fua), ScsiData::FromDevice(area)));
        }
        let (all, one) = (ScsiData::ToDevice(area), ScsiData::ToDevice(area.part(0, block_bytes as usize)));
        Ok(match self.write_mode {
            Mode::Write => (Cdb::write(first, n_blocks, self.writes_with_fua), all),
            Mode::WriteAndVerify | Mode::Verify => (Cdb::write_and_verify(first, n_blocks), all),
            Mode::WriteSame | Mode::Same => (Cdb::write_same(first, n_blocks), one),
            Mode::WriteSameNoData => (Cdb::write_same_without_data(first, n_blocks), ScsiData::Nothing),
            Mode::VerifyNothing => (Cdb::verify(first, n_blocks, ByteCheck::Nothing), ScsiData::Nothing),
            Mode::VerifyAll => (Cdb::verify(first, n_blocks, ByteCheck::All), all),
            Mode::VerifyOneBlock => (Cdb::verify(first, n_blocks, ByteCheck::OneBlock), one),
            // Refused before a job starts.
            Mode::WriteStream => return Err(Errno::INVAL),
        })
    }
}

const MOST_RANGES: usize = 64;

const LIST_BYTES: usize = UNMAP_HEAD_BYTES + MOST_RANGES * UNMAP_RANGE_BYTES;

/// Lists of ranges for UNMAP: one for each slot, and the trims that are gathered for the next command.
#[derive(Debug)]
pub(super) struct UnmapLists {
    memory: Arena,
    /// By slot: its command is one for gathered trims.
    shared: Vec<bool>,
    gathered: Vec<(u64, u32)>,
    /// The slot of the first of the gathered trims, and their file.
    next: Option<(u32, u32)>,
}

impl UnmapLists {
    pub(super) fn new(n_slots: u32) -> Result<Self, EngineError> {
        let size_bytes = n_slots.max(1) as usize * LIST_BYTES;
        let memory = ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 0 };
        let memory = Arena::new(&memory).map_err(|error| EngineError::Failed {
            engine: NAME,
            step: "init",
            what: "memory for the ranges of trims".to_owned(),
            source: io::Error::from_raw_os_error(error.errno().unwrap_or(libc::ENOMEM)),
        })?;
        let gathered = Vec::with_capacity(MOST_RANGES);
        Ok(Self { memory, shared: vec![false; n_slots as usize], gathered, next: None })
    }

    /// True if a trim of this file can go out with those that are gathered.
    pub(super) fn has_room_for(&self, file_index: u32) -> bool {
        self.next.is_none_or(|(_, of)| of == file_index) && self.gathered.len() < MOST_RANGES
    }

    /// Adds a trim, and returns the slot of the command with which it goes out.
    pub(super) fn add(&mut self, unit_index: u32, file_index: u32, range: (u64, u32)) -> u32 {
        self.gathered.push(range);
        self.next.get_or_insert((unit_index, file_index)).0
    }

    pub(super) fn n_gathered(&self) -> usize {
        self.gathered.len()
    }

    /// The command for the gathered trims: its slot, file and list; `None`: there are none.
    pub(super) fn command(&mut self) -> Option<(u32, u32, Cdb, Region)> {
        let (slot, file_index) = self.next?;
        let (cdb, list) = self.write(slot, None);
        Some((slot, file_index, cdb, list))
    }

    /// The device has the command for the gathered trims, which is in this slot.
    pub(super) fn mark_sent(&mut self, slot: u32) {
        self.next = None;
        self.gathered.clear();
        self.shared[slot as usize] = true;
    }

    /// The command for one trim.
    pub(super) fn alone(&mut self, slot: u32, range: (u64, u32)) -> (Cdb, Region) {
        self.write(slot, Some(range))
    }

    fn write(&mut self, slot: u32, alone: Option<(u64, u32)>) -> (Cdb, Region) {
        let place = slot as usize * LIST_BYTES;
        let out = self.memory.slice_mut(place, LIST_BYTES);
        let length = match alone {
            Some(range) => unmap_list(std::iter::once(range), out),
            None => unmap_list(self.gathered.iter().copied(), out),
        };
        (Cdb::unmap(length), self.memory.region(place, length.into()))
    }

    /// True if the command in a slot was one for gathered trims.
    pub(super) fn is_of(&self, slot: u32) -> bool {
        self.shared.get(slot as usize).copied().unwrap_or(false)
    }

    /// The command in a slot is done.
    pub(super) fn free(&mut self, slot: u32) {
        if let Some(place) = self.shared.get_mut(slot as usize) {
            *place = false;
        }
    }
}
