//! Counts the allocations of a thread, for tests that check loops without allocations.
//!
//! A test program makes [`CountingAllocator`] its global allocator; other programs have no use for it. Must not know:
//! what is tested. Start reading at [`CountingAllocator`].
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Neither made nor dropped at run time, so that it can be used wherever memory is.
    static N_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a count for each thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

impl CountingAllocator {
    /// Number of times that the calling thread has asked for memory so far, including growth. Always 0 if this is not
    /// the global allocator.
    pub fn n_allocations() -> u64 {
        N_ALLOCATIONS.get()
    }
}

fn count() {
    // Cannot overflow: 2^64 allocations take centuries.
    N_ALLOCATIONS.set(N_ALLOCATIONS.get() + 1);
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of the caller.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: what holds for this call holds for that one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: what holds for this call holds for that one.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: what holds for this call holds for that one: the memory came from the system's allocator.
        unsafe { System.realloc(memory, layout, new_size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: what holds for this call holds for that one: the memory came from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_count() {
        let layout = Layout::from_size_align(64, 8).unwrap();
        let before = CountingAllocator::n_allocations();
        // SAFETY: the layout is not empty, and what is freed is what was allocated last with it.
        unsafe {
            let memory = CountingAllocator.alloc(layout);
            let memory = CountingAllocator.realloc(memory, layout, 128);
            CountingAllocator.dealloc(memory, Layout::from_size_align(128, 8).unwrap());
        }
        assert_eq!(CountingAllocator::n_allocations() - before, 2);
        let elsewhere = std::thread::spawn(CountingAllocator::n_allocations).join();
        assert_eq!(elsewhere.unwrap(), 0, "this is not the global allocator of these tests");
    }
}
