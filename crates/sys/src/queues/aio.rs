//! Linux native AIO (`libaio`) by its four system calls, with completions optionally taken from the mapped ring.
//!
//! Every request belongs to a slot, a number below the depth; its completion names the slot. Nothing is allocated after
//! [`AioContext::new`].
//!
//! Must not know: engines. Start reading at [`AioContext`], then `ring` for reaping in user space. The layouts are those of
//! `linux/aio_abi.h`.
#![expect(unsafe_code, reason = "io_setup, io_submit, io_getevents, io_destroy")]

mod ring;

use crate::error::{Context, Result};
use crate::memory::arena::Region;
use ring::CompletionRing;
use rustix::io::Errno;
use std::cell::UnsafeCell;
use std::os::fd::RawFd;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum AioOperation {
    Read = 0,
    Write = 1,
    /// `fsync`, since Linux 4.18.
    Sync = 2,
    /// `fdatasync`, since Linux 4.18.
    SyncData = 3,
    ReadVector = 7,
    WriteVector = 8,
}

#[derive(Debug, Clone, Copy)]
pub struct AioRequest {
    pub operation: AioOperation,
    pub fd: RawFd,
    /// Its bytes; not used by syncs.
    pub region: Region,
    /// Offset, bytes from the start.
    pub offset: u64,
    /// Priority in the form of `ioprio_set(2)`; 0: that of the thread.
    pub io_priority: u16,
    /// `RWF_*` bits.
    pub rw_flags: u32,
}

/// A finished request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AioCompletion {
    pub slot: u32,
    /// Bytes moved, or a negative errno.
    pub result: i64,
}

/// `struct iocb`, 64 bytes.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct ControlBlock {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    rw_flags: u32,
    #[cfg(target_endian = "big")]
    key: u32,
    operation: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    len: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `IOCB_FLAG_IOPRIO`: the priority field is set.
const FLAG_IO_PRIORITY: u32 = 2;

/// `struct io_event`, 32 bytes.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct IoEvent {
    data: u64,
    control_block: u64,
    result: i64,
    result2: i64,
}

impl ControlBlock {
    #[inline]
    fn new(slot: u32, request: &AioRequest, vector: *mut libc::iovec) -> Self {
        let common = Self {
            data: u64::from(slot),
            operation: request.operation as u16,
            priority: request.io_priority as i16,
            fd: request.fd as u32,
            flags: if request.io_priority == 0 { 0 } else { FLAG_IO_PRIORITY },
            ..Self::default()
        };
        match request.operation {
            // The kernel refuses syncs with the other fields set.
            AioOperation::Sync | AioOperation::SyncData => common,
            AioOperation::Read | AioOperation::Write => Self {
                rw_flags: request.rw_flags,
                buffer: request.region.as_ptr() as u64,
                len: request.region.len() as u64,
                offset: request.offset as i64,
                ..common
            },
            AioOperation::ReadVector | AioOperation::WriteVector => Self {
                rw_flags: request.rw_flags,
                buffer: vector as u64,
                len: 1,
                offset: request.offset as i64,
                ..common
            },
        }
    }
}

/// The kernel's handle: the address at which it mapped the completion ring.
type ContextId = libc::c_ulong;

/// A queue of native AIO.
#[derive(Debug)]
pub struct AioContext {
    id: ContextId,
    /// One for each slot; the kernel is given their addresses.
    blocks: Vec<UnsafeCell<ControlBlock>>,
    /// One for each slot, for requests by vector.
    vectors: Vec<UnsafeCell<libc::iovec>>,
    /// Addresses of the blocks to submit, oldest first; at most one for each slot.
    queued: Vec<*mut ControlBlock>,
    events: Box<[IoEvent]>,
    ring: Option<CompletionRing>,
    n_in_flight: u32,
}

