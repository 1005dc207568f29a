//! Where a worker stands in one file: positions of the directions, visited blocks.
//!
//! Must not know: which file comes next. Start reading at [`FileCursor`].

use crate::plan::{FileRange, WorkloadError, WorkloadPlan};
use ferrio_job::spec::RandomGenerator;
use ferrio_units::RandomMap;
use ferrio_units::random::{Lfsr, SeedIndex};
use ferrio_units::{DataDirection, PerDirection};

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
    pub(crate) visited: Visited,
    /// Number of aligned places at which the smallest block of a direction fits.
    pub(crate) n_places: PerDirection<u64>,
    /// Length of the last trim, for the write that follows it.
    pub(crate) last_trim_bytes: u64,
    /// The last trim was not followed by a write.
    pub(crate) has_unwritten_trim: bool,
    /// I/Os since the last rewind: a file that restarts without one is done.
    pub(crate) n_since_rewind: u64,
}

/// How blocks are kept from being visited twice.
#[derive(Debug)]
pub(crate) enum Visited {
    /// They are not.
    Free,
    /// By a map with a bit for each block.
    Map(RandomMap),
    /// By a generator that visits each block once.
    Lfsr(Lfsr),
}

impl FileCursor {
    pub(crate) fn new(plan: &WorkloadPlan, file_index: usize) -> Result<Self, WorkloadError> {
        let range = plan.files[file_index];
        let mut cursor = Self {
            range,
            next_bytes: PerDirection::all(0),
            last_bytes: PerDirection::all(0),
            fresh: PerDirection::all(true),
            visited: visited(plan, file_index)?,
            n_places: PerDirection(DataDirection::ALL.map(|direction| n_places(plan, &range, direction))),
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
        match &mut self.visited {
            Visited::Free => {}
            Visited::Map(map) => map.reset(),
            Visited::Lfsr(lfsr) => lfsr.rewind(),
        }
    }
}

/// Divided once here, so that no offset needs a division.
fn n_places(plan: &WorkloadPlan, range: &FileRange, direction: DataDirection) -> u64 {
    let min_bytes = plan.pattern.block_size[direction].min_bytes.max(1);
    let align = plan.pattern.block_align[direction].unwrap_or(min_bytes).max(1);
    if align == min_bytes {
        return range.length_bytes / align;
    }
    range.length_bytes.checked_sub(min_bytes).map_or(0, |room_bytes| room_bytes / align + 1)
}

/// Bytes that random offsets of a file are drawn from.
pub(crate) fn random_bytes(range: &FileRange) -> u64 {
    range.length_bytes
}

/// How the blocks of a file are kept from being visited twice.
pub(crate) fn visited(plan: &WorkloadPlan, file_index: usize) -> Result<Visited, WorkloadError> {
    let pattern = &plan.pattern;
    if !pattern.random {
        return Ok(Visited::Free);
    }
    let min_bytes = smallest_block_bytes(plan).max(1);
    let n_blocks = random_bytes(&plan.files[file_index]) / min_bytes;
    if pattern.random_generator == Some(RandomGenerator::Lfsr) {
        let seed = plan.seeds.get(SeedIndex::Offset);
        let lfsr = Lfsr::new(n_blocks, seed);
        return lfsr.map(Visited::Lfsr).map_err(|error| WorkloadError::Lfsr { file_index, why: error.to_string() });
    }
    if pattern.norandommap || n_blocks == 0 {
        return Ok(Visited::Free);
    }
    match RandomMap::new(n_blocks) {
        Ok(map) => Ok(Visited::Map(map)),
        Err(_) if pattern.softrandommap => Ok(Visited::Free),
        Err(_) => Err(WorkloadError::RandomMap { file_index, n_blocks }),
    }
}

/// Smallest block of all directions, used or not: the unit of the map (as seen on the reference).
pub(crate) fn smallest_block_bytes(plan: &WorkloadPlan) -> u64 {
    let [read, write, trim] = plan.pattern.block_size.0.map(|range| range.min_bytes);
    read.min(write).min(trim)
}
