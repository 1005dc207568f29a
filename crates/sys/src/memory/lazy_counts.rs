//! A long array of counts of which little is used: it takes the memory of those pages that were written to.
//!
//! The heap clears memory that was used before by writing to all of it. So the array is a mapping of its own. A new mapping costs calls and page
//! faults, 27 us where two CPUs share them, and each interval of a run needs a dozen arrays for a moment: each thread keeps a few mappings that
//! are free. Must not know: the meaning of the counts. Start reading at [`LazyCounts`].
#![expect(unsafe_code, reason = "an array in a mapping")]

use rustix::mm::{MapFlags, ProtFlags};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Free mappings that a thread keeps, at most.
const MOST_FREE: usize = 16;

thread_local! {
    static FREE: RefCell<FreeMappings> = const { RefCell::new(FreeMappings(Vec::new())) };
}

/// Mappings of this thread that are free and full of zeroes, with their lengths in bytes.
struct FreeMappings(Vec<(NonNull<c_void>, usize)>);

impl FreeMappings {
    fn take(bytes: usize) -> Option<NonNull<c_void>> {
        let of_length = |free: &RefCell<Self>| {
            let mut free = free.borrow_mut();
            let index = free.0.iter().rposition(|(_, length)| *length == bytes)?;
            Some(free.0.swap_remove(index).0)
        };
        FREE.try_with(of_length).ok().flatten()
    }

    /// True: the thread keeps the mapping, which is full of zeroes. False: it has enough, or ends.
    fn keep(base: NonNull<c_void>, bytes: usize) -> bool {
        let add = |free: &RefCell<Self>| {
            let mut free = free.borrow_mut();
            let has_room = free.0.len() < MOST_FREE;
            if has_room {
                free.0.push((base, bytes));
            }
            has_room
        };
        FREE.try_with(add).unwrap_or(false)
    }
}

impl Drop for FreeMappings {
    fn drop(&mut self) {
        for (base, bytes) in self.0.drain(..) {
            // SAFETY: a mapping of this length whose owner has given it up.
            let _ = unsafe { rustix::mm::munmap(base.as_ptr(), bytes) };
        }
    }
}

/// `N` counts, all zero at first. Where the kernel refuses a mapping (a process may have 65,530 by default) they come from
/// the heap.
#[derive(Debug)]
pub struct LazyCounts<const N: usize> {
    base: NonNull<[u64; N]>,
    is_mapped: bool,
}

// SAFETY: it owns the array; an address works the same in every thread.
unsafe impl<const N: usize> Send for LazyCounts<N> {}
// SAFETY: through a shared reference the array can only be read.
unsafe impl<const N: usize> Sync for LazyCounts<N> {}

impl<const N: usize> LazyCounts<N> {
    const BYTES: usize = size_of::<[u64; N]>();

    fn from_heap() -> Self {
        let array: Box<[u64; N]> = vec![0; N].into_boxed_slice().try_into().expect("a vector of as many elements");
        Self { base: NonNull::from(Box::leak(array)), is_mapped: false }
    }
}

impl<const N: usize> Default for LazyCounts<N> {
    fn default() -> Self {
        const { assert!(N > 0) };
        if let Some(base) = FreeMappings::take(Self::BYTES) {
            return Self { base: base.cast(), is_mapped: true };
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel picks a free address; nothing that exists is replaced.
        let mapped =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), Self::BYTES, protection, MapFlags::PRIVATE) };
        let base = mapped.ok().and_then(|base| NonNull::new(base.cast()));
        base.map_or_else(Self::from_heap, |base| Self { base, is_mapped: true })
    }
}

impl<const N: usize> Deref for LazyCounts<N> {
    type Target = [u64; N];

    #[inline]
    fn deref(&self) -> &[u64; N] {
        // SAFETY: a page-aligned mapping or a box of exactly this array, zero at first (a mapping that was used before is cleared), which is
        // a value, and alive as long as `self`.
        unsafe { self.base.as_ref() }
    }
}

impl<const N: usize> DerefMut for LazyCounts<N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64; N] {
        // SAFETY: as in `deref`, and `&mut self` rules out other references.
        unsafe { self.base.as_mut() }
    }
}

/// Writes only where something was counted.
impl<const N: usize> Clone for LazyCounts<N> {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        ferrio_units::filled::copy(&self[..], &mut copy[..]);
        copy
    }
}

impl<const N: usize> PartialEq for LazyCounts<N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<const N: usize> Eq for LazyCounts<N> {}

impl<const N: usize> Drop for LazyCounts<N> {
    fn drop(&mut self) {
        if self.is_mapped {
            ferrio_units::filled::clear(&mut self[..]);
            if FreeMappings::keep(self.base.cast(), Self::BYTES) {
                return;
            }
            // SAFETY: exactly the mapping that `default` made; no reference outlives the owner. Should the kernel refuse
            // (a hole takes one mapping more), the memory stays, and nothing refers to it.
            let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), Self::BYTES) };
        } else {
            // SAFETY: leaked from a box of this type by `from_heap`, and taken back once.
            drop(unsafe { Box::from_raw(self.base.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stay_apart_wherever_they_are() {
        for mut counts in [LazyCounts::<4096>::default(), LazyCounts::from_heap()] {
            assert!(counts.iter().all(|count| *count == 0));
            counts[4095] = 7;
            let mut copy = counts.clone();
            assert_eq!(copy, counts);
            copy[0] += 1;
            assert_ne!(copy, counts);
            assert_eq!((counts[0], copy[0], copy[4095]), (0, 1, 7));
        }
    }

    #[test]
    fn an_array_that_was_used_before_has_no_counts() {
        for _ in 0..3 {
            let mut all: Vec<LazyCounts<4096>> = (0..2 * MOST_FREE).map(|_| LazyCounts::default()).collect();
            for (index, counts) in all.iter_mut().enumerate() {
                assert!(counts.iter().all(|count| *count == 0));
                counts[index] = 1;
                counts[4095 - index] = u64::MAX;
            }
        }
        let n_free = FREE.with(|free| free.borrow().0.len());
        assert_eq!(n_free, MOST_FREE);
        // Other lengths are other mappings.
        assert!(LazyCounts::<512>::default().iter().all(|count| *count == 0));
        // What one thread gives up is cleared for the next owner, in any thread.
        let passed = LazyCounts::<4096>::default();
        std::thread::spawn(move || drop(passed)).join().expect("a thread that ends");
    }
}
