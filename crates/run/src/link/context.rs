//! The worker's side of its link to the supervisor: the board, a function to send messages, the clock of the run.
//!
//! Must not know: loops, how messages travel. Start reading at [`WorkerContext`].

use super::board::{Board, WorkerState};
use super::message::WorkerMessage;
use super::trace::{TraceGroup, Tracer, state_change};
use crate::events::MessageStream;
use crate::logs::LogPort;
use ferrio_stats::Note;
use ferrio_sys::output::ProtectedPaths;
use ferrio_sys::{Clock, process};
use std::sync::Arc;
use std::time::Duration;

/// The worker's side of its link to the supervisor.
pub struct WorkerContext<'a> {
    pub board: &'a Board,
    pub slot_index: usize,
    /// Generation of the gate at which the worker waits.
    pub gate_generation: u32,
    pub clock: Clock,
    pub send: &'a dyn Fn(&WorkerMessage),
    /// The worker is a thread of the supervisor's process.
    pub is_thread: bool,
    /// No file may be made or changed.
    pub readonly: bool,
    /// Figures that only findings use are counted: their evidence is seen.
    pub keeps_evidence: bool,
    /// Receives lines of `--debug`.
    pub tracer: &'a Tracer<'a>,
    /// Receives records of the worker's logs; `None`: it has none.
    pub log: Option<&'a LogPort>,
    /// Files that no output of the worker may replace.
    pub kept: &'a Arc<ProtectedPaths>,
}

impl WorkerContext<'_> {
    /// Sends a message for the user.
    pub(crate) fn say(&self, stream: MessageStream, note: impl Into<Note>) {
        (self.send)(&WorkerMessage::Note(stream, note.into()));
    }

    pub(crate) fn enter(&self, state: WorkerState) {
        let slot = self.board.slot(self.slot_index);
        let before = slot.state();
        slot.set_state(state);
        if before != state {
            self.tracer.line(TraceGroup::Process, || state_change(thread_id(), before, state));
        }
    }

    /// Waits until the supervisor opens the gate. False: it did not within the limit.
    pub(crate) fn wait_at_gate(&self, limit: Duration) -> bool {
        self.clock.park() || self.board.wait_at_gate(self.gate_generation, limit)
    }

    pub(crate) fn tell_start(&self) {
        self.tracer.line(TraceGroup::Process, || format!("jobs pid={} started", thread_id()));
    }
}

fn thread_id() -> u32 {
    process::thread_id().as_raw_nonzero().get() as u32
}
