//! Facts about a job that its loops use, decided from its options once, before the first I/O.
//!
//! Must not know: loops, I/Os. Start reading at [`JobRules`].

use super::tolerance::ErrorRules;
use crate::compat;
use crate::plan::{WorkerPlan, limit_ios};
use ferrio_spec::engines::{EngineDef, Handover, Measures};

/// What a job's options mean for its loops.
pub(crate) struct JobRules<'a> {
    pub(crate) name: &'a str,
    pub(crate) engine: &'a EngineDef,
    pub(crate) writes: bool,
    /// Most reads, writes and trims in all passes; `u64::MAX`: there is no limit.
    pub(crate) limit_ios: u64,
    /// Longest wait for a connection, nanoseconds; 0: there is no limit.
    pub(crate) connect_limit_ns: u64,
    /// The I/Os that `verify_only` does not repeat count.
    pub(crate) counts_unrepeated: bool,
    /// What is read back is part of the samples of rates.
    pub(crate) samples_read_back: bool,
    /// Each call counts as one that submits and one that completes, though the engine does the I/O within it.
    pub(crate) counts_calls: bool,
    pub(crate) errors: ErrorRules,
    pub(crate) files: FileRules,
    pub(crate) syncs: SyncRules,
}

/// How files are opened and closed.
pub(crate) struct FileRules {
    /// Most files that are open at the same time; 0: all of them.
    pub(crate) most_open: u32,
    /// A file is made when it is opened.
    pub(crate) creates_on_open: bool,
    /// The cache of a file is dropped when the run opens it.
    pub(crate) drops_cache: bool,
    /// A file without any I/O is opened at its end.
    pub(crate) opens_empty: bool,
    /// A trace gives the next sync the offset of an I/O that did not fit.
    pub(crate) traces_missed_place: bool,
}

/// Syncs beside those of the stream.
pub(crate) struct SyncRules {
    /// Each file of a job that writes is synced when it is closed.
    pub(crate) on_close: bool,
    pub(crate) traces_on_close: bool,
    /// All files are synced at the end of a pass.
    pub(crate) all_at_end: bool,
    pub(crate) file_systems_at_end: bool,
    /// Opening the files is the work of the job, so that there is nothing to sync.
    pub(crate) opens_only: bool,
    /// Flags of `sync_file_range(2)`; `None`: the stream has no such syncs.
    pub(crate) range_flags: Option<u32>,
}

impl SyncRules {
    /// Syncs may follow a pass.
    pub(crate) fn are_at_end(&self) -> bool {
        self.on_close || self.all_at_end || self.file_systems_at_end
    }
}

impl<'a> JobRules<'a> {
    pub(crate) fn new(plan: &'a WorkerPlan) -> Self {
        let spec = &*plan.spec;
        Self {
            name: &spec.name,
            engine: &plan.engine.def,
            writes: plan.writes(),
            limit_ios: limit_ios(plan),
            connect_limit_ns: spec.limits.runtime_us.saturating_mul(1_000),
            counts_unrepeated: compat::counts_unrepeated(plan),
            samples_read_back: compat::samples_read_back(plan),
            counts_calls: plan.engine.def.handover != Handover::Bare,
            errors: ErrorRules::new(plan),
            files: FileRules::new(plan),
            syncs: SyncRules::new(plan),
        }
    }
}

impl FileRules {
    fn new(plan: &WorkerPlan) -> Self {
        let layout = &plan.spec.layout;
        let are_opened_by_run = plan.engine.def.targets.are_opened_by_run();
        Self {
            most_open: plan.spec.target.openfiles,
            creates_on_open: layout.create_on_open,
            drops_cache: layout.invalidate && !layout.pre_read && are_opened_by_run,
            opens_empty: compat::opens_empty_file(plan),
            traces_missed_place: compat::traces_missed_place(plan),
        }
    }
}

impl SyncRules {
    fn new(plan: &WorkerPlan) -> Self {
        let durability = &plan.spec.durability;
        Self {
            on_close: durability.fsync_on_close && plan.writes(),
            traces_on_close: compat::traces_closing_sync(plan),
            all_at_end: compat::syncs_all_at_end(plan),
            file_systems_at_end: durability.end_syncfs,
            opens_only: plan.engine.def.measures == Measures::Openings,
            range_flags: durability.sync_file_range.map(|(flags, _)| flags),
        }
    }
}
