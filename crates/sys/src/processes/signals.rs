//! Signals: a queue of those that a program listens for, and default settings for children. No handler is installed,
//! and this crate adds no state to that which the kernel keeps for the process: dispositions and masks.
//!
//! Must not know: reactions to signals. Start reading at [`SignalQueue`].
#![expect(unsafe_code, reason = "sigaction, the signal mask, signalfd")]

use crate::error::{Context, Result};
use rustix::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::process::Signal;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Signals that a program may have made its own, and that children take as everybody does.
const RESET: [Signal; 5] = [Signal::INT, Signal::TERM, Signal::USR1, Signal::PIPE, Signal::SEGV];

/// Signals that are read instead of being acted upon.
#[derive(Debug)]
pub struct SignalQueue {
    fd: OwnedFd,
}

impl SignalQueue {
    /// From now on these signals wait until they are read: the calling thread blocks them, and so does every thread that it
    /// starts afterwards. A thread that already runs and does not block them dies of them as before, with the whole program:
    /// so this belongs to the beginning of a program.
    pub fn open(signals: &[Signal]) -> Result<Self> {
        let set = set_of(signals);
        change_mask(libc::SIG_BLOCK, &set)?;
        // SAFETY: the set is initialised; -1 asks for a new descriptor.
        let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error()).context("signalfd", "");
        }
        // SAFETY: the call has just made this descriptor, and nobody else has it.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// The number of the next signal, if one waits. Does not block.
    pub fn take(&self) -> Option<i32> {
        let mut information = [0_u8; size_of::<libc::signalfd_siginfo>()];
        match rustix::io::read(&self.fd, &mut information) {
            // The number is the first field, a u32.
            Ok(n_read) if n_read == information.len() => {
                let number = u32::from_ne_bytes([information[0], information[1], information[2], information[3]]);
                i32::try_from(number).ok()
            }
            _ => None,
        }
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Makes `SIGINT` and `SIGTERM` end the program if they were ignored, which a shell without job control sets for
/// background programs: otherwise a signal that comes before the program listens would be lost.
pub fn stop_ignoring() -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        if action_of(signal)? == libc::SIG_IGN {
            set_default(signal)?;
        }
    }
    Ok(())
}

/// In this thread, a write to a pipe or socket without a reader is an error of the call, not a signal.
pub fn block_broken_pipes() -> Result<()> {
    change_mask(libc::SIG_BLOCK, &set_of(&[Signal::PIPE]))
}

/// The signal is ignored, as under `nohup`.
pub fn is_ignored(signal: Signal) -> Result<bool> {
    Ok(action_of(signal)? == libc::SIG_IGN)
}

/// Puts back the default action of the signals that end or ask, of `SIGPIPE`, and of `SIGSEGV` (the standard library's handler
/// survives one that another process sends), and blocks none: for a child right after `fork`, and before running another
/// program.
pub fn reset_in_child() -> Result<()> {
    RESET.into_iter().try_for_each(set_default)?;
    change_mask(libc::SIG_SETMASK, &set_of(&[]))
}

/// The variable with what readers of a run's page must know: the programs that jobs start do not get it.
pub const WEB_TOKEN_VARIABLE: &str = "FERRIO_WEB_TOKEN";

/// Gives a program that is started by `command` the signal settings that a shell would give it, whatever the calling
/// thread blocks, and the environment without [`WEB_TOKEN_VARIABLE`].
pub fn reset_in_program(command: &mut Command) -> &mut Command {
    let reset =
        || reset_in_child().map_err(|error| std::io::Error::from_raw_os_error(error.errno().unwrap_or(libc::EIO)));
    command.env_remove(WEB_TOKEN_VARIABLE);
    // SAFETY: what is done between fork and exec are system calls alone; nothing is locked, and memory is only allocated
    // for an error.
    unsafe { command.pre_exec(reset) }
}

/// Stops the program as `SIGTSTP` does where nobody listens for it, and returns when it is continued. The calling thread blocks the signal,
/// before and afterwards.
pub fn stop_program() -> Result<()> {
    crate::processes::process::kill(crate::processes::process::process_id(), Signal::TSTP)?;
    let set = set_of(&[Signal::TSTP]);
    change_mask(libc::SIG_UNBLOCK, &set)?;
    change_mask(libc::SIG_BLOCK, &set)
}

