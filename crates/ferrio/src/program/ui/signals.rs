//! Signals to the program, and their effect on a run: its end, or a report.
//!
//! Must not know: how a run ends. Start reading at [`Signals::listen`], then [`Signals::steer`]. A thread reads the
//! signals and passes them on to the handle of the run. A signal that comes before the run is kept for it; one that
//! comes after its end is returned by [`Signals::take_untold`].

use crate::ui::stop_notice::StopNotice;
use ferrio::session::{Observer, Session, SessionOutcome};
use ferrio_run::{Handle, RunError};
use ferrio_sys::poll::wait_readable;
use ferrio_sys::process::Signal;
use ferrio_sys::signals::{self, SignalQueue};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest sleep of the thread; it wakes for every signal.
const LONG: Duration = Duration::from_secs(3_600);

/// The signals that the program receives. There is one value, from start to end of the program: the signals' earlier
/// settings are never restored.
#[derive(Debug, Clone)]
pub(crate) struct Signals(Arc<Ear>);

#[derive(Debug)]
struct Ear {
    queue: SignalQueue,
    /// Another process has the terminal, and gives it back before the shell stops this one.
    stops: Option<StopNotice>,
    heard: Mutex<CaughtSignals>,
}

#[derive(Debug, Default)]
struct CaughtSignals {
    /// Number of the first signal that asked for the end.
    first: Option<i32>,
    /// Number of the last such signal, until it is reported to the user.
    untold: Option<i32>,
    /// A report was asked for before there was a run.
    wants_report: bool,
    /// Handle of the current run.
    handle: Option<Handle>,
}

impl Signals {
    /// Receives `SIGINT`, `SIGTERM` and `SIGUSR1` from now on, and with `hears_hangups` also `SIGHUP`, unless it is
    /// ignored (`nohup`). Must be called before any other thread is started.
    pub(crate) fn listen(hears_hangups: bool) -> ferrio_sys::Result<Self> {
        let hangups = if hears_hangups && !signals::is_ignored(Signal::HUP)? { &[Signal::HUP][..] } else { &[] };
        Self::listen_to(hangups, None)
    }

    /// The same without `SIGHUP`, and where another process shows the run on the terminal, that process is told before `SIGTSTP` stops
    /// this one.
    pub(crate) fn listen_in_view(stops: Option<StopNotice>) -> ferrio_sys::Result<Self> {
        let others = if stops.is_some() { &[Signal::TSTP][..] } else { &[] };
        Self::listen_to(others, stops)
    }

    fn listen_to(others: &[Signal], stops: Option<StopNotice>) -> ferrio_sys::Result<Self> {
        let wanted = [&[Signal::INT, Signal::TERM, Signal::USR1], others].concat();
        let this = Self(Arc::new(Ear { queue: SignalQueue::open(&wanted)?, stops, heard: Mutex::default() }));
        let its = this.clone();
        let thread = std::thread::Builder::new().name("ferrio-signals".to_owned());
        let started = thread.spawn(move || {
            loop {
                wait_readable(&[its.0.queue.as_fd()], LONG);
                drop(its.look());
            }
        });
        let failed =
            |source| ferrio_sys::Error::Call { operation: "start thread", target: "signals".to_owned(), source };
        started.map(|_| this).map_err(failed)
    }

    /// Signals steer this run from now on, and those that came before do so too.
    pub(crate) fn steer(&self, handle: Handle) {
        let mut heard = self.look();
        if let Some(signal) = heard.first {
            handle.stop_by_signal(signal);
        }
        if std::mem::take(&mut heard.wants_report) {
            handle.snapshot();
        }
        heard.handle = Some(handle);
    }

    /// Runs a session, which signals steer.
    pub(crate) fn run(
        &self,
        session: Session,
        observers: &mut [&mut dyn Observer],
    ) -> Result<SessionOutcome, RunError> {
        self.steer(session.handle());
        session.run(observers)
    }

    /// The first signal that asked for the end.
    pub(crate) fn first(&self) -> Option<i32> {
        self.look().first
    }

    /// The newest signal that asked for the end, if it was not reported to the user yet.
    pub(crate) fn take_untold(&self) -> Option<i32> {
        self.look().untold.take()
    }

    /// Takes the signals from the queue. It keeps the lock meanwhile, so that no other thread sees only a part of them.
    fn look(&self) -> MutexGuard<'_, CaughtSignals> {
        let mut heard = self.0.heard.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(number) = self.0.queue.take() {
            if number == Signal::TSTP.as_raw() {
                self.0.stop();
                continue;
            }
            if number == Signal::USR1.as_raw() {
                heard.wants_report |= heard.handle.is_none();
                heard.handle.iter().for_each(Handle::snapshot);
                continue;
            }
            heard.first.get_or_insert(number);
            heard.untold = Some(number);
            heard.handle.iter().for_each(|handle| handle.stop_by_signal(number));
        }
        heard
    }
}

impl Ear {
    /// Stops the program, and returns when it is continued.
    fn stop(&self) {
        self.stops.iter().for_each(StopNotice::before);
        // A program that cannot be stopped goes on.
        let _ = signals::stop_program();
        self.stops.iter().for_each(StopNotice::behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_sys::process::{ChildEnd, fork, kill, process_id, wait};

    /// In a child of one thread, so that no signal of a test meets another.
    fn in_child(body: impl FnOnce() -> bool) {
        assert_eq!(wait(fork(|| i32::from(!body())).unwrap()).unwrap(), ChildEnd::Exited(0));
    }

    fn send(signal: Signal) {
        kill(process_id(), signal).unwrap();
    }

    #[test]
    fn what_comes_before_the_run_steers_it() {
        in_child(|| {
            let (signals, handle) = (Signals::listen(false).unwrap(), Handle::new().unwrap());
            send(Signal::TERM);
            signals.steer(handle.clone());
            handle.is_stopping() && signals.first() == Some(15)
        });
    }

    #[test]
    fn what_comes_in_the_run_reaches_it_by_the_thread() {
        in_child(|| {
            let (signals, handle) = (Signals::listen(false).unwrap(), Handle::new().unwrap());
            signals.steer(handle.clone());
            send(Signal::INT);
            while !handle.is_stopping() {
                std::thread::yield_now();
            }
            signals.take_untold() == Some(2) && signals.take_untold().is_none()
        });
    }

    #[test]
    fn what_comes_behind_the_run_is_told() {
        in_child(|| {
            let signals = Signals::listen(true).unwrap();
            send(Signal::INT);
            let first = signals.take_untold();
            // Not a hangup, which nohup has made none.
            send(Signal::TERM);
            (first, signals.take_untold(), signals.first()) == (Some(2), Some(15), Some(2))
        });
    }

    #[test]
    fn a_hangup_that_is_ignored_is_none() {
        in_child(|| {
            signals::ignore(Signal::HUP).unwrap();
            let signals = Signals::listen(true).unwrap();
            send(Signal::HUP);
            signals.first().is_none()
        });
    }
}
