//! Copying to and from mapped files without dying of `SIGBUS`.
//!
//! The kernel sends `SIGBUS` when a page of a mapping has no file behind it (any more) or cannot be read. Within
//! [`guarded`], the handler puts an empty page of its own there, so that the copy runs on, and the caller gets to know. Any
//! other `SIGBUS` goes where it went before.
//!
//! Must not know: mappings. Start reading at [`guarded`].
#![expect(unsafe_code, reason = "a signal handler that maps a page")]

use crate::error::{Context, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

/// The copy that the thread is doing. Only its own handler looks at it; the atomics keep the compiler from reordering.
struct Guarded {
    start: AtomicUsize,
    end: AtomicUsize,
    has_faulted: AtomicBool,
}

thread_local! {
    // Constant and without a destructor: the handler reaches it without running any code of its own.
    static GUARDED: Guarded =
        const { Guarded { start: AtomicUsize::new(0), end: AtomicUsize::new(0), has_faulted: AtomicBool::new(false) } };
}

/// The handler that was installed before; written before ours is installed.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Errno of the installation, 0 if it succeeded. Other threads wait for it.
static INSTALLED: OnceLock<i32> = OnceLock::new();

/// Installs the handler in this process (once), and lets the signal through to this thread: a fault while it is blocked
/// kills the process.
pub(crate) fn prepare() -> Result<()> {
    let errno =
        *INSTALLED.get_or_init(|| install().map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0));
    if errno != 0 {
        return Err(std::io::Error::from_raw_os_error(errno)).context("sigaction", "SIGBUS");
    }
    unblock()
}

fn install() -> std::io::Result<()> {
    let mut before: libc::sigaction = empty_action();
    // SAFETY: asks for the present action only, into a valid structure.
    check(unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) })?;
    let _ = BEFORE.set(before);
    let mut wanted = empty_action();
    wanted.sa_sigaction = on_bus_error as *const () as libc::sighandler_t;
    wanted.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: the structure is initialised; the handler has the form of SA_SIGINFO and does only what a handler may.
    check(unsafe { libc::sigaction(libc::SIGBUS, &raw const wanted, std::ptr::null_mut()) })
}

fn unblock() -> Result<()> {
    // SAFETY: an all-zero set is valid memory, and is initialised before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: all take a valid set; the last changes the mask of this thread only.
    let error = unsafe {
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGBUS);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut())
    };
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(error)) }.context("pthread_sigmask", "SIGBUS")
}

/// Runs a copy that touches `len` bytes of a mapping from `start`. False if a page was missing: then bytes copied from
/// it are zeroes, bytes copied to it are lost, and the mapping has pages that do not belong to the file.
#[inline]
pub(crate) fn guarded(start: usize, len: usize, copy: impl FnOnce()) -> bool {
    GUARDED.with(|guard| {
        guard.start.store(start, Ordering::Relaxed);
        guard.end.store(start + len, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        copy();
        compiler_fence(Ordering::SeqCst);
        guard.end.store(0, Ordering::Relaxed);
        !(guard.has_faulted.load(Ordering::Relaxed) && guard.has_faulted.swap(false, Ordering::Relaxed))
    })
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid structure; SIGBUS has an address in it.
    let address = unsafe { (*info).si_addr() } as usize;
    let is_ours = GUARDED.with(|guard| {
        let range = guard.start.load(Ordering::Relaxed)..guard.end.load(Ordering::Relaxed);
        let is_patched = range.contains(&address) && patch(address);
        if is_patched {
            guard.has_faulted.store(true, Ordering::Relaxed);
        }
        is_patched
    });
    if !is_ours {
        pass_on(signal, info, context);
    }
}

/// Puts an empty page at an address within a mapping of ours. Only a system call: allowed in a handler.
fn patch(address: usize) -> bool {
    let page_bytes = rustix::param::page_size();
    let page = (address / page_bytes * page_bytes) as *mut libc::c_void;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the page lies within the mapping that this thread is copying from or to (`guarded`), which its owner keeps
    // until the copy is over; nothing of the program is there.
    let result = unsafe { libc::mmap(page, page_bytes, protection, flags, -1, 0) };
    result != libc::MAP_FAILED
}

/// Does what would have happened without this handler; if that was the default, the instruction faults again and the
/// process dies of it.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    match BEFORE.get() {
        Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
            if before.sa_flags & libc::SA_SIGINFO == 0 {
                // SAFETY: the action was installed as a handler without SA_SIGINFO, so it has this form.
                let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal);
            } else {
                // SAFETY: the action was installed as a handler with SA_SIGINFO, so it has this form.
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal, info, context);
            }
        }
        _ => {
            let default = empty_action();
            // SAFETY: the default action, in an initialised structure.
            unsafe { libc::sigaction(signal, &raw const default, std::ptr::null_mut()) };
        }
    }
}

fn empty_action() -> libc::sigaction {
    // SAFETY: an all-zero sigaction is a valid one: default action, no flags, empty mask.
    unsafe { std::mem::zeroed() }
}

fn check(result: libc::c_int) -> std::io::Result<()> {
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
