//! Blocks of a list in turn (`random_distribution=sequence`).
//!
//! Must not know: files. Start reading at [`Sequence::next_block`].

/// Position of a file in the list.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    blocks: Box<[u64]>,
    /// Number added to the blocks with each turn of the list.
    stride: u64,
    next: usize,
    shift: u64,
}

impl Sequence {
    /// With `stride`, each turn of the list is shifted by the length of the list.
    pub(crate) fn new(blocks: &[u64], stride: bool) -> Self {
        Self { blocks: blocks.into(), stride: if stride { blocks.len() as u64 } else { 0 }, next: 0, shift: 0 }
    }

    /// The next block; `None` for an empty list.
    #[inline]
    pub(crate) fn next_block(&mut self) -> Option<u64> {
        let block = self.blocks.get(self.next)?.saturating_add(self.shift);
        self.next += 1;
        if self.next == self.blocks.len() {
            self.next = 0;
            self.shift = self.shift.saturating_add(self.stride);
        }
        Some(block)
    }

    /// Back to the first block.
    pub(crate) fn rewind(&mut self) {
        (self.next, self.shift) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: block k is b[k mod n], with a stride plus n * (k div n).
    #[test]
    fn turns_follow_each_other() {
        for (stride, expected) in [(false, [3, 0, 3, 0, 3, 0]), (true, [3, 0, 5, 2, 7, 4])] {
            let mut sequence = Sequence::new(&[3, 0], stride);
            for _ in 0..2 {
                assert_eq!(expected.map(|_| sequence.next_block().expect("a block")), expected);
                sequence.rewind();
            }
        }
        assert_eq!(Sequence::new(&[u64::MAX], true).next_block(), Some(u64::MAX));
    }
}
