//! Starts workers as processes or threads.
//!
//! Must not know: when workers are to start. Start reading at [`start`].

use super::scene::Scene;
use super::worker_handle::WorkerHandle;
use crate::files::FileSet;
use crate::link::board::WorkerState;
use crate::link::context::WorkerContext;
use crate::link::message::{WorkerMessage, WorkerOutcome};
use crate::link::trace::Tracer;
use crate::logs::LogPort;
use crate::worker::run_worker;
use ferrio_spec::engines::Sharing;
use ferrio_stats::note::RunNote;
use ferrio_stats::{ThreadStats, wire};
use ferrio_sys::channel::{MessageSender, message_channel};
use ferrio_sys::clock::Seat;
use ferrio_sys::errno::EIO;
use ferrio_sys::process;
use ferrio_sys::{Clock, signals};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

/// Largest message of a worker. Statistics with all histograms full are much smaller.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Starts a worker; returns its handle and id. A process leaves `files` alone: memory that the supervisor frees between
/// two forks is on pages that the next child then could not share.
pub(super) fn start(
    scene: &Scene,
    index: usize,
    files: &mut Option<FileSet>,
    log: Option<LogPort>,
) -> ferrio_sys::Result<(WorkerHandle, u32)> {
    let generation = scene.board.gate_generation();
    scene.board.slot(index).set_state(WorkerState::Created);
    if scene.is_thread(index) {
        start_thread(scene, index, files.take(), log, generation)
    } else {
        start_process(scene, index, files, log.as_ref(), generation)
    }
}

fn start_process(
    scene: &Scene,
    index: usize,
    files: &mut Option<FileSet>,
    log: Option<&LogPort>,
    generation: u32,
) -> ferrio_sys::Result<(WorkerHandle, u32)> {
    // No other run in this program may fork until the worker's end of the channel is closed here. Otherwise that run's
    // worker would hold this end too, and the death of this worker would not be noticed.
    let _alone = process::fork_alone();
    let (sender, receiver) = message_channel(MAX_MESSAGE_BYTES)?;
    let supervisor = process::process_id();
    let pid = process::fork(|| {
        // A worker does not receive signals of the terminal, and dies with its supervisor.
        let _ = process::set_session();
        if matches!(process::die_with_parent(supervisor), Ok(false)) {
            return 1;
        }
        let _ = signals::reset_in_child();
        let send_one = |message: &WorkerMessage| send_to(&sender, message);
        let tracer = Tracer::new(scene.settings.trace, &send_one);
        // Collected lines are sent before the message, to keep the order.
        let send = |message: &WorkerMessage| {
            tracer.flush();
            send_one(message);
        };
        let context = WorkerContext {
            board: &scene.board,
            slot_index: index,
            gate_generation: generation,
            clock: scene.clock.clone(),
            send: &send,
            is_thread: false,
            readonly: scene.settings.readonly,
            keeps_evidence: !scene.settings.control.skips_evidence,
            tracer: &tracer,
            log,
            kept: &scene.plan.kept,
        };
        let outcome = run_worker(&scene.plan.workers[index], files.take(), &context);
        send(&WorkerMessage::Outcome(Box::new(outcome)));
        0
    })?;
    drop(sender);
    let id = pid.as_raw_nonzero().get() as u32;
    Ok((WorkerHandle::Process(pid, Box::new(receiver)), id))
}

fn start_thread(
    scene: &Scene,
    index: usize,
    files: Option<FileSet>,
    log: Option<LogPort>,
    generation: u32,
) -> ferrio_sys::Result<(WorkerHandle, u32)> {
    let (sender, receiver) = mpsc::channel();
    let (plan, board) = (Arc::clone(&scene.plan), Arc::clone(&scene.board));
    let (readonly, trace) = (scene.settings.readonly, scene.settings.trace);
    let keeps_evidence = !scene.settings.control.skips_evidence;
    let (id_sender, id_receiver) = mpsc::sync_channel(1);
    let presence = Presence(scene.time.add_seat());
    let clock = presence.clock().unwrap_or_else(|| scene.clock.clone());
    let body = move || {
        let _ = signals::block_in_this_thread();
        let _ = id_sender.send(process::thread_id().as_raw_nonzero().get() as u32);
        presence.begin();
        // The seat is dropped last, when no thread can receive anything from this worker any more.
        let (presence, sender) = (presence, sender);
        // If the supervisor has given up, there is no receiver.
        let send_one = |message: &WorkerMessage| {
            drop(sender.send(message.clone()));
            presence.speak();
        };
        let tracer = Tracer::new(trace, &send_one);
        let send = |message: &WorkerMessage| {
            tracer.flush();
            send_one(message);
        };
        let context = WorkerContext {
            board: &board,
            slot_index: index,
            gate_generation: generation,
            clock,
            send: &send,
            is_thread: true,
            readonly,
            keeps_evidence,
            tracer: &tracer,
            log: log.as_ref(),
            kept: &plan.kept,
        };
        let outcome = run_worker(&plan.workers[index], files, &context);
        send(&WorkerMessage::Outcome(Box::new(outcome)));
    };
    let thread = spawn(format!("ferrio-{index}"), scene.plan.workers[index].engine.def.sharing, body)?;
    let id = id_receiver.recv().unwrap_or(0);
    Ok((WorkerHandle::Thread(Some(thread), receiver), id))
}

fn spawn(
    name: String,
    sharing: Sharing,
    body: impl FnOnce() + Send + 'static,
) -> ferrio_sys::Result<JoinHandle<ferrio_sys::Result<()>>> {
    if !sharing.has_library_threads() {
        return process::spawn_with_own_files(name, body);
    }
    let run = move || {
        body();
        Ok(())
    };
    let failed = |source| ferrio_sys::Error::Call { operation: "start thread", target: name.clone(), source };
    std::thread::Builder::new().name(name.clone()).spawn(run).map_err(failed)
}

/// The seat of a worker on virtual time; empty on real time. Dropping it frees the seat.
struct Presence(Option<Arc<Seat>>);

impl Presence {
    fn clock(&self) -> Option<Clock> {
        self.0.as_ref().map(|seat| Clock::seated(Arc::clone(seat)))
    }

    /// Waits for its first turn.
    fn begin(&self) {
        self.0.iter().for_each(|seat| seat.begin());
    }

    /// Tells the supervisor that there is a message.
    fn speak(&self) {
        self.0.iter().for_each(|seat| seat.call_leader());
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.0.iter().for_each(|seat| seat.leave());
    }
}

fn send_to(sender: &MessageSender, message: &WorkerMessage) {
    // If the supervisor is gone, the message is not needed.
    let _ = sender.send(&wire::to_bytes(message));
}

/// The outcome of a worker that ended without sending one.
pub(super) fn lost_outcome(stats: Box<ThreadStats>, killed_by: Option<i32>) -> WorkerOutcome {
    let failure = match killed_by {
        Some(_) => None,
        None => Some(crate::error::failure!(EIO, "worker").explained(RunNote::NoResults)),
    };
    WorkerOutcome::new(stats, failure, true)
}
