//! Transparent huge pages for large tables that are looked up at random: without them nearly each look is a miss in the table
//! of pages too.
//!
//! Must not know: which table. Start reading at [`prefer`].
#![expect(unsafe_code, reason = "advice is given on addresses")]

use rustix::mm::Advice;
use std::mem::MaybeUninit;

/// Tables below that lie mostly in the caches of pages anyway, bytes.
const LEAST_BYTES: usize = 4 << 20;

/// Asks for huge pages for large memory (4 MiB and more) that was not touched yet. It changes no contents; a kernel
/// without huge pages continues with small ones.
pub fn prefer<T>(memory: &mut [MaybeUninit<T>]) {
    let page_bytes = rustix::param::page_size();
    let bytes = memory.as_mut_ptr_range();
    // Only whole pages that contain no other data.
    let (start, end) = (bytes.start.addr().next_multiple_of(page_bytes), bytes.end.addr() / page_bytes * page_bytes);
    if end.saturating_sub(start) < LEAST_BYTES {
        return;
    }
    let place = bytes.start.cast::<u8>().wrapping_add(start - bytes.start.addr());
    // SAFETY: the advice changes only how the kernel maps the pages, which lie within the slice.
    let advised = unsafe { rustix::mm::madvise(place.cast(), end - start, Advice::LinuxHugepage) };
    // EINVAL from a kernel without transparent huge pages is fine, because this is only a hint.
    let _ = advised;
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;

    /// `hg` among the flags of the mapping that holds an address, by `/proc/self/smaps`.
    fn is_advised(address: usize) -> Option<bool> {
        let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut is_here = false;
        for line in smaps.lines() {
            let range = line.split_whitespace().next().and_then(|word| word.split_once('-'));
            if let Some((low, high)) = range {
                let number = |text| usize::from_str_radix(text, 16);
                if let (Ok(low), Ok(high)) = (number(low), number(high)) {
                    is_here = (low..high).contains(&address);
                }
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| is_here) {
                return Some(flags.split_whitespace().any(|flag| flag == "hg"));
            }
        }
        None
    }

    #[test]
    fn large_tables_are_advised_and_keep_their_neighbours() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists() {
            skip!("large_tables_are_advised_and_keep_their_neighbours", "the kernel has no transparent huge pages");
            return;
        }
        let mut words: Vec<u64> = Vec::with_capacity(1 << 20);
        words.push(7);
        prefer(words.spare_capacity_mut());
        words.resize(1 << 20, 3);
        assert_eq!((words[0], words[1], words[(1 << 20) - 1]), (7, 3, 3));
        assert_eq!(is_advised((&raw const words[1 << 19]).addr()), Some(true));
    }

    #[test]
    fn small_tables_are_left_alone() {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
        // A separate mapping, because memory of the allocator may be next to a table with this advice, or reuse its
        // place.
        let bytes = LEAST_BYTES - rustix::param::page_size();
        // SAFETY: a new mapping, whose address the kernel chooses.
        let mapping = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }
        .expect("memory");
        // SAFETY: the mapping has that many bytes, and nobody else knows it.
        let memory = unsafe { std::slice::from_raw_parts_mut(mapping.cast::<MaybeUninit<u8>>(), bytes) };
        prefer(memory);
        prefer::<u64>(&mut []);
        assert_eq!(is_advised(mapping.addr()), Some(false));
        // SAFETY: the mapping above; no reference to it is used after this.
        unsafe { munmap(mapping, bytes) }.expect("unmapped");
    }
}
