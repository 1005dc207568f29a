//! Signals: handlers that only count, and putting things back in children.
//!
//! Must not know: what a signal makes the program do. Start reading at [`install`] and [`take_pending`].
#![expect(unsafe_code, reason = "sigaction and the signal mask")]

use crate::error::{Context, Result};
use rustix::process::Signal;
use std::sync::atomic::{AtomicU32, Ordering};

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static TERMINATIONS: AtomicU32 = AtomicU32::new(0);
static USER1: AtomicU32 = AtomicU32::new(0);

/// Signals that [`install`] counts.
const COUNTED: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::USR1];

/// How often each signal came since it was last asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PendingSignals {
    /// `SIGINT`.
    pub interrupts: u32,
    /// `SIGTERM`.
    pub terminations: u32,
    /// `SIGUSR1`.
    pub user1: u32,
}

impl PendingSignals {
    /// True if any of them came.
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

/// Counts `SIGINT`, `SIGTERM` and `SIGUSR1` from now on instead of dying of them. Interrupted system calls are restarted
/// (`SA_RESTART`), except sleeps and waits on futexes, which end early.
pub fn install() -> Result<()> {
    COUNTED.into_iter().try_for_each(|signal| set_action(signal, count as *const () as libc::sighandler_t))
}

/// True when a signal that ends the program was counted and not yet taken.
pub fn is_end_pending() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0 || TERMINATIONS.load(Ordering::Relaxed) > 0
}

/// Counts `SIGHUP` as a `SIGTERM` from now on, unless it is ignored (`nohup`): for a program that has something to put
/// away before its terminal is gone.
pub fn install_hangup() -> Result<()> {
    if action_of(Signal::HUP)? == libc::SIG_IGN {
        return Ok(());
    }
    set_action(Signal::HUP, count as *const () as libc::sighandler_t)
}

/// The signals that came since the last call.
pub fn take_pending() -> PendingSignals {
    PendingSignals {
        interrupts: INTERRUPTS.swap(0, Ordering::Relaxed),
        terminations: TERMINATIONS.swap(0, Ordering::Relaxed),
        user1: USER1.swap(0, Ordering::Relaxed),
    }
}

/// How often `SIGUSR1` came since it was last asked; the other signals stay pending.
pub fn take_user1() -> u32 {
    USER1.swap(0, Ordering::Relaxed)
}

/// Puts back the default action of the counted signals, of `SIGPIPE`, and of `SIGSEGV` (the standard library's handler
/// survives one that another process sends), blocks none, and forgets those that came: for a child right after `fork`,
/// and before running another program.
pub fn reset_in_child() -> Result<()> {
    COUNTED.into_iter().chain([Signal::PIPE, Signal::SEGV]).try_for_each(set_default)?;
    take_pending();
    set_mask(false)
}

/// Gives a signal its default action.
pub fn set_default(signal: Signal) -> Result<()> {
    set_action(signal, libc::SIG_DFL)
}

/// Has a signal ignored.
pub fn ignore(signal: Signal) -> Result<()> {
    set_action(signal, libc::SIG_IGN)
}

/// Blocks all signals in the calling thread, so that another thread gets those that are meant for the process.
pub fn block_in_this_thread() -> Result<()> {
    set_mask(true)
}

extern "C" fn count(signal: i32) {
    // Only lock-free atomics are touched: allowed in a signal handler.
    let counter = match signal {
        libc::SIGINT => &INTERRUPTS,
        libc::SIGTERM | libc::SIGHUP => &TERMINATIONS,
        _ => &USER1,
    };
    counter.fetch_add(1, Ordering::Relaxed);
}

fn set_action(signal: Signal, action: libc::sighandler_t) -> Result<()> {
    // SAFETY: an all-zero sigaction is a valid one (default action, no flags, empty mask).
    let mut wanted: libc::sigaction = unsafe { std::mem::zeroed() };
    wanted.sa_sigaction = action;
    wanted.sa_flags = libc::SA_RESTART;
    // SAFETY: the structure is initialised, and `action` is SIG_DFL, SIG_IGN or `count`, a function of the form that a
    // handler without SA_SIGINFO must have and that does only what a handler may.
    let result = unsafe { libc::sigaction(signal.as_raw(), &raw const wanted, std::ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }.context("sigaction", signal.as_raw())
}

fn action_of(signal: Signal) -> Result<libc::sighandler_t> {
    // SAFETY: an all-zero sigaction is a valid one.
    let mut present: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: no new action is given, and the present one is written to a structure of its type.
    let result = unsafe { libc::sigaction(signal.as_raw(), std::ptr::null(), &raw mut present) };
    let result = if result == 0 { Ok(present.sa_sigaction) } else { Err(std::io::Error::last_os_error()) };
    result.context("sigaction", signal.as_raw())
}

fn set_mask(is_blocked: bool) -> Result<()> {
    // SAFETY: an all-zero set is valid memory, and is initialised before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: all three take a valid set; the last replaces the mask of this thread only.
    let error = unsafe {
        if is_blocked {
            libc::sigfillset(&raw mut set)
        } else {
            libc::sigemptyset(&raw mut set)
        };
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut())
    };
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(error)) }.context("pthread_sigmask", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{ChildEnd, fork, kill, process_id, wait};

    /// In a child, so that the signals of this test do not interrupt other tests.
    fn in_child(body: impl FnOnce() -> bool) -> ChildEnd {
        wait(fork(|| i32::from(!body())).unwrap()).unwrap()
    }

    #[test]
    fn installed_handlers_count() {
        let end = in_child(|| {
            install().unwrap();
            for signal in [Signal::INT, Signal::INT, Signal::TERM, Signal::USR1] {
                kill(process_id(), signal).unwrap();
            }
            let expected = PendingSignals { interrupts: 2, terminations: 1, user1: 0 };
            take_user1() == 1 && take_pending() == expected && !take_pending().any()
        });
        assert_eq!(end, ChildEnd::Exited(0));
    }

    #[test]
    fn a_hangup_counts_as_termination_unless_it_is_ignored() {
        let end = in_child(|| {
            install_hangup().unwrap();
            kill(process_id(), Signal::HUP).unwrap();
            let counted = take_pending() == PendingSignals { terminations: 1, ..PendingSignals::default() };
            ignore(Signal::HUP).unwrap();
            install_hangup().unwrap();
            kill(process_id(), Signal::HUP).unwrap();
            counted && !take_pending().any()
        });
        assert_eq!(end, ChildEnd::Exited(0));
    }

    #[test]
    fn a_reset_child_dies_of_the_signal_again() {
        let end = in_child(|| {
            install().unwrap();
            block_in_this_thread().unwrap();
            reset_in_child().unwrap();
            kill(process_id(), Signal::TERM).unwrap();
            true
        });
        assert_eq!(end, ChildEnd::Signaled(15));
    }

    #[test]
    fn ignored_and_blocked_signals_do_nothing() {
        let end = in_child(|| {
            ignore(Signal::TERM).unwrap();
            kill(process_id(), Signal::TERM).unwrap();
            block_in_this_thread().unwrap();
            kill(process_id(), Signal::HUP).unwrap();
            true
        });
        assert_eq!(end, ChildEnd::Exited(0));
    }
}
