//! Waking a thread that waits for descriptors: another thread writes, and the first can read.
//!
//! Must not know: purposes of waits. Start reading at [`Waker`].

use crate::error::{Context, Result};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

/// A descriptor that can be read from [`Waker::wake`] until [`Waker::rest`].
#[derive(Debug)]
pub struct Waker(OwnedFd);

impl Waker {
    /// A waker that was not called yet.
    pub fn new() -> Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).context("eventfd", "")?))
    }

    /// Wakes present and future waiters. Locks nothing and allocates nothing.
    pub fn wake(&self) {
        // A counter that is full can be read already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Makes later waits last until the next call.
    pub fn rest(&self) {
        // Fails if there was no call.
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::poll::wait_readable;
    use std::time::Duration;

    #[test]
    fn a_call_is_there_until_it_is_taken() {
        let waker = Waker::new().unwrap();
        let is_called = || !wait_readable(&[waker.as_fd()], Duration::ZERO).is_empty();
        assert!(!is_called());
        waker.wake();
        waker.wake();
        assert!(is_called() && is_called());
        waker.rest();
        assert!(!is_called());
        waker.rest();
        std::thread::scope(|scope| {
            scope.spawn(|| waker.wake());
            // Without it this would wait an hour.
            assert_eq!(wait_readable(&[waker.as_fd()], Duration::from_secs(3_600)), [0]);
        });
    }
}
