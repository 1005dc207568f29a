//! Fetches memory into the caches while the program does something else.
//!
//! Must not know: the data. Start reading at [`prefetch`].
#![expect(unsafe_code, reason = "an instruction of its own, which takes an address")]

/// Starts to fetch the cache line of a value into the caches nearest to the core, and does not wait for it. It is a
/// hint: a CPU without such an instruction ignores it.
#[inline]
pub fn prefetch<T>(value: &T) {
    let address = std::ptr::from_ref(value);
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction; it reads nothing that the program could see, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: every aarch64 has the instruction; it reads nothing that the program could see, and never faults.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_nothing() {
        let words = [1_u64, 2, 3];
        words.iter().for_each(prefetch);
        prefetch(&());
        assert_eq!(words, [1, 2, 3]);
    }
}
