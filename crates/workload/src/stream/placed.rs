//! I/Os of a stream whose files have zones that are written in sequence. After an I/O was drawn, the zones decide where
//! it goes, or that it has to wait.
//!
//! Must not know: the zones. Start reading at [`Stream::placed_io`].

use super::Stream;
use crate::block_size::Room;
use crate::cursor::NOWHERE;
use crate::next::Next;
use crate::offset::BlockStart;
use crate::zoning::{DrawnIo, Placement, ZoneWait, Zoning};
use ferrio_units::DataDirection;

/// An I/O that waits until the zones let it continue.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waiting {
    /// The next I/O of a file; it is not drawn yet.
    File(usize),
    Drawn {
        file_index: usize,
        start: BlockStart,
        drawn: DrawnIo,
    },
}

impl<Z: Zoning> Stream<Z> {
    /// The next I/O of a file. The zones decide where it goes; the map marks the block where it was drawn.
    pub(super) fn placed_io(&mut self, file_index: usize) -> Next {
        if let Some(wait) = self.zones.ready(file_index) {
            return self.wait(Waiting::File(file_index), wait);
        }
        let direction = self.directions.next(&self.n_issued, &self.files[file_index]);
        if self.repeats_trims && direction == DataDirection::Write {
            return Next::Io(self.repeated_io(file_index));
        }
        match self.drawn_io(file_index, direction) {
            Some((start, drawn)) => self.place(file_index, start, drawn),
            None => self.file_end(file_index),
        }
    }

    fn drawn_io(&mut self, file_index: usize, direction: DataDirection) -> Option<(BlockStart, DrawnIo)> {
        let file = &mut self.files[file_index];
        let direction = self.zones.turn(direction, file.last_bytes[DataDirection::Write] != NOWHERE);
        let start = self.offsets.next(file, direction)?;
        let offset_bytes = self.zones.begin(file_index, direction, start.offset_bytes)?;
        // If blocks have a single size, the zones decide whether one fits.
        let in_range_bytes = file.range.end_bytes().saturating_sub(offset_bytes);
        let room = Room { in_range_bytes, in_file_bytes: u64::MAX };
        let block_bytes = self.sizes.next(direction, start.random, room)?;
        let drawn = DrawnIo {
            direction,
            offset_bytes,
            length_bytes: block_bytes,
            at_most_bytes: self.free_bytes(file_index, direction, &start, block_bytes),
        };
        Some((start, drawn))
    }

    /// Lets the zones place an I/O that was drawn.
    fn place(&mut self, file_index: usize, start: BlockStart, drawn: DrawnIo) -> Next {
        match self.zones.place(file_index, drawn) {
            Placement::At(placed) => {
                self.mark(file_index, drawn.direction, &start, placed.length_bytes);
                Next::Io(self.count(placed.direction, file_index, placed.offset_bytes, placed.length_bytes))
            }
            Placement::Nowhere => self.file_end(file_index),
            Placement::Wait(wait) => self.wait(Waiting::Drawn { file_index, start, drawn }, wait),
        }
    }

    fn wait(&mut self, waiting: Waiting, wait: ZoneWait) -> Next {
        self.waiting = Some(waiting);
        match wait {
            ZoneWait::Own => Next::Drain,
            ZoneWait::Others(_) => Next::Held,
        }
    }

    /// Continues with an I/O that waited.
    pub(super) fn go_on(&mut self, waiting: Waiting) -> Next {
        match waiting {
            Waiting::File(file_index) => self.placed_io(file_index),
            Waiting::Drawn { file_index, start, drawn } => self.place(file_index, start, drawn),
        }
    }
}