impl AioContext {
    /// A queue for `depth` requests in flight, at least 1. With `reaps_in_user_space`, completions that are there are
    /// taken from the mapped ring without a system call, if the kernel's ring has the known form.
    ///
    /// # Errors
    /// `EAGAIN` when the system's sum of depths would pass `/proc/sys/fs/aio-max-nr`.
    pub fn new(depth: u32, reaps_in_user_space: bool) -> Result<Self> {
        let depth = depth.max(1);
        let mut id: ContextId = 0;
        // SAFETY: the kernel writes the handle to `id`, which is zero as it must be.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, libc::c_long::from(depth), &raw mut id) };
        check(result).context("io_setup", format_args!("(depth {depth}; limit: /proc/sys/fs/aio-max-nr)"))?;
        // SAFETY: `id` was just made by io_setup and lives until the ring, a field of the same value, is dropped.
        let ring = if reaps_in_user_space { unsafe { CompletionRing::at(id) } } else { None };
        Ok(Self {
            id,
            blocks: (0..depth).map(|_| UnsafeCell::default()).collect(),
            vectors: (0..depth).map(|_| UnsafeCell::new(vector_of(None))).collect(),
            queued: Vec::with_capacity(depth as usize),
            events: vec![IoEvent::default(); depth as usize].into_boxed_slice(),
            ring,
            n_in_flight: 0,
        })
    }

    /// True if completions are taken from the mapped ring.
    pub fn reaps_in_user_space(&self) -> bool {
        self.ring.is_some()
    }

    /// Requests that the kernel has and that were not reaped.
    pub fn n_in_flight(&self) -> u32 {
        self.n_in_flight
    }

    /// Requests that wait for [`AioContext::submit`].
    pub fn n_queued(&self) -> u32 {
        self.queued.len() as u32
    }

    /// Queues a request in a slot. False, and nothing is queued, if there are as many queued and in flight as the depth.
    ///
    /// # Safety
    /// Until the completion of the slot was reaped or the context is dropped: the memory of the region must live and
    /// must not be used otherwise (a write's may be read), the descriptor must stay open, and the slot must not be used
    /// again.
    ///
    /// # Panics
    /// If the slot is not below the depth.
    #[inline]
    pub unsafe fn push(&mut self, slot: u32, request: &AioRequest) -> bool {
        if self.queued.len() + self.n_in_flight as usize >= self.blocks.len() {
            return false;
        }
        let vector = self.vectors[slot as usize].get();
        if matches!(request.operation, AioOperation::ReadVector | AioOperation::WriteVector) {
            // SAFETY: the slot is in no request (the caller's promise), so nobody else uses its vector.
            unsafe { *vector = vector_of(Some(request.region)) };
        }
        let address = self.blocks[slot as usize].get();
        // SAFETY: the slot is in no request (the caller's promise), so nobody else uses its block.
        unsafe { *address = ControlBlock::new(slot, request, vector) };
        self.queued.push(address);
        true
    }

    /// Hands the queued requests to the kernel, oldest first; returns how many it took. The others stay queued.
    ///
    /// # Errors
    /// The errno of the oldest request, if the kernel took none: it stays queued, and [`AioContext::drop_oldest`] takes
    /// it out.
    pub fn submit(&mut self) -> std::result::Result<u32, Errno> {
        if self.queued.is_empty() {
            return Ok(0);
        }
        let n_queued = self.queued.len() as libc::c_long;
        // SAFETY: `queued` has that many addresses of blocks in `blocks`, which neither move nor are freed while the
        // kernel copies them (it writes their key field); that what they point at stays valid is the promise of `push`.
        let result = unsafe { libc::syscall(libc::SYS_io_submit, self.id, n_queued, self.queued.as_mut_ptr()) };
        let n_taken = check(result)? as usize;
        self.queued.drain(..n_taken);
        self.n_in_flight += n_taken as u32;
        Ok(n_taken as u32)
    }

