//! Memory that parent and children share across `fork`: an array of atomics sized to the run.
//!
//! Must not know: the meaning of the numbers. Start reading at [`SharedMemory`]; the [`crate::shared_struct`] macro
//! makes structures for it.
#![expect(unsafe_code, reason = "a typed view of a shared mapping")]

use crate::error::{Context, Result};
use rustix::mm::{MapFlags, ProtFlags};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize,
};

/// A type that several processes may use at the same address of a shared mapping.
///
/// # Safety
/// All zero bytes are a valid value; it changes through `&self` only by atomic operations; it holds no address, no
/// descriptor and nothing else that means something in one process only; it needs no drop.
pub unsafe trait SharedPod: Sync {}

macro_rules! shared_atomics {
    ($($atomic:ty),+) => {
        $(
            // SAFETY: an integer that is only changed atomically; zero is a value (false for the boolean).
            unsafe impl SharedPod for $atomic {}
        )+
    };
}

shared_atomics!(
    AtomicBool,
    AtomicI8,
    AtomicI16,
    AtomicI32,
    AtomicI64,
    AtomicIsize,
    AtomicU8,
    AtomicU16,
    AtomicU32,
    AtomicU64,
    AtomicUsize
);

// SAFETY: an array has the properties of its elements.
unsafe impl<T: SharedPod, const N: usize> SharedPod for [T; N] {}

/// Declares a structure whose fields are all [`SharedPod`], and so is the structure. The caller needs no unsafe code.
///
/// ```
/// use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
/// ferrio_sys::shared_struct! {
///     /// Progress of one worker.
///     pub struct Progress {
///         /// State of its life.
///         pub state: AtomicU32,
///         /// Bytes read, written, trimmed.
///         pub bytes: [AtomicU64; 3],
///     }
/// }
/// let board = ferrio_sys::SharedMemory::<Progress>::new(4)?;
/// board[3].bytes[1].store(4096, Ordering::Relaxed);
/// # Ok::<(), ferrio_sys::Error>(())
/// ```
#[macro_export]
macro_rules! shared_struct {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $type),*
        }

        const _: () = {
            const fn is_shared_pod<T: $crate::SharedPod>() {}
            $(is_shared_pod::<$type>();)*
        };

        // SAFETY: every field is SharedPod, as the constant above has the compiler check; the structure adds nothing to
        // them, and a Drop implementation could not touch a process's own things through them.
        unsafe impl $crate::SharedPod for $name {}
    };
}

/// `n` values of `T` in an anonymous shared mapping, all zero at first. A child that is forked sees the same memory; each
/// process unmaps its own view when it drops it. The values are never dropped.
#[derive(Debug)]
pub struct SharedMemory<T: SharedPod> {
    base: NonNull<T>,
    n: usize,
    mapped_bytes: usize,
}

// SAFETY: it is a reference to values that are Sync; who holds it does not matter.
unsafe impl<T: SharedPod> Send for SharedMemory<T> {}
// SAFETY: it only gives out shared references to values that are Sync.
unsafe impl<T: SharedPod> Sync for SharedMemory<T> {}

impl<T: SharedPod> SharedMemory<T> {
    /// Maps room for `n` values. A page at least is mapped.
    pub fn new(n: usize) -> Result<Self> {
        let bytes = n.checked_mul(size_of::<T>()).ok_or(rustix::io::Errno::NOMEM);
        let mapped_bytes = bytes.context("map shared memory", n)?.max(1);
        let target = format_args!("({mapped_bytes} bytes)").to_string();
        // A mapping is aligned to a page; no type of atomics asks for more.
        const { assert!(align_of::<T>() <= 4096) };
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel picks a free address; nothing that exists is replaced.
        let base =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), mapped_bytes, protection, MapFlags::SHARED) };
        let base = NonNull::new(base.context("map shared memory", &target)?.cast());
        let base = base.ok_or(rustix::io::Errno::FAULT).context("map shared memory", &target)?;
        Ok(Self { base, n, mapped_bytes })
    }
}

impl<T: SharedPod> Deref for SharedMemory<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping has room for n values, is aligned and zero at first, which SharedPod says is valid, and
        // lives as long as `self`. Other processes change it, but only by atomic operations on it (SharedPod).
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.n) }
    }
}

impl<T: SharedPod> Drop for SharedMemory<T> {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; no reference outlives the owner. It can only fail if the address
        // were wrong, and then nothing is unmapped.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    shared_struct! {
        /// Two counters.
        struct Pair {
            left: AtomicU32,
            right: [AtomicU64; 2],
        }
    }

    #[test]
    fn starts_at_zero_and_keeps_what_is_stored() {
        let board = SharedMemory::<Pair>::new(1000).unwrap();
        assert_eq!(board.len(), 1000);
        assert!(board.iter().all(|pair| pair.left.load(Ordering::Relaxed) == 0));
        board[999].right[1].store(5, Ordering::Relaxed);
        assert_eq!(board[999].right[1].load(Ordering::Relaxed), 5);
    }

    #[test]
    fn sizes_at_the_edges() {
        assert!(SharedMemory::<AtomicU8>::new(0).unwrap().is_empty());
        assert!(SharedMemory::<AtomicU64>::new(usize::MAX).is_err());
    }
}
