//! Values of groups of options as they were given, before their combination is checked.
//!
//! The functions that set them, and those that check and combine them, are in the file of the group. Must not know: texts of options. Start
//! reading at [`VerifyDraft`].

use ferrio_spec::{
    HeaderLayout, MergeSpec, SequentialZonesSpec, SizesInZones, SpRandomSpec, TrimBacklogSpec, VerifyMethod,
    VerifyPattern, ZoneSkip,
};
use ferrio_units::{IoPriority, PerDirection};
use std::path::PathBuf;

/// The options of merging as they were given.
#[derive(Debug, Clone, Default)]
pub struct MergeDraft {
    /// `merge_blktrace_file` was given.
    pub(super) has_output: bool,
    pub(super) spec: MergeSpec,
}

/// The values of the options while they are being read.
#[derive(Debug, Clone)]
pub struct CommandPriorityDraft {
    pub(super) percentage: PerDirection<u32>,
    pub(super) priority: PerDirection<IoPriority>,
    pub(super) splits: PerDirection<Vec<Split>>,
}

impl Default for CommandPriorityDraft {
    fn default() -> Self {
        let real_time = IoPriority { class: 1, ..IoPriority::default() };
        Self {
            percentage: PerDirection::default(),
            priority: PerDirection([real_time; 3]),
            splits: PerDirection::default(),
        }
    }
}

/// An entry of `cmdprio_bssplit`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    pub(super) block_bytes: u64,
    pub(super) percent: u32,
    /// `None`: that of the other options.
    pub(super) priority: Option<IoPriority>,
}

/// The options as they were given.
#[derive(Debug, Clone, Copy)]
pub struct SpRandomDraft {
    /// `sprandom`.
    pub is_on: bool,
    /// The settings, if `sprandom` is on.
    pub spec: SpRandomSpec,
}

impl Default for SpRandomDraft {
    fn default() -> Self {
        Self { is_on: false, spec: SpRandomSpec { n_regions: 100, over_provisioning: 0.15, cache_bytes: 0 } }
    }
}

/// Values of the options of verification, before their combination is checked.
#[derive(Debug, Clone)]
pub struct VerifyDraft {
    /// `verify`.
    pub method: Option<VerifyMethod>,
    /// `do_verify`.
    pub reads_back: bool,
    /// `verify_interval`, bytes; 0: that of the block.
    pub interval_bytes: u32,
    /// `verify_offset`, bytes.
    pub header_at: u32,
    /// `verify_pattern`.
    pub pattern: Option<VerifyPattern>,
    pub pattern_interval_bytes: u32,
    /// `verify_header_layout`, if given.
    pub layout: Option<HeaderLayout>,
    /// `verify_header_seed`, if given.
    pub header_seed: Option<bool>,
    /// `verify_write_sequence`, if given.
    pub write_sequence: Option<bool>,
    /// `verify_only`.
    pub is_only: bool,
    /// `experimental_verify`.
    pub regenerates: bool,
    /// `verify_policy=fsynced`.
    pub is_fsynced: bool,
    /// `verify_fatal`.
    pub is_fatal: bool,
    /// `verify_dump`.
    pub dumps: bool,
    /// `verify_state_save`.
    pub saves_state: bool,
    /// `verify_state_load`.
    pub loads_state: bool,
    /// `verify_crash_log`.
    pub crash_log: Option<PathBuf>,
    /// The options of trims as they were given. A percentage or a backlog of 0: nothing is trimmed; a batch of 0: as the backlog.
    pub trims: TrimBacklogSpec,
    /// `verify_backlog`.
    pub backlog: u64,
    /// `verify_backlog_batch`; 0: as `verify_backlog`.
    pub backlog_batch: u32,
    /// `verify_async`.
    pub n_threads: u32,
    /// `verify_async_cpus`.
    pub thread_cpus: Option<Vec<u32>>,
}

impl VerifyDraft {
    /// True if the job verifies. A pattern without a method turns on the check of that pattern.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.method.is_some() || self.pattern.is_some()
    }
}

impl Default for VerifyDraft {
    fn default() -> Self {
        Self {
            method: None,
            reads_back: true,
            interval_bytes: 0,
            header_at: 0,
            pattern: None,
            pattern_interval_bytes: 0,
            layout: None,
            header_seed: None,
            write_sequence: None,
            is_only: false,
            regenerates: false,
            is_fsynced: false,
            is_fatal: false,
            dumps: false,
            saves_state: true,
            loads_state: false,
            crash_log: None,
            trims: TrimBacklogSpec { percent: 0, backlog: 0, batch: 0, checks_zeroes: true },
            backlog: 0,
            backlog_batch: 0,
            n_threads: 0,
            thread_cpus: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ZoneModeWord {
    #[default]
    None,
    Strided,
    Sequential,
}

/// The options of zones as they were given.
#[derive(Debug, Clone, Copy, Default)]
pub struct ZoneDraft {
    pub(super) mode: ZoneModeWord,
    /// `zonesize`; 0: not given.
    pub zone_bytes: u64,
    /// `zonerange`; 0: not given.
    pub range_bytes: u64,
    pub(super) skip: Option<ZoneSkip>,
    /// Options that only sequential zones have; the sizes and the skip are those beside it.
    pub(super) sequential: SequentialZonesSpec,
    /// `norandommap=0` was given.
    pub(crate) wants_map: bool,
    /// Sizes of the job that were given as numbers of zones.
    pub(super) sizes: SizesInZones,
}
