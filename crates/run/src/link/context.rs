//! What a worker gets from the supervisor: the board, its way to send messages, the clock of the run.
//!
//! Must not know: loops, how messages travel. Start reading at [`WorkerContext`].

use super::board::{Board, WorkerState};
use super::message::WorkerMessage;
use super::trace::{TraceGroup, Tracer, state_change};
use crate::events::MessageStream;
use crate::logs::LogPort;
use ferrio_stats::Note;
use ferrio_sys::{Clock, process};
use std::time::Duration;

/// What a worker gets from the supervisor.
pub struct WorkerContext<'a> {
    /// The board of the run.
    pub board: &'a Board,
    /// Its slot.
    pub slot_index: usize,
    /// Generation of the gate that it waits for.
    pub gate_generation: u32,
    /// The clock of the run.
    pub clock: Clock,
    /// Where its messages go.
    pub send: &'a dyn Fn(&WorkerMessage),
    /// It shares its process with the supervisor.
    pub is_thread: bool,
    /// No file may be made or changed.
    pub readonly: bool,
    /// Takes the lines of `--debug`.
    pub tracer: &'a Tracer<'a>,
    /// Where its logs go; `None`: it has none.
    pub log: Option<&'a LogPort>,
}

impl WorkerContext<'_> {
    /// Says something to the user.
    pub(crate) fn say(&self, stream: MessageStream, note: impl Into<Note>) {
        (self.send)(&WorkerMessage::Note(stream, note.into()));
    }

    /// The worker goes to another state.
    pub(crate) fn enter(&self, state: WorkerState) {
        let slot = self.board.slot(self.slot_index);
        let before = slot.state();
        slot.set_state(state);
        if before != state {
            self.tracer.line(TraceGroup::Process, || state_change(thread_id(), before, state));
        }
    }

    /// Waits until the supervisor lets the worker go. False: it did not within the limit.
    pub(crate) fn wait_at_gate(&self, limit: Duration) -> bool {
        self.clock.park() || self.board.wait_at_gate(self.gate_generation, limit)
    }

    /// The worker has started.
    pub(crate) fn tell_start(&self) {
        self.tracer.line(TraceGroup::Process, || format!("jobs pid={} started", thread_id()));
    }
}

fn thread_id() -> u32 {
    process::thread_id().as_raw_nonzero().get() as u32
}
