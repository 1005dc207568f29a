//! What only some jobs want to see of every I/O: traces, logs, priorities. The loops ask one flag at each of two places,
//! and do not come here for other jobs.
//!
//! Must not know: batches. Start reading at [`Worker::observe_issue`] and [`Worker::observe_done`].

use super::{Stop, Worker};
use ferrio_units::DataDirection;

impl Worker<'_> {
    /// True if `observe_issue` is to be called for every I/O.
    pub(super) fn wants_issues(&self) -> bool {
        let sees_places = self.iolog.is_some() || self.verifier.is_some() || self.serializer.is_some();
        sees_places || self.priorities.is_some() || self.response.is_some()
    }

    /// True if `observe_done` is to be called for every data I/O.
    pub(super) fn wants_completions(&self) -> bool {
        let sees_latencies = self.response.is_some() || self.latency_limits.is_some();
        let sees_data = self.priorities.is_some() || self.blocks.is_some() || self.verifier.is_some();
        let sees_data = sees_data || self.serializer.is_some();
        self.logs_each_io || sees_latencies || sees_data || self.ramp_size.is_some()
    }

    /// An I/O is about to be handed to the engine.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_issue(&mut self, slot_index: u32) -> Result<(), Stop> {
        self.stop_where_state_ends(slot_index)?;
        self.wait_for_overlapping(slot_index)?;
        if let Some(priorities) = &mut self.priorities {
            let slot = self.slots.get_mut(slot_index);
            let drawn = slot.unit.direction.data().map(|data| priorities.next(data, slot.wanted_bytes));
            slot.unit.ioprio = drawn.unwrap_or(0);
        }
        self.note_intended_start(slot_index);
        self.expect_outcome(slot_index);
        if self.iolog.is_none() {
            return Ok(());
        }
        self.log_issue(slot_index).map_err(|error| Stop::Failed(Box::new(error)))
    }

    /// The blocks of an I/O that is done or has failed. A short transfer that fails later has failed as a whole.
    pub(super) fn mark_blocks(&mut self, slot_index: u32, has_failed: bool) {
        if let Some(blocks) = &mut self.blocks {
            let slot = self.slots.get(slot_index);
            blocks.mark(&slot.unit, slot.data_offset, slot.wanted_bytes, has_failed);
        }
    }

    /// A data I/O is done.
    #[cold]
    #[inline(never)]
    pub(super) fn observe_done(&mut self, slot_index: u32, direction: DataDirection, done: u64) {
        if self.priorities.is_some() {
            let slot = self.slots.get(slot_index);
            let ioprio = if slot.unit.ioprio == 0 { self.plan.ioprio() } else { slot.unit.ioprio };
            self.account.priority_done(direction, ioprio, &self.clock, slot.stamps, done);
        }
        self.record_response(slot_index, direction, done);
        self.judge_latency(slot_index, direction, done);
        self.look_at_ramp_size();
        self.mark_blocks(slot_index, false);
        self.no_longer_in_flight(slot_index);
        self.check_read(slot_index, direction);
        if self.logs_each_io {
            self.log_done(slot_index, direction, done);
        }
    }
}
