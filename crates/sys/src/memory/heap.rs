//! Settings of the C library's heap, for a program that forks many processes: how much of its memory they can share with it.
//!
//! Must not know: who forks. Start reading at [`fill_holes`].
//! Source: mallopt(3), mallinfo(3).
#![expect(unsafe_code, reason = "the heap's settings and blocks are calls of the C library")]

use std::ptr::NonNull;

/// Makes the C library join each freed block with its free neighbours at once, for the whole program. Otherwise, small
/// blocks are joined later and all together, and the first large allocation of each forked process would write to
/// every page with such a block: none of these pages could be shared any more. No other C library than glibc has this
/// setting, and there it does nothing.
pub fn join_free_blocks_at_once() {
    // SAFETY: the call takes two numbers, and its lock is the heap's own.
    #[cfg(target_env = "gnu")]
    let _ = unsafe { libc::mallopt(libc::M_MXFAST, 0) };
}

/// Makes all threads of the program share one heap. Otherwise, a thread with a heap of its own leaves freed memory
/// behind, whose pages each forked process gets a table for. No other C library than glibc has this setting.
pub fn share_one_heap() {
    // SAFETY: the call takes two numbers, and its lock is the heap's own.
    #[cfg(target_env = "gnu")]
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Sizes in bytes of the blocks that fill holes: halves from 64 KiB to 2 KiB, then each size that the heap tells apart.
#[cfg(target_env = "gnu")]
fn filling_sizes() -> impl Iterator<Item = usize> {
    let large = (0..6).map(|shift| 65_536_usize >> shift);
    let small = (0..64).map(|step| 1032 - 16 * step);
    large.chain(small)
}

/// Blocks that fill the free holes of the heap, until this value is dropped.
#[derive(Debug, Default)]
pub struct FilledHoles {
    blocks: Vec<NonNull<libc::c_void>>,
}

impl FilledHoles {
    /// The number of blocks, at most 65,536.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }
}

/// Fills the free holes of the heap. What a process that is forked now allocates lies together behind them, instead of
/// in holes all over the pages that it shares with the others; so it copies fewer of these pages. Does nothing with
/// another C library than glibc. The time it takes is that of one allocation a hole.
#[must_use]
pub fn fill_holes() -> FilledHoles {
    let mut filled = FilledHoles::default();
    #[cfg(target_env = "gnu")]
    {
        const MOST: usize = 1 << 16;
        filled.blocks.reserve_exact(MOST);
        // SAFETY: a call that only reads where the heap ends.
        let end = unsafe { libc::sbrk(0) }.addr();
        // mallinfo2, with figures of 64 bits, is only in glibc 2.33 and newer. This figure is small: free() gives most of the end of the
        // heap back to the system. SAFETY: a call that only reads figures of the heap, under the heap's own lock.
        let last_free_bytes = unsafe { libc::mallinfo() }.keepcost;
        let last_free_bytes = usize::try_from(last_free_bytes).unwrap_or_default();
        let first_free_end = end.saturating_sub(last_free_bytes);
        for size in filling_sizes() {
            while filled.blocks.len() < MOST {
                // SAFETY: a block of any size may be asked for. It is freed once, here or when `filled` is dropped.
                let Some(block) = NonNull::new(unsafe { libc::malloc(size) }) else { break };
                if block.addr().get() >= first_free_end {
                    // No hole is as large as this. SAFETY: the block comes from `malloc` and nobody else knows it.
                    unsafe { libc::free(block.as_ptr()) };
                    break;
                }
                filled.blocks.push(block);
            }
        }
    }
    filled
}

impl Drop for FilledHoles {
    fn drop(&mut self) {
        for block in self.blocks.drain(..) {
            // SAFETY: the block comes from `malloc`, and only this value knows it.
            unsafe { libc::free(block.as_ptr()) };
        }
    }
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

    /// Runs in a process of its own, where all threads have one heap from the start and no other test allocates.
    #[test]
    #[cfg(target_env = "gnu")]
    fn while_holes_are_filled_no_block_lies_in_one() {
        const NAME: &str = "memory::heap::tests::while_holes_are_filled_no_block_lies_in_one";
        if std::env::var_os("MALLOC_ARENA_MAX").is_some() {
            return blocks_lie_behind_filled_holes();
        }
        let this_program = std::env::current_exe().unwrap();
        let mut again = std::process::Command::new(this_program);
        let output = again.args(["--exact", NAME]).env("MALLOC_ARENA_MAX", "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[cfg(target_env = "gnu")]
    fn blocks_lie_behind_filled_holes() {
        let blocks: Vec<Vec<u8>> = (0..512).map(|_| Vec::with_capacity(1000)).collect();
        // Every other block is freed, so that holes of this size are left.
        let (kept, freed): (Vec<_>, Vec<_>) = blocks.into_iter().enumerate().partition(|(index, _)| index % 2 == 0);
        drop(freed);
        let highest = kept.iter().map(|(_, block)| block.as_ptr().addr()).max().unwrap();
        let filled = super::fill_holes();
        assert!(filled.n_blocks() >= 200, "{} blocks in about 256 holes", filled.n_blocks());
        let later: Vec<u8> = Vec::with_capacity(1000);
        assert!(later.as_ptr().addr() > highest, "a block lies in a hole");
        drop(filled);
        let in_hole: Vec<u8> = Vec::with_capacity(1000);
        assert!(in_hole.as_ptr().addr() < highest, "the holes are not free again");
    }
}
