//! The C library's heap before a process makes many children.
//!
//! A child shares the pages of its parent's heap until one of them writes. Must not know: what is allocated. Start reading
//! at [`tidy_up`].
#![expect(unsafe_code, reason = "malloc_trim")]

/// Puts the free blocks of the heap in order and gives whole free pages back. What is left undone each child would do
/// for itself at its first allocations, and with that write to every page that holds a free block. Does nothing where the
/// C library is not glibc.
pub fn tidy_up() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes the allocator's own locks; only free memory is touched.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_use_are_left_alone() {
        let all: Vec<Vec<u8>> = (0..1000).map(|index| vec![index as u8; 3000]).collect();
        let kept: Vec<Vec<u8>> = all.into_iter().step_by(7).collect();
        tidy_up();
        assert!(kept.iter().enumerate().all(|(n, block)| *block == vec![(n * 7) as u8; 3000]));
    }
}
