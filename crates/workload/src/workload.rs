//! The stream of I/Os of one worker.
//!
//! Must not know: who does them. Start reading at [`Workload`].

use crate::plain::PlainStream;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::stream::{Next, Stream};

/// The stream of one worker.
#[derive(Debug)]
pub struct Workload {
    stream: Kind,
}

/// Which of the two was chosen when the stream was made. Both give the same I/Os where both can be used.
#[derive(Debug)]
enum Kind {
    Plain(Box<PlainStream>),
    Any(Box<Stream>),
}

impl Workload {
    /// Makes the stream; allocates the maps.
    pub fn new(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let stream = match PlainStream::new(&plan)? {
            Some(stream) => Kind::Plain(Box::new(stream)),
            None => Kind::Any(Box::new(Stream::new(plan)?)),
        };
        Ok(Self { stream })
    }

    /// The next I/O, or what has to happen before it.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "not an iterator: after `PassEnd` it goes on with the next pass")]
    pub fn next(&mut self) -> Next {
        match &mut self.stream {
            Kind::Plain(plain) => plain.next(),
            Kind::Any(stream) => stream.next(),
        }
    }

    /// Starts the next pass over all files. All files count as closed.
    pub fn start_pass(&mut self) {
        match &mut self.stream {
            Kind::Plain(plain) => plain.start_pass(),
            Kind::Any(stream) => stream.start_pass(),
        }
    }

    /// The last I/O issued was a sync.
    pub fn last_was_sync(&self) -> bool {
        match &self.stream {
            Kind::Plain(_) => false,
            Kind::Any(stream) => stream.last_was_sync(),
        }
    }

    /// Bytes issued in all passes, whether they count for the limit or not.
    pub fn issued_bytes(&self) -> u64 {
        match &self.stream {
            Kind::Plain(plain) => plain.issued_bytes(),
            Kind::Any(stream) => stream.issued_bytes(),
        }
    }

    /// Writes issued in all passes.
    pub fn n_writes_issued(&self) -> u64 {
        match &self.stream {
            Kind::Plain(plain) => plain.n_writes_issued(),
            Kind::Any(stream) => stream.n_writes_issued(),
        }
    }
}
