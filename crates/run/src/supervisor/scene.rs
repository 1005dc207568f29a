//! What every part of the supervisor needs and none changes: plan, board, settings, time, logs.
//!
//! Must not know: what happens in the run. Start reading at [`Scene`].

use super::RunSettings;
use super::stretches::StretchTeller;
use super::time::RunTime;
use crate::link::board::Board;
use crate::logs::LogDrain;
use crate::plan::RunPlan;
use ferrio_sys::Clock;
use std::sync::Arc;

/// The scene of a run, from the start of its first worker to the end of the last.
pub(super) struct Scene {
    pub(super) plan: Arc<RunPlan>,
    pub(super) board: Arc<Board>,
    pub(super) settings: RunSettings,
    pub(super) clock: Clock,
    pub(super) time: RunTime,
    pub(super) logs: Option<LogDrain>,
    pub(super) teller: StretchTeller,
}

impl Scene {
    /// The worker is a thread of this process. On virtual time all are: a process could not share it.
    pub(super) fn is_thread(&self, index: usize) -> bool {
        self.time.is_virtual() || self.plan.workers[index].spec.worker.thread
    }

    /// A worker is gone: its logs hold all that they will.
    pub(super) fn finish_logs(&self, index: usize) {
        if let Some(logs) = &self.logs {
            logs.finish(index);
        }
    }
}
