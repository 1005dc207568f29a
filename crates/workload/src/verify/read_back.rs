//! The stream of reads that follows a pass of writes.
//!
//! Must not know: what blocks hold. Start reading at [`ReadBack::next`].

use super::pending::PendingWrite;
use crate::stream::{Next, NextIo};
use ferrio_units::Direction;

/// Reads of what was written, one after another.
#[derive(Debug)]
pub(crate) struct ReadBack {
    writes: Vec<PendingWrite>,
    n_read: usize,
}

impl ReadBack {
    pub(crate) fn new(writes: Vec<PendingWrite>) -> Self {
        Self { writes, n_read: 0 }
    }

    /// The write that the last read belongs to.
    pub(crate) fn present(&self) -> Option<&PendingWrite> {
        self.writes.get(self.n_read.checked_sub(1)?)
    }

    /// The next read; the pass ends after the last.
    pub(crate) fn next(&mut self) -> Next {
        let Some(write) = self.writes.get(self.n_read) else { return Next::PassEnd };
        self.n_read += 1;
        Next::Io(NextIo {
            direction: Direction::Read,
            file_index: write.file_index,
            offset_bytes: write.offset_bytes,
            length_bytes: write.length_bytes.into(),
        })
    }
}
