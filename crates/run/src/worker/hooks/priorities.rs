//! Priorities of single I/Os (`cmdprio_percentage` and related options), and the latencies of each.
//!
//! Must not know: how priorities are drawn, loops. Start reading at [`Priorities::issue`].

use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use ferrio_units::DataDirection;
use ferrio_workload::command_priority::CommandPriorities;

/// Draws the priorities of single I/Os.
pub(crate) struct Priorities {
    draws: CommandPriorities,
    /// Priority of an I/O that has none of its own.
    of_process: u16,
}

impl Priorities {
    /// `None`: no I/O has a priority of its own.
    pub(crate) fn new(plan: &WorkerPlan) -> Option<Self> {
        let pattern = &plan.spec.pattern;
        let reseeds_each_pass = pattern.randrepeat && pattern.randseed.is_none();
        let draws = CommandPriorities::new(&plan.spec.engine.command_priority, &plan.seeds, reseeds_each_pass)?;
        Some(Self { draws, of_process: plan.ioprio() })
    }

    pub(crate) fn draws(&self) -> &CommandPriorities {
        &self.draws
    }

    /// Starts another pass.
    pub(crate) fn start_pass(&mut self) {
        self.draws.start_pass();
    }

    /// Called before an I/O is handed to the engine.
    pub(crate) fn issue(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) {
        let slot = core.slots.get_mut(slot_index);
        let drawn = slot.unit.direction.data().map(|data| self.draws.next(data, slot.length_bytes));
        slot.unit.ioprio = drawn.unwrap_or(0);
    }

    /// Called after a data I/O is done.
    pub(crate) fn done(&self, core: &mut WorkerCore<'_>, slot_index: u32, direction: DataDirection, done: u64) {
        let slot = core.slots.get(slot_index);
        let ioprio = if slot.unit.ioprio == 0 { self.of_process } else { slot.unit.ioprio };
        core.account.priority_done(direction, ioprio, &core.clock, slot.stamps, done);
    }
}
