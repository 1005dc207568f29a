//! Starting workers as processes or threads.
//!
//! Must not know: when they start. Start reading at [`Launcher::start`].

use super::board::{Board, WorkerState};
use crate::files::FileSet;
use crate::logs::LogPort;
use crate::plan::RunPlan;
use crate::trace::TraceSettings;
use crate::worker::{WorkerContext, WorkerMessage, WorkerOutcome, work};
use ferrio_stats::ThreadStats;
use ferrio_sys::channel::{MessageReceiver, MessageSender, Received, message_channel};
use ferrio_sys::process::{self, ChildEnd, Pid};
use ferrio_sys::{Clock, signals};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

/// Largest message of a worker: its statistics with all histograms full are far below.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// A started worker.
pub(super) enum Handle {
    /// A process and the channel from it.
    Process(Pid, Box<MessageReceiver>),
    /// A thread and the channel from it.
    Thread(Option<JoinHandle<ferrio_sys::Result<()>>>, mpsc::Receiver<WorkerMessage>),
}

/// What a look at a worker found.
pub(super) enum Heard {
    /// A message.
    Message(WorkerMessage),
    /// Nothing now.
    Nothing,
    /// It has ended; `Some`: a signal killed it.
    Ended(Option<i32>),
}

/// What every start needs.
pub(super) struct Launcher<'a> {
    pub(super) plan: &'a Arc<RunPlan>,
    pub(super) board: &'a Arc<Board>,
    pub(super) clock: &'a Clock,
    pub(super) readonly: bool,
    pub(super) trace: TraceSettings,
}

impl Launcher<'_> {
    /// Starts a worker; returns its handle and id. A process leaves `files` as they are: what the supervisor frees
    /// between two forks lies in pages that the next child cannot share.
    pub(super) fn start(
        &self,
        index: usize,
        files: &mut Option<FileSet>,
        log: Option<LogPort>,
    ) -> ferrio_sys::Result<(Handle, u32)> {
        let generation = self.board.gate_generation();
        self.board.slot(index).set_state(WorkerState::Created);
        if self.plan.workers[index].spec.worker.thread {
            self.start_thread(index, files.take(), log, generation)
        } else {
            self.start_process(index, files, log.as_ref(), generation)
        }
    }

    fn start_process(
        &self,
        index: usize,
        files: &mut Option<FileSet>,
        log: Option<&LogPort>,
        generation: u32,
    ) -> ferrio_sys::Result<(Handle, u32)> {
        let (sender, receiver) = message_channel(MAX_MESSAGE_BYTES)?;
        let supervisor = process::process_id();
        let pid = process::fork(|| {
            // A worker gets no signals of the terminal, and dies with its supervisor.
            let _ = process::set_session();
            if matches!(process::die_with_parent(supervisor), Ok(false)) {
                return 1;
            }
            let _ = signals::reset_in_child();
            let send = |message: &WorkerMessage| send_to(&sender, message);
            let context = WorkerContext {
                board: self.board,
                slot_index: index,
                gate_generation: generation,
                clock: self.clock.clone(),
                send: &send,
                is_thread: false,
                readonly: self.readonly,
                trace: self.trace,
                log,
            };
            let outcome = work(&self.plan.workers[index], files.take(), &context);
            send(&WorkerMessage::Outcome(Box::new(outcome)));
            0
        })?;
        drop(sender);
        let id = pid.as_raw_nonzero().get() as u32;
        Ok((Handle::Process(pid, Box::new(receiver)), id))
    }

    fn start_thread(
        &self,
        index: usize,
        files: Option<FileSet>,
        log: Option<LogPort>,
        generation: u32,
    ) -> ferrio_sys::Result<(Handle, u32)> {
        let (sender, receiver) = mpsc::channel();
        let (plan, board, clock) = (Arc::clone(self.plan), Arc::clone(self.board), self.clock.clone());
        let (readonly, trace) = (self.readonly, self.trace);
        let (id_sender, id_receiver) = mpsc::sync_channel(1);
        let body = move || {
            let _ = signals::block_in_this_thread();
            let _ = id_sender.send(process::thread_id().as_raw_nonzero().get() as u32);
            // The supervisor may have given up; then nobody listens.
            let send = |message: &WorkerMessage| drop(sender.send(message.clone()));
            let context = WorkerContext {
                board: &board,
                slot_index: index,
                gate_generation: generation,
                clock,
                send: &send,
                is_thread: true,
                readonly,
                trace,
                log: log.as_ref(),
            };
            let outcome = work(&plan.workers[index], files, &context);
            drop(sender.send(WorkerMessage::Outcome(Box::new(outcome))));
        };
        let name = format!("ferrio-{index}");
        let thread = if self.plan.workers[index].engine.needs_shared_descriptors {
            let thread = std::thread::Builder::new().name(name.clone());
            let run = move || {
                body();
                Ok(())
            };
            thread.spawn(run).map_err(|source| ferrio_sys::Error::Call {
                operation: "start thread",
                target: name,
                source,
            })?
        } else {
            process::spawn_with_own_files(name, body)?
        };
        let id = id_receiver.recv().unwrap_or(0);
        Ok((Handle::Thread(Some(thread), receiver), id))
    }
}

fn send_to(sender: &MessageSender, message: &WorkerMessage) {
    // Serialisation into memory cannot fail; a supervisor that is gone needs no message.
    if let Ok(bytes) = postcard::to_stdvec(message) {
        let _ = sender.send(&bytes);
    }
}

impl Handle {
    /// The next thing from this worker. Does not block.
    pub(super) fn hear(&mut self) -> Heard {
        match self {
            Self::Process(pid, receiver) => match receiver.try_receive() {
                Ok(Received::Message(bytes)) => match postcard::from_bytes(&bytes) {
                    Ok(message) => Heard::Message(message),
                    Err(_) => Heard::Nothing,
                },
                Ok(Received::Nothing) => Heard::Nothing,
                Ok(Received::Closed { .. }) | Err(_) => Heard::Ended(end_of(*pid)),
            },
            Self::Thread(thread, receiver) => match receiver.try_recv() {
                Ok(message) => Heard::Message(message),
                Err(mpsc::TryRecvError::Empty) => Heard::Nothing,
                Err(mpsc::TryRecvError::Disconnected) => {
                    // A thread that panicked has sent no outcome, and that is how it is noticed.
                    drop(thread.take().map(JoinHandle::join));
                    Heard::Ended(None)
                }
            },
        }
    }

    /// What to poll for messages; threads have nothing.
    pub(super) fn poll_fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Process(_, receiver) => Some(receiver.as_fd()),
            Self::Thread(..) => None,
        }
    }
}

/// Waits for a process whose channel is closed: it is about to be gone.
fn end_of(pid: Pid) -> Option<i32> {
    match process::wait(pid) {
        Ok(ChildEnd::Signaled(signal)) => Some(signal),
        Ok(ChildEnd::Exited(_)) | Err(_) => None,
    }
}

/// An outcome for a worker that ended without one.
pub(super) fn lost_outcome(stats: Box<ThreadStats>, killed_by: Option<i32>) -> WorkerOutcome {
    let failure = match killed_by {
        Some(_) => None,
        None => Some(crate::error::job_error!(5, "worker").explained("fio: job ended without results")),
    };
    WorkerOutcome::new(stats, failure, true)
}
