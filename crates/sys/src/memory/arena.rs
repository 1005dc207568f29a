//! The I/O buffer area of a worker.
//!
//! One [`Arena`] holds all buffers of a worker. It comes from the heap, System V shared memory or a mapping, starts at a
//! page boundary plus a wanted offset, and is zeroed. Code that fills and checks buffers takes slices; an engine that
//! hands memory to the kernel takes a [`Region`].
//!
//! Must not know: block sizes, queue depth, contents of buffers. Start reading at [`ArenaRequest`], then `memory` for
//! the kinds of memory.
#![expect(unsafe_code, reason = "slices of memory that does not come from a Rust container")]

mod memory;

use crate::error::{Error, Result};
use memory::Memory;
use rustix::fd::BorrowedFd;
use std::ptr::NonNull;

pub use ferrio_units::ArenaKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaRequest {
    /// Kind of memory. A mapped file is made if necessary and extended to the size of the arena, never shortened; it is
    /// removed with the arena only if it was made for it.
    pub kind: ArenaKind,
    pub size_bytes: usize,
    /// Distance of the first byte from a page boundary.
    pub offset_bytes: usize,
    /// Size of a huge page for the huge kinds, a power of two that the kernel offers.
    pub hugepage_bytes: usize,
}

/// A zeroed area of memory for I/O buffers. Freed when dropped.
#[derive(Debug)]
pub struct Arena {
    memory: Memory,
    offset: usize,
    len: usize,
}

impl Arena {
    /// Gets the memory.
    ///
    /// # Errors
    /// [`Error::Arena`] with the kind, the errno and, where one is known, a hint at what is missing.
    pub fn new(request: &ArenaRequest) -> Result<Self> {
        let failed = |source: std::io::Error| Error::Arena {
            kind: request.kind.to_string(),
            size_bytes: request.size_bytes,
            hint: memory::hint(request, source.raw_os_error()),
            source,
        };
        let unit = if request.kind.is_huge() { request.hugepage_bytes } else { rustix::param::page_size() };
        let total = request
            .size_bytes
            .checked_add(request.offset_bytes)
            .and_then(|bytes| bytes.max(1).checked_next_multiple_of(unit.max(1)))
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or_else(|| failed(std::io::Error::from_raw_os_error(libc::ENOMEM)))?;
        let memory = Memory::get(&request.kind, total, request.hugepage_bytes).map_err(failed)?;
        Ok(Self { memory, offset: request.offset_bytes, len: request.size_bytes })
    }

    /// An arena over a part of another one, for use in another thread. It frees no memory.
    ///
    /// # Safety
    /// The arena of the region outlives this one, and no two users access the same bytes through both at the same time,
    /// be it by a slice or by the kernel.
    pub unsafe fn over(region: Region) -> Self {
        let base = NonNull::new(region.ptr).unwrap_or(NonNull::dangling());
        Self { memory: Memory::borrowed(base), offset: 0, len: region.len }
    }

    /// Usable bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if it has no usable byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first usable byte.
    pub fn as_ptr(&self) -> *mut u8 {
        // SAFETY: `new` made the memory at least offset + len bytes long.
        unsafe { self.memory.base().as_ptr().add(self.offset) }
    }

    /// `len` bytes from `offset`.
    ///
    /// # Panics
    /// If they do not lie within the arena, as with any slice.
    #[inline]
    pub fn slice(&self, offset: usize, len: usize) -> &[u8] {
        let region = self.region(offset, len);
        // SAFETY: the region lies within memory that lives as long as `self`, is initialised (zeroed when it was got),
        // and is only written through `&mut self` or by the kernel on behalf of a caller of an unsafe function whose
        // contract forbids slices of it meanwhile.
        unsafe { region.as_slice() }
    }

    /// `len` bytes from `offset`, to be written.
    ///
    /// # Panics
    /// If they do not lie within the arena, as with any slice.
    #[inline]
    pub fn slice_mut(&mut self, offset: usize, len: usize) -> &mut [u8] {
        let region = self.region(offset, len);
        // SAFETY: as in `slice`, and `&mut self` rules out other slices.
        unsafe { region.as_mut_slice() }
    }

    /// The place of `len` bytes from `offset`, to be handed to the kernel.
    ///
    /// # Panics
    /// If they do not lie within the arena, as with any slice.
    #[inline]
    pub fn region(&self, offset: usize, len: usize) -> Region {
        self.whole().part(offset, len)
    }

    /// The whole arena, to be registered with a ring.
    pub fn whole(&self) -> Region {
        Region { ptr: self.as_ptr(), len: self.len }
    }

    /// The memory as another program can map it; `None`: it is of a kind that no other can.
    pub fn shareable(&self) -> Option<ShareableMemory<'_>> {
        let (file, n_bytes) = self.memory.nameless_file()?;
        Some(ShareableMemory { base: self.memory.base().as_ptr(), n_bytes, file })
    }

    /// Writes a byte to every page, so that no I/O pays for the first touch.
    pub fn touch(&mut self) {
        let len = self.len;
        let page_bytes = rustix::param::page_size();
        let bytes = self.slice_mut(0, len);
        for index in (0..len).step_by(page_bytes) {
            // A plain write of the value that is there could be left out by the compiler.
            bytes[index] = std::hint::black_box(bytes[index]);
        }
    }
}

/// All of the memory of an [`Arena`], a shared mapping of a whole file without a name.
#[derive(Debug, Clone, Copy)]
pub struct ShareableMemory<'a> {
    /// Its address here, a multiple of the page size.
    pub base: *mut u8,
    /// Its length, a multiple of the page size.
    pub n_bytes: usize,
    pub file: BorrowedFd<'a>,
}

/// A place in an [`Arena`], without its lifetime: what the kernel is given for one I/O.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    ptr: *mut u8,
    len: usize,
}

// SAFETY: a region is an address and a length; everything that follows the address is unsafe and says what must hold.
unsafe impl Send for Region {}

impl Region {
    /// Address of the first byte.
    #[inline]
    pub fn as_ptr(self) -> *mut u8 {
        self.ptr
    }

    /// Number of bytes.
    #[inline]
    pub fn len(self) -> usize {
        self.len
    }

    /// True if it has no byte.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// `len` bytes of it from `offset`.
    ///
    /// # Panics
    /// If they do not lie within it, as with any slice.
    #[inline]
    #[must_use]
    pub fn part(self, offset: usize, len: usize) -> Self {
        let end = offset.checked_add(len).filter(|&end| end <= self.len);
        assert!(end.is_some(), "{len} bytes from {offset} are not within {} bytes", self.len);
        // SAFETY: offset is at most the length, checked above, and all of the region lies in one piece of memory.
        Self { ptr: unsafe { self.ptr.add(offset) }, len }
    }

    /// The bytes.
    ///
    /// # Safety
    /// The arena lives as long as `'a`, and neither the kernel nor a mutable slice writes the bytes meanwhile.
    #[inline]
    pub unsafe fn as_slice<'a>(self) -> &'a [u8] {
        // SAFETY: in bounds by construction, initialised; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }

    /// The bytes, to be written.
    ///
    /// # Safety
    /// The arena lives as long as `'a`, and neither the kernel nor any other slice uses the bytes meanwhile.
    #[inline]
    pub unsafe fn as_mut_slice<'a>(self) -> &'a mut [u8] {
        // SAFETY: in bounds by construction, initialised; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
    }
}

#[cfg(test)]
mod tests;
