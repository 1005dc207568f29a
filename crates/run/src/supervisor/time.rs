//! The time of a run: that of the machine, or a virtual one, which only simulated devices and waits move.
//!
//! Virtual times are moments like others, counted from the moment at which the run was made: whoever compares moments need not
//! know which ones they are. Must not know: what is waited for. Start reading at [`RunTime`].

use ferrio_sys::clock::Seat;
use ferrio_sys::{Clock, poll};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at workers that get ready.
const NAP: Duration = Duration::from_micros(50);

/// The time of a run.
pub(super) enum RunTime {
    /// That of the machine.
    Real,
    /// One that the workers share; the supervisor leads it.
    Virtual {
        /// The moment that is its beginning.
        origin: Instant,
        /// Seat of the supervisor.
        seat: Arc<Seat>,
    },
}

impl RunTime {
    /// A virtual time. `wants_attention`: somebody outside of it wants the supervisor to look up.
    pub(super) fn new_virtual(wants_attention: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self::Virtual { origin: Instant::now(), seat: Seat::first(wants_attention) }
    }

    /// A clock of this time for the supervisor.
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

    /// Time since a moment of this time.
    pub(super) fn since(&self, moment: Instant) -> Duration {
        self.now().saturating_duration_since(moment)
    }

    /// Waits until one of the descriptors is readable, or somebody has something to say; at most `limit`, and of real time no
    /// longer than `tick`. Returns the positions of those that are readable.
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

    /// Lets workers that get ready go on for a moment.
    pub(super) fn nap(&self) {
        match self {
            Self::Real => std::thread::sleep(NAP),
            // Whoever is ready, fails or speaks calls.
            Self::Virtual { seat, .. } => seat.sleep_until(u64::MAX),
        }
    }

    /// Lets the workers go that wait at the gate.
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
