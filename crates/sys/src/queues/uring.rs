//! `io_uring`: a ring of requests by slot, over the `io-uring` crate.
//!
//! Every request belongs to a slot, a number below the depth; its completion names the slot. Nothing is allocated after
//! [`IoRing::new`].
//!
//! Entries of the queues have two sizes: [`IoRing`] has the usual ones, [`CommandRing`] has those with room for a command to a
//! device. The rest is the same code.
//!
//! Must not know: engines. Start reading at [`RingRequest`] (how a ring is made, with falling back on older kernels), then
//! [`RingOf`].
#![expect(unsafe_code, reason = "pushing requests with addresses, registering memory")]

mod command;
mod enter;
mod protected;
mod request;
mod scsi_command;
mod setup;

use crate::error::{Context, Result};
use crate::memory::arena::Region;
pub use command::{CommandData, RingCommand};
use enter::RingEntry;
pub use io_uring::cqueue::{Entry as SmallCompletion, Entry32 as CommandCompletion, EntryMarker as CompletionForm};
pub use io_uring::squeue::{Entry as SmallRequest, Entry128 as CommandRequest, EntryMarker as RequestForm};
use io_uring::{IoUring, Probe, opcode, types};
pub use protected::{ProtectionSlots, RingProtection};
pub use request::{BufferForm, Discard, RingFd, RingIo, SyncKind};
use rustix::io::Errno;
pub use scsi_command::{RingScsiCommand, ScsiCompletion, ScsiSlots};
pub use setup::{RingRequest, SqPoll};
use std::cell::UnsafeCell;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// `IORING_ENTER_GETEVENTS`: run deferred work and look for completions.
const ENTER_GETEVENTS: u32 = 1;

/// Number of looks at a full submission queue (some 10 us in all) before the kernel is entered to wait.
const N_LOOKS_FOR_ROOM: u32 = 1000;

/// A finished request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingCompletion {
    pub slot: u32,
    /// Bytes moved, or a negative errno; of a command to a device: 0, a negative errno, or the status of the device.
    pub result: i32,
}

/// A ring for reads, writes, syncs and discards.
pub type IoRing = RingOf<SmallRequest, SmallCompletion>;

/// A ring for commands to devices: its requests have 128 bytes, its completions 32.
pub type CommandRing = RingOf<CommandRequest, CommandCompletion>;

/// A ring. With the single-issuer flags (see [`RingRequest`]) only the thread that made it may submit; it is not `Send`.
pub struct RingOf<S: RequestForm, C: CompletionForm> {
    inner: IoUring<S, C>,
    entry: RingEntry,
    /// One for each slot, for requests by vector. Only read by the kernel; the vector never grows.
    vectors: Vec<UnsafeCell<libc::iovec>>,
    /// Requests pushed whose completions were not popped.
    n_outstanding: u32,
    /// The kernel finds completions only when it is entered (deferred task work, polled I/O).
    completes_on_enter: bool,
    /// Keeps the ring in its thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl<S: RequestForm, C: CompletionForm> std::fmt::Debug for RingOf<S, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingOf").field("n_outstanding", &self.n_outstanding).finish_non_exhaustive()
    }
}

