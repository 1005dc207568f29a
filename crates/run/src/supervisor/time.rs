//! The time of a run: real, or virtual, which only simulated devices and waits advance.
//!
//! Virtual times are represented as `Instant`s, counted from the one at which the run was made, so that comparisons
//! need not know which kind they are. Must not know: the reasons for waits. Start reading at [`RunTime`].

use ferrio_sys::clock::Seat;
use ferrio_sys::{Clock, poll};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at workers that are getting ready.
const NAP: Duration = Duration::from_micros(50);

pub(super) enum RunTime {
    Real,
    /// A virtual time that the supervisor and the workers share; the supervisor leads it.
    Virtual {
        origin: Instant,
        seat: Arc<Seat>,
    },
}

impl RunTime {
    /// A virtual time. `wants_attention` returns true if a request from outside waits for the supervisor.
    pub(super) fn new_virtual(wants_attention: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self::Virtual { origin: Instant::now(), seat: Seat::first(wants_attention) }
    }

    pub(super) fn clock(&self) -> Clock {
        match self {
            Self::Real => Clock::new(),
            Self::Virtual { seat, .. } => Clock::seated(Arc::clone(seat)),
        }
    }

    pub(super) fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual { .. })
    }

    pub(super) fn now(&self) -> Instant {
        match self {
            Self::Real => Instant::now(),
            Self::Virtual { origin, seat } => *origin + Duration::from_nanos(seat.now_ns()),
        }
    }

    pub(super) fn since(&self, moment: Instant) -> Duration {
        self.now().saturating_duration_since(moment)
    }

    /// Waits until a descriptor is readable or a worker on virtual time has a message, at most `limit`, and at most
    /// `tick` of real time. Returns the indexes of the readable descriptors.
    pub(super) fn wait(&self, fds: &[BorrowedFd<'_>], limit: Duration, tick: Duration) -> Vec<usize> {
        match self {
            Self::Real => poll::wait_readable(fds, limit.min(tick)),
            Self::Virtual { seat, .. } => {
                let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
                seat.sleep_until(seat.now_ns().saturating_add(limit_ns));
                Vec::new()
            }
        }
    }

    /// Lets workers that are getting ready continue for a moment.
    pub(super) fn nap(&self) {
        match self {
            Self::Real => std::thread::sleep(NAP),
            // A worker wakes the seat when it is ready, fails or sends a message.
            Self::Virtual { seat, .. } => seat.sleep_until(u64::MAX),
        }
    }

    /// Lets the workers at the gate continue.
    pub(super) fn let_go(&self) {
        if let Self::Virtual { seat, .. } = self {
            seat.let_go();
        }
    }

    /// A seat for a worker that is about to be started.
    pub(super) fn add_seat(&self) -> Option<Arc<Seat>> {
        match self {
            Self::Real => None,
            Self::Virtual { seat, .. } => Some(seat.add()),
        }
    }
}

impl Drop for RunTime {
    fn drop(&mut self) {
        if let Self::Virtual { seat, .. } = self {
            seat.leave();
        }
    }
}
