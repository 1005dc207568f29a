//! Control of a run from outside, from any thread: end it, request a report, pull its trigger.
//!
//! Must not know: reasons for these requests, such as signals. Start reading at [`Handle`].

use ferrio_sys::waker::Waker;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// Controls a run. Its clones control the same run, before its start and during it; afterwards they have no effect. No
/// method locks, allocates or waits.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Wishes>);

/// Requests that were made and not yet handled.
#[derive(Debug)]
struct Wishes {
    n_stops: AtomicU32,
    /// The signal of the first stop that was one of a signal; 0: none.
    signal: AtomicI32,
    is_aborted: AtomicBool,
    wants_snapshot: AtomicBool,
    is_triggered: AtomicBool,
    open_stonewalls: AtomicU32,
    /// Number of looks so far of the loop that watches over the jobs.
    n_looks: AtomicU32,
    is_watched: AtomicBool,
    /// A request was made since the last look.
    is_new: AtomicBool,
    waker: Waker,
}

/// Requests made since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wished {
    pub(super) n_stops: u32,
    pub(super) is_aborted: bool,
    pub(super) wants_snapshot: bool,
    pub(super) is_triggered: bool,
}

impl Handle {
    /// A handle for a future run.
    pub fn new() -> ferrio_sys::Result<Self> {
        Ok(Self(Arc::new(Wishes {
            n_stops: AtomicU32::new(0),
            signal: AtomicI32::new(0),
            is_aborted: AtomicBool::new(false),
            wants_snapshot: AtomicBool::new(false),
            is_triggered: AtomicBool::new(false),
            open_stonewalls: AtomicU32::new(0),
            n_looks: AtomicU32::new(0),
            is_watched: AtomicBool::new(false),
            is_new: AtomicBool::new(false),
            waker: Waker::new()?,
        })))
    }

    /// Ends the run in order: jobs finish their I/Os in flight, and the outcome has all that was done. After a second
    /// call, jobs that have not ended within three seconds are given up.
    pub fn stop(&self) {
        self.0.n_stops.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// As [`Handle::stop`], because of a signal with this number, which the record names.
    pub fn stop_by_signal(&self, signal: i32) {
        // The first one stays.
        let _ = self.0.signal.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
        self.stop();
    }

    /// The signal that has stopped the run, if it was one.
    pub(super) fn signal(&self) -> Option<i32> {
        Some(self.0.signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Ends the run at once: jobs that are processes are killed, and the outcome has the last figures that they sent. A
    /// job that is a thread is asked to end, and abandoned if it has not ended after three seconds, because a thread
    /// cannot be killed.
    pub fn abort(&self) {
        self.0.is_aborted.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Requests a report of the running state ([`crate::RunEvent::Status`]). Requests made before it is ready get the
    /// same report.
    pub fn snapshot(&self) {
        self.0.wants_snapshot.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Pulls the trigger: jobs write the states of their verification and end, and the trigger's command is started.
    pub fn trigger(&self) {
        self.0.is_triggered.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// True once after [`Handle::trigger`]: a caller that controls runs elsewhere passes it on.
    pub fn take_trigger(&self) -> bool {
        self.0.is_triggered.swap(false, Ordering::SeqCst)
    }

    /// Lets the jobs behind this stonewall and earlier ones begin, in a run that waits at them
    /// ([`crate::RunSettings::waits_at_stonewalls`]).
    pub fn open_stonewall(&self, number: u32) {
        self.0.open_stonewalls.fetch_max(number, Ordering::SeqCst);
        self.wake();
    }

    pub(super) fn open_stonewalls(&self) -> u32 {
        self.0.open_stonewalls.load(Ordering::SeqCst)
    }

    /// A number that changes at least ten times a second while the run's thread watches over running jobs, however long they wait for
    /// their storage; `None`: no jobs run now.
    pub fn pulse(&self) -> Option<u32> {
        self.0.is_watched.load(Ordering::SeqCst).then(|| self.0.n_looks.load(Ordering::SeqCst))
    }

    /// The run's thread begins or ends to watch over running jobs.
    pub(super) fn set_watched(&self, is_watched: bool) {
        self.0.is_watched.store(is_watched, Ordering::SeqCst);
    }

    /// True if [`Handle::stop`] or [`Handle::abort`] was called.
    pub fn is_stopping(&self) -> bool {
        self.0.n_stops.load(Ordering::SeqCst) > 0 || self.0.is_aborted.load(Ordering::SeqCst)
    }

    /// Requests since the last call, and the number of all stops so far.
    pub(super) fn take(&self) -> Wished {
        self.0.n_looks.fetch_add(1, Ordering::Relaxed);
        self.0.is_new.store(false, Ordering::SeqCst);
        self.0.waker.rest();
        Wished {
            n_stops: self.0.n_stops.load(Ordering::SeqCst),
            is_aborted: self.0.is_aborted.load(Ordering::SeqCst),
            wants_snapshot: self.0.wants_snapshot.swap(false, Ordering::SeqCst),
            is_triggered: self.0.is_triggered.swap(false, Ordering::SeqCst),
        }
    }

    /// True if a request was made since [`Handle::take`].
    pub(super) fn has_new(&self) -> bool {
        self.0.is_new.load(Ordering::SeqCst)
    }

    fn wake(&self) {
        self.0.is_new.store(true, Ordering::SeqCst);
        self.0.waker.wake();
    }

    /// A descriptor that is readable from a request until [`Handle::take`].
    pub(super) fn poll_fd(&self) -> BorrowedFd<'_> {
        self.0.waker.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_of_all_clones_are_heard() {
        let handle = Handle::new().unwrap();
        let clone = handle.clone();
        assert_eq!((handle.take(), handle.is_stopping()), (Wished::default(), false));
        std::thread::spawn(move || {
            clone.snapshot();
            clone.trigger();
        })
        .join()
        .unwrap();
        assert_eq!(handle.take(), Wished { wants_snapshot: true, is_triggered: true, ..Wished::default() });
        assert_eq!(handle.take(), Wished::default());
        handle.stop();
        handle.clone().stop();
        let stopped = Wished { n_stops: 2, ..Wished::default() };
        assert_eq!((handle.take(), handle.take(), handle.is_stopping()), (stopped, stopped, true));
        handle.abort();
        assert_eq!(handle.take(), Wished { is_aborted: true, ..stopped });
        assert_eq!(handle.pulse(), None);
        handle.set_watched(true);
        let before = handle.pulse();
        let _ = handle.take();
        assert!(before.is_some() && handle.pulse() != before);
    }
}
