//! Processes: fork, wait, kill, session, name, owner, and threads with their own descriptor table.
//!
//! Must not know: the work of a child. Start reading at [`fork`] and [`try_wait_any`].
#![expect(unsafe_code, reason = "fork, _exit, unshare")]

use crate::error::{Context, Result};
use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub use rustix::process::{Pid, Signal};

/// Exit code of a child whose closure panicked; the same that the Rust runtime uses.
pub const PANIC_EXIT_CODE: i32 = 101;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEnd {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    Signaled(i32),
}

/// Makes a child that runs the closure and ends with the code it returns (its low 8 bits; [`PANIC_EXIT_CODE`] if it
/// panics), and returns the child's id to the parent.
///
/// The child has only the calling thread. It leaves by `_exit`: no destructor of the parent's values, no exit handler and
/// no output buffer of the parent runs twice. A lock that another thread of the parent held at that moment stays locked
/// in the child for ever, so fork before starting threads; memory allocation is exempt, because the C library takes care
/// of its own locks.
pub fn fork(child: impl FnOnce() -> i32) -> Result<Pid> {
    // SAFETY: the child goes on with a copy of this thread and of all memory, so every value is as valid as in the
    // parent; what other threads were in the midst of may be locked for ever (documented above), not half valid to use.
    match unsafe { libc::fork() } {
        0 => {
            let code = catch_unwind(AssertUnwindSafe(child)).unwrap_or(PANIC_EXIT_CODE);
            exit_at_once(code)
        }
        pid => Pid::from_raw(pid.max(0)).ok_or_else(std::io::Error::last_os_error).context("fork", ""),
    }
}

/// Held while a descriptor exists that only the child of the next [`fork`] may inherit: the descriptors of a process belong to
/// all of its threads, and a child that another thread forks meanwhile would hold it too.
pub fn fork_alone() -> MutexGuard<'static, ()> {
    // The lock protects no memory, and a thread that panicked with it has closed its descriptors.
    FORKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See [`fork_alone`].
static FORKING: Mutex<()> = Mutex::new(());

/// Ends the process without destructors, exit handlers or flushing of output: the way out of a forked child.
pub fn exit_at_once(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it is used afterwards.
    unsafe { libc::_exit(code) }
}

/// The end of some child that has ended and was not yet waited for, or `None` if all still run. Does not block.
///
/// # Errors
/// `ECHILD` if there is no child at all.
pub fn try_wait_any() -> Result<Option<(Pid, ChildEnd)>> {
    wait_for(None, WaitOptions::NOHANG)
}

/// The end of this child if it has ended, else `None`. Does not block.
pub fn try_wait(child: Pid) -> Result<Option<ChildEnd>> {
    Ok(wait_for(Some(child), WaitOptions::NOHANG)?.map(|(_, end)| end))
}

pub fn wait(child: Pid) -> Result<ChildEnd> {
    loop {
        if let Some((_, end)) = wait_for(Some(child), WaitOptions::empty())? {
            return Ok(end);
        }
    }
}

fn wait_for(child: Option<Pid>, options: WaitOptions) -> Result<Option<(Pid, ChildEnd)>> {
    let result = rustix::io::retry_on_intr(|| rustix::process::waitpid(child, options));
    let target = child.map_or_else(|| "any child".to_owned(), |pid| pid.to_string());
    Ok(result.context("waitpid", target)?.and_then(|(pid, status)| Some((pid, child_end(status)?))))
}

/// Stopped and continued children have not ended.
fn child_end(status: WaitStatus) -> Option<ChildEnd> {
    status.exit_status().map(ChildEnd::Exited).or_else(|| status.terminating_signal().map(ChildEnd::Signaled))
}

/// True if a process is stopped, by a shell or a debugger; false also where that cannot be known.
pub fn is_stopped(process: Pid) -> bool {
    matches!(state(process), Some('T' | 't'))
}

/// True if a signal has stopped a process, and not a debugger; false also where that cannot be known.
pub fn is_stopped_by_signal(process: Pid) -> bool {
    state(process) == Some('T')
}

/// The state of a process, a letter of `/proc/PID/stat`.
fn state(process: Pid) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program, in brackets, may have brackets itself.
    text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

pub fn kill(process: Pid, signal: Signal) -> Result<()> {
    rustix::process::kill_process(process, signal).context("kill", process)
}

