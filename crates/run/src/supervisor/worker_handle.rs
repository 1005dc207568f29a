//! The handle of a started worker: the channel from it, and its end.
//!
//! Must not know: how workers are started, the contents of messages. Start reading at [`WorkerHandle::hear`].

use crate::link::message::WorkerMessage;
use ferrio_stats::wire;
use ferrio_sys::channel::{MessageReceiver, Received};
use ferrio_sys::process::{self, ChildEnd, Pid};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc;
use std::thread::JoinHandle;

pub(super) enum WorkerHandle {
    Process(Pid, Box<MessageReceiver>),
    Thread(Option<JoinHandle<ferrio_sys::Result<()>>>, mpsc::Receiver<WorkerMessage>),
}

/// Result of a look at a worker.
pub(super) enum Heard {
    Message(WorkerMessage),
    Nothing,
    /// The worker has ended; `Some`: a signal killed it.
    Ended(Option<i32>),
}

impl WorkerHandle {
    /// The next message or event of this worker. Does not block.
    pub(super) fn hear(&mut self) -> Heard {
        match self {
            Self::Process(pid, receiver) => match receiver.try_receive() {
                Ok(Received::Message(bytes)) => match wire::from_bytes(&bytes) {
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
                    // A thread that panicked has sent no outcome, which the supervisor notices.
                    drop(thread.take().map(JoinHandle::join));
                    Heard::Ended(None)
                }
            },
        }
    }

    /// The descriptor to poll for messages; threads have none.
    pub(super) fn poll_fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Process(_, receiver) => Some(receiver.as_fd()),
            Self::Thread(..) => None,
        }
    }
}

/// Waits for a process whose channel is closed, because it is about to end.
fn end_of(pid: Pid) -> Option<i32> {
    match process::wait(pid) {
        Ok(ChildEnd::Signaled(signal)) => Some(signal),
        Ok(ChildEnd::Exited(_)) | Err(_) => None,
    }
}
