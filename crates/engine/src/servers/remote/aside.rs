//! Calls that may block for ever, such as those of libraries that wait for a server: a thread makes the call, and is left behind if
//! the caller cancels first.
//!
//! Must not know: what is called. Start reading at [`call`].

use crate::contract::Cancellation;
use ferrio_sys::signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

#[derive(Debug, Clone)]
pub(crate) struct Caller(Arc<AtomicBool>);

impl Caller {
    /// True if nobody waits for the result any more: a call that can end early does so.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The result of a call; `None`: the call was cancelled. The call then goes on in its thread, and its result is dropped there.
///
/// The thread has the descriptors of this one. A panic of the call, or no thread for it, is an error.
pub(crate) fn call<T: Send + 'static>(
    cancellation: Cancellation<'_>,
    work: impl FnOnce(&Caller) -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let caller = Caller(Arc::new(AtomicBool::new(false)));
    let of_thread = caller.clone();
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        // Libraries write to connections that the other end has closed.
        let _ = signals::block_broken_pipes();
        let result = work(&of_thread);
        if !of_thread.is_gone() {
            // A result that nobody receives comes back, and is dropped.
            drop(sender.send(result));
        }
    };
    std::thread::Builder::new().name("aside".to_owned()).spawn(work)?;
    loop {
        match receiver.recv_timeout(Cancellation::LOOK) {
            Ok(result) => return Ok(Some(result)),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the call has panicked")),
            Err(RecvTimeoutError::Timeout) if cancellation.is_over() => {
                caller.0.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// True when the caller cancels, or when this time is over.
pub(crate) fn until(cancellation: Cancellation<'_>, limit: Duration) -> impl Fn() -> bool {
    let end = Instant::now() + limit;
    move || cancellation.is_over() || Instant::now() >= end
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender};

    #[test]
    fn a_result_is_waited_for() {
        assert_eq!(call(Cancellation::ENDLESS, |caller| (7, caller.is_gone())).unwrap(), Some((7, false)));
    }

    #[test]
    fn a_call_that_blocks_is_left_behind_and_sees_it() {
        let (end, ended): (Sender<()>, Receiver<()>) = mpsc::channel();
        let (say, said) = mpsc::channel();
        let impatient = || true;
        let left = call(Cancellation::new(&impatient), move |caller| {
            // Blocks until the test ends it.
            let _ = ended.recv();
            say.send(caller.is_gone()).unwrap();
        });
        assert!(left.unwrap().is_none());
        drop(end);
        assert!(said.recv().unwrap());
    }
}
