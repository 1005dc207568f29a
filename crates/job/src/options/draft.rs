//! A job while its options are being read: the [`JobSpec`] as far as it is known, and values that can be resolved only
//! after the last option.
//!
//! Must not know: option strings, files. The defaults are those of `JobSpec`.
//! Start reading at [`Draft`].

use crate::environment::Environment;
use crate::message::UserMessages;
use crate::options::drafts::{CommandPriorityDraft, MergeDraft, SpRandomDraft, VerifyDraft, ZoneDraft};
use crate::options::placement::PlacementDraft;
use crate::profiles::ProfileDraft;
use ferrio_spec::{BlockRange, CatchUp, JobSpec, QueueSpec};
use ferrio_units::{KbBase, PerDirection};

/// A job while its options are being read.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Fields that an option sets once and for all; the others have their defaults until the lowering.
    pub job: JobSpec,
    /// Values that depend on others.
    pub open: Open,
}

/// Values that the lowering decides when all options are known.
#[derive(Debug, Clone, Default)]
pub struct Open {
    /// Options of the queue as they were given; an `iodepth` of 0: it was not.
    pub queue: QueueSpec,
    /// `bsrange` or `bssplit`, which count whatever `bs` says before or after it.
    pub block_range: PerDirection<Option<BlockRange>>,
    /// The `cmdprio` options.
    pub command_priority: CommandPriorityDraft,
    pub zones: ZoneDraft,
    /// `fdp` and `dataplacement`.
    pub placement: PlacementDraft,
    /// `sprandom` and the options that begin with `spr_`.
    pub sprandom: SpRandomDraft,
    /// Options of `random_distribution`.
    pub distribution: DistributionDraft,
    /// `rate_catch_up`.
    pub catch_up: Option<CatchUp>,
    /// Number after the colon of `rw`.
    pub rw_postfix: Option<i64>,
    /// Options of contents that repeat, or compress.
    pub dedupe: DedupeDraft,
    /// `bwavgtime`, milliseconds.
    pub bw_window_ms: Option<u32>,
    /// `iopsavgtime`, milliseconds.
    pub iops_window_ms: Option<u32>,
    /// The options of verification.
    pub verify: VerifyDraft,
    /// The options of merging traces.
    pub merge: MergeDraft,
    /// The options of the profile, where they are being read.
    pub profile: ProfileDraft,
}

/// Options that say more about `random_distribution`.
#[derive(Debug, Clone, Copy, Default)]
pub struct DistributionDraft {
    /// `random_sequence_stride`.
    pub sequence_stride: bool,
    /// `random_distribution_permute`.
    pub permutes_ranks: bool,
}

/// Options of contents that repeat.
#[derive(Debug, Clone, Copy, Default)]
pub struct DedupeDraft {
    /// `dedupe_percentage`.
    pub percent: Option<u32>,
    /// `dedupe_mode=working_set`.
    pub working_set: bool,
    /// `dedupe_working_set_percentage`.
    pub working_set_percent: Option<u32>,
    /// `buffer_compress_chunk`, bytes; 0: not given, or the whole block.
    pub compress_chunk_bytes: u32,
}

/// Surroundings of an option while it is applied: the machine, units, and a place for messages.
pub struct ApplyContext<'a> {
    pub environment: &'a dyn Environment,
    /// `--readonly` was given before.
    pub readonly: bool,
    /// Lines to print although the option is accepted.
    pub messages: &'a mut UserMessages,
}

impl Draft {
    /// A job without any option.
    pub fn new() -> Self {
        let queue = QueueSpec { iodepth: 0, batch_complete_max: 0, low: 0, ..QueueSpec::default() };
        Self { job: JobSpec::default(), open: Open { queue, ..Open::default() } }
    }

    /// Meaning of `k` in the values that follow: 1000 or 1024.
    pub const fn kb_base(&self) -> KbBase {
        if self.job.reporting.kb_base == 1000 { KbBase::Decimal } else { KbBase::Binary }
    }
}

impl Default for Draft {
    fn default() -> Self {
        Self::new()
    }
}
