//! A session of libiscsi for one LUN with a safe interface: commands with their results, driven by the library's event functions.
//!
//! The library is called by one thread at a time, and calls back only within these calls. What a callback writes to lives until the
//! context of the library is destroyed, as that calls back for all that is unfinished.
//! Must not know: units, the order of I/Os. Start reading at [`Lun::reach`].
#![expect(unsafe_code, reason = "functions of a C library, and their callbacks")]

use super::library::{IscsiContext, IscsiUrl, Libiscsi, LunCapacity, ScsiTask, ScsiVector, UnmapRange};

mod error;
mod facts;
pub(super) use error::IscsiError;
pub(super) use facts::targets;

use crate::contract::Cancellation;
use crate::servers::remote::aside::{Caller, until};
use crate::servers::remote::driven::LineState;
use ferrio_spec::secret::without_passwords;
use ferrio_sys::arena::Region;
use ferrio_sys::poll;
use ferrio_sys::tcp_info::TcpCounts;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::ptr;
use std::rc::Rc;
use std::time::Duration;

/// `POLLOUT` of `poll(2)`.
const TO_WRITE: c_int = libc::POLLOUT as c_int;

/// `ISCSI_SESSION_NORMAL`.
const NORMAL: c_int = 2;

/// `ISCSI_HEADER_DIGEST_NONE_CRC32C`: the target chooses.
const NONE_OR_CRC32C: c_int = 1;

/// Time in which a target has to answer the logout.
const LOGOUT_LIMIT: Duration = Duration::from_millis(300);

/// Pause where the library has no connection to wait for.
const PAUSE: Duration = Duration::from_millis(10);

/// `iscsi_command_cb`: context, status, data of the command, the caller's pointer.
pub(super) type IscsiCallback = unsafe extern "C" fn(*mut IscsiContext, c_int, *mut c_void, *mut c_void);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// READ(16).
    Read,
    /// WRITE(16).
    Write,
    Unmap,
    /// SYNCHRONIZE CACHE(16) of the whole LUN.
    Flush,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LunCommand {
    pub(super) order: Order,
    /// First block.
    pub(super) block: u64,
    /// Length, bytes: whole blocks.
    pub(super) n_bytes: u32,
    pub(super) forces_unit_access: bool,
}

/// What the answer to a question writes.
struct Reply {
    status: Option<c_int>,
    data: *mut c_void,
}

unsafe extern "C" fn replied(_context: *mut IscsiContext, status: c_int, data: *mut c_void, reply: *mut c_void) {
    // SAFETY: `ask` has given the address of a `Reply`, which is never freed.
    let reply = unsafe { &mut *reply.cast::<Reply>() };
    *reply = Reply { status: Some(status), data };
}

/// Statuses of the library from here on are no statuses of a target: the connection is lost or given up.
const NO_TARGET: c_int = 0x0f00_0000;

/// Why a command has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LunFault {
    Lost,
    /// The target has refused the command, or could not do it: the library's words, with the sense data.
    Refused(String),
}

/// The result of a command: bytes that were not moved, or why it has failed.
pub(super) type LunDone = Result<usize, LunFault>;

type DoneList = Rc<UnsafeCell<VecDeque<(u32, LunDone)>>>;

/// Place of a command in flight.
struct Flight {
    slot: u32,
    vector: ScsiVector,
    api: &'static Libiscsi,
    done: DoneList,
}

unsafe extern "C" fn finished(context: *mut IscsiContext, status: c_int, task: *mut c_void, flight: *mut c_void) {
    // SAFETY: `send` has given the address of a `Flight` of the session, which outlives the context. The task is that of the command,
    // and belongs to the caller from now on. Nobody else uses the list now.
    unsafe {
        let flight = &*flight.cast::<Flight>();
        let task = task.cast::<ScsiTask>();
        let done = if status == 0 {
            Ok(if task.is_null() || (*task).residual_status != 1 { 0 } else { (*task).residual })
        } else if status >= NO_TARGET {
            Err(LunFault::Lost)
        } else {
            Err(LunFault::Refused(words(flight.api, context)))
        };
        if !task.is_null() {
            (flight.api.scsi_free_scsi_task)(task);
        }
        (*flight.done.get()).push_back((flight.slot, done));
    }
}

/// The library's last error.
///
/// # Safety
/// The context is valid.
unsafe fn words(api: &Libiscsi, context: *mut IscsiContext) -> String {
    // SAFETY: the text is a string of C, or absent.
    unsafe {
        let text = (api.iscsi_get_error)(context);
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().trim_end().to_owned() }
    }
}

