//! What may block in a system call (a path of a server that does not answer, a pipe, a tape) is done on a thread of its own,
//! while the calling thread hears wishes. What does not end after the second wish to stop is given up.
//!
//! Must not know: what is done. Start reading at [`attended`].

use super::desk::Desk;
use crate::events::RunObserver;
use ferrio_sys::signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Between two looks at wishes.
const TICK: Duration = Duration::from_millis(20);

/// No worker.
const NONE: usize = usize::MAX;

/// Something has not ended after the second wish to stop.
#[derive(Debug)]
pub(super) struct Stuck {
    /// Position of the worker that it was done for.
    pub(super) worker_index: Option<usize>,
}

/// What both threads see.
#[derive(Debug)]
struct Shared {
    is_over: AtomicBool,
    worker_index: AtomicUsize,
}

enum Said<M, T> {
    Message(M),
    Done(T),
}

/// What a task has of the run.
pub(super) struct Station<M, T> {
    shared: Arc<Shared>,
    sender: mpsc::Sender<Said<M, T>>,
}

impl<M, T> Station<M, T> {
    /// The run is over: the task is to end as soon as it can.
    pub(super) fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    /// What follows is done for this worker.
    pub(super) fn work_for(&self, worker_index: usize) {
        self.shared.worker_index.store(worker_index, Ordering::Relaxed);
    }

    /// Hands something to the calling thread. Nobody listens any more to a task that was given up.
    pub(super) fn tell(&self, message: M) {
        let _ = self.sender.send(Said::Message(message));
    }
}

/// Does a task on a thread of its own until it is done. `turn` gets what the task says, in order, and its turn now and then.
///
/// # Errors
/// The task has not ended after the second wish to stop. Its thread is left where it is.
///
/// # Panics
/// If the task panics.
pub(super) fn attended<M: Send + 'static, T: Send + 'static>(
    desk: &mut Desk,
    observer: &mut dyn RunObserver,
    mut turn: impl FnMut(Option<M>, &mut Desk, &mut dyn RunObserver),
    task: impl FnOnce(&Station<M, T>) -> T + Send + 'static,
) -> Result<T, Stuck> {
    let shared = Arc::new(Shared { is_over: AtomicBool::new(false), worker_index: AtomicUsize::new(NONE) });
    let (sender, receiver) = mpsc::channel();
    let station = Station { shared: Arc::clone(&shared), sender };
    let thread = std::thread::spawn(move || {
        let _ = signals::block_in_this_thread();
        let outcome = task(&station);
        let _ = station.sender.send(Said::Done(outcome));
    });
    loop {
        desk.look(observer);
        shared.is_over.store(desk.is_ending(), Ordering::Relaxed);
        match receiver.recv_timeout(TICK) {
            Ok(Said::Message(message)) => turn(Some(message), desk, observer),
            Ok(Said::Done(outcome)) => {
                // What the task has of the run is gone when its thread is.
                let _ = thread.join();
                return Ok(outcome);
            }
            Err(RecvTimeoutError::Timeout) => turn(None, desk, observer),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(Stuck { worker_index: None }),
            },
        }
        if desk.gives_up() {
            let worker_index = shared.worker_index.load(Ordering::Relaxed);
            return Err(Stuck { worker_index: (worker_index != NONE).then_some(worker_index) });
        }
    }
}
