//! Waiting for a number in shared memory to change, across processes (futexes that are not private to a process).
//!
//! Must not know: the meaning of the number.

use rustix::io::Errno;
use rustix::thread::futex::{Flags, Timespec, wait, wake};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Why a wait ended. The caller checks the number again in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FutexWait {
    /// Someone called [`futex_wake`], or the kernel woke for no reason.
    Woken,
    /// The number was not the expected one to begin with.
    Changed,
    /// The time is over.
    TimedOut,
    /// A signal handler ran.
    Interrupted,
}

/// Sleeps while `number` is `expected`, until woken or for `timeout` (`None`: without end).
pub fn futex_wait(number: &AtomicU32, expected: u32, timeout: Option<Duration>) -> FutexWait {
    let timeout = timeout.map(|time| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    });
    match wait(number, Flags::empty(), expected, timeout.as_ref()) {
        Err(Errno::AGAIN) => FutexWait::Changed,
        Err(Errno::TIMEDOUT) => FutexWait::TimedOut,
        Err(Errno::INTR) => FutexWait::Interrupted,
        // The address of a reference is valid and aligned, so no other error is left: EINVAL would be a timeout that
        // cannot be, and waking early is allowed.
        Ok(()) | Err(_) => FutexWait::Woken,
    }
}

/// Wakes at most `n` waiters of any process; returns how many were woken.
pub fn futex_wake(number: &AtomicU32, n: u32) -> usize {
    // The kernel takes the count as a signed number. It cannot fail on the address of a reference.
    wake(number, Flags::empty(), n.min(i32::MAX as u32)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_number_that_is_not_expected_does_not_wait() {
        assert_eq!(futex_wait(&AtomicU32::new(1), 0, None), FutexWait::Changed);
    }

    #[test]
    fn waits_until_the_time_is_over() {
        let number = AtomicU32::new(0);
        let wait_once = || futex_wait(&number, 0, Some(Duration::from_millis(1)));
        // Signals that other tests raise may interrupt it.
        assert!(std::iter::repeat_with(wait_once).take(1000).any(|end| end == FutexWait::TimedOut));
    }

    #[test]
    fn wakes_a_waiter() {
        let number = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                while number.load(Ordering::Acquire) == 0 {
                    futex_wait(&number, 0, None);
                }
            });
            number.store(1, Ordering::Release);
            while !waiter.is_finished() {
                futex_wake(&number, u32::MAX);
            }
        });
    }
}