/// Sends a signal to all processes of a group, named by the id of its first process.
pub fn kill_group(group: Pid, signal: Signal) -> Result<()> {
    rustix::process::kill_process_group(group, signal).context("kill", format_args!("group {group}"))
}

/// Makes the calling process the leader of a new session, out of reach of the terminal's signals.
pub fn set_session() -> Result<()> {
    rustix::process::setsid().map(drop).context("setsid", "")
}

/// Makes the kernel send this signal to the calling process when the thread that forked it ends. A parent that was
/// killed in between is not noticed: compare [`parent_id`] afterwards.
pub fn signal_on_parent_death(signal: Signal) -> Result<()> {
    rustix::process::set_parent_process_death_signal(Some(signal)).context("prctl", "PR_SET_PDEATHSIG")
}

/// Makes the kernel kill this process when its parent ends. False: that parent is gone already, so that no signal will
/// ever come, and the caller should end by itself.
pub fn die_with_parent(parent: Pid) -> Result<bool> {
    signal_on_parent_death(Signal::KILL)?;
    // Asked for first, looked at afterwards: a parent that dies in between is noticed either way.
    Ok(parent_id() == Some(parent))
}

/// Id of the parent; `None` if it is outside of the PID name space.
pub fn parent_id() -> Option<Pid> {
    rustix::process::getppid()
}

/// The effective user of the calling process: new files belong to it.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub fn process_id() -> Pid {
    rustix::process::getpid()
}

/// Id of the calling thread; that of the process for its first thread.
pub fn thread_id() -> Pid {
    rustix::thread::gettid()
}

/// Names the calling thread (for its first thread: the process, as `ps` shows it). The kernel keeps 15 bytes; a NUL ends
/// the name.
pub fn set_comm(name: &str) -> Result<()> {
    let bytes = name.bytes().take_while(|&byte| byte != 0).collect::<Vec<_>>();
    let c_name = CString::new(bytes).map_err(|_| Errno::INVAL).context("prctl", "PR_SET_NAME")?;
    rustix::thread::set_name(&c_name).context("prctl", format_args!("PR_SET_NAME {name}"))
}

/// Name of the calling thread, at most 15 bytes.
pub fn comm() -> Result<String> {
    let name = rustix::thread::name().context("prctl", "PR_GET_NAME")?;
    Ok(name.to_string_lossy().into_owned())
}

/// Makes the calling thread run as this user (real, effective and saved id where privileged). Other threads keep theirs:
/// a job thread does not change its siblings.
pub fn set_user_id(user: u32) -> Result<()> {
    // The highest number means "no user" to the kernel, and is not a valid Uid.
    let valid = (user != u32::MAX).then_some(user).ok_or(Errno::INVAL).context("setuid", user)?;
    rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(valid)).context("setuid", user)
}

/// Makes the calling thread run with this group. See [`set_user_id`].
pub fn set_group_id(group: u32) -> Result<()> {
    let valid = (group != u32::MAX).then_some(group).ok_or(Errno::INVAL).context("setgid", group)?;
    rustix::thread::set_thread_gid(rustix::process::Gid::from_raw(valid)).context("setgid", group)
}

/// Starts a thread with a descriptor table of its own (`unshare(CLONE_FILES)`), so that its descriptors cost no locked
/// reference counts that other threads share.
///
/// The table starts as a copy: descriptors that the closure brings along work, but dropping them leaves the original
/// open. Nothing that owns a descriptor may leave the thread: its number would mean something else outside.
pub fn spawn_with_own_files<T: Send + 'static>(
    name: String,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<Result<T>>> {
    let thread = std::thread::Builder::new().name(name.replace('\0', " "));
    let run = move || {
        // SAFETY: the thread has just started and opened nothing; descriptors that it was given have the same numbers in
        // the copied table. That none leaves it is the documented duty of the closure.
        unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) }.context("unshare", "files")?;
        Ok(body())
    };
    thread.spawn(run).context("start thread", name)
}

/// Makes `/dev/null` of the standard input, and the standard error of the standard output, for a program whose own ones are connections
/// that its children must not have.
///
/// # Errors
/// The system has no descriptor left, or no `/dev/null`.
pub fn release_standard_streams() -> std::io::Result<()> {
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(())
}

#[cfg(test)]
mod tests;
