//! Jobs whose targets are connections: waiting for the connection, and the end of an I/O for which no data comes.
//!
//! Must not know: sockets. Start reading at [`connect`].

use super::Worker;
use crate::error::{Failure, engine_failure, failure};
use crate::events::MessageStream;
use crate::worker::core::WorkerCore;
use ferrio_engine::{Cancellation, Complaint, Connection};
use ferrio_stats::note::{IoNote, RunNote};
use ferrio_sys::errno::{EIO, ETIMEDOUT};
use std::cell::RefCell;

/// Makes the connection; waits until the end of the run or of the runtime.
pub(crate) fn connect(core: &mut WorkerCore<'_>) -> Result<(), Failure> {
    if !core.rules.engine.targets.are_outside() {
        return Ok(());
    }
    let limit_ns = core.rules.connect_limit_ns;
    let start_ns = core.clock.now_ns();
    let mut is_told = false;
    loop {
        let (clock, control) = (&core.clock, &core.control);
        let is_late = || limit_ns > 0 && clock.now_ns().saturating_sub(start_ns) >= limit_ns;
        let is_over = || control.is_terminated() || is_late();
        let Some(server) = core.engine.server() else { return Ok(()) };
        let connection = server.connect(Cancellation::new(&is_over));
        match connection.map_err(|error| engine_failure!(error, "connect"))? {
            Connection::Made => return Ok(()),
            Connection::Reached(server) => {
                core.context.say(MessageStream::Info, RunNote::Connected { server: server.into() });
                return Ok(());
            }
            Connection::Listening if !is_told => {
                is_told = true;
                core.context.say(MessageStream::Info, RunNote::AwaitsConnection);
            }
            Connection::Listening | Connection::Awaited => {}
        }
        if core.control.is_terminated() {
            return Err(Failure::stopped());
        }
        if is_late() {
            // What was waited for.
            core.say_complaint();
            let note = RunNote::NoConnection { job: core.rules.name.to_owned() };
            return Err(failure!(ETIMEDOUT, "connect").explained(note));
        }
    }
}

/// Ends the connection. A server that does not answer delays the end of a stopped run no longer than a moment.
pub(crate) fn disconnect(core: &mut WorkerCore<'_>) {
    if !core.rules.engine.targets.are_outside() {
        return;
    }
    let (clock, control) = (&core.clock, RefCell::new(&mut core.control));
    let is_over = || control.borrow_mut().is_out_of_patience(clock.now_ns(), 0);
    if let Some(server) = core.engine.server() {
        server.disconnect(Cancellation::new(&is_over));
    }
}

/// Called when a wait for I/Os in flight brought nothing: gives them up if their server has not answered for too long
/// after the end of the run or of the runtime.
#[cold]
pub(crate) fn waited_in_vain(core: &mut WorkerCore<'_>) {
    let targets = core.rules.engine.targets;
    if !targets.are_outside() {
        return;
    }
    let Some(server) = core.engine.server() else { return };
    let moved_bytes = server.take_moved_bytes();
    if !core.control.is_out_of_patience(core.clock.now_ns(), moved_bytes) {
        return;
    }
    server.give_up();
    // The end of a connection is no server: it may have sent all.
    if targets.is_connection() {
        return;
    }
    // The server has answered, and has refused the I/O again and again.
    if let Some(Complaint { step, line, why }) = core.take_complaint() {
        core.context.say(MessageStream::Error, IoNote::Refused { line, why, unsynced: None });
        if !core.control.is_terminated() {
            core.control.fail_soon(failure!(EIO, step));
        }
        return;
    }
    let note = RunNote::NoAnswer { job: core.rules.name.to_owned() };
    if core.control.is_terminated() {
        core.context.say(MessageStream::Error, note);
    } else {
        core.control.fail_soon(failure!(ETIMEDOUT, "no answer").explained(note));
    }
}

/// Ends an I/O with the bytes that it has moved; an I/O without any does not count.
#[cold]
pub(crate) fn give_up(worker: &mut Worker<'_>, slot_index: u32, done: u64) {
    let Worker { core, hooks, .. } = worker;
    let slot = *core.slots.get(slot_index);
    let Some(direction) = slot.unit.direction.data() else { return };
    let moved = slot.length_bytes.saturating_sub(slot.unit.length_bytes as u64);
    if moved > 0 {
        core.account.data_done(direction, moved, &core.clock, slot.stamps, done);
    } else {
        core.account.data_is_withdrawn(direction);
    }
    hooks.failed(core, slot_index, EIO);
}
