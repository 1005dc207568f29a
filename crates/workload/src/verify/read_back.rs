//! The streams of reads that follow a pass of writes: reads of writes that were kept, or of writes that the stream of
//! the pass makes again.
//!
//! Must not know: contents of blocks. Start reading at [`ReadBack::next`], then [`Regenerated::next`].

use super::pending::PendingWrite;
use crate::stream::{Next, NextIo};
use ferrio_units::Direction;

/// Reads of written blocks, one after another.
#[derive(Debug)]
pub(crate) struct ReadBack {
    writes: Vec<PendingWrite>,
    n_read: usize,
}

impl ReadBack {
    pub(crate) fn new(writes: Vec<PendingWrite>) -> Self {
        Self { writes, n_read: 0 }
    }

    /// The write that the last read belongs to, and all writes that are read after it.
    pub(crate) fn present(&self) -> &[PendingWrite] {
        self.n_read.checked_sub(1).map_or(&[], |at| &self.writes[at..])
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

/// Reads of the writes that a stream makes again.
#[derive(Debug)]
pub(crate) struct Regenerated<S> {
    stream: S,
    /// Number of the pass's writes that are not read yet.
    n_left: u64,
}

impl<S> Regenerated<S> {
    /// `stream` is in its state before the pass, which made `n_writes` writes.
    pub(crate) fn new(stream: S, n_writes: u64) -> Self {
        Self { stream, n_left: n_writes }
    }

    /// The stream in its present state.
    pub(crate) fn into_stream(self) -> S {
        self.stream
    }

    /// The next read; the pass ends after the last. `next` gets the next step of the stream.
    pub(crate) fn next(&mut self, next: impl Fn(&mut S) -> Next) -> Next {
        while self.n_left > 0 {
            match next(&mut self.stream) {
                Next::Io(io) if io.direction == Direction::Write => {
                    self.n_left -= 1;
                    return Next::Io(NextIo { direction: Direction::Read, ..io });
                }
                Next::Io(_) => {}
                other => return other,
            }
        }
        Next::PassEnd
    }
}
