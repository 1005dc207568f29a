//! A block device by libblkio with a safe interface: properties, connection, one queue with its requests and their completions.
//!
//! Must not know: units, the order of I/Os. Start reading at [`BlkioDevice::connect`], then [`BlkioDevice::start`].
#![expect(unsafe_code, reason = "functions of a C library")]

use super::library::{BlkioCompletion, BlkioHandle, BlkioMemory, BlkioQueue, FUA, Libblkio};
use ferrio_spec::engines::options::libblkio::BlkioWait;
use ferrio_sys::Errno;
use ferrio_sys::arena::{Arena, Region};
use ferrio_sys::poll;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::{Duration, Instant};

/// What a job wants of its device.
#[derive(Debug, Clone)]
pub(super) struct BlkioSettings {
    pub(super) driver: CString,
    pub(super) path: Option<CString>,
    /// Properties with their values, set before the connection is made.
    pub(super) before_connect: Vec<(CString, CString)>,
    /// The same, set before the start.
    pub(super) before_start: Vec<(CString, CString)>,
    pub(super) has_poll_queue: bool,
    pub(super) wait: BlkioWait,
    pub(super) has_events: bool,
}

/// A call of the library that has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlkioError {
    pub(super) errno: i32,
    /// The call, its object and the library's words.
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlkioEnd {
    /// 0, or an errno.
    pub(super) errno: i32,
    /// The library's words about an error, if it has any.
    pub(super) text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlkioOrder {
    Read,
    /// With `true` the data is durable at its end.
    Write(bool),
    Discard,
    WriteZeroes,
    Flush,
}

/// A property that says whether requests need mapped memory.
const NEEDS_MEMORY: &CStr = c"needs-mem-regions";

/// A connection to a block device. It is not started yet.
pub(super) struct BlkioDevice {
    api: &'static Libblkio,
    handle: *mut BlkioHandle,
}

// SAFETY: the library leaves it to its callers to use a handle in one thread at a time.
unsafe impl Send for BlkioDevice {}

impl BlkioDevice {
    /// Connects, for reading alone or for writing too. May block.
    pub(super) fn connect(
        api: &'static Libblkio,
        settings: &BlkioSettings,
        (writes, is_direct): (bool, bool),
    ) -> Result<Self, BlkioError> {
        let mut device = Self { api, handle: ptr::null_mut() };
        // SAFETY: the name lives during the call, and the result has a place.
        let created = unsafe { (api.blkio_create)(settings.driver.as_ptr(), &raw mut device.handle) };
        if created < 0 {
            device.handle = ptr::null_mut();
            return Err(device.error(created, "blkio_create", &settings.driver));
        }
        device.set_if_there(c"read-only", !writes)?;
        device.set_if_there(c"direct", is_direct)?;
        let path = settings.path.iter().map(|path| (c"path", &**path));
        let others = settings.before_connect.iter().map(|(name, value)| (&**name, &**value));
        for (name, value) in path.chain(others) {
            device.set(name, value)?;
        }
        // SAFETY: the handle is valid.
        let connected = unsafe { (api.blkio_connect)(device.handle) };
        let path = settings.path.as_deref().unwrap_or(c"");
        if connected < 0 { Err(device.error(connected, "blkio_connect", path)) } else { Ok(device) }
    }

    pub(super) fn size_bytes(&self) -> Result<u64, BlkioError> {
        let mut size_bytes = 0;
        // SAFETY: the handle is valid, and the result has a place.
        let got = unsafe { (self.api.blkio_get_uint64)(self.handle, c"capacity".as_ptr(), &raw mut size_bytes) };
        if got < 0 { Err(self.error(got, "blkio_get_uint64", c"capacity")) } else { Ok(size_bytes) }
    }

    pub(super) fn start(self, settings: &BlkioSettings) -> Result<StartedBlkio, BlkioError> {
        let api = self.api;
        let (n_queues, n_poll_queues) = if settings.has_poll_queue { (0, 1) } else { (1, 0) };
        self.set_number(c"num-queues", n_queues)?;
        if settings.has_poll_queue {
            self.set_number(c"num-poll-queues", n_poll_queues)?;
        }
        for (name, value) in &settings.before_start {
            self.set(name, value)?;
        }
        // SAFETY: the handle is valid.
        let started = unsafe { (api.blkio_start)(self.handle) };
        if started < 0 {
            return Err(self.error(started, "blkio_start", c""));
        }
        let get = if settings.has_poll_queue { api.blkio_get_poll_queue } else { api.blkio_get_queue };
        // SAFETY: the handle is valid and started.
        let queue = unsafe { get(self.handle, 0) };
        if queue.is_null() {
            return Err(self.error(-libc::ENOENT, "blkio_get_queue", c"0"));
        }
        let has_events = settings.has_events || settings.wait == BlkioWait::EventDescriptor;
        if has_events {
            // SAFETY: the queue is that of the device.
            unsafe { (api.blkioq_set_completion_fd_enabled)(queue, true) };
        }
        Ok(StartedBlkio { device: self, queue })
    }

    fn is(&self, name: &CStr) -> bool {
        let mut value = false;
        // SAFETY: the handle is valid, the name lives, the result has a place.
        let got = unsafe { (self.api.blkio_get_bool)(self.handle, name.as_ptr(), &raw mut value) };
        got >= 0 && value
    }

    /// Sets a property that not all drivers have.
    fn set_if_there(&self, name: &CStr, value: bool) -> Result<(), BlkioError> {
        // SAFETY: the handle is valid, the name lives.
        match unsafe { (self.api.blkio_set_bool)(self.handle, name.as_ptr(), value) } {
            0.. => Ok(()),
            missing if missing == -libc::ENOENT => Ok(()),
            refused => Err(self.error(refused, "blkio_set_bool", name)),
        }
    }

    fn set_number(&self, name: &CStr, value: c_int) -> Result<(), BlkioError> {
        // SAFETY: the handle is valid, the name lives.
        let set = unsafe { (self.api.blkio_set_int)(self.handle, name.as_ptr(), value) };
        if set < 0 { Err(self.error(set, "blkio_set_int", name)) } else { Ok(()) }
    }

    fn set(&self, name: &CStr, value: &CStr) -> Result<(), BlkioError> {
        // SAFETY: the handle is valid, name and value live during the call.
        let set = unsafe { (self.api.blkio_set_str)(self.handle, name.as_ptr(), value.as_ptr()) };
        if set < 0 { Err(self.error(set, "blkio_set_str", name)) } else { Ok(()) }
    }

    /// The error of the call that this thread has just made.
    fn error(&self, returned: c_int, call: &str, of: &CStr) -> BlkioError {
        // SAFETY: the text belongs to this thread until its next call.
        let words = unsafe { words_at((self.api.blkio_get_error_msg)()) }.unwrap_or_default();
        BlkioError { errno: returned.saturating_neg(), text: format!("{call}({}): {words}", of.to_string_lossy()) }
    }
}

impl Drop for BlkioDevice {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is valid, and is not used later.
            unsafe { (self.api.blkio_destroy)(&raw mut self.handle) };
        }
    }
}

