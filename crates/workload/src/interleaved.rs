//! A stream that lets its caller insert I/Os.
//!
//! Must not know: the inserted I/Os. Start reading at [`Interleaved`].

use crate::io_stream::{IoStream, JobStream};
use crate::next::{Next, NextIo};
use crate::pace::Pace;

/// A stream that asks for I/Os of others before each of its own.
#[derive(Debug)]
pub(crate) struct Interleaved {
    stream: Box<dyn IoStream>,
    between: Option<NextIo>,
    /// [`Next::Wait`] was returned since the last I/O.
    has_asked: bool,
}

impl Interleaved {
    pub(crate) fn new(stream: Box<dyn IoStream>) -> Self {
        Self { stream, between: None, has_asked: false }
    }
}

impl IoStream for Interleaved {
    fn next(&mut self) -> Next {
        let next = match self.between.take() {
            Some(io) => Next::Io(io),
            None if self.has_asked => self.stream.next(),
            None => {
                self.has_asked = true;
                return Next::Wait;
            }
        };
        self.has_asked &= !matches!(next, Next::Io(_));
        next
    }

    fn job(&self) -> Option<&dyn JobStream> {
        self.stream.job()
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        self.stream.job_mut()
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        self.stream.pace()
    }

    fn gap(&mut self) -> Option<&mut Option<NextIo>> {
        Some(&mut self.between)
    }
}