    /// Takes the oldest queued request out, as after a refusal by [`AioContext::submit`]; its slot is free again.
    pub fn drop_oldest(&mut self) -> Option<u32> {
        if self.queued.is_empty() {
            return None;
        }
        let block = self.queued.remove(0);
        // SAFETY: the addresses in `queued` are of blocks in `blocks`, of which the kernel writes no more than the key.
        Some(unsafe { (*block).data as u32 })
    }

    /// Waits until at least `min` requests are done (never for more than are in flight), hands up to `max` of them to
    /// `each`, and returns how many. With `min` 0 it only looks. `max` is at least `min`.
    ///
    /// # Errors
    /// The errno of `io_getevents`; after an interruption by a signal the wait continues.
    pub fn reap(&mut self, min: u32, max: u32, mut each: impl FnMut(AioCompletion)) -> std::result::Result<u32, Errno> {
        let min = min.min(self.n_in_flight);
        let max = max.max(min).min(self.blocks.len() as u32);
        let mut n_reaped = 0;
        if let Some(ring) = &mut self.ring {
            while n_reaped < max
                && let Some(event) = ring.pop()
            {
                each(event.completion());
                n_reaped += 1;
            }
            self.n_in_flight = self.n_in_flight.saturating_sub(n_reaped);
            if n_reaped >= min {
                return Ok(n_reaped);
            }
        }
        while n_reaped < max {
            let wanted = min.saturating_sub(n_reaped);
            let n_events = match self.get_events(wanted, max - n_reaped, None) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            self.events[..n_events as usize].iter().for_each(|event| each(event.completion()));
            n_reaped += n_events;
            self.n_in_flight = self.n_in_flight.saturating_sub(n_events);
            if n_reaped >= min {
                break;
            }
        }
        Ok(n_reaped)
    }

    /// Waits until one request is done, for at most `limit`, hands up to `max` of those that are to `each`, and returns how
    /// many. Returns early, with none, when a signal handler ran.
    ///
    /// # Errors
    /// The errno of `io_getevents`.
    pub fn reap_within(
        &mut self,
        limit: Duration,
        max: u32,
        mut each: impl FnMut(AioCompletion),
    ) -> std::result::Result<u32, Errno> {
        let n_here = self.reap(0, max, &mut each)?;
        if n_here > 0 || self.n_in_flight == 0 || max == 0 {
            return Ok(n_here);
        }
        let n_events = match self.get_events(1, max, Some(limit)) {
            Err(Errno::INTR) => 0,
            result => result?,
        };
        self.events[..n_events as usize].iter().for_each(|event| each(event.completion()));
        self.n_in_flight = self.n_in_flight.saturating_sub(n_events);
        Ok(n_events)
    }

    fn get_events(&mut self, min: u32, max: u32, limit: Option<Duration>) -> std::result::Result<u32, Errno> {
        let (min, max) = (libc::c_long::from(min), libc::c_long::from(max.min(self.events.len() as u32)));
        let mut limit = limit.map(|limit| libc::timespec {
            tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        });
        let timeout = limit.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
        // SAFETY: the kernel writes at most `max` events, and `events` has room for them; `timeout` is null or points to
        // `limit`, which lives until the call returns.
        let result =
            unsafe { libc::syscall(libc::SYS_io_getevents, self.id, min, max, self.events.as_mut_ptr(), timeout) };
        Ok(check(result)? as u32)
    }
}

impl Drop for AioContext {
    fn drop(&mut self) {
        // SAFETY: destroyed once. The kernel waits for the requests in flight, so that no memory is written afterwards.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}

fn vector_of(region: Option<Region>) -> libc::iovec {
    let (base, len) = region.map_or((std::ptr::null_mut(), 0), |region| (region.as_ptr(), region.len()));
    libc::iovec { iov_base: base.cast(), iov_len: len }
}

impl IoEvent {
    fn completion(&self) -> AioCompletion {
        AioCompletion { slot: self.data as u32, result: self.result }
    }
}

fn check(result: libc::c_long) -> std::result::Result<libc::c_long, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests;
