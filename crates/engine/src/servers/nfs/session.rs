//! A mount by libnfs with a safe interface: requests with their results, driven by the library's event functions.
//!
//! The library is called by one thread at a time, and calls back only within these calls. What a callback writes to lives until the
//! context of the library is destroyed, as that calls back for all that is unfinished.
//! Must not know: units, the order of I/Os. Start reading at [`NfsMount::new`], then [`NfsSession`].
#![expect(unsafe_code, reason = "functions of a C library, and their callbacks")]

use super::library::{Libnfs, NfsContext, NfsFileHandle};
use crate::contract::Cancellation;
use crate::servers::remote::aside::Caller;
use crate::servers::remote::driven::LineState;
use crate::servers::server_facts::NfsMountFacts;
use ferrio_sys::arena::Region;
use ferrio_sys::poll;
use ferrio_sys::tcp_info::TcpCounts;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::rc::Rc;
use std::time::Duration;

/// `POLLOUT` of `poll(2)`.
const TO_WRITE: c_int = libc::POLLOUT as c_int;

/// `nfs_cb`: status, context, data, the caller's pointer.
pub(super) type NfsCallback = unsafe extern "C" fn(c_int, *mut NfsContext, *mut c_void, *mut c_void);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NfsError {
    /// A negative errno.
    pub(super) code: i32,
    /// The library's words.
    pub(super) text: String,
}

/// An open file. It belongs to the session that has opened it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NfsFile(*mut NfsFileHandle);

/// What the answer to a request writes.
struct NfsAnswer {
    status: Option<c_int>,
    data: *mut c_void,
}

unsafe extern "C" fn answered(status: c_int, _context: *mut NfsContext, data: *mut c_void, answer: *mut c_void) {
    // SAFETY: `ask` has given the address of an `NfsAnswer`, which lives until its callback has come.
    let answer = unsafe { &mut *answer.cast::<NfsAnswer>() };
    *answer = NfsAnswer { status: Some(status), data };
}

/// What the answer about the space of a file system writes: once it has come, size and free space, if the server tells.
#[derive(Default)]
struct NfsSpace {
    is_answered: bool,
    figures: Option<[u64; 2]>,
}

unsafe extern "C" fn measured(status: c_int, _context: *mut NfsContext, data: *mut c_void, space: *mut c_void) {
    // SAFETY: `facts` has given the address of an `NfsSpace`, which lives until its callback has come. Without an error the data are a
    // `statvfs`, which lives during the call.
    unsafe {
        let figures = (status >= 0 && !data.is_null()).then(|| {
            let found = &*data.cast::<libc::statvfs>();
            [found.f_blocks, found.f_bavail].map(|blocks| blocks.saturating_mul(found.f_frsize))
        });
        *space.cast::<NfsSpace>() = NfsSpace { is_answered: true, figures };
    }
}

/// A context of the library.
pub(super) struct NfsMount {
    api: &'static Libnfs,
    context: *mut NfsContext,
}

// SAFETY: the library has no state of a thread; the owner of the mount is the only user of its context.
unsafe impl Send for NfsMount {}

impl NfsMount {
    /// Mounts an export. Blocks: while the server is silent, or its name is looked up.
    pub(super) fn new(api: &'static Libnfs, url: &str, caller: &Caller) -> Result<Self, NfsError> {
        let plain = |text: &str| NfsError { code: -libc::EINVAL, text: text.to_owned() };
        let url = CString::new(url).map_err(|_| plain("the address has a NUL byte"))?;
        // SAFETY: no arguments.
        let context = unsafe { (api.nfs_init_context)() };
        if context.is_null() {
            return Err(plain("no memory for a context of libnfs"));
        }
        let mount = Self { api, context };
        // SAFETY: the context is valid; the address is a string of C.
        let parsed = unsafe {
            // A lost connection ends the job, unless the address wants otherwise.
            (api.nfs_set_autoreconnect)(context, 0);
            (api.nfs_parse_url_dir)(context, url.as_ptr())
        };
        if parsed.is_null() {
            return Err(mount.error(-libc::EINVAL));
        }
        let is_gone = || caller.is_gone();
        let mounted = mount.ask(Cancellation::new(&is_gone), |callback, answer| {
            // SAFETY: the library has filled the address, and copies what it needs.
            unsafe { (api.nfs_mount_async)(context, (*parsed).server, (*parsed).path, callback, answer) }
        });
        // SAFETY: it came from `nfs_parse_url_dir`, and nobody uses it any more.
        unsafe { (api.nfs_destroy_url)(parsed) };
        mounted.map(|_| mount)
    }