/// The same as an error.
///
/// # Safety
/// As for [`words`].
unsafe fn refusal(api: &Libiscsi, context: *mut IscsiContext) -> IscsiError {
    // SAFETY: as the caller promises.
    IscsiError::Library(unsafe { words(api, context) })
}

/// The context of a session.
struct Login {
    api: &'static Libiscsi,
    context: *mut IscsiContext,
}

impl Drop for Login {
    fn drop(&mut self) {
        // SAFETY: the context is valid and not used later; what its callbacks write to is still there.
        unsafe { (self.api.iscsi_destroy_context)(self.context) };
    }
}

/// Port of a portal that names none.
const PORT: u16 = 3260;

/// Why a portal was not reached. The library knows no reason where the connection is refused, so that another try tells it. Blocks.
fn unreached(text: String, portal: &str) -> String {
    if !text.contains("reconnect right now") {
        return text;
    }
    let has_port = portal.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let place = if has_port { portal.to_owned() } else { format!("{portal}:{PORT}") };
    match TcpStream::connect(&place) {
        Ok(_) => text,
        Err(error) => format!("no connection to {place}: {}", error.kind()),
    }
}

/// A LUN of a target, and the session with it.
// The login is dropped first: what its callbacks write to follows.
pub(super) struct Lun {
    login: Login,
    flights: Rc<[UnsafeCell<Flight>]>,
    done: DoneList,
    number: c_int,
    size_bytes: u64,
    block_bytes: u32,
    /// The target says that blocks can be unmapped.
    is_thin: bool,
    is_lost: bool,
}

// SAFETY: the library has no state of a thread, and clones of the counted parts are within the session only: its owner is the only
// user of them.
unsafe impl Send for Lun {}

impl Lun {
    /// Logs in to a target, and finds the size of its LUN. Blocks: while the target is silent, or its name is looked up. The error is
    /// the library's text, with what failed.
    pub(super) fn reach(
        api: &'static Libiscsi,
        url: &str,
        initiator: &str,
        caller: &Caller,
    ) -> Result<Self, IscsiError> {
        let unparsable = || IscsiError::BadUrl(without_passwords(url).into_owned());
        let text = CString::new(url).map_err(|_| unparsable())?;
        let initiator = CString::new(initiator).map_err(|_| IscsiError::BadInitiator)?;
        // SAFETY: a string of C.
        let context = unsafe { (api.iscsi_create_context)(initiator.as_ptr()) };
        if context.is_null() {
            return Err(IscsiError::NoContext);
        }
        let mut lun = Self::of_context(api, context);
        // SAFETY: the context is valid, and the address a string of C.
        let parsed = unsafe { (api.iscsi_parse_full_url)(context, text.as_ptr()) };
        if parsed.is_null() {
            return Err(unparsable());
        }
        let connected = lun.log_in(parsed, caller);
        // SAFETY: it came from `iscsi_parse_full_url`, and nobody uses it any more.
        unsafe { (api.iscsi_destroy_url)(parsed) };
        connected?;
        lun.find_size(caller)?;
        Ok(lun)
    }

    /// A session that is not logged in.
    fn of_context(api: &'static Libiscsi, context: *mut IscsiContext) -> Self {
        let (login, flights, done) = (Login { api, context }, Rc::from([]), DoneList::default());
        Self { login, flights, done, number: 0, size_bytes: 0, block_bytes: 512, is_thin: false, is_lost: false }
    }

    fn log_in(&mut self, url: *const IscsiUrl, caller: &Caller) -> Result<(), IscsiError> {
        let Login { api, context } = self.login;
        // SAFETY: the library has filled the address with strings of C, and copies what it needs.
        unsafe {
            let text = |text: &[c_char; 256]| text.as_ptr();
            let is_given = |text: &[c_char; 256]| text[0] != 0;
            self.number = (*url).lun;
            (api.iscsi_set_targetname)(context, text(&(*url).target));
            (api.iscsi_set_session_type)(context, NORMAL);
            (api.iscsi_set_header_digest)(context, NONE_OR_CRC32C);
            (api.iscsi_set_noautoreconnect)(context, 1);
            if is_given(&(*url).user) {
                (api.iscsi_set_initiator_username_pwd)(context, text(&(*url).user), text(&(*url).password));
            }
            if is_given(&(*url).target_user) {
                let password = text(&(*url).target_password);
                (api.iscsi_set_target_username_pwd)(context, text(&(*url).target_user), password);
            }
        }
        let number = self.number;
        let is_gone = || caller.is_gone();
        let connected = self.ask(Cancellation::new(&is_gone), |callback, reply| {
            // SAFETY: as above.
            unsafe { (api.iscsi_full_connect_async)(context, (*url).portal.as_ptr(), number, callback, reply) == 0 }
        });
        // SAFETY: a string of C, which the library has filled.
        let portal = unsafe { CStr::from_ptr((*url).portal.as_ptr()) }.to_string_lossy();
        let failed =
            |error: IscsiError| IscsiError::NoConnection { is_lun: true, why: unreached(error.to_string(), &portal) };
        connected.map(|_| ()).map_err(failed)
    }

