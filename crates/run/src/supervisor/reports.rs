//! Reports of the running state: the supervisor asks the workers for their figures, and makes the report when they have
//! answered.
//!
//! Must not know: who requests reports, and when. Start reading at [`Reports::ask`].

use super::scene::Scene;
use super::workers::Workers;
use crate::link::board::{Shown, WorkerState, attention};
use std::time::{Duration, Instant};

/// Time for workers to send their figures for a report. A worker that waits for its device all that time is shown with
/// the figures that it sent last.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// The requested report, if there is one.
#[derive(Debug, Default)]
pub(super) struct Reports {
    asked_at: Option<Instant>,
}

impl Reports {
    /// Asks all running workers for their figures. A further request before the report is made gets the same report.
    pub(super) fn ask(&mut self, workers: &mut Workers, scene: &Scene) {
        if self.asked_at.is_some() {
            return;
        }
        for (index, record) in workers.records.iter_mut().enumerate() {
            let slot = scene.board.slot(index);
            if record.is_running() && slot.state() >= WorkerState::Ramping {
                record.awaits_snapshot = true;
                slot.ask(attention::SNAPSHOT);
            }
        }
        self.asked_at = Some(scene.time.now());
    }

    /// If all workers have answered: the time at which the report was requested.
    pub(super) fn take_complete(&mut self, workers: &mut Workers, scene: &Scene) -> Option<Instant> {
        let asked_at = self.asked_at?;
        let is_complete = !workers.records.iter().any(|record| record.awaits_snapshot);
        if is_complete || scene.time.since(asked_at) >= ANSWER_LIMIT {
            return self.take(workers, scene);
        }
        None
    }

    /// The same even if workers have not answered. Those are shown with the values of the board.
    pub(super) fn take(&mut self, workers: &mut Workers, scene: &Scene) -> Option<Instant> {
        let asked_at = self.asked_at.take()?;
        let now = scene.time.now();
        for (index, record) in workers.records.iter_mut().enumerate() {
            if record.awaits_snapshot && record.snapshot.is_none() {
                let ran = record.let_go_at.map_or(Duration::ZERO, |instant| scene.time.since(instant));
                record.snapshot = Some((Box::new(Shown::of(scene.board.slot(index)).figures(ran)), now));
            }
        }
        Some(asked_at)
    }

    /// Time until the report is made without further answers.
    pub(super) fn time_left(&self, now: Instant) -> Duration {
        let left = |asked_at| ANSWER_LIMIT.saturating_sub(now.saturating_duration_since(asked_at));
        self.asked_at.map_or(Duration::MAX, left)
    }
}