    /// The library's last error.
    fn error(&self, code: i32) -> NfsError {
        // SAFETY: the context is valid.
        let text = unsafe { words(self.api, self.context) };
        let text =
            if text.is_empty() { std::io::Error::from_raw_os_error(code.saturating_neg()).to_string() } else { text };
        NfsError { code: status_of(code, &text), text }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the context is valid, and the descriptor is open at least until the library is called again.
        unsafe {
            let fd = (self.api.nfs_get_fd)(self.context);
            (fd >= 0).then(|| BorrowedFd::borrow_raw(fd))
        }
    }

    /// Waits for an event of the connection for a time at most, and lets the library handle it.
    fn turn(&self, limit: Duration) -> LineState {
        // SAFETY: the context is valid.
        let wanted = unsafe { (self.api.nfs_which_events)(self.context) };
        let events = match self.fd() {
            Some(fd) if wanted != 0 => poll::events_of(fd, wanted as i16, limit),
            _ => {
                // Between two connections.
                std::thread::sleep(limit.min(Duration::from_millis(10)));
                0
            }
        };
        self.serve(c_int::from(events))
    }

    fn serve(&self, events: c_int) -> LineState {
        // SAFETY: the context is valid, and nothing that callbacks write to is borrowed.
        if unsafe { (self.api.nfs_service)(self.context, events) } < 0 { LineState::Lost } else { LineState::Alive }
    }

    /// What the server says of the root of the export. Blocks while it is silent.
    pub(super) fn facts(&self, caller: &Caller) -> NfsMountFacts {
        let Self { api, context } = *self;
        let is_gone = || caller.is_gone();
        let (cancellation, space) = (Cancellation::new(&is_gone), Box::into_raw(Box::new(NfsSpace::default())));
        // SAFETY: the context is valid, the path lives during the call, the place is freed below.
        let asked = unsafe { (api.nfs_statvfs_async)(context, c"/".as_ptr(), measured, space.cast()) };
        // SAFETY: callbacks write only within calls of the library, and the place is not freed before.
        while asked >= 0 && unsafe { !(*space).is_answered } && !cancellation.is_over() {
            if self.turn(Cancellation::LOOK) == LineState::Lost {
                break;
            }
        }
        // SAFETY: as before. A place that a callback may still write to is never freed.
        let NfsSpace { is_answered, figures } = unsafe { ptr::read(space) };
        if is_answered || asked < 0 {
            // SAFETY: the callback has come, and comes once; or it never comes.
            drop(unsafe { Box::from_raw(space) });
        }
        let allowed = self.ask_status(cancellation, |callback, answer| {
            // SAFETY: the context is valid, and the path lives during the call.
            unsafe { (api.nfs_access2_async)(context, c"/".as_ptr(), callback, answer) }
        });
        let allowed = allowed.map(|mask| [libc::R_OK, libc::W_OK].map(|bit| mask & bit != 0));
        // SAFETY: the context is valid.
        let largest_bytes = unsafe { [(api.nfs_get_readmax)(context), (api.nfs_get_writemax)(context)] };
        NfsMountFacts { largest_bytes, space_bytes: figures, permissions: allowed }
    }

