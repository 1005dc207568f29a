//! Requests from outside during a run, from its [`Handle`]s and from triggers that come before the jobs.
//!
//! This record of them exists from before the first step of a run until the result is made, and only it reads the handle. So no
//! request is lost when one step follows another: all are recorded here.
//! Must not know: how requests are answered. Start reading at [`Requests::look`].

use super::handle::Handle;
use crate::events::{RunEvent, RunObserver};
use ferrio_stats::EndedBy;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Time after the second request to stop, after which the rest is given up.
pub(super) const URGENT_LIMIT: Duration = Duration::from_secs(3);

/// All requests so far.
#[derive(Debug)]
pub(super) struct Requests {
    handle: Handle,
    n_stops: u32,
    /// The run is to end at once.
    is_aborted: bool,
    /// A request to end has come since [`Requests::take_end`].
    has_new_end: bool,
    /// Time of the second request to stop.
    urged_at: Option<Instant>,
    wants_report: bool,
    is_triggered: bool,
}

impl Requests {
    /// The requests of this handle, including earlier ones.
    pub(super) fn open(handle: Handle) -> Self {
        Self {
            handle,
            n_stops: 0,
            is_aborted: false,
            has_new_end: false,
            urged_at: None,
            wants_report: false,
            is_triggered: false,
        }
    }

    /// Records new requests, and reports requests to end. Cheap.
    pub(super) fn look(&mut self, observer: &mut dyn RunObserver) {
        let wished = self.handle.take();
        self.wants_report |= wished.wants_snapshot;
        self.is_triggered |= wished.is_triggered;
        if wished.n_stops == self.n_stops && wished.is_aborted == self.is_aborted {
            return;
        }
        (self.n_stops, self.is_aborted) = (wished.n_stops, wished.is_aborted);
        self.has_new_end = true;
        if self.n_stops > 1 || self.is_aborted {
            self.urged_at.get_or_insert_with(Instant::now);
        }
        observer.event(RunEvent::Stopping);
    }

    /// The run's thread begins or ends to watch over running jobs.
    pub(super) fn set_watched(&self, is_watched: bool) {
        self.handle.set_watched(is_watched);
    }

    /// The last stonewall that is open, of a run that waits at them.
    pub(super) fn open_stonewalls(&self) -> u32 {
        self.handle.open_stonewalls()
    }

    /// True if the run was asked to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.n_stops > 0 || self.is_aborted
    }

    /// The request that ends the run.
    pub(super) fn ended_by(&self) -> EndedBy {
        EndedBy::Request { signal: self.handle.signal() }
    }

    /// True if the run is to end.
    pub(super) fn is_ending(&self) -> bool {
        self.is_stopped() || self.is_triggered
    }

    /// True if the run is to end at once.
    pub(super) fn is_aborted(&self) -> bool {
        self.is_aborted
    }

    /// True if the time after the second request is over, so that the rest is given up.
    pub(super) fn gives_up(&self) -> bool {
        self.urged_at.is_some_and(|urged_at| urged_at.elapsed() >= URGENT_LIMIT)
    }

    /// True if a request to end has come since the last call.
    pub(super) fn take_end(&mut self) -> bool {
        std::mem::take(&mut self.has_new_end)
    }

    /// True if a report was requested since the last call.
    pub(super) fn take_report(&mut self) -> bool {
        std::mem::take(&mut self.wants_report)
    }

    /// Records a trigger that came before the jobs.
    pub(super) fn trigger(&mut self) {
        self.is_triggered = true;
    }

    /// True if a trigger came that was not handled yet.
    pub(super) fn take_trigger(&mut self) -> bool {
        std::mem::take(&mut self.is_triggered)
    }

    /// A descriptor that is readable while there are new requests.
    pub(super) fn poll_fd(&self) -> BorrowedFd<'_> {
        self.handle.poll_fd()
    }
}