/// A text of the library, if there is one.
///
/// # Safety
/// The text is a string of C, or absent.
unsafe fn words_at(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller vouches for.
    (!text.is_null())
        .then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        .filter(|text| !text.is_empty())
}

/// A connection that is ready for requests.
pub(super) struct StartedBlkio {
    device: BlkioDevice,
    queue: *mut BlkioQueue,
}

// SAFETY: as for the device.
unsafe impl Send for StartedBlkio {}

/// A device with its requests in flight.
pub(super) struct BlkioSession {
    started: StartedBlkio,
    wait: BlkioWait,
    /// Parts of the requests of slots, which the library reads until they end; empty: requests have no parts.
    parts: Box<[UnsafeCell<libc::iovec>]>,
    /// Room for what a call returns.
    completions: Vec<BlkioCompletion>,
    n_in_flight: usize,
    /// Slots of requests that have ended.
    ended: VecDeque<(u32, BlkioEnd)>,
}

impl BlkioSession {
    /// A device with room for this many requests in flight, whose data is in the arena.
    pub(super) fn new(
        started: StartedBlkio,
        (depth, wait, is_vectored): (usize, BlkioWait, bool),
        arena: &Arena,
    ) -> Result<Self, BlkioError> {
        let nothing = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        let unused =
            BlkioCompletion { user_data: ptr::null_mut(), error_text: ptr::null(), returned: 0, reserved: [0; 12] };
        let session = Self {
            started,
            wait,
            parts: (0..if is_vectored { depth } else { 0 }).map(|_| UnsafeCell::new(nothing)).collect(),
            completions: vec![unused; depth],
            n_in_flight: 0,
            ended: VecDeque::with_capacity(depth),
        };
        session.map(arena)?;
        Ok(session)
    }

    /// Tells the library where the data will be, which most of its drivers can do without.
    fn map(&self, arena: &Arena) -> Result<(), BlkioError> {
        let device = &self.started.device;
        if !device.is(NEEDS_MEMORY) {
            return Ok(());
        }
        let Some(memory) = arena.shareable() else {
            let text = "the driver needs buffers that another program can map: leave out the option mem".to_owned();
            return Err(BlkioError { errno: libc::EINVAL, text });
        };
        let region = BlkioMemory {
            address: memory.base.cast(),
            n_bytes: memory.n_bytes,
            iova: 0,
            file_offset: 0,
            file: memory.file.as_raw_fd(),
            flags: 0,
        };
        // SAFETY: the memory is mapped as long as the arena lives, which the engine keeps as long as the session.
        let mapped = unsafe { (device.api.blkio_map_mem_region)(device.handle, &raw const region) };
        if mapped < 0 { Err(device.error(mapped, "blkio_map_mem_region", c"")) } else { Ok(()) }
    }

