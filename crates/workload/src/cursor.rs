//! Where a worker stands in one file: positions of the directions, visited blocks.
//!
//! Must not know: which file comes next. Start reading at [`FileCursor`].

use crate::choice::{BlockChoice, Shapes, n_places};
use crate::plan::{FileRange, WorkloadError, WorkloadPlan};
use ferrio_units::PerDirection;

/// State of one file.
#[derive(Debug)]
pub(crate) struct FileCursor {
    pub(crate) range: FileRange,
    /// End of the last block of each direction.
    pub(crate) next_bytes: PerDirection<u64>,
    /// Start of the last block of each direction.
    pub(crate) last_bytes: PerDirection<u64>,
    /// A direction has issued nothing since the last rewind.
    pub(crate) fresh: PerDirection<bool>,
    pub(crate) choice: BlockChoice,
    /// Number of aligned places at which the smallest block of a direction fits.
    pub(crate) n_places: PerDirection<u64>,
    /// Length of the last trim, for the write that follows it.
    pub(crate) last_trim_bytes: u64,
    /// The last trim was not followed by a write.
    pub(crate) has_unwritten_trim: bool,
    /// I/Os since the last rewind: a file that restarts without one is done.
    pub(crate) n_since_rewind: u64,
}

impl FileCursor {
    pub(crate) fn new(plan: &WorkloadPlan, file_index: usize, shapes: &mut Shapes) -> Result<Self, WorkloadError> {
        let range = plan.files[file_index];
        let mut cursor = Self {
            range,
            next_bytes: PerDirection::all(0),
            last_bytes: PerDirection::all(0),
            fresh: PerDirection::all(true),
            choice: BlockChoice::new(plan, file_index, shapes)?,
            // Divided once here, so that no offset needs a division.
            n_places: n_places(plan, file_index),
            last_trim_bytes: 0,
            has_unwritten_trim: false,
            n_since_rewind: 0,
        };
        cursor.rewind();
        Ok(cursor)
    }

    /// Back to the start: positions and visited blocks.
    pub(crate) fn rewind(&mut self) {
        self.next_bytes = PerDirection::all(self.range.start_bytes);
        self.last_bytes = PerDirection::all(self.range.start_bytes);
        self.fresh = PerDirection::all(true);
        self.has_unwritten_trim = false;
        self.n_since_rewind = 0;
        self.choice.rewind();
    }
}