pub fn set_default(signal: Signal) -> Result<()> {
    set_action(signal, libc::SIG_DFL)
}

pub fn ignore(signal: Signal) -> Result<()> {
    set_action(signal, libc::SIG_IGN)
}

/// Blocks all signals in the calling thread, so that another thread gets those that are meant for the process.
pub fn block_in_this_thread() -> Result<()> {
    // SAFETY: an all-zero set is valid memory, and is initialised before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is valid.
    unsafe { libc::sigfillset(&raw mut set) };
    change_mask(libc::SIG_SETMASK, &set)
}

fn set_action(signal: Signal, action: libc::sighandler_t) -> Result<()> {
    // SAFETY: an all-zero sigaction is a valid one (default action, no flags, empty mask).
    let mut wanted: libc::sigaction = unsafe { std::mem::zeroed() };
    wanted.sa_sigaction = action;
    wanted.sa_flags = libc::SA_RESTART;
    // SAFETY: the structure is initialised, and `action` is SIG_DFL or SIG_IGN.
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

fn set_of(signals: &[Signal]) -> libc::sigset_t {
    // SAFETY: an all-zero set is valid memory, and is initialised before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is valid, and every `Signal` is a number of a signal.
    unsafe {
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, signal.as_raw());
        }
    }
    set
}

fn change_mask(how: i32, set: &libc::sigset_t) -> Result<()> {
    // SAFETY: the set is valid; the mask of this thread alone changes.
    let error = unsafe { libc::pthread_sigmask(how, std::ptr::from_ref(set), std::ptr::null_mut()) };
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(error)) }.context("pthread_sigmask", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::process::{ChildEnd, fork, kill, process_id, wait};

    /// In a child, so that the signals of this test do not interrupt other tests.
    fn in_child(body: impl FnOnce() -> bool) -> ChildEnd {
        wait(fork(|| i32::from(!body())).unwrap()).unwrap()
    }

    #[test]
    fn signals_wait_until_they_are_read() {
        let end = in_child(|| {
            let queue = SignalQueue::open(&[Signal::INT, Signal::TERM, Signal::USR1]).unwrap();
            let before = queue.take();
            // A signal that is ignored waits too: a shell without job control has it so for its background.
            ignore(Signal::TERM).unwrap();
            for signal in [Signal::INT, Signal::TERM, Signal::USR1] {
                kill(process_id(), signal).unwrap();
            }
            let is_readable =
                !crate::processes::poll::wait_readable(&[queue.as_fd()], std::time::Duration::ZERO).is_empty();
            let mut numbers: Vec<i32> = std::iter::from_fn(|| queue.take()).collect();
            numbers.sort_unstable();
            before.is_none() && is_readable && numbers == [2, 10, 15]
        });
        assert_eq!(end, ChildEnd::Exited(0));
    }

    #[test]
    fn threads_and_the_signals_of_a_queue() {
        let end = in_child(|| {
            let queue = SignalQueue::open(&[Signal::TERM]).unwrap();
            std::thread::spawn(|| kill(process_id(), Signal::TERM).unwrap()).join().unwrap();
            queue.take() == Some(15)
        });
        assert_eq!(end, ChildEnd::Exited(0));
    }

    #[test]
    fn a_program_takes_signals_as_usual() {
        let end = in_child(|| {
            let _queue = SignalQueue::open(&[Signal::TERM]).unwrap();
            block_in_this_thread().unwrap();
            let mut command = Command::new("/bin/sh");
            let status = reset_in_program(command.args(["-c", "kill -TERM $$; exit 0"])).status().unwrap();
            std::os::unix::process::ExitStatusExt::signal(&status) == Some(15)
        });
        assert_eq!(end, ChildEnd::Exited(0));
    }

    #[test]
    fn a_reset_child_dies_of_the_signal_again() {
        let end = in_child(|| {
            ignore(Signal::TERM).unwrap();
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
