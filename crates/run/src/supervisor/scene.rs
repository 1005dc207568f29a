//! The scene: data that every part of the supervisor needs and none changes: plan, board, settings, time, logs.
//!
//! Must not know: the course of the run. Start reading at [`Scene`].

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
    /// True if the worker is a thread of this process. On virtual time all are, because processes could not share it.
    pub(super) fn is_thread(&self, index: usize) -> bool {
        self.time.is_virtual() || self.plan.workers[index].spec.worker.thread
    }

    /// Called after a worker is gone, so that its logs are complete.
    pub(super) fn finish_logs(&self, index: usize) {
        if let Some(logs) = &self.logs {
            logs.finish(index);
        }
    }
}
