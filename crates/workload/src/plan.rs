//! The description of a workload: the job's pattern, the ranges of its files, seeds, limits.
//!
//! Must not know: where the ranges come from. Start reading at [`WorkloadPlan`].

use crate::position::CommonPosition;
use crate::zone_table::ZoneTable;
use ferrio_spec::{Compatibility, FileService, PatternPart, PatternSpec, SequentialZonesSpec, StridedSpec};
use ferrio_stats::note::StreamFault;
use ferrio_units::random::SeedTable;
use std::sync::Arc;

/// The zones of the files of a job.
#[derive(Debug, Clone)]
pub struct SequentialPlan {
    /// The options of the job.
    pub spec: SequentialZonesSpec,
    /// The writes are verified, so no zone is reset within a pass.
    pub keeps_written: bool,
    /// The zones of each of the job's files, in the order of the files.
    pub tables: Vec<Arc<ZoneTable>>,
    /// Number of the worker in the run, from 1.
    pub worker: u32,
}

/// The part of a file that a job uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRange {
    /// First byte.
    pub start_bytes: u64,
    pub length_bytes: u64,
    /// Size of the file, which may reach beyond the range.
    pub file_bytes: u64,
    /// Seed of a skewed distribution over the file, made from its name.
    pub distribution_seed: u32,
}

impl FileRange {
    /// First byte after the range.
    pub fn end_bytes(&self) -> u64 {
        self.start_bytes.saturating_add(self.length_bytes)
    }

    /// First byte that no block may touch: the end of the file, where that is beyond the range.
    pub(crate) fn block_end_bytes(&self) -> u64 {
        self.file_bytes.max(self.end_bytes())
    }
}

/// Everything that decides the I/Os of one worker.
#[derive(Debug, Clone)]
pub struct WorkloadPlan {
    /// Order, direction, block sizes.
    pub pattern: PatternSpec,
    /// A window that moves through each file; `None`: the whole range is used at once.
    pub strided: Option<StridedSpec>,
    /// Zones that are written in sequence; `None`: blocks go where they are drawn. Never together with `strided`.
    pub sequential: Option<SequentialPlan>,
    /// Intervals at which syncs follow writes.
    pub syncs: SyncIntervals,
    /// The files in order.
    pub files: Vec<FileRange>,
    /// Most files open at once, at least 1.
    pub openfiles: usize,
    pub form: WorkForm,
    /// Rule for the next file.
    pub file_service: FileService,
    /// I/Os on one file before the next one is chosen; `u32::MAX`: until it is done.
    pub file_service_count: u32,
    pub seeds: SeedTable,
    /// The random streams start anew with each pass.
    pub reseed_each_pass: bool,
    /// Limits that end a pass or the job.
    pub limits: WorkLimits,
    /// Files start over when they are done.
    pub time_based: bool,
    /// What a sequential direction does at the end of a file.
    pub rounds: Rounds,
    /// If the job has fio's oddities.
    pub compatibility: Compatibility,
}

/// What the I/Os of a job are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkForm {
    Blocks,
    WholeFiles,
    /// Blocks of several patterns, in the only file.
    Patterns(Vec<PatternPart>),
    /// Blocks of a sequence that several jobs go through together, in the only file.
    Common(CommonPosition),
}

/// Most work of a job and of its passes; `u64::MAX`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkLimits {
    /// Most bytes to issue in all passes.
    pub bytes: u64,
    /// Most bytes to issue in one pass (with `trimwrite`: trims and writes together); without a limit, a pass ends with
    /// its files. A pass that ends by this limit makes no further draw from the offset stream, which the next pass would
    /// miss.
    pub pass_bytes: u64,
    /// Most reads, writes and trims to issue in all passes.
    pub ios: u64,
    /// Most ranges of a trim, at least 1.
    pub ranges_per_trim: u32,
}

impl WorkLimits {
    /// Without limits.
    pub const NONE: Self = Self { bytes: u64::MAX, pass_bytes: u64::MAX, ios: u64::MAX, ranges_per_trim: 1 };
}

/// Number of writes after which each kind of sync is done; 0: never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncIntervals {
    /// `fsync`.
    pub fsync_blocks: u32,
    /// `fdatasync`.
    pub fdatasync_blocks: u32,
    /// `sync_file_range`.
    pub sync_file_range_blocks: u32,
}

/// What a sequential direction does at the end of a file if the pass has more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounds {
    /// The file is done.
    None,
    /// The direction continues at the start of the file; a remainder that is shorter than a block ends the file.
    OfWholeFiles,
    /// The direction continues at the start of the file, wherever its last whole block ended.
    OfBlocks,
}

impl WorkloadPlan {
    /// True if a direction that reaches the end of a file continues at its start. If only time ends the job, that holds
    /// for a job with a single file.
    pub(crate) fn wraps(&self) -> bool {
        let has_time = self.time_based && self.files.len() == 1;
        (has_time || self.rounds != Rounds::None) && !self.has_zones()
    }

    /// True if a file starts over without being closed once all of it was visited.
    pub(crate) fn restarts(&self) -> bool {
        self.time_based && (self.pattern.random || self.has_zones())
    }

    /// True if the files have zones of either kind.
    pub(crate) fn has_zones(&self) -> bool {
        self.strided.is_some() || self.sequential.is_some()
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the workload cannot be made: {0:?}")]
pub struct WorkloadError(pub StreamFault);