    /// The status of the answer to a request, if it is no error.
    fn ask_status(
        &self,
        cancellation: Cancellation<'_>,
        send: impl FnOnce(NfsCallback, *mut c_void) -> c_int,
    ) -> Option<c_int> {
        let answer = Box::into_raw(Box::new(NfsAnswer { status: None, data: ptr::null_mut() }));
        if send(answered, answer.cast()) < 0 {
            // SAFETY: the request was not sent, so no callback has the address.
            drop(unsafe { Box::from_raw(answer) });
            return None;
        }
        loop {
            // SAFETY: callbacks write only within calls of the library.
            if let Some(status) = unsafe { ptr::read(answer) }.status {
                // SAFETY: the callback has come, and it comes once.
                drop(unsafe { Box::from_raw(answer) });
                return (status >= 0).then_some(status);
            }
            // An answer that nobody awaits may still come: its place is never freed.
            if cancellation.is_over() || self.turn(Cancellation::LOOK) == LineState::Lost {
                return None;
            }
        }
    }

    /// Sends a request, and waits for its answer; `None`: the call was cancelled.
    fn ask(
        &self,
        cancellation: Cancellation<'_>,
        send: impl FnOnce(NfsCallback, *mut c_void) -> c_int,
    ) -> Result<Option<*mut c_void>, NfsError> {
        let answer = Box::into_raw(Box::new(NfsAnswer { status: None, data: ptr::null_mut() }));
        let code = send(answered, answer.cast());
        if code < 0 {
            // SAFETY: the request was not sent, so no callback has the address.
            drop(unsafe { Box::from_raw(answer) });
            return Err(self.error(code));
        }
        loop {
            // SAFETY: callbacks write only within calls of the library.
            let NfsAnswer { status, data } = unsafe { ptr::read(answer) };
            if let Some(status) = status {
                // SAFETY: the callback has come, and it comes once.
                drop(unsafe { Box::from_raw(answer) });
                return if status < 0 { Err(self.error(status)) } else { Ok(Some(data)) };
            }
            // An answer that nobody awaits may still come: its place is never freed.
            if cancellation.is_over() {
                return Ok(None);
            }
            // SAFETY: as above.
            if self.turn(Cancellation::LOOK) == LineState::Lost && unsafe { (*answer).status.is_none() } {
                return Err(self.error(-libc::ECONNRESET));
            }
        }
    }
}

impl Drop for NfsMount {
    fn drop(&mut self) {
        // SAFETY: the context is valid and not used later; what its callbacks write to is still there.
        unsafe { (self.api.nfs_destroy_context)(self.context) };
    }
}

/// The errno of a status of the library. Where the server refuses a read or write, libnfs 4 has one status for all reasons, and the
/// errno at the end of its words: `NFS: Write failed with NFS3ERR_NOSPC(-28)`.
fn status_of(status: c_int, text: &str) -> c_int {
    if status != -libc::EFAULT {
        return status;
    }
    let number = text.trim_end().strip_suffix(')').and_then(|text| text.rsplit_once('(')).map(|(_, number)| number);
    match number.and_then(|number| number.parse().ok()) {
        Some(errno @ -4095..0) if errno != -libc::EFAULT => errno,
        _ => -libc::EIO,
    }
}

/// A request for data.
struct NfsTransfer {
    api: &'static Libnfs,
    slot: u32,
    /// Place of the data of a read.
    to: *mut u8,
    n_bytes: usize,
    is_read: bool,
    done: Rc<UnsafeCell<VecDeque<(u32, i32)>>>,
}