    /// Asks for a request. The region belongs to the session until the request has ended.
    pub(super) fn send(&mut self, slot: u32, order: BlkioOrder, at: u64, region: Region, n_bytes: u64) {
        let (api, queue) = (self.started.device.api, self.started.queue);
        let tag = ptr::without_provenance_mut::<c_void>(slot as usize);
        let (data, len) = (region.as_ptr().cast::<c_void>(), region.len());
        let part = self.parts.get(slot as usize).map(UnsafeCell::get);
        // SAFETY: the queue is valid. Region and part stay as they are until the request of this slot has ended.
        unsafe {
            if let Some(part) = part {
                *part = libc::iovec { iov_base: data, iov_len: len };
            }
            match (order, part) {
                (BlkioOrder::Read, None) => (api.blkioq_read)(queue, at, data, len, tag, 0),
                (BlkioOrder::Read, Some(part)) => (api.blkioq_readv)(queue, at, part, 1, tag, 0),
                (BlkioOrder::Write(is_durable), None) => {
                    (api.blkioq_write)(queue, at, data, len, tag, flags(is_durable));
                }
                (BlkioOrder::Write(is_durable), Some(part)) => {
                    (api.blkioq_writev)(queue, at, part, 1, tag, flags(is_durable));
                }
                (BlkioOrder::Discard, _) => (api.blkioq_discard)(queue, at, n_bytes, tag, 0),
                (BlkioOrder::WriteZeroes, _) => (api.blkioq_write_zeroes)(queue, at, n_bytes, tag, 0),
                (BlkioOrder::Flush, _) => (api.blkioq_flush)(queue, tag, 0),
            }
        }
        self.n_in_flight += 1;
    }

    /// Hands what was asked for to the device.
    pub(super) fn push(&mut self) -> Result<(), Errno> {
        self.look(0, 0, Duration::ZERO)
    }

    /// Waits for the end of a request for a time at most.
    pub(super) fn turn(&mut self, limit: Duration) -> Result<(), Errno> {
        let most = self.completions.len();
        if limit.is_zero() {
            return self.look(0, most, limit);
        }
        match self.wait {
            BlkioWait::Block => self.look(1, most, limit),
            BlkioWait::Spin => {
                let end = Instant::now() + limit;
                while self.ended.is_empty() && Instant::now() < end {
                    self.look(0, most, limit)?;
                }
                Ok(())
            }
            BlkioWait::EventDescriptor => {
                self.look(0, most, limit)?;
                if self.ended.is_empty() {
                    self.await_event(limit);
                    self.look(0, most, limit)?;
                }
                Ok(())
            }
        }
    }

    /// Waits for an event of the queue, and takes it.
    fn await_event(&self, limit: Duration) {
        // SAFETY: the queue is valid; its descriptor is open as long as the queue is there.
        let events = unsafe {
            let fd = (self.started.device.api.blkioq_get_completion_fd)(self.started.queue);
            (fd >= 0).then(|| BorrowedFd::borrow_raw(fd))
        };
        let Some(events) = events else { return };
        poll::wait_for(events, false, limit);
        let mut event = [0; 8];
        // Without an event it returns at once, as the library has made the descriptor non-blocking.
        let _ = ferrio_sys::file_io::read(events, &mut event);
    }

    /// Calls the library, which hands over requests and returns those that have ended.
    fn look(&mut self, fewest: usize, most: usize, limit: Duration) -> Result<(), Errno> {
        let (api, queue) = (self.started.device.api, self.started.queue);
        let fewest = fewest.min(self.n_in_flight);
        let mut time = libc::timespec {
            tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: the queue is valid, and the list has room for as many completions as are asked for.
        let returned = unsafe {
            let time = if fewest == 0 { ptr::null_mut() } else { &raw mut time };
            (api.blkioq_do_io)(queue, self.completions.as_mut_ptr(), fewest as c_int, most as c_int, time)
        };
        let n_ended = match usize::try_from(returned) {
            Ok(n_ended) => n_ended,
            Err(_) if [-libc::ETIME, -libc::EINTR, -libc::EAGAIN].contains(&returned) => 0,
            Err(_) => return Err(Errno::from_raw_os_error(returned.saturating_neg())),
        };
        for completion in &self.completions[..n_ended] {
            let text = if completion.returned < 0 {
                // SAFETY: the text of a completion is a string of C, or absent.
                unsafe { words_at(completion.error_text) }
            } else {
                None
            };
            let end = BlkioEnd { errno: completion.returned.min(0).saturating_neg(), text };
            self.ended.push_back((completion.user_data.addr() as u32, end));
        }
        self.n_in_flight -= n_ended;
        Ok(())
    }

    /// A request that has ended, and its slot.
    pub(super) fn take_ended(&mut self) -> Option<(u32, BlkioEnd)> {
        self.ended.pop_front()
    }

    /// The device, of which nothing is in flight.
    pub(super) fn into_started(self) -> StartedBlkio {
        self.started
    }

    /// True if the device may still use the memory of requests.
    pub(super) fn is_busy(&self) -> bool {
        self.n_in_flight > 0
    }
}

fn flags(is_durable: bool) -> u32 {
    if is_durable { FUA } else { 0 }
}
