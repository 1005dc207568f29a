//! Another program that runs beside the caller, and never longer than it.
//!
//! Must not know: the work of the program. Start reading at [`Program::start`].
#![expect(unsafe_code, reason = "what a child does between fork and exec")]

use crate::process::{self, ChildEnd, Pid, Signal};
use crate::processes::signals::reset_in_program;
use rustix::process::{WaitId, WaitIdOptions};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A program that runs, or has ended and is still to be cleared away, which is done when this is dropped: until then its id
/// belongs to it, so that no signal reaches a stranger.
///
/// It leads its own process group, so that all that it has started can be ended with it. The kernel kills it when the
/// thread that started it ends in any way; the processes that it has started are then on their own.
#[derive(Debug)]
pub struct Program {
    leader: Pid,
}

impl Program {
    /// Starts the program of a command.
    ///
    /// # Errors
    /// The error of the system, also for a program that does not exist or cannot be run.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let starter = process::process_id();
        let bind = move || match process::die_with_parent(starter) {
            Ok(true) => Ok(()),
            Ok(false) => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            Err(error) => Err(io::Error::from_raw_os_error(error.errno().unwrap_or(libc::EIO))),
        };
        reset_in_program(command).process_group(0);
        // SAFETY: between fork and exec these are two system calls; nothing is locked, and memory is only allocated for an error.
        let child = unsafe { command.pre_exec(bind) }.spawn()?;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        leader.map(|leader| Self { leader }).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
    }

    /// Its end; `None`: it runs. Does not block.
    ///
    /// # Errors
    /// `ECHILD` if another caller waited for it.
    pub fn end(&self) -> io::Result<Option<ChildEnd>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(self.leader), options))?;
        Ok(status.and_then(|status| {
            let exited = status.exit_status().map(ChildEnd::Exited);
            exited.or_else(|| status.terminating_signal().map(ChildEnd::Signaled))
        }))
    }

    /// Sends a signal to the program and to the processes that it has started.
    pub fn signal(&self, signal: Signal) -> crate::Result<()> {
        process::kill_group(self.leader, signal)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails if no process is left in the group.
        let _ = self.signal(Signal::KILL);
        let _ = process::wait(self.leader);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::process::{fork, kill, wait};
    use std::io::Read;
    use std::process::Stdio;
    use std::time::Duration;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        command
    }

    fn end_of(program: &Program) -> ChildEnd {
        loop {
            if let Some(end) = program.end().unwrap() {
                return end;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// True if there is such a process. A process that has ended and waits to be reaped by its parent does not count.
    fn runs(pid: Pid) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with(['Z', 'X']))
    }

    fn wait_until_gone(pid: Pid) {
        while runs(pid) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn ends_are_told_as_often_as_they_are_asked_for() {
        for (script, expected) in [
            ("exit 0", ChildEnd::Exited(0)),
            ("exit 7", ChildEnd::Exited(7)),
            ("kill -TERM $$", ChildEnd::Signaled(libc::SIGTERM)),
        ] {
            let program = Program::start(&mut shell(script)).unwrap();
            assert_eq!(end_of(&program), expected, "{script}");
            assert_eq!(program.end().unwrap(), Some(expected), "{script}");
            // A signal to an ended program is no error.
            program.signal(Signal::TERM).unwrap();
        }
    }

    #[test]
    fn a_program_that_cannot_be_run_is_an_error() {
        let error = Program::start(&mut Command::new("/no/such/program")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        let error = Program::start(&mut Command::new("/etc")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EACCES));
    }

    #[test]
    fn what_it_has_started_ends_with_it() {
        // Both processes ignore SIGTERM.
        let mut command = shell("trap '' TERM; sleep 1000 & echo $!; wait");
        let (mut reader, writer) = io::pipe().unwrap();
        let program = Program::start(command.stdout(writer)).unwrap();
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            line.extend(byte);
        }
        let started = Pid::from_raw(String::from_utf8(line).unwrap().trim().parse().unwrap()).unwrap();
        let leader = program.leader;
        program.signal(Signal::TERM).unwrap();
        assert_eq!(program.end().unwrap(), None);
        drop(program);
        assert!(!std::path::Path::new(&format!("/proc/{leader}")).exists(), "nothing is left to be cleared away");
        wait_until_gone(started);
    }

    #[test]
    fn it_does_not_outlive_who_started_it() {
        let (mut reader, writer) = io::pipe().unwrap();
        let starter = fork(|| {
            let program = Program::start(shell("exec sleep 1000").stdin(Stdio::null())).unwrap();
            let id = program.leader.as_raw_nonzero().get();
            io::Write::write_all(&mut &writer, &id.to_ne_bytes()).unwrap();
            std::thread::sleep(Duration::from_secs(1000));
            0
        })
        .unwrap();
        drop(writer);
        let mut id = [0; 4];
        reader.read_exact(&mut id).unwrap();
        let program = Pid::from_raw(i32::from_ne_bytes(id)).unwrap();
        assert!(runs(program));
        kill(starter, Signal::KILL).unwrap();
        wait(starter).unwrap();
        wait_until_gone(program);
    }

    #[test]
    fn signals_are_as_a_shell_has_them() {
        let thread = std::thread::spawn(|| {
            crate::processes::signals::block_in_this_thread().unwrap();
            let (mut reader, writer) = io::pipe().unwrap();
            let mut command = shell("grep SigBlk /proc/self/status");
            let program = Program::start(command.stdout(writer)).unwrap();
            drop(command);
            assert_eq!(end_of(&program), ChildEnd::Exited(0));
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        assert_eq!(thread.join().unwrap(), "SigBlk:\t0000000000000000\n");
    }
}
