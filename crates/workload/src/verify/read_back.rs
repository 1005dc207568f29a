//! The streams of reads that follow a pass of writes: reads of writes that were kept, or of writes that the stream of
//! the pass makes again.
//!
//! Must not know: contents of blocks. Start reading at [`ReadBack`], then [`Regenerated`].

use super::pending::PendingWrite;
use crate::io_stream::{IoStream, JobStream};
use crate::next::{Next, NextIo};
use crate::pace::Pace;
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
}

impl IoStream for ReadBack {
    /// The next read; the pass ends after the last.
    fn next(&mut self) -> Next {
        let Some(write) = self.writes.get(self.n_read) else { return Next::PassEnd };
        self.n_read += 1;
        Next::Io(NextIo {
            direction: Direction::Read,
            file_index: write.file_index,
            offset_bytes: write.offset_bytes,
            length_bytes: write.length_bytes.into(),
        })
    }

    fn job(&self) -> Option<&dyn JobStream> {
        None
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        None
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        None
    }

    fn present_writes(&self) -> &[PendingWrite] {
        self.n_read.checked_sub(1).map_or(&[], |at| &self.writes[at..])
    }
}

/// Reads of the writes that a stream makes again.
#[derive(Debug)]
pub(crate) struct Regenerated {
    stream: Box<dyn IoStream>,
    /// Number of the pass's writes that are not read yet.
    n_left: u64,
}

impl Regenerated {
    /// `stream` is in its state before the pass, which made `n_writes` writes.
    pub(crate) fn new(stream: Box<dyn IoStream>, n_writes: u64) -> Self {
        Self { stream, n_left: n_writes }
    }
}

impl IoStream for Regenerated {
    /// The next read; the pass ends after the last.
    fn next(&mut self) -> Next {
        while self.n_left > 0 {
            match self.stream.next() {
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

    fn job(&self) -> Option<&dyn JobStream> {
        None
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        None
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        None
    }

    fn into_repeated(self: Box<Self>) -> Option<Box<dyn IoStream>> {
        Some(self.stream)
    }
}