/// The library's last error.
///
/// # Safety
/// The context is valid.
unsafe fn words(api: &Libnfs, context: *mut NfsContext) -> String {
    // SAFETY: the text is a string of C, or absent.
    unsafe {
        let text = (api.nfs_get_error)(context);
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

unsafe extern "C" fn transferred(status: c_int, context: *mut NfsContext, data: *mut c_void, transfer: *mut c_void) {
    // SAFETY: `transfer` has given the address of a `NfsTransfer` of the session, which outlives the context. The place of the data is
    // as long as the request asked for, and belongs to the engine until the unit is reaped. Nobody else uses the list now.
    unsafe {
        let transfer = &*transfer.cast::<NfsTransfer>();
        let status = if status < 0 { status_of(status, &words(transfer.api, context)) } else { status };
        if let (true, Ok(n_bytes)) = (transfer.is_read && !data.is_null(), usize::try_from(status)) {
            ptr::copy_nonoverlapping(data.cast::<u8>(), transfer.to, n_bytes.min(transfer.n_bytes));
        }
        (*transfer.done.get()).push_back((transfer.slot, status));
    }
}

/// A mount with requests in flight.
// The mount is dropped first: what its callbacks write to follows.
pub(super) struct NfsSession {
    mount: NfsMount,
    transfers: Rc<[UnsafeCell<NfsTransfer>]>,
    /// Slots of requests that are done, with their statuses.
    done: Rc<UnsafeCell<VecDeque<(u32, i32)>>>,
}

impl NfsSession {
    /// A mount with room for this many requests in flight.
    pub(super) fn new(mount: NfsMount, depth: usize) -> Self {
        let done = Rc::new(UnsafeCell::new(VecDeque::with_capacity(depth)));
        let idle = |slot| NfsTransfer {
            api: mount.api,
            slot: slot as u32,
            to: ptr::null_mut(),
            n_bytes: 0,
            is_read: false,
            done: Rc::clone(&done),
        };
        let transfers = (0..depth).map(|slot| UnsafeCell::new(idle(slot))).collect();
        Self { mount, transfers, done }
    }

    /// Opens a file below the export; one that is written is made if it is missing, and each of its writes may be durable when it is
    /// answered. `None`: the call was cancelled.
    pub(super) fn open(
        &mut self,
        name: &Path,
        (writable, is_stable): (bool, bool),
        cancellation: Cancellation<'_>,
    ) -> Result<Option<NfsFile>, NfsError> {
        let path = path_of(name)?;
        let NfsMount { api, context, .. } = self.mount;
        let open = |flags| {
            let opened = self.mount.ask(cancellation, |callback, answer| {
                // SAFETY: the context is valid, and the library copies the path.
                unsafe { (api.nfs_open_async)(context, path.as_ptr(), flags, callback, answer) }
            });
            opened.map(|handle| handle.map(|handle| NfsFile(handle.cast())))
        };
        if !writable {
            return open(libc::O_RDONLY);
        }
        let flags = libc::O_RDWR | if is_stable { libc::O_SYNC } else { 0 };
        match open(flags | libc::O_CREAT) {
            // By version 4, libnfs 4 makes files that are not there only.
            Err(error) if error.code == -libc::EEXIST => open(flags),
            opened => opened,
        }
    }

    /// Closes a file, of which nothing is in flight. False: the call was cancelled.
    pub(super) fn close(&mut self, handle: NfsFile, cancellation: Cancellation<'_>) -> bool {
        let NfsMount { api, context, .. } = self.mount;
        // What was written is with the server: an error of this step loses nothing.
        let closed = self.mount.ask(cancellation, |callback, answer| {
            // SAFETY: the session has opened the file.
            unsafe { (api.nfs_close_async)(context, handle.0, callback, answer) }
        });
        !matches!(closed, Ok(None))
    }

    /// Asks the server to make durable what was written to a file.
    pub(super) fn sync(&mut self, slot: u32, handle: NfsFile) -> Result<(), NfsError> {
        let place = self.transfers[slot as usize].get();
        let NfsMount { api, context, .. } = self.mount;
        // SAFETY: no request of this slot is in flight, so no callback has the place. The handle is that of an open file.
        let sent = unsafe {
            (*place).is_read = false;
            (api.nfs_fsync_async)(context, handle.0, transferred, place.cast())
        };
        if sent < 0 { Err(self.mount.error(sent)) } else { Ok(()) }
    }

    /// Removes a file, if it is there. False: the call was cancelled.
    pub(super) fn remove(&mut self, name: &Path, cancellation: Cancellation<'_>) -> bool {
        let Ok(path) = path_of(name) else { return true };
        let NfsMount { api, context, .. } = self.mount;
        // Another clone may have removed the file.
        let removed = self.mount.ask(cancellation, |callback, answer| {
            // SAFETY: the context is valid, and the library copies the path.
            unsafe { (api.nfs_unlink_async)(context, path.as_ptr(), callback, answer) }
        });
        !matches!(removed, Ok(None))
    }

    /// Asks for a read or write at an offset. The region belongs to the session until the request is done.
    pub(super) fn transfer(
        &mut self,
        slot: u32,
        handle: NfsFile,
        offset_bytes: u64,
        region: Region,
        is_read: bool,
    ) -> Result<(), NfsError> {
        let place = self.transfers[slot as usize].get();
        let NfsMount { api, context, .. } = self.mount;
        let n_bytes = region.len() as u64;
        // SAFETY: no request of this slot is in flight, so no callback has the place. The handle is that of an open file, and the region
        // stays until the unit is reaped.
        let sent = unsafe {
            (*place).to = region.as_ptr();
            (*place).n_bytes = region.len();
            (*place).is_read = is_read;
            if is_read {
                (api.nfs_pread_async)(context, handle.0, offset_bytes, n_bytes, transferred, place.cast())
            } else {
                let data = region.as_ptr().cast_const().cast();
                (api.nfs_pwrite_async)(context, handle.0, offset_bytes, n_bytes, data, transferred, place.cast())
            }
        };
        if sent < 0 { Err(self.mount.error(sent)) } else { Ok(()) }
    }

    /// A request that is done: its slot, and bytes or a negative errno.
    pub(super) fn take_done(&mut self) -> Option<(u32, i32)> {
        // SAFETY: callbacks write only within calls of the library.
        unsafe { (*self.done.get()).pop_front() }
    }

    /// Waits for an event of the connection for a time at most, and lets the library handle it.
    pub(super) fn turn(&mut self, limit: Duration) -> LineState {
        self.mount.turn(limit)
    }

    /// Sends what fits now.
    pub(super) fn push(&mut self) -> LineState {
        // SAFETY: the context is valid.
        let wanted = unsafe { (self.mount.api.nfs_which_events)(self.mount.context) };
        if wanted & TO_WRITE == 0 { LineState::Alive } else { self.mount.serve(TO_WRITE) }
    }

    /// What the kernel counts of the connection.
    pub(super) fn tcp_counts(&self) -> Option<TcpCounts> {
        self.mount.fd().and_then(TcpCounts::of)
    }
}

fn path_of(name: &Path) -> Result<CString, NfsError> {
    let bytes = name.as_os_str().as_bytes();
    let slash: &[u8] = if bytes.starts_with(b"/") { b"" } else { b"/" };
    let path = CString::new([slash, bytes].concat());
    path.map_err(|_| NfsError { code: -libc::EINVAL, text: "the name has a NUL byte".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errno_of_a_refusal_is_that_of_the_server() {
        for (status, text, expected) in [
            (-libc::ENOENT, "anything (-5)", -libc::ENOENT),
            (4096, "", 4096),
            (-libc::EFAULT, "NFS: Write failed with NFS3ERR_NOSPC(-28)", -libc::ENOSPC),
            (-libc::EFAULT, "NFS: Read failed with NFS3ERR_STALE(-116) ", -libc::ESTALE),
            (-libc::EFAULT, "RPC error: Mismatch in verifier", -libc::EIO),
            (-libc::EFAULT, "odd (-14)", -libc::EIO),
            (-libc::EFAULT, "odd (28)", -libc::EIO),
            (-libc::EFAULT, "odd (-99999999999)", -libc::EIO),
            (-libc::EFAULT, "", -libc::EIO),
        ] {
            assert_eq!(status_of(status, text), expected, "{text}");
        }
    }
}
