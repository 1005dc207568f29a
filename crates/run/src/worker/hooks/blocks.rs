//! The state of each block that the job trims and writes (`block_error_percentiles`).
//!
//! Must not know: loops, reports. Start reading at [`BlockTable::done`].

use crate::compat;
use crate::error::{Failure, failure};
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use crate::worker::core::slots::Slot;
use ferrio_engine::IoUnit;
use ferrio_stats::note::RunNote;
use ferrio_stats::{BlockState, BlockStates};
use ferrio_sys::errno::ENOMEM;
use ferrio_units::{DataDirection, Direction};

/// Most blocks of a job: 128 MiB of states.
const MAX_BLOCKS: u64 = 1 << 24;

/// States of the blocks of all files, in units of the smallest trim.
pub(crate) struct BlockTable {
    unit_bytes: u64,
    /// First byte and first block of each file.
    files: Vec<(u64, usize)>,
    blocks: Vec<TrimmedBlock>,
}

#[derive(Debug, Clone, Copy)]
struct TrimmedBlock {
    state: BlockState,
    n_trims: u32,
}

impl BlockTable {
    /// A table, if the job wants one.
    pub(crate) fn new(plan: &WorkerPlan, set: &FileSet) -> Result<Option<Self>, Failure> {
        if !plan.spec.reporting.block_error_percentiles {
            return Ok(None);
        }
        let unit_bytes = plan.spec.pattern.block_size[DataDirection::Trim].min_bytes.max(1);
        let mut table = Self { unit_bytes, files: Vec::new(), blocks: Vec::new() };
        if !compat::keeps_block_states(plan) {
            return Ok(Some(table));
        }
        let mut n_blocks = 0_u64;
        for file in &set.files {
            table.files.push((file.start_bytes, n_blocks as usize));
            n_blocks = n_blocks.saturating_add(file.length_bytes.div_ceil(unit_bytes));
            if n_blocks > MAX_BLOCKS {
                let note = RunNote::TooManyBlockStates { job: plan.spec.name.clone(), limit: MAX_BLOCKS };
                return Err(failure!(ENOMEM, "block_error_percentiles").explained(note));
            }
        }
        // Fits: checked against the bound above.
        table.blocks = vec![TrimmedBlock { state: BlockState::Unwritten, n_trims: 0 }; n_blocks as usize];
        Ok(Some(table))
    }

    /// Records an I/O that is done or has failed. If a short transfer fails later, the whole I/O has failed.
    pub(crate) fn done(&mut self, slot: &Slot, has_failed: bool) {
        self.mark(&slot.unit, slot.data_offset, slot.length_bytes, has_failed);
    }

    /// Records the result for a range. `start_bytes`: start of the whole I/O, before short transfers.
    fn mark(&mut self, unit: &IoUnit, start_bytes: u64, length_bytes: u64, has_failed: bool) {
        let state = match (unit.direction, has_failed) {
            (Direction::Trim, false) => BlockState::Trimmed,
            (Direction::Trim, true) => BlockState::TrimFailure,
            (Direction::Write, false) => BlockState::Written,
            (Direction::Write, true) => BlockState::WriteFailure,
            _ => return,
        };
        let Some((file_start_bytes, first)) = self.files.get(unit.file_index as usize).copied() else { return };
        let position = start_bytes.saturating_sub(file_start_bytes);
        let from = first.saturating_add((position / self.unit_bytes) as usize);
        let to = first.saturating_add(position.saturating_add(length_bytes).div_ceil(self.unit_bytes) as usize);
        let to = to.min(self.blocks.len());
        for block in self.blocks.get_mut(from..to).unwrap_or_default() {
            // After its first failure the state of a block does not change any more.
            if !block.state.is_failure() {
                block.state = state;
                block.n_trims = block.n_trims.saturating_add(u32::from(state == BlockState::Trimmed));
            }
        }
    }

    pub(crate) fn states(&self) -> BlockStates {
        let mut states = BlockStates::default();
        self.blocks.iter().for_each(|block| states.record(block.state, block.n_trims));
        states
    }
}
