//! The state of one file for a worker: positions of the directions, visited blocks.
//!
//! Must not know: which file comes next. Start reading at [`FileCursor`].

use crate::choice::{BlockChoice, Shapes, n_drawn, n_starts};
use crate::plan::{FileRange, WorkloadError, WorkloadPlan};
use ferrio_units::{DataDirection, PerDirection};

/// Start of the last block of a direction that has issued nothing. No real block can start here: the kernel takes no
/// offset above 2^63.
pub(crate) const NOWHERE: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(crate) struct FileCursor {
    pub(crate) range: FileRange,
    /// End of the range or window for sequential blocks.
    pub(crate) end_bytes: u64,
    /// Offset from which random blocks are counted: the start of the range, or of the window.
    pub(crate) base_bytes: u64,
    /// End of the last block of each direction.
    pub(crate) next_bytes: PerDirection<u64>,
    /// Start of the last block of each direction, or [`NOWHERE`].
    pub(crate) last_bytes: PerDirection<u64>,
    /// The direction has issued nothing since the last rewind.
    pub(crate) fresh: PerDirection<bool>,
    pub(crate) choice: BlockChoice,
    /// Number of aligned offsets within the range; a draw past them ends the file. Whether a block fits at an offset is
    /// checked elsewhere.
    pub(crate) n_starts: PerDirection<u64>,
    /// Number of offsets among which uniform draws choose, in the whole range or in the window.
    pub(crate) n_drawn: PerDirection<u64>,
    /// The file has a window that moves (`zonemode=strided`); a run continues in the next window.
    pub(crate) has_window: bool,
    /// Length of the last trim, for the write that follows it.
    pub(crate) last_trim_bytes: u64,
    /// The last trim has not been followed by a write yet.
    pub(crate) has_unwritten_trim: bool,
    /// Its I/Os since the last rewind.
    pub(crate) turn: Turn,
    /// Start of the last block that found no place ([`missed_past_end`](crate::compat::missed_past_end)).
    pub(crate) missed_bytes: Option<u64>,
    /// Rewinds since the last I/O.
    pub(crate) n_fruitless: u32,
}

/// The I/Os of a file since its last rewind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// Their number. A file without one is done, because another rewind would change nothing.
    pub(crate) n_ios: u64,
    /// The number after which the file makes room for another one, although no map says that it is done; `u64::MAX`: it does not.
    pub(crate) most_ios: u64,
}

impl Turn {
    /// None yet, of a turn that only a map ends.
    pub(crate) const ENDLESS: Self = Self { n_ios: 0, most_ios: u64::MAX };
}

impl FileCursor {
    pub(crate) fn new(plan: &WorkloadPlan, file_index: usize, shapes: &mut Shapes) -> Result<Self, WorkloadError> {
        let range = plan.files[file_index];
        let mut cursor = Self {
            range,
            end_bytes: range.end_bytes(),
            base_bytes: range.start_bytes,
            next_bytes: PerDirection::all(0),
            last_bytes: PerDirection::all(0),
            fresh: PerDirection::all(true),
            choice: BlockChoice::new(plan, file_index, shapes)?,
            // The divisions are done here once, so that no I/O needs one.
            n_starts: n_starts(plan, file_index),
            n_drawn: n_drawn(plan, file_index),
            has_window: plan.strided.is_some(),
            last_trim_bytes: 0,
            has_unwritten_trim: false,
            turn: Turn::ENDLESS,
            missed_bytes: None,
            n_fruitless: 0,
        };
        cursor.rewind();
        Ok(cursor)
    }

    /// Takes the positions back to the start and forgets visited blocks.
    pub(crate) fn rewind(&mut self) {
        self.go_to(self.range.start_bytes);
        self.has_unwritten_trim = false;
        self.n_fruitless = if self.turn.n_ios == 0 { self.n_fruitless.saturating_add(1) } else { 0 };
        self.turn.n_ios = 0;
    }

    /// Takes each direction that has reached the end back to the start. False: none has, or the range is empty.
    pub(crate) fn wrap(&mut self) -> bool {
        let (start, end) = (self.range.start_bytes, self.end_bytes);
        let mut has_wrapped = false;
        for direction in DataDirection::ALL {
            if start < end && self.next_bytes[direction] >= end {
                self.wrap_direction(direction);
                has_wrapped = true;
            }
        }
        has_wrapped
    }

    /// Takes a direction back to the start, unless it is there already.
    pub(crate) fn wrap_rest(&mut self, direction: DataDirection) -> bool {
        let has_moved = !self.fresh[direction];
        if has_moved {
            self.wrap_direction(direction);
        }
        has_moved
    }

    fn wrap_direction(&mut self, direction: DataDirection) {
        (self.next_bytes[direction], self.last_bytes[direction]) = (self.range.start_bytes, NOWHERE);
        self.fresh[direction] = true;
    }

    /// Continues at another offset, with no block visited.
    pub(crate) fn go_to(&mut self, base_bytes: u64) {
        self.base_bytes = base_bytes;
        self.next_bytes = PerDirection::all(base_bytes);
        self.last_bytes = PerDirection::all(NOWHERE);
        self.fresh = PerDirection::all(true);
        self.choice.rewind();
    }
}
