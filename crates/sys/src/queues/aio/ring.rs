//! The completion ring of native AIO, which the kernel maps into the process at the address of the context.
//!
//! Must not know: requests. The layout is that of `struct aio_ring` in the kernel's `fs/aio.c`, unchanged since Linux 2.6;
//! the magic number and the feature word say whether it is that one.
#![expect(unsafe_code, reason = "memory that the kernel writes")]

use super::{ContextId, IoEvent};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// `AIO_RING_MAGIC`.
const MAGIC: u32 = 0xa10a_10a1;

/// The head of the ring, 32 bytes; the events follow.
#[derive(Debug)]
#[repr(C)]
struct RingHeader {
    id: u32,
    n_events: u32,
    /// Index of the next event to take; written by the reader.
    head: AtomicU32,
    /// Index at which the kernel puts the next event.
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    length: u32,
}

/// A ring of the known form.
#[derive(Debug)]
pub(super) struct CompletionRing {
    header: NonNull<RingHeader>,
    n_events: u32,
}

impl CompletionRing {
    /// The ring of a context, or `None` if it has another form or cannot be read at its address.
    ///
    /// # Safety
    /// The context was made by `io_setup` in this process and lives as long as the ring.
    pub(super) unsafe fn at(context: ContextId) -> Option<Self> {
        let header = NonNull::new(context as *mut RingHeader)?;
        // SAFETY: the kernel maps the ring, readable and writable and page aligned, at the address that is the context.
        let known = unsafe { header.as_ref() };
        let is_known = known.magic == MAGIC
            && known.incompatible_features == 0
            && known.length as usize == size_of::<RingHeader>()
            && known.n_events > 0;
        is_known.then_some(Self { header, n_events: known.n_events })
    }

    /// The oldest event, if there is one.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<IoEvent> {
        // SAFETY: mapped as long as the context lives (promised to `at`); only the atomics are written by the kernel.
        let header = unsafe { self.header.as_ref() };
        let head = header.head.load(Ordering::Relaxed);
        // Acquire: the kernel writes the event before it moves the tail.
        if head == header.tail.load(Ordering::Acquire) || head >= self.n_events {
            return None;
        }
        debug_assert!(header.tail.load(Ordering::Relaxed) < self.n_events, "the kernel's index is one of the ring");
        // SAFETY: the events follow the header, `n_events` of them, and `head` is below that. The kernel does not write an
        // event between head and tail.
        let event = unsafe { self.header.add(1).cast::<IoEvent>().add(head as usize).read() };
        // Release: the kernel must not reuse the place before the event was read.
        header.head.store((head + 1) % self.n_events, Ordering::Release);
        Some(event)
    }
}
