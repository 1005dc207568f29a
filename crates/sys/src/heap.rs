//! Settings of the C library's heap, for a program that forks many processes.
//!
//! Must not know: who forks. Start reading at [`join_free_blocks_at_once`].
//! Source: mallopt(3).
#![expect(unsafe_code, reason = "mallopt is a call of the C library")]

/// Makes the C library join each freed block with its free neighbours at once, for the whole program. Otherwise, small
/// blocks are joined later and all together, and the first large allocation of each forked process would write to
/// every page with such a block: none of these pages could be shared any more. No other C library than glibc has this
/// setting, and there it does nothing.
pub fn join_free_blocks_at_once() {
    // SAFETY: the call takes two numbers, and its lock is the heap's own.
    #[cfg(target_env = "gnu")]
    let _ = unsafe { libc::mallopt(libc::M_MXFAST, 0) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_is_to_be_had_as_before() {
        let before: Vec<Vec<u8>> = (1..100).map(|bytes| vec![bytes; usize::from(bytes)]).collect();
        super::join_free_blocks_at_once();
        drop(before);
        let after: Vec<Vec<u8>> = (1..100).map(|bytes| vec![bytes; usize::from(bytes)]).collect();
        assert!(after.iter().all(|block| block.iter().all(|byte| usize::from(*byte) == block.len())));
    }
}
