//! Blocks of a list, in turn (`random_distribution=sequence`).
//!
//! Must not know: files. Start reading at [`Sequence::next_block`].

/// Where a file stands in the list.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    blocks: Box<[u64]>,
    /// What each turn adds.
    stride: u64,
    next: usize,
    shift: u64,
}

impl Sequence {
    /// `stride`: each turn of the list is shifted by its length.
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

    // Block k is b[k mod n], and with a stride n * (k div n) more.
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
