//! What the commands of an engine mean for the blocks of a verified job: writes that leave no data, comparisons by the device.
//!
//! Must not know: which engine it is. Start reading at [`BlockCommands`].

use super::stamp::Stamping;
use crate::worker::core::WorkerCore;
use ferrio_engine::{BlockTraits, Engine, WriteContent};
use ferrio_spec::{VerifyForm, VerifySpec};

/// The commands of a job's engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockCommands(BlockTraits);

impl BlockCommands {
    pub(crate) fn new(engine: &mut dyn Engine, spec: &VerifySpec) -> Self {
        let traits = engine.device().map_or_else(BlockTraits::default, |device| device.block_traits());
        // Blocks of a method that makes none cannot be made again.
        let makes_blocks = spec.content.method.def().form != VerifyForm::Nothing;
        Self(BlockTraits { compares_reads: traits.compares_reads && makes_blocks, ..traits })
    }

    /// Writes leave their data, and are read back.
    pub(crate) fn are_plain(self) -> bool {
        self.0 == BlockTraits::default()
    }

    /// Not all writes leave their data.
    pub(crate) fn vary_writes(self) -> bool {
        self.0.varies_writes
    }

    /// Written blocks are compared by the device, and not read back.
    pub(crate) fn compare(self) -> bool {
        self.0.compares_reads
    }

    /// What the next write of a slot leaves. The engine chooses it now.
    pub(crate) fn content(self, engine: &mut dyn Engine, slot_index: u32) -> WriteContent {
        let device = if self.0.varies_writes { engine.device() } else { None };
        device.map_or(WriteContent::Data, |device| device.content_of_write(slot_index))
    }

    /// The time in the header of a block that is written now. A block that is made again, to be compared, must be the same.
    pub(crate) fn time_ns(self, core: &WorkerCore<'_>, start: u64) -> u64 {
        if self.0.compares_reads { 0 } else { core.clock.at_ns(start) }
    }

    /// Puts the block that a read is to be compared with into its buffer; false: it is an ordinary read.
    pub(crate) fn put_expected(self, core: &WorkerCore<'_>, slot_index: u32, stamping: &Stamping) -> bool {
        if !self.0.compares_reads || !core.control.is_reading_back() {
            return false;
        }
        let Some(write) = core.workload.present_writes().first() else { return false };
        let block_bytes = core.slots.get(slot_index).length_bytes as usize;
        core.buffers.with(slot_index, block_bytes, |block| stamping.remake(block, write));
        true
    }
}