    fn find_size(&mut self, caller: &Caller) -> Result<(), IscsiError> {
        let Login { api, context } = self.login;
        let number = self.number;
        let is_gone = || caller.is_gone();
        let told = self.ask(Cancellation::new(&is_gone), |callback, reply| {
            // SAFETY: the context is valid.
            unsafe { !(api.iscsi_readcapacity16_task)(context, number, callback, reply).is_null() }
        });
        let told = told.map_err(|error| IscsiError::NoCapacity(error.to_string()))?;
        let Some(task) = told else { return Err(IscsiError::NoCapacity("the wait was ended".to_owned())) };
        // SAFETY: the data of the answer is the task, which belongs to the caller now; the unpacked answer belongs to the task.
        unsafe {
            let task = task.cast::<ScsiTask>();
            let capacity = if task.is_null() { ptr::null_mut() } else { (api.scsi_datain_unmarshall)(task) };
            if !capacity.is_null() {
                let LunCapacity { last_block, block_bytes, is_thin, .. } = ptr::read(capacity.cast::<LunCapacity>());
                (self.block_bytes, self.is_thin) = (block_bytes, is_thin != 0);
                self.size_bytes = last_block.saturating_add(1).saturating_mul(block_bytes.into());
            }
            if !task.is_null() {
                (api.scsi_free_scsi_task)(task);
            }
        }
        if self.block_bytes == 0 || self.size_bytes == 0 { Err(IscsiError::NoSize) } else { Ok(()) }
    }