/// What all rings have.
impl<S: RequestForm, C: CompletionForm> RingOf<S, C> {
    /// Makes a ring.
    ///
    /// # Errors
    /// The error of `io_uring_setup`, with a hint if `io_uring` is forbidden (`EPERM`) or absent (`ENOSYS`).
    pub fn new(request: &RingRequest) -> Result<Self> {
        let inner = setup::build(request)?;
        let params = inner.params();
        let completes_on_enter = params.is_setup_iopoll() || setup::has_deferred_completions(params);
        let empty = || UnsafeCell::new(libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 });
        Ok(Self {
            entry: RingEntry::new(&inner),
            inner,
            vectors: (0..request.depth.max(1)).map(|_| empty()).collect(),
            n_outstanding: 0,
            completes_on_enter,
            _not_send: std::marker::PhantomData,
        })
    }

    /// Requests pushed (submitted or not) whose completions were not popped.
    pub fn n_outstanding(&self) -> u32 {
        self.n_outstanding
    }

    /// True if the kernel has plain reads and writes (Linux 5.6), not only those by vector.
    pub fn supports_plain_io(&self) -> bool {
        let mut probe = Probe::new();
        let is_probed = self.inner.submitter().register_probe(&mut probe).is_ok();
        is_probed && probe.is_supported(opcode::Read::CODE) && probe.is_supported(opcode::Write::CODE)
    }

    /// Registers memory; region n can then be used as [`BufferForm::Registered`] n. A region is at most 1 GiB, and there are
    /// at most 16384 (limits of the kernel).
    ///
    /// # Errors
    /// `ENOMEM` when it passes `RLIMIT_MEMLOCK` (older kernels, without privilege).
    ///
    /// # Safety
    /// The memory lives until the ring is dropped.
    pub unsafe fn register_buffers(&self, regions: &[Region]) -> Result<()> {
        let vector = |region: &Region| libc::iovec { iov_base: region.as_ptr().cast(), iov_len: region.len() };
        let vectors: Vec<libc::iovec> = regions.iter().map(vector).collect();
        // SAFETY: the regions are valid memory that lives long enough by the caller's promise; the vectors are only used
        // during the call.
        unsafe { self.inner.submitter().register_buffers(&vectors) }
            .context("register buffers", format_args!("({} of them; limit: RLIMIT_MEMLOCK)", regions.len()))
    }

    /// Finds out whether a ring can register so much memory.
    ///
    /// # Errors
    /// There is no ring, or as [`Self::register_buffers`].
    pub fn try_registered_buffer(n_bytes: usize) -> Result<()> {
        let memory = vec![0_u8; n_bytes];
        // The ring is dropped first.
        let ring = Self::new(&RingRequest::new(1))?;
        let vector = libc::iovec { iov_base: memory.as_ptr().cast_mut().cast(), iov_len: memory.len() };
        // SAFETY: the memory lives until the ring is dropped, and no request uses it.
        unsafe { ring.inner.submitter().register_buffers(&[vector]) }
            .context("register buffers", format_args!("({n_bytes} bytes; limit: RLIMIT_MEMLOCK)"))
    }

    /// Makes a table for `n` registered files, all empty at first.
    pub fn register_file_table(&self, n: u32) -> Result<()> {
        self.inner.submitter().register_files(&vec![-1; n as usize]).context("register files", n)
    }

    /// Puts an open file at an index of the table ([`RingFd::Registered`]), or takes one out (`None`). The ring holds the
    /// file open by itself.
    pub fn set_registered_file(&self, index: u32, file: Option<BorrowedFd<'_>>) -> Result<()> {
        let fd = file.map_or(-1, |file| file.as_raw_fd());
        self.inner.submitter().register_files_update(index, &[fd]).map(drop).context("register file", fd)
    }

    /// # Safety
    /// All that the entry points to is valid until its completion was popped.
    #[inline]
    unsafe fn push(&mut self, entry: &S) -> bool {
        // SAFETY: promised by the caller.
        let is_pushed = unsafe { self.inner.submission().push(entry) }.is_ok();
        self.n_outstanding += u32::from(is_pushed);
        is_pushed
    }

    /// Waits until the submission queue has room. Only needed with a polling kernel thread: that thread frees entries
    /// after it has submitted all of them, which may be after their completions were popped.
    ///
    /// # Errors
    /// The error of the kernel: the thread is gone.
    pub fn wait_for_room(&mut self) -> std::result::Result<(), Errno> {
        for _ in 0..N_LOOKS_FOR_ROOM {
            if !self.inner.submission().is_full() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        while self.inner.submission().is_full() {
            // A thread that sleeps is woken by this, and else it is no call.
            self.submit()?;
            match self.inner.submitter().squeue_wait().map_err(|error| to_errno(&error)) {
                Ok(_) | Err(Errno::INTR) => {}
                // Before Linux 5.10 the kernel cannot wait for this.
                Err(Errno::INVAL) => std::thread::yield_now(),
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Hands pushed requests to the kernel; returns how many it took. With a polling kernel thread it is only woken if it
    /// sleeps.
    ///
    /// # Errors
    /// `EAGAIN` and `EBUSY`: reap first, then try again.
    #[inline]
    pub fn submit(&mut self) -> std::result::Result<u32, Errno> {
        if self.inner.params().is_setup_sqpoll() {
            return self.inner.submit().map(|n| n as u32).map_err(|error| to_errno(&error));
        }
        let queue = self.inner.submission();
        // Having deferred completions posted on the way in often saves the call that would wait for them.
        let looks = self.completes_on_enter || queue.cq_overflow() || queue.taskrun();
        let n_pushed = queue.len() as u32;
        drop(queue);
        self.entry.enter(n_pushed, 0, if looks { ENTER_GETEVENTS } else { 0 })
    }

    /// Submits pushed requests and waits until at least `min` completions can be popped, but never for more than are
    /// outstanding. With `min` 0 it only looks.
    ///
    /// # Errors
    /// The error of the kernel; after an interruption by a signal the wait continues.
    pub fn submit_and_wait(&mut self, min: u32) -> std::result::Result<(), Errno> {
        let min = min.min(self.n_outstanding) as usize;
        if min == 0 {
            return self.look();
        }
        loop {
            let n_ready = self.inner.completion().len();
            let n_unsubmitted = self.inner.submission().len();
            if n_ready >= min && n_unsubmitted == 0 {
                return Ok(());
            }
            // The kernel counts the completions that are there already, so `min` is the whole number. It may return with
            // fewer: after a signal, or when a submission failed.
            match self.submit_and_enter(n_unsubmitted as u32, min as u32) {
                Ok(_) | Err(Errno::INTR) => {}
                // No room for more requests now: some must be reaped before it takes the others.
                Err(Errno::BUSY | Errno::AGAIN) if n_ready > 0 => return Ok(()),
                Err(Errno::BUSY | Errno::AGAIN) if self.n_outstanding as usize > n_unsubmitted => self.enter(1)?,
                Err(errno) => return Err(errno),
            }
            if self.inner.completion().len() >= min {
                return Ok(());
            }
        }
    }

    /// Submits pushed requests and waits until a completion can be popped, for at most `limit`. Returns early if a
    /// signal handler ran. A kernel before 5.11 cannot wait for a limited time: there it only looks.
    ///
    /// # Errors
    /// The error of the kernel; the end of the time is no error.
    pub fn wait_within(&mut self, limit: Duration) -> std::result::Result<(), Errno> {
        self.look()?;
        let has_some = !self.inner.completion().is_empty() || self.n_outstanding == 0;
        if has_some || limit.is_zero() || !self.inner.params().is_feature_ext_arg() {
            return Ok(());
        }
        let limit = types::Timespec::from(limit);
        let arguments = types::SubmitArgs::new().timespec(&limit);
        match self.inner.submitter().submit_with_args(1, &arguments).map_err(|error| to_errno(&error)) {
            Ok(_) | Err(Errno::INTR | Errno::TIME | Errno::BUSY | Errno::AGAIN) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Submits all requests, and waits until at least `min` completions are there or a signal comes.
    fn submit_and_enter(&self, n_unsubmitted: u32, min: u32) -> std::result::Result<u32, Errno> {
        if self.inner.params().is_setup_sqpoll() {
            return self.inner.submit_and_wait(min as usize).map(|n| n as u32).map_err(|error| to_errno(&error));
        }
        self.entry.enter(n_unsubmitted, min, ENTER_GETEVENTS)
    }

    /// Submits, and lets the kernel run deferred work, without waiting.
    fn look(&mut self) -> std::result::Result<(), Errno> {
        if !self.inner.submission().is_empty() {
            self.submit()?;
        }
        if self.completes_on_enter && self.n_outstanding > 0 && self.inner.completion().is_empty() {
            self.enter(0)?;
        }
        Ok(())
    }

    /// Enters the kernel without submitting, until at least `min` completions are there or a signal comes.
    fn enter(&self, min: u32) -> std::result::Result<(), Errno> {
        match self.entry.enter(0, min, ENTER_GETEVENTS) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Hands up to `max` completions that are there to `each`, oldest first; returns how many.
    #[inline]
    pub fn pop(&mut self, max: u32, mut each: impl FnMut(RingCompletion)) -> u32 {
        let mut n_popped = 0;
        for completion in self.inner.completion().take(max as usize) {
            let completion: SmallCompletion = completion.into();
            each(RingCompletion { slot: completion.user_data() as u32, result: completion.result() });
            n_popped += 1;
        }
        self.n_outstanding = self.n_outstanding.saturating_sub(n_popped);
        n_popped
    }

    /// Requests that were pushed and not yet taken by the kernel.
    pub fn n_unsubmitted(&mut self) -> u32 {
        self.inner.submission().len() as u32
    }
}

/// Requests for files and block devices.
impl IoRing {
    /// Pushes a read or write for a slot. False, and nothing is pushed, if the submission queue is full.
    ///
    /// # Safety
    /// Until the completion of the slot was popped or the ring is dropped: the memory of the region must live and must
    /// not be used otherwise (a write's may be read), the descriptor must stay open, and the slot must not be used
    /// again.
    ///
    /// # Panics
    /// If the slot is not below the depth.
    #[inline]
    pub unsafe fn push_io(&mut self, slot: u32, io: &RingIo) -> bool {
        // SAFETY: the slot is in no request (the caller's promise), so nobody reads its vector.
        let vector = unsafe { self.vector_of(slot, io) };
        // SAFETY: the vector lives as long as the ring, and the rest is the caller's promise.
        unsafe { self.push(&io.entry(vector).user_data(u64::from(slot))) }
    }

    /// The vector of a slot, which names the memory of a request that has its memory by vector.
    ///
    /// # Safety
    /// The slot is in no request.
    #[inline]
    unsafe fn vector_of(&self, slot: u32, io: &RingIo) -> *const libc::iovec {
        let vector = self.vectors[slot as usize].get();
        if matches!(io.form, BufferForm::Vector) {
            // SAFETY: nothing reads the vector, by the caller's promise.
            unsafe { *vector = libc::iovec { iov_base: io.region.as_ptr().cast(), iov_len: io.region.len() } };
        }
        vector
    }

    /// Pushes a sync for a slot. False, and nothing is pushed, if the submission queue is full.
    ///
    /// # Safety
    /// The descriptor stays open until the completion of the slot was popped.
    #[inline]
    pub unsafe fn push_sync(&mut self, slot: u32, fd: RingFd, kind: SyncKind) -> bool {
        // SAFETY: no memory is involved, and the descriptor is the caller's promise.
        unsafe { self.push(&kind.entry(fd).user_data(u64::from(slot))) }
    }

    /// Pushes a discard for a slot; its result is 0. False, and nothing is pushed, if the submission queue is full. Before
    /// Linux 6.12, and for what is no block device that can discard, the result is `EOPNOTSUPP` (before 5.19 `EINVAL`).
    ///
    /// # Safety
    /// The descriptor stays open until the completion of the slot was popped.
    pub unsafe fn push_discard(&mut self, slot: u32, fd: RingFd, discard: Discard) -> bool {
        // SAFETY: no memory is involved, and the descriptor is the caller's promise.
        unsafe { self.push(&discard.entry(fd).user_data(u64::from(slot))) }
    }

    /// Pushes a request that does nothing.
    #[inline]
    pub fn push_nop(&mut self, slot: u32) -> bool {
        // SAFETY: no memory is involved.
        unsafe { self.push(&opcode::Nop::new().build().user_data(u64::from(slot))) }
    }
}

impl<S: RequestForm, C: CompletionForm> Drop for RingOf<S, C> {
    fn drop(&mut self) {
        // The kernel may still use buffers of requests in flight after the ring is closed, so they are waited for.
        while self.n_outstanding > 0 && self.submit_and_wait(self.n_outstanding).is_ok() {
            if self.pop(u32::MAX, |_| ()) == 0 {
                break;
            }
        }
        self.entry.release(&self.inner);
    }
}

fn to_errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests;
