//! Runs steps that may block in a system call (a path of a server that does not answer, a pipe, a tape) in a separate
//! thread, while the calling thread watches for requests. A step that does not end after the second request to stop is
//! given up.
//!
//! Must not know: the steps. Start reading at [`interruptible`].

use super::requests::Requests;
use crate::events::RunObserver;
use ferrio_sys::signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Time between two checks for requests.
const TICK: Duration = Duration::from_millis(20);

/// The size of the thread's stack. It is above the 40 MiB of stacks that glibc keeps for later threads, so that it is
/// unmapped when the thread ends: processes that are forked afterwards need no table of its pages. Only pages that the
/// thread touches become memory.
const STACK_BYTES: usize = 48 << 20;

/// The index that stands for no worker.
const NONE: usize = usize::MAX;

/// A step has not ended after the second request to stop, or its thread could not be started.
#[derive(Debug)]
pub(super) struct Stuck {
    /// Index of the worker for which the step was done.
    pub(super) worker_index: Option<usize>,
    /// The reason why its thread could not be started.
    pub(super) no_thread: Option<io::Error>,
}

/// State that both threads share.
#[derive(Debug)]
struct Shared {
    is_over: AtomicBool,
    worker_index: AtomicUsize,
}

enum Said<M, T> {
    Message(M),
    Done(T),
}

/// The step's side of the run.
pub(super) struct Station<M, T> {
    shared: Arc<Shared>,
    sender: mpsc::Sender<Said<M, T>>,
}

impl<M, T> Station<M, T> {
    /// True if the run is over, so that the step has to end as soon as it can.
    pub(super) fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Relaxed)
    }

    /// Names the worker for which the next actions are done.
    pub(super) fn work_for(&self, worker_index: usize) {
        self.shared.worker_index.store(worker_index, Ordering::Relaxed);
    }

    /// Sends a message to the calling thread. After the step was given up, nobody receives it.
    pub(super) fn tell(&self, message: M) {
        let _ = self.sender.send(Said::Message(message));
    }
}

/// Runs a step in a separate thread until it is done. `turn` receives the messages of the step in order, and is also
/// called now and then without one.
///
/// # Errors
/// The step has not ended after the second request to stop, and its thread is abandoned; or the thread could not be started.
///
/// # Panics
/// If the step panics.
pub(super) fn interruptible<M: Send + 'static, T: Send + 'static>(
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
    mut turn: impl FnMut(Option<M>, &mut Requests, &mut dyn RunObserver),
    task: impl FnOnce(&Station<M, T>) -> T + Send + 'static,
) -> Result<T, Stuck> {
    let shared = Arc::new(Shared { is_over: AtomicBool::new(false), worker_index: AtomicUsize::new(NONE) });
    let (sender, receiver) = mpsc::channel();
    let station = Station { shared: Arc::clone(&shared), sender };
    let work = move || {
        let _ = signals::block_in_this_thread();
        let outcome = task(&station);
        let _ = station.sender.send(Said::Done(outcome));
    };
    let large_stack = std::thread::Builder::new().stack_size(STACK_BYTES);
    let thread = large_stack.spawn(work).map_err(|error| Stuck { worker_index: None, no_thread: Some(error) })?;
    loop {
        requests.look(observer);
        shared.is_over.store(requests.is_ending(), Ordering::Relaxed);
        match receiver.recv_timeout(TICK) {
            Ok(Said::Message(message)) => turn(Some(message), requests, observer),
            Ok(Said::Done(outcome)) => {
                // The join makes sure that the thread has dropped all that it held of the run.
                let _ = thread.join();
                return Ok(outcome);
            }
            Err(RecvTimeoutError::Timeout) => turn(None, requests, observer),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return Err(Stuck { worker_index: None, no_thread: None }),
            },
        }
        if requests.gives_up() {
            let worker_index = shared.worker_index.load(Ordering::Relaxed);
            return Err(Stuck { worker_index: (worker_index != NONE).then_some(worker_index), no_thread: None });
        }
    }
}

/// As [`interruptible`], for a step that touches no file and so cannot block: it runs in the calling thread, and its messages come after it.
pub(super) fn at_once<M, T>(
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
    mut turn: impl FnMut(Option<M>, &mut Requests, &mut dyn RunObserver),
    task: impl FnOnce(&Station<M, T>) -> T,
) -> T {
    requests.look(observer);
    let shared =
        Arc::new(Shared { is_over: AtomicBool::new(requests.is_ending()), worker_index: AtomicUsize::new(NONE) });
    let (sender, receiver) = mpsc::channel();
    let outcome = task(&Station { shared, sender });
    for said in receiver.try_iter() {
        if let Said::Message(message) = said {
            turn(Some(message), requests, observer);
        }
    }
    outcome
}