    /// Makes room for this many commands in flight.
    pub(super) fn make_room(&mut self, depth: usize) {
        let idle = |slot| Flight {
            slot: slot as u32,
            vector: ScsiVector { base: ptr::null_mut(), n_bytes: 0 },
            api: self.login.api,
            done: Rc::clone(&self.done),
        };
        self.flights = (0..depth).map(|slot| UnsafeCell::new(idle(slot))).collect();
        // SAFETY: no command is in flight.
        unsafe { (*self.done.get()).reserve(depth) };
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub(super) fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Sends a question, and waits for its answer; `None`: the call was cancelled.
    fn ask(
        &mut self,
        cancellation: Cancellation<'_>,
        send: impl FnOnce(IscsiCallback, *mut c_void) -> bool,
    ) -> Result<Option<*mut c_void>, IscsiError> {
        let Login { api, context } = self.login;
        // It is never freed: the library calls back once more when a connection is lost later.
        let reply = Box::into_raw(Box::new(Reply { status: None, data: ptr::null_mut() }));
        if !send(replied, reply.cast()) {
            // SAFETY: the context is valid.
            return Err(unsafe { refusal(api, context) });
        }
        loop {
            // SAFETY: callbacks write only within calls of the library.
            let Reply { status, data } = unsafe { ptr::read(reply) };
            match status {
                Some(0) => return Ok(Some(data)),
                // SAFETY: the context is valid.
                Some(_) => return Err(unsafe { refusal(api, context) }),
                None if cancellation.is_over() => return Ok(None),
                None => {}
            }
            // SAFETY: as above.
            if self.turn(Cancellation::LOOK) == LineState::Lost && unsafe { (*reply).status.is_none() } {
                // SAFETY: the context is valid.
                return Err(unsafe { refusal(api, context) });
            }
        }
    }

    /// Starts a command. The region belongs to the session until the command is done. The error is the library's text.
    pub(super) fn send(&mut self, slot: u32, command: LunCommand, region: Region) -> Result<(), IscsiError> {
        let Login { api, context } = self.login;
        let (place, number) = (self.flights[slot as usize].get(), self.number);
        let LunCommand { order, block, n_bytes, forces_unit_access } = command;
        // Blocks are at most 4 GiB, but no target has one that does not fit.
        let (block_bytes, fua) = (self.block_bytes as c_int, c_int::from(forces_unit_access));
        let (own, callback): (*mut c_void, IscsiCallback) = (place.cast(), finished);
        // SAFETY: no command of this slot is in flight, so no callback has the place. The region stays until the unit is reaped, and the
        // vector as long as the session. The library copies the range of an UNMAP.
        let task = unsafe {
            (*place).vector = ScsiVector { base: region.as_ptr().cast(), n_bytes: region.len() };
            let vector = &raw mut (*place).vector;
            match order {
                Order::Read => (api.iscsi_read16_iov_task)(
                    context,
                    number,
                    block,
                    n_bytes,
                    block_bytes,
                    0,
                    0,
                    fua,
                    0,
                    0,
                    callback,
                    own,
                    vector,
                    1,
                ),
                Order::Write => {
                    let data = ptr::null_mut();
                    (api.iscsi_write16_iov_task)(
                        context,
                        number,
                        block,
                        data,
                        n_bytes,
                        block_bytes,
                        0,
                        0,
                        fua,
                        0,
                        0,
                        callback,
                        own,
                        vector,
                        1,
                    )
                }
                Order::Unmap => {
                    let mut range = UnmapRange { block, n_blocks: n_bytes / self.block_bytes };
                    (api.iscsi_unmap_task)(context, number, 0, 0, &raw mut range, 1, callback, own)
                }
                Order::Flush => (api.iscsi_synchronizecache16_task)(context, number, 0, 0, 0, 0, callback, own),
            }
        };
        // SAFETY: the context is valid.
        if task.is_null() { Err(unsafe { refusal(api, context) }) } else { Ok(()) }
    }

    /// A command that is done: its slot, and its result.
    pub(super) fn take_done(&mut self) -> Option<(u32, LunDone)> {
        // SAFETY: callbacks write only within calls of the library.
        unsafe { (*self.done.get()).pop_front() }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        let Login { api, context } = self.login;
        // SAFETY: the context is valid, and the descriptor is open at least until the library is called again.
        unsafe {
            let fd = (api.iscsi_get_fd)(context);
            (fd >= 0).then(|| BorrowedFd::borrow_raw(fd))
        }
    }

    fn wanted(&self) -> c_int {
        // SAFETY: the context is valid.
        unsafe { (self.login.api.iscsi_which_events)(self.login.context) }
    }

    /// Waits for an event of the connection for a time at most, and lets the library handle it.
    pub(super) fn turn(&mut self, limit: Duration) -> LineState {
        let wanted = self.wanted();
        let events = match self.fd() {
            Some(fd) if wanted != 0 => poll::events_of(fd, wanted as i16, limit),
            _ => {
                std::thread::sleep(limit.min(PAUSE));
                0
            }
        };
        self.serve(c_int::from(events))
    }

    fn serve(&mut self, events: c_int) -> LineState {
        let Login { api, context } = self.login;
        // SAFETY: the context is valid, and nothing that callbacks write to is borrowed.
        self.is_lost |= unsafe { (api.iscsi_service)(context, events) } < 0;
        if self.is_lost { LineState::Lost } else { LineState::Alive }
    }

    /// Sends what fits now.
    pub(super) fn push(&mut self) -> LineState {
        if self.wanted() & TO_WRITE == 0 { LineState::Alive } else { self.serve(TO_WRITE) }
    }

    /// Ends the session without a logout.
    pub(super) fn give_up(&mut self) {
        self.is_lost = true;
    }

    /// What the kernel counts of the connection.
    pub(super) fn tcp_counts(&self) -> Option<TcpCounts> {
        self.fd().and_then(TcpCounts::of)
    }
}

impl Drop for Lun {
    fn drop(&mut self) {
        if self.is_lost {
            return;
        }
        let Login { api, context } = self.login;
        let is_over = until(Cancellation::ENDLESS, LOGOUT_LIMIT);
        // A target that does not answer sees the end of the connection.
        let _ = self.ask(Cancellation::new(&is_over), |callback, reply| {
            // SAFETY: the context is valid.
            unsafe { (api.iscsi_logout_async)(context, callback, reply) == 0 }
        });
    }
}

/// Waits until one of several sessions has an event, for a time at most.
pub(super) fn wait_for_any(luns: &[Lun], limit: Duration) {
    let waits = luns.iter().filter_map(|lun| Some((lun.fd()?, lun.wanted() & TO_WRITE != 0)));
    poll::wait_for_any(waits, limit);
}
