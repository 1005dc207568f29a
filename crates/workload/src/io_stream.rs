//! What every stream of I/Os does, and the parts that only some streams have.
//!
//! A stream around another one (a pace, reports of draws, inserted I/Os) gives the next I/O itself. For everything else it hands out the
//! stream of the job that it is around, so it passes no calls on; a method that such a stream could forget has no default body.
//! Must not know: what the streams do. Start reading at [`IoStream`], then [`JobStream`].

use crate::next::{IssuedTotals, Next, NextIo, OffsetState};
use crate::pace::Pace;
use crate::replay::ReplayStream;
use crate::verify::pending::PendingWrite;
use crate::zoning::SharedZoning;
use ferrio_stats::DrawCounts;
use std::ops::Range;

pub(crate) trait IoStream: std::fmt::Debug {
    /// The next I/O, or what has to happen before it.
    fn next(&mut self) -> Next;

    /// The stream of the job: this one, or the one that it is around. `None`: the I/Os are reads of written blocks.
    fn job(&self) -> Option<&dyn JobStream>;

    /// The same, mutable.
    fn job_mut(&mut self) -> Option<&mut dyn JobStream>;

    /// The part that needs the time, if there is one.
    fn pace(&mut self) -> Option<&mut dyn Pace>;

    /// The place for an I/O that comes before the next one of the stream, in streams that ask for such I/Os.
    fn gap(&mut self) -> Option<&mut Option<NextIo>> {
        None
    }

    /// The write that the last read belongs to, and those that are read after it, in streams of reads of kept writes.
    fn present_writes(&self) -> &[PendingWrite] {
        &[]
    }

    /// The stream that repeats writes to read them back, in its present state.
    fn into_repeated(self: Box<Self>) -> Option<Box<dyn IoStream>> {
        None
    }
}

/// The stream of a job, in passes over its files.
pub(crate) trait JobStream: std::fmt::Debug {
    /// Starts the next pass over all files. All files count as closed.
    fn start_pass(&mut self);

    /// Amounts issued in all passes.
    fn progress(&self) -> IssuedTotals;

    /// A stream of the same I/Os from here on, without a pace; `None`: they come from a trace, which can be read only once.
    fn copy(&self) -> Option<Box<dyn IoStream>>;

    /// The ranges of the last trim, bytes, in streams whose trims have several.
    fn ranges(&self) -> &[Range<u64>] {
        &[]
    }

    fn offset_state(&self) -> OffsetState {
        OffsetState::None
    }

    /// What was drawn so far where options ask for shares; `None`: they do not, or it is not counted.
    fn drawn(&self) -> Option<Box<DrawCounts>> {
        None
    }

    /// A file was closed: none of its I/Os is in flight. Only streams that choose among files need this.
    fn closed(&mut self, file_index: u32) {
        let _ = file_index;
    }

    /// Start of the block that did not fit when a file ended; `None`: there was no offset for it.
    fn missed_bytes(&self) -> Option<u64> {
        None
    }

    fn zones(&self) -> Option<&dyn SharedZoning> {
        None
    }

    /// The same, mutable.
    fn zones_mut(&mut self) -> Option<&mut dyn SharedZoning> {
        None
    }

    fn replay(&self) -> Option<&ReplayStream> {
        None
    }
}
