//! What comes from outside in the time of a run: wishes of its [`Handle`]s, and triggers that come before the jobs.
//!
//! The desk is there before anything else of a run and until its result is made, and nobody else asks the handle. So no wish is
//! lost where one part of the run hands over to the next: what came stays written down here.
//! Must not know: what is done about it. Start reading at [`Desk::look`].

use super::handle::Handle;
use crate::events::{RunEvent, RunObserver};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// What has not ended this long after the second wish to stop is given up.
pub(super) const URGENT_LIMIT: Duration = Duration::from_secs(3);

/// Everything that came.
#[derive(Debug)]
pub(super) struct Desk {
    handle: Handle,
    /// Wishes to stop.
    n_stops: u32,
    /// The run is to end at once.
    is_aborted: bool,
    /// A wish to end came since [`Desk::take_end`].
    has_new_end: bool,
    /// When it became urgent.
    urged_at: Option<Instant>,
    wants_report: bool,
    is_triggered: bool,
}

impl Desk {
    /// From now on the wishes of this handle are those of the run; also those that it had before.
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

    /// Writes down what came, and tells of wishes to end. Cheap.
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

    /// Somebody wanted the run to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.n_stops > 0 || self.is_aborted
    }

    /// The run is to end.
    pub(super) fn is_ending(&self) -> bool {
        self.is_stopped() || self.is_triggered
    }

    /// The run is to end at once.
    pub(super) fn is_aborted(&self) -> bool {
        self.is_aborted
    }

    /// What has not ended by now will not.
    pub(super) fn gives_up(&self) -> bool {
        self.urged_at.is_some_and(|urged_at| urged_at.elapsed() >= URGENT_LIMIT)
    }

    /// A wish to end came since this was asked last.
    pub(super) fn take_end(&mut self) -> bool {
        std::mem::take(&mut self.has_new_end)
    }

    /// A report was asked for since this was asked last.
    pub(super) fn take_report(&mut self) -> bool {
        std::mem::take(&mut self.wants_report)
    }

    /// The trigger came before the jobs.
    pub(super) fn trigger(&mut self) {
        self.is_triggered = true;
    }

    /// The trigger came, and nothing was done about it yet.
    pub(super) fn take_trigger(&mut self) -> bool {
        std::mem::take(&mut self.is_triggered)
    }

    /// Readable when there is something new.
    pub(super) fn poll_fd(&self) -> BorrowedFd<'_> {
        self.handle.poll_fd()
    }
}
